// ARIA by four tables that are replicated over the banks of shared memory.
#include "aria.cuh"

KERNEL(aria_conflict_free_ecb, 1024, AriaParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, ConflictFreeFour<AriaBoxes>(shared));
}
KERNEL(aria_conflict_free_ctr, CTR_THREADS, AriaParameters) {
    SHARED_TABLES(shared);
    cached_ctr<CachedRounds<ConflictFreeFour<AriaBoxes>>>(parameters, ConflictFreeFour<AriaBoxes>(shared));
}
