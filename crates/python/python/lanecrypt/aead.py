"""GCM over whole messages, with the interface of pyca/cryptography's `aead`.

>>> from lanecrypt.aead import AESGCM
>>> key = AESGCM.generate_key(bit_length=256)
>>> sealed = AESGCM(key).encrypt(b"never twice!", b"a message", b"header")
>>> AESGCM(key).decrypt(b"never twice!", sealed, b"header")
b'a message'

A message that was changed raises `InvalidTag`, and nothing of it is given out. Keep the object where there are
many messages: making it costs as much as a short message.
"""

from ._lanecrypt import AESGCM, ARIAGCM, CamelliaGCM, InvalidTag

__all__ = ["AESGCM", "ARIAGCM", "CamelliaGCM", "InvalidTag"]
