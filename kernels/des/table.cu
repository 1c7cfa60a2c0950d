// DES by one copy of its tables in shared memory, where lanes that look up different words of a
// bank wait for each other.
#include "../common/entry.cuh"
#include "des.cuh"

namespace {

constexpr Launch LAUNCH = {1024, 8 * SP_ENTRIES * 4, BLOCK_A_THREAD};

struct OneCopy {
    const u32 *words;  // eight tables of 64 words

    DEVICE explicit OneCopy(u8 *shared) : words(reinterpret_cast<const u32 *>(shared)) {
        u32 *to = reinterpret_cast<u32 *>(shared);
        for (u32 i = threadIdx.x; i < 8 * SP_ENTRIES; i += blockDim.x) {
            to[i] = SP.words[i / SP_ENTRIES][i % SP_ENTRIES];
        }
        __syncthreads();
    }

    template <u32 t>
    DEVICE u32 look_up(u32 word) const {
        return words[SP_ENTRIES * t + byte_of(word, t % 4)];
    }
};

}  // namespace

TABLE_KERNEL(des_table_shared_ecb, LAUNCH, DesParameters, ecb, OneCopy)
TABLE_KERNEL(des_table_shared_ctr, LAUNCH, DesParameters, ctr, OneCopy)
TABLE_CHAINS(des_table_shared, LAUNCH, DesParameters, OneCopy)
