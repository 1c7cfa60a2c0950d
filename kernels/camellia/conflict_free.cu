// Camellia by tables that are replicated over the banks of shared memory: P2's merged table in
// 32 KiB, or four tables in 128 KiB.
#include "../common/entry.cuh"
#include "camellia.cuh"

namespace {

typedef ConflictFreeMerged<CamelliaBoxes> ReplicatedMerged;
typedef ConflictFreeFour<CamelliaBoxes> ReplicatedFour;

constexpr Launch MERGED = {1024, ReplicatedMerged::SHARED_BYTES, BLOCK_A_THREAD};
constexpr Launch FOUR_ECB = {1024, ReplicatedFour::SHARED_BYTES, BLOCK_A_THREAD};
constexpr Launch FOUR_CTR = {CTR_THREADS, ReplicatedFour::SHARED_BYTES, CACHED_CTR};

}  // namespace

TABLE_KERNEL(camellia_conflict_free_merged_ecb, MERGED, CamelliaParameters, ecb, ReplicatedMerged)
TABLE_KERNEL(camellia_conflict_free_merged_ctr, MERGED, CamelliaParameters, ctr, ReplicatedMerged)
TABLE_KERNEL(camellia_conflict_free_merged_keystream, MERGED, CamelliaParameters,
             keystream, ReplicatedMerged)
TABLE_KERNEL(camellia_conflict_free_four_ecb, FOUR_ECB, CamelliaParameters, ecb, ReplicatedFour)
TABLE_KERNEL(camellia_conflict_free_four_ctr, FOUR_CTR, CamelliaParameters,
             cached_ctr<CachedRounds<ReplicatedFour>>, ReplicatedFour)
TABLE_CHAINS(camellia_conflict_free_merged, MERGED, CamelliaParameters, ReplicatedMerged)
TABLE_XTS(camellia_conflict_free_merged, MERGED, CamelliaParameters, ReplicatedMerged)
TABLE_CHAINS(camellia_conflict_free_four, FOUR_ECB, CamelliaParameters, ReplicatedFour)
TABLE_XTS(camellia_conflict_free_four, FOUR_ECB, CamelliaParameters, ReplicatedFour)
