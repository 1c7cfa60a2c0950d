// ARIA by four tables that are replicated over the banks of shared memory.
#include "aria.cuh"

namespace {

constexpr Launch ECB = {1024, ConflictFreeFour<AriaBoxes>::SHARED_BYTES, BLOCK_A_THREAD};
constexpr Launch CTR = {CTR_THREADS, ConflictFreeFour<AriaBoxes>::SHARED_BYTES, CACHED_CTR};

}  // namespace

KERNEL(aria_conflict_free_ecb, ECB, AriaParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, ConflictFreeFour<AriaBoxes>(shared));
}
KERNEL(aria_conflict_free_ctr, CTR, AriaParameters) {
    SHARED_TABLES(shared);
    cached_ctr<CachedRounds<ConflictFreeFour<AriaBoxes>>>(parameters, ConflictFreeFour<AriaBoxes>(shared));
}
