"""Ciphers over streams, with the interface of pyca/cryptography's `Cipher`.

>>> from lanecrypt.ciphers import Cipher, algorithms, modes
>>> cipher = Cipher(algorithms.Camellia(bytes(32)), modes.CTR(bytes(16)))
>>> encryptor, decryptor = cipher.encryptor(), cipher.decryptor()
>>> ciphertext = encryptor.update(b"a message ") + encryptor.update(b"in pieces") + encryptor.finalize()
>>> decryptor.update(ciphertext) + decryptor.finalize()
b'a message in pieces'

`update_into(data, buf)` writes into a buffer, which may be the memory of `data`. There is no padding, and but in
GCM nothing is authenticated.
"""

from .._lanecrypt import (
    AEADContext,
    AlreadyFinalized,
    AlreadyUpdated,
    CipherContext,
    InvalidTag,
    NotYetFinalized,
)
from . import algorithms, modes

__all__ = [
    "AEADContext",
    "AlreadyFinalized",
    "AlreadyUpdated",
    "Cipher",
    "CipherContext",
    "InvalidTag",
    "NotYetFinalized",
    "algorithms",
    "modes",
]


class Cipher:
    """A cipher under a key, in a mode; `backend` is as in the functions of `lanecrypt`."""

    __slots__ = ("_algorithm", "_backend", "_mode")

    def __init__(self, algorithm: algorithms.Algorithm, mode: modes.Mode, backend: str | None = None) -> None:
        if not isinstance(mode, modes.Mode):
            raise TypeError(f"mode is a {type(mode).__name__}; expected is one of lanecrypt.ciphers.modes")
        self._algorithm = algorithm
        self._mode = mode
        self._backend = "auto" if backend is None else backend

    def encryptor(self) -> CipherContext | AEADContext:
        """A context that encrypts one message."""
        return self._context(decrypt=False)

    def decryptor(self) -> CipherContext | AEADContext:
        """A context that decrypts one message."""
        return self._context(decrypt=True)

    def _context(self, decrypt: bool) -> CipherContext | AEADContext:
        mode = self._mode
        if isinstance(mode, modes.GCM):
            tag = mode.tag if decrypt else None
            return AEADContext(self._algorithm, mode.iv, tag, mode.min_tag_length, decrypt, self._backend)
        return CipherContext(self._algorithm, mode.name, mode.iv, decrypt, self._backend)
