// ARIA by four tables that are replicated over the banks of shared memory.
#include "../common/entry.cuh"
#include "aria.cuh"

namespace {

constexpr Launch ECB = {1024, ConflictFreeFour<AriaBoxes>::SHARED_BYTES, BLOCK_A_THREAD};
constexpr Launch CTR = {CTR_THREADS, ConflictFreeFour<AriaBoxes>::SHARED_BYTES, CACHED_CTR};

}  // namespace

TABLE_KERNEL(aria_conflict_free_ecb, ECB, AriaParameters, ecb, ConflictFreeFour<AriaBoxes>)
TABLE_KERNEL(aria_conflict_free_ctr, CTR, AriaParameters,
             cached_ctr<CachedRounds<ConflictFreeFour<AriaBoxes>>>, ConflictFreeFour<AriaBoxes>)
TABLE_CHAINS(aria_conflict_free, ECB, AriaParameters, ConflictFreeFour<AriaBoxes>)
TABLE_XTS(aria_conflict_free, ECB, AriaParameters, ConflictFreeFour<AriaBoxes>)
