"""Camellia, SEED and triple DES by the `cryptography` wheel: prints a digest of what it encrypts.

With lanecrypt.so in its OpenSSL it must be the same as without; `lanecrypt` as argument asks for it.
"""

import hashlib
import sys
import warnings

warnings.simplefilter("ignore")
from cryptography.hazmat.primitives.ciphers import Cipher, modes  # noqa: E402

try:
    from cryptography.hazmat.decrepit.ciphers import algorithms
except ImportError:
    from cryptography.hazmat.primitives.ciphers import algorithms
try:
    from cryptography.hazmat.decrepit.ciphers.modes import CFB, OFB
except ImportError:
    CFB, OFB = modes.CFB, modes.OFB

digest = hashlib.sha256()
data = bytes(i * i >> 7 & 0xFF for i in range(48000))
ciphers = [(n, size) for n, sizes in (("Camellia", (16, 24, 32)), ("TripleDES", (24,))) for size in sizes]
for name, size in ciphers:
    algorithm = getattr(algorithms, name, None)
    if algorithm is None:
        from cryptography.hazmat.primitives.ciphers import algorithms as others

        algorithm = getattr(others, name)
    key = algorithm(bytes(range(size)))
    iv = bytes(range(7, 7 + key.block_size // 8))
    for mode in (modes.CBC(iv), modes.ECB(), CFB(iv), OFB(iv)):
        encryptor = Cipher(key, mode).encryptor()
        sealed = b"".join(encryptor.update(data[i : i + 7000]) for i in range(0, len(data), 7000))
        sealed += encryptor.finalize()
        decryptor = Cipher(key, mode).decryptor()
        assert decryptor.update(sealed) + decryptor.finalize() == data, (name, mode)
        digest.update(sealed)
loaded = "lanecrypt.so" in open("/proc/self/maps").read()
assert loaded == (sys.argv[1:] == ["lanecrypt"]), "is the module loaded?"
print(digest.hexdigest())
