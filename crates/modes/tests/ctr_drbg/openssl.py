"""Prints openssl.txt: answers of OpenSSL's CTR-DRBG, whose entropy is given by its TEST-RAND."""

import ctypes
import ctypes.util
import hashlib
import random

library = ctypes.CDLL(ctypes.util.find_library("crypto"))
pointer = ctypes.c_void_p
for name in ("EVP_RAND_fetch", "EVP_RAND_CTX_new"):
    getattr(library, name).restype = pointer
library.OpenSSL_version.restype = ctypes.c_char_p


class Parameter(ctypes.Structure):
    """OSSL_PARAM."""

    _fields_ = [
        ("key", ctypes.c_char_p),
        ("type", ctypes.c_uint),
        ("data", pointer),
        ("size", ctypes.c_size_t),
        ("returned", ctypes.c_size_t),
    ]


UNSIGNED, TEXT, OCTETS = 2, 4, 5


def succeed(result):
    assert result == 1, "libcrypto refused"


def set_parameters(context, **values):
    array = (Parameter * (len(values) + 1))()
    kept = []
    for i, (key, value) in enumerate(values.items()):
        if isinstance(value, int):
            kind, data, size = UNSIGNED, ctypes.c_uint(value), 4
        elif isinstance(value, str):
            kind, data, size = TEXT, ctypes.create_string_buffer(value.encode()), len(value)
        else:
            kind, data, size = OCTETS, ctypes.create_string_buffer(value, max(1, len(value))), len(value)
        kept.append(data)
        array[i] = Parameter(key.encode(), kind, ctypes.addressof(data), size, 0)
    succeed(library.EVP_RAND_CTX_set_params(pointer(context), array))


def context_of(algorithm, parent=None):
    method = library.EVP_RAND_fetch(None, algorithm.encode(), None)
    context = library.EVP_RAND_CTX_new(pointer(method), pointer(parent))
    assert context, algorithm
    return context


def digits(data):
    return data.hex() or "-"


def line(bits, derives, case, source):
    """One generator: how it is seeded, five steps, and what came out."""
    key, seed = bits // 8, bits // 8 + 16
    entropy_bytes = key if derives else seed
    entropy = source.randbytes(entropy_bytes)
    nonce = source.randbytes([key // 2, key][case % 2] if derives else 0)
    long = [100, 32] if derives else [seed, seed - 5]
    personalization = source.randbytes([0, 1, *long, 0, 17][case])
    parent = context_of("TEST-RAND")
    set_parameters(parent, strength=256)
    set_parameters(parent, test_entropy=entropy, **({"test_nonce": nonce} if nonce else {}))
    succeed(library.EVP_RAND_instantiate(pointer(parent), 256, 0, None, ctypes.c_size_t(0), None))
    drbg = context_of("CTR-DRBG", parent)
    set_parameters(drbg, cipher=f"AES-{bits}-CTR", use_derivation_function=derives)
    # A pointer even where it is empty: OpenSSL has a string of its own for a null one.
    length = ctypes.c_size_t(len(personalization))
    succeed(library.EVP_RAND_instantiate(pointer(drbg), bits, 0, personalization, length, None))
    steps, answers = [], b""
    for number, step in enumerate(["generate", "reseed", "generate", "fresh", "generate"]):
        additional = source.randbytes([0, 1, seed, min(33, seed), 0][(number + case) % 5])
        given = (additional or None, ctypes.c_size_t(len(additional)))
        size = [1, 16, 17, 512, 4096, 65536, 100, 31][(3 * number + case) % 8]
        parts = [step]
        if step != "generate":
            fresh = source.randbytes(entropy_bytes)
            set_parameters(parent, test_entropy=fresh)
            parts.append(digits(fresh))
        if step == "reseed":
            succeed(library.EVP_RAND_reseed(pointer(drbg), 0, None, ctypes.c_size_t(0), *given))
        else:
            parts.append(str(size))
            output = ctypes.create_string_buffer(size)
            resists = int(step == "fresh")
            sized = ctypes.c_size_t(size)
            succeed(library.EVP_RAND_generate(pointer(drbg), output, sized, bits, resists, *given))
            answers += output.raw
        steps.append(":".join([*parts, digits(additional)]))
    seeding = [f"aes-{bits}", str(derives), *map(digits, (entropy, nonce, personalization))]
    return " ".join([*seeding, *steps, hashlib.sha256(answers).hexdigest(), answers[-32:].hex()])


version = library.OpenSSL_version(0).decode()
print(f"# Answers of the CTR-DRBG of {version}, made by openssl.py; `-` is empty.")
print("# cipher, 1 with the derivation function, entropy, nonce, personalization, then steps:")
print("# generate:BYTES:ADDITIONAL, reseed:ENTROPY:ADDITIONAL, fresh:ENTROPY:BYTES:ADDITIONAL (prediction resistance),")
print("# and at the end the SHA-256 of all answers and their last 32 bytes.")
source = random.Random(90)
for bits in (128, 192, 256):
    for derives in (1, 0):
        for case in range(6):
            print(line(bits, derives, case, source))
