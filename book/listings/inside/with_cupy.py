"""Hashes an array on the GPU by a kernel of CuPy's that calls lanecrypt.cuh: E(x) + x, a block a thread."""

import cupy
import lanecrypt

# ANCHOR: use
SOURCE = lanecrypt.cuda_header() + r"""
__constant__ const lanecrypt::AesKeys KEYS = lanecrypt::aes_round_keys(
    {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c});

extern "C" __global__ void __launch_bounds__(1024) hash_blocks(uint4 *blocks, unsigned long long count) {
    extern __shared__ __align__(16) unsigned char shared[];
    const lanecrypt::AesTables<> tables(shared);
    unsigned long long i = blockIdx.x * 1024ull + threadIdx.x;
    for (; i < count; i += gridDim.x * 1024ull) blocks[i] = lanecrypt::aes_mmo(tables, KEYS, blocks[i]);
}
"""
SHARED_BYTES = 128 * 1024  # AesTables<>::SHARED_BYTES


def hasher() -> cupy.RawKernel:
    kernel = cupy.RawKernel(SOURCE, "hash_blocks", options=("-std=c++17",))
    kernel.max_dynamic_shared_size_bytes = SHARED_BYTES
    return kernel


def hash_in_place(kernel: cupy.RawKernel, blocks: cupy.ndarray) -> None:
    processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
    kernel((processors,), (1024,), (blocks, cupy.uint64(blocks.nbytes // 16)), shared_mem=SHARED_BYTES)
# ANCHOR_END: use


def main() -> None:
    block = bytes.fromhex("3243f6a8885a308d313198a2e0370734")  # FIPS 197, appendix B
    encrypted = bytes.fromhex("3925841d02dc09fbdc118597196a0b32")
    expected = bytes(x ^ y for x, y in zip(block, encrypted))
    count = 1_000_003
    blocks = cupy.asarray(bytearray(block * count), dtype=cupy.uint8)
    hash_in_place(hasher(), blocks)
    assert blocks.get().tobytes() == expected * count, "blocks are wrong"
    print(f"{count} blocks are right")


if __name__ == "__main__":
    main()
