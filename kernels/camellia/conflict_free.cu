// Camellia by tables that are replicated over the banks of shared memory: P2's merged table in
// 32 KiB, or four tables in 128 KiB.
#include "camellia.cuh"

KERNEL(camellia_conflict_free_merged_ecb, 1024, CamelliaParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, ConflictFreeMerged<CamelliaBoxes>(shared));
}
KERNEL(camellia_conflict_free_merged_ctr, 1024, CamelliaParameters) {
    SHARED_TABLES(shared);
    ctr(parameters, ConflictFreeMerged<CamelliaBoxes>(shared));
}
KERNEL(camellia_conflict_free_merged_keystream, 1024, CamelliaParameters) {
    SHARED_TABLES(shared);
    keystream(parameters, ConflictFreeMerged<CamelliaBoxes>(shared));
}

KERNEL(camellia_conflict_free_four_ecb, 1024, CamelliaParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, ConflictFreeFour<CamelliaBoxes>(shared));
}
KERNEL(camellia_conflict_free_four_ctr, CTR_THREADS, CamelliaParameters) {
    SHARED_TABLES(shared);
    cached_ctr<CachedRounds<ConflictFreeFour<CamelliaBoxes>>>(parameters, ConflictFreeFour<CamelliaBoxes>(shared));
}
