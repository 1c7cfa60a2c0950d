// Expands keys of a distributed point function (Boyle, Gilboa, Ishai, 2016) to all leaves of their trees.
// Launch: 1024 threads, 131072 bytes of dynamic shared memory.
#include <lanecrypt.cuh>

typedef unsigned int u32;
typedef unsigned long long u64;

// A key is blocks: the root; the levels' corrections of right children's control bits, bit by bit; a correction for each
// level; one for the leaves. Bit 0 of a node is its control bit, and bit 0 of a correction is for the left child's.
struct Job {
    const uint4 *input;  // not used
    uint4 *output;       // 2^levels leaves for each key
    u64 leaves;          // of all keys
    const uint4 *keys;
    u64 levels;          // 11 to 32
};

constexpr u32 THREADS = 1024, TOP = 10;  // a thread has one of 2^10 subtrees of a key
constexpr u32 DEEPEST = 32;

// What makes the children of a node: two fixed keys.
__constant__ const lanecrypt::AesKeys CHILD[2] = {
    lanecrypt::aes_round_keys({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}),
    lanecrypt::aes_round_keys({15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0})};

__device__ uint4 add_if(bool is_added, uint4 a, uint4 b) {
    const u32 mask = is_added ? 0xffffffff : 0;
    return make_uint4(a.x ^ (b.x & mask), a.y ^ (b.y & mask), a.z ^ (b.z & mask), a.w ^ (b.w & mask));
}

// ANCHOR: children
struct Key {
    const uint4 *blocks;
    u32 levels;

    __device__ uint4 root() const { return blocks[0]; }
    __device__ uint4 of_level(u32 level) const { return blocks[2 + level]; }
    __device__ u32 right_bit(u32 level) const { return blocks[1].x >> level & 1; }
    __device__ uint4 of_leaves() const { return blocks[2 + levels]; }
};

struct Children {
    uint4 left, right;

    // The children of a node of a level; its control bit says whether the level's correction is added.
    __device__ Children(const lanecrypt::AesTables<> &tables, const Key &key, u32 level, uint4 node) {
        const bool control = node.x & 1;
        node.x &= ~1u;
        uint4 correction = key.of_level(level);
        left = add_if(control, lanecrypt::aes_mmo(tables, CHILD[0], node), correction);
        correction.x = (correction.x & ~1u) | key.right_bit(level);
        right = add_if(control, lanecrypt::aes_mmo(tables, CHILD[1], node), correction);
    }
};
// ANCHOR_END: children

// ANCHOR: subtree
// Writes the leaves below `node`, two at a time, the left child first. The right ones wait on a
// stack: all threads are at the same node of their subtrees, so that there is one path.
__device__ void expand(const lanecrypt::AesTables<> &tables, const Key &key, uint4 node,
                       uint4 *leaves) {
    uint4 waiting[DEEPEST];
    const u32 levels = key.levels;
    const uint4 last = key.of_leaves();
    for (u32 level = TOP, pair = 0; pair < 1u << (levels - TOP - 1);) {
        const Children children(tables, key, level, node);
        if (++level < levels) {
            waiting[level] = children.right;
            node = children.left;
            continue;
        }
        leaves[2 * pair] = add_if(children.left.x & 1, children.left, last);
        leaves[2 * pair + 1] = add_if(children.right.x & 1, children.right, last);
        pair++;
        for (level = levels - 1; level > TOP + 1 && (pair >> (levels - 1 - level) & 1) == 0;) level--;
        node = waiting[level];
    }
}
// ANCHOR_END: subtree

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(THREADS, 1) dpf(const __grid_constant__ Job job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const lanecrypt::AesTables<> tables(shared);
    const u32 levels = u32(job.levels);
    for (u64 i = blockIdx.x; i < job.leaves >> levels; i += gridDim.x) {
        const Key key = {job.keys + i * (levels + 3), levels};
        uint4 node = key.root();
        for (u32 level = 0; level < TOP; level++) {
            const Children children(tables, key, level, node);
            node = threadIdx.x >> (TOP - 1 - level) & 1 ? children.right : children.left;
        }
        const u64 first = (i << levels) + (u64(threadIdx.x) << (levels - TOP));
        expand(tables, key, node, job.output + first);
    }
}
// ANCHOR_END: kernel
