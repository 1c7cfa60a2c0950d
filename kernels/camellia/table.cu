// Camellia by P2's merged table, once: in global memory, or in shared memory, where lanes that look
// up different words of a bank wait for each other.
#include "camellia.cuh"

namespace {

DEVICE Merged<CamelliaBoxes> in_global_memory() { return {CAMELLIA_SBOXES.entries}; }

}  // namespace

KERNEL(camellia_table_global_ecb, 256, CamelliaParameters) { ecb(parameters, in_global_memory()); }
KERNEL(camellia_table_global_ctr, 256, CamelliaParameters) { ctr(parameters, in_global_memory()); }
KERNEL(camellia_table_global_keystream, 256, CamelliaParameters) {
    keystream(parameters, in_global_memory());
}

KERNEL(camellia_table_shared_ecb, 1024, CamelliaParameters) {
    SHARED_TABLES(shared);
    ecb(parameters, merged_in_shared_memory<CamelliaBoxes>(shared));
}
KERNEL(camellia_table_shared_ctr, 1024, CamelliaParameters) {
    SHARED_TABLES(shared);
    ctr(parameters, merged_in_shared_memory<CamelliaBoxes>(shared));
}
KERNEL(camellia_table_shared_keystream, 1024, CamelliaParameters) {
    SHARED_TABLES(shared);
    keystream(parameters, merged_in_shared_memory<CamelliaBoxes>(shared));
}
