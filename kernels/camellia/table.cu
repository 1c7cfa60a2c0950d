// Camellia by P2's merged table, once: in global memory, or in shared memory, where lanes that look
// up different words of a bank wait for each other.
#include "../common/entry.cuh"
#include "camellia.cuh"

namespace {

constexpr Launch GLOBAL = {256, 0, BLOCK_A_THREAD};
constexpr Launch SHARED = {1024, Merged<CamelliaBoxes>::SHARED_BYTES, BLOCK_A_THREAD};

DEVICE Merged<CamelliaBoxes> in_global_memory() { return {CAMELLIA_SBOXES.entries}; }

}  // namespace

KERNEL(camellia_table_global_ecb, GLOBAL, CamelliaParameters) { ecb(parameters, in_global_memory()); }
KERNEL(camellia_table_global_ctr, GLOBAL, CamelliaParameters) { ctr(parameters, in_global_memory()); }
KERNEL(camellia_table_global_keystream, GLOBAL, CamelliaParameters) {
    keystream(parameters, in_global_memory());
}
KERNEL(camellia_table_global_cbc_decrypt, in_ranges(GLOBAL), CamelliaParameters) {
    cbc_decrypt(parameters, in_global_memory());
}
KERNEL(camellia_table_global_cfb_decrypt, in_ranges(GLOBAL), CamelliaParameters) {
    cfb_decrypt(parameters, in_global_memory());
}
KERNEL(camellia_table_global_xts, in_ranges(GLOBAL), CamelliaParameters) {
    xts(parameters, in_global_memory());
}

TABLE_KERNEL(camellia_table_shared_ecb, SHARED, CamelliaParameters,
             ecb, merged_in_shared_memory<CamelliaBoxes>)
TABLE_KERNEL(camellia_table_shared_ctr, SHARED, CamelliaParameters,
             ctr, merged_in_shared_memory<CamelliaBoxes>)
TABLE_KERNEL(camellia_table_shared_keystream, SHARED, CamelliaParameters,
             keystream, merged_in_shared_memory<CamelliaBoxes>)
TABLE_CHAINS(camellia_table_shared, SHARED, CamelliaParameters,
             merged_in_shared_memory<CamelliaBoxes>)
TABLE_XTS(camellia_table_shared, SHARED, CamelliaParameters, merged_in_shared_memory<CamelliaBoxes>)
