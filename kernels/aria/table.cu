// ARIA by four tables in shared memory, once: P1's 32-bit form. Lanes that look up different words
// of a bank wait for each other.
#include "aria.cuh"

namespace {

constexpr Launch LAUNCH = {1024, FourTables<AriaBoxes>::SHARED_BYTES, BLOCK_A_THREAD};

}  // namespace

KERNEL(aria_table_shared_ecb, LAUNCH, AriaParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, FourTables<AriaBoxes>(shared));
}
KERNEL(aria_table_shared_ctr, LAUNCH, AriaParameters) {
    SHARED_TABLES(shared);
    const FourTables<AriaBoxes> tables(shared);
    ctr_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}
