"""Block ciphers across lanes: any buffer in place, on all cores or a GPU.

>>> import lanecrypt
>>> data = bytearray(b"any length, any buffer")
>>> lanecrypt.ctr("aria", bytes(32), bytes(16), data)
>>> lanecrypt.ctr("aria", bytes(32), bytes(16), data)
>>> data
bytearray(b'any length, any buffer')

The functions here take a cipher by its name ("aes", "aria", "camellia", "des", "tdes", "seed", "sm4", "lea", "hight", or with the
size of the key, "aes-256"), a key, and anything with a contiguous buffer: bytearray, memoryview, array, mmap,
numpy. They change it in place, or leave it and fill `out`. Nothing is authenticated: `lanecrypt.aead` and
`lanecrypt.tink` are for that. `lanecrypt.ciphers` has the same over streams, and
`lanecrypt.random` random numbers. `lanecrypt.parquet` opens and seals Parquet with encrypted columns, and `lanecrypt.frames` blocks of
GPU memory.

`backend` is "auto" (CPU or GPU, whichever is faster), "cpu" (all cores), "cuda", "cuda:1" or the name of an implementation
("bitslice-avx512"); a device that is not there is a `RuntimeError`. The environment variable RAYON_NUM_THREADS, set
before the first long call, limits the threads of the CPU. A cipher gives known answers before its first use; where one
is wrong, every call is a `SelfTestError`. The interpreter is released during calls of 8 KiB and
more: other threads go on, and must not touch the buffer meanwhile.
"""

from . import aead, ciphers, frames, parquet, random, tink
from ._lanecrypt import Device, SelfTestError, cbc, ctr, cuda_header, devices, ecb, self_test, xts

__all__ = [
    "Device",
    "SelfTestError",
    "aead",
    "cbc",
    "ciphers",
    "ctr",
    "cuda_header",
    "devices",
    "ecb",
    "frames",
    "parquet",
    "random",
    "self_test",
    "tink",
    "xts",
]
