// ARIA by four tables in shared memory, once: P1's 32-bit form. Lanes that look up different words
// of a bank wait for each other.
#include "../common/entry.cuh"
#include "aria.cuh"

namespace {

constexpr Launch LAUNCH = {1024, FourTables<AriaBoxes>::SHARED_BYTES, BLOCK_A_THREAD};

}  // namespace

TABLE_KERNEL(aria_table_shared_ecb, LAUNCH, AriaParameters, ecb, FourTables<AriaBoxes>)
TABLE_KERNEL(aria_table_shared_ctr, LAUNCH, AriaParameters, ctr, FourTables<AriaBoxes>)
TABLE_CHAINS(aria_table_shared, LAUNCH, AriaParameters, FourTables<AriaBoxes>)
TABLE_XTS(aria_table_shared, LAUNCH, AriaParameters, FourTables<AriaBoxes>)
