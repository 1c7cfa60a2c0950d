// DES by tables that are replicated over the banks of shared memory: eight of them, 8 KiB each.
#include "../common/conflict_free.cuh"
#include "../common/entry.cuh"
#include "des.cuh"

namespace {

constexpr Launch LAUNCH = {1024, table_bytes<SP_ENTRIES>(8), BLOCK_A_THREAD};

struct ConflictFree {
    Lane lane;

    // Fills the tables; all threads of the thread block take part.
    DEVICE explicit ConflictFree(u8 *shared) : lane(shared) {
        UNROLL for (u32 t = 0; t < 8; t++) {
            const u32 *table = SP.words[t];
            fill_table<SP_ENTRIES>(shared + table_bytes<SP_ENTRIES>(t),
                                   [=](u32 i) { return table[i]; });
        }
        __syncthreads();
    }

    template <u32 t>
    DEVICE u32 look_up(u32 word) const {
        return lane.look_up(word, t % 4, table_bytes<SP_ENTRIES>(t));
    }
};

}  // namespace

TABLE_KERNEL(des_conflict_free_ecb, LAUNCH, DesParameters, ecb, ConflictFree)
TABLE_KERNEL(des_conflict_free_ctr, LAUNCH, DesParameters, ctr, ConflictFree)
TABLE_CHAINS(des_conflict_free, LAUNCH, DesParameters, ConflictFree)
