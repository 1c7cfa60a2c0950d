// SEED by tables in shared memory: one copy of four, or a copy in every bank.
#include "seed.cuh"

namespace {

constexpr Launch SHARED = {1024, FourTables<SeedBoxes>::SHARED_BYTES, BLOCK_A_THREAD};
constexpr Launch CONFLICT_FREE = {1024, ConflictFreeFour<SeedBoxes>::SHARED_BYTES, BLOCK_A_THREAD};

}  // namespace

KERNEL(seed_table_shared_ecb, SHARED, SeedParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, FourTables<SeedBoxes>(shared));
}
KERNEL(seed_table_shared_ctr, SHARED, SeedParameters) {
    SHARED_TABLES(shared);
    ctr(parameters, FourTables<SeedBoxes>(shared));
}

KERNEL(seed_conflict_free_ecb, CONFLICT_FREE, SeedParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, ConflictFreeFour<SeedBoxes>(shared));
}
KERNEL(seed_conflict_free_ctr, CONFLICT_FREE, SeedParameters) {
    SHARED_TABLES(shared);
    ctr(parameters, ConflictFreeFour<SeedBoxes>(shared));
}
