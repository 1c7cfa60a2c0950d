// SEED by tables in shared memory: one copy of four, or a copy in every bank.
#include "seed.cuh"

KERNEL(seed_table_shared_ecb, 1024, SeedParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, FourTables<SeedBoxes>(shared));
}
KERNEL(seed_table_shared_ctr, 1024, SeedParameters) {
    SHARED_TABLES(shared);
    ctr(parameters, FourTables<SeedBoxes>(shared));
}

KERNEL(seed_conflict_free_ecb, 1024, SeedParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, ConflictFreeFour<SeedBoxes>(shared));
}
KERNEL(seed_conflict_free_ctr, 1024, SeedParameters) {
    SHARED_TABLES(shared);
    ctr(parameters, ConflictFreeFour<SeedBoxes>(shared));
}
