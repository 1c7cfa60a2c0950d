// SEED by tables in shared memory: one copy of four, or a copy in every bank.
#include "../common/entry.cuh"
#include "seed.cuh"

namespace {

constexpr Launch SHARED = {1024, FourTables<SeedBoxes>::SHARED_BYTES, BLOCK_A_THREAD};
constexpr Launch CONFLICT_FREE = {1024, ConflictFreeFour<SeedBoxes>::SHARED_BYTES, BLOCK_A_THREAD};

}  // namespace

TABLE_KERNEL(seed_table_shared_ecb, SHARED, SeedParameters, ecb, FourTables<SeedBoxes>)
TABLE_KERNEL(seed_table_shared_ctr, SHARED, SeedParameters, ctr, FourTables<SeedBoxes>)
TABLE_KERNEL(seed_conflict_free_ecb, CONFLICT_FREE, SeedParameters,
             ecb, ConflictFreeFour<SeedBoxes>)
TABLE_KERNEL(seed_conflict_free_ctr, CONFLICT_FREE, SeedParameters,
             ctr, ConflictFreeFour<SeedBoxes>)
TABLE_CHAINS(seed_table_shared, SHARED, SeedParameters, FourTables<SeedBoxes>)
TABLE_XTS(seed_table_shared, SHARED, SeedParameters, FourTables<SeedBoxes>)
TABLE_CHAINS(seed_conflict_free, CONFLICT_FREE, SeedParameters, ConflictFreeFour<SeedBoxes>)
TABLE_XTS(seed_conflict_free, CONFLICT_FREE, SeedParameters, ConflictFreeFour<SeedBoxes>)
