"""Hashes an array on the GPU by a kernel of Numba's that calls lanecrypt.cuh: E(x) + x, a block a thread."""

import cffi
import lanecrypt
import numpy
from numba import cuda

# ANCHOR: use
# Numba calls a function that returns a status and has the address of its result in front.
SOURCE = lanecrypt.cuda_header() + r"""
__constant__ const lanecrypt::AesKeys KEYS = lanecrypt::aes_round_keys(
    {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c});

extern "C" __device__ int hash_blocks(int *result, unsigned char *bytes, unsigned long long count) {
    __shared__ __align__(16) unsigned char shared[lanecrypt::AesTables<1>::SHARED_BYTES];
    const lanecrypt::AesTables<1> tables(shared);
    uint4 *blocks = reinterpret_cast<uint4 *>(bytes);
    unsigned long long i = blockIdx.x * 1ull * blockDim.x + threadIdx.x;
    for (; i < count; i += gridDim.x * blockDim.x) blocks[i] = lanecrypt::aes_mmo(tables, KEYS, blocks[i]);
    *result = 0;
    return 0;
}
"""


def hasher():
    signature = "int32(CPointer(uint8), uint64)"
    hash_blocks = cuda.declare_device("hash_blocks", signature, link=cuda.CUSource(SOURCE))
    ffi = cffi.FFI()

    @cuda.jit
    def kernel(blocks):
        hash_blocks(ffi.from_buffer(blocks), len(blocks) // 16)

    return kernel


def hash_in_place(kernel, blocks) -> None:
    processors = cuda.get_current_device().MULTIPROCESSOR_COUNT
    kernel[2 * processors, 1024](blocks)
# ANCHOR_END: use


def main() -> None:
    block = bytes.fromhex("3243f6a8885a308d313198a2e0370734")  # FIPS 197, appendix B
    encrypted = bytes.fromhex("3925841d02dc09fbdc118597196a0b32")
    expected = bytes(x ^ y for x, y in zip(block, encrypted))
    count = 1_000_003
    blocks = cuda.to_device(numpy.frombuffer(block * count, dtype=numpy.uint8))
    hash_in_place(hasher(), blocks)
    assert blocks.copy_to_host().tobytes() == expected * count, "blocks are wrong"
    print(f"{count} blocks are right")


if __name__ == "__main__":
    main()
