// SM4 by tables in shared memory: one copy of four, or a copy in every bank.
#include "../common/entry.cuh"
#include "sm4.cuh"

namespace {

constexpr Launch SHARED = {1024, FourTables<Sm4Boxes>::SHARED_BYTES, BLOCK_A_THREAD};
constexpr Launch CONFLICT_FREE = {1024, ConflictFreeFour<Sm4Boxes>::SHARED_BYTES, BLOCK_A_THREAD};

}  // namespace

TABLE_KERNEL(sm4_table_shared_ecb, SHARED, Sm4Parameters, ecb, FourTables<Sm4Boxes>)
TABLE_KERNEL(sm4_table_shared_ctr, SHARED, Sm4Parameters, ctr, FourTables<Sm4Boxes>)
TABLE_KERNEL(sm4_conflict_free_ecb, CONFLICT_FREE, Sm4Parameters,
             ecb, ConflictFreeFour<Sm4Boxes>)
TABLE_KERNEL(sm4_conflict_free_ctr, CONFLICT_FREE, Sm4Parameters,
             ctr, ConflictFreeFour<Sm4Boxes>)
TABLE_CHAINS(sm4_table_shared, SHARED, Sm4Parameters, FourTables<Sm4Boxes>)
TABLE_XTS(sm4_table_shared, SHARED, Sm4Parameters, FourTables<Sm4Boxes>)
TABLE_CHAINS(sm4_conflict_free, CONFLICT_FREE, Sm4Parameters, ConflictFreeFour<Sm4Boxes>)
TABLE_XTS(sm4_conflict_free, CONFLICT_FREE, Sm4Parameters, ConflictFreeFour<Sm4Boxes>)
