// Camellia by tables that are replicated over the banks of shared memory: P2's merged table in
// 32 KiB, or four tables in 128 KiB.
#include "camellia.cuh"

namespace {

constexpr Launch MERGED = {1024, ConflictFreeMerged<CamelliaBoxes>::SHARED_BYTES, BLOCK_A_THREAD};
constexpr Launch FOUR_ECB = {1024, ConflictFreeFour<CamelliaBoxes>::SHARED_BYTES, BLOCK_A_THREAD};
constexpr Launch FOUR_CTR = {CTR_THREADS, ConflictFreeFour<CamelliaBoxes>::SHARED_BYTES, CACHED_CTR};

}  // namespace

KERNEL(camellia_conflict_free_merged_ecb, MERGED, CamelliaParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, ConflictFreeMerged<CamelliaBoxes>(shared));
}
KERNEL(camellia_conflict_free_merged_ctr, MERGED, CamelliaParameters) {
    SHARED_TABLES(shared);
    ctr(parameters, ConflictFreeMerged<CamelliaBoxes>(shared));
}
KERNEL(camellia_conflict_free_merged_keystream, MERGED, CamelliaParameters) {
    SHARED_TABLES(shared);
    keystream(parameters, ConflictFreeMerged<CamelliaBoxes>(shared));
}

KERNEL(camellia_conflict_free_four_ecb, FOUR_ECB, CamelliaParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, ConflictFreeFour<CamelliaBoxes>(shared));
}
KERNEL(camellia_conflict_free_four_ctr, FOUR_CTR, CamelliaParameters) {
    SHARED_TABLES(shared);
    cached_ctr<CachedRounds<ConflictFreeFour<CamelliaBoxes>>>(parameters, ConflictFreeFour<CamelliaBoxes>(shared));
}
