"""Parquet with encrypted columns (Parquet Modular Encryption), opened and sealed in parallel, on the CPU or a GPU.

`open` gives the plaintext file: the same pages, as they were compressed, in a file that any reader takes. With pyarrow:

    keys = parquet.Keys(footer_key, column_keys={"salary": salary_key})
    image = parquet.open("people.parquet", keys)
    table = pyarrow.parquet.read_table(pyarrow.BufferReader(image))

With `device=0` it is a tensor of bytes on that GPU, for libcudf, CuPy or PyTorch, and only ciphertext passed the host. `seal` is the
way back, from bytes, a file or a tensor.

>>> from lanecrypt import parquet
>>> parquet.open(b"PAR1 is not all that a file needs", bytes(16))
Traceback (most recent call last):
ValueError: not a Parquet file: it does not end with PAR1 or PARE

Every page, header and footer has a tag, and nothing is given out unless all are right; what is not authentic is named by
`NotAuthentic`, a `ValueError`. Without a tag are only the pages of `AES_GCM_CTR_V1`, and columns that are not encrypted:
changes there are not noticed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from ._lanecrypt import AESGCM, Image, Keys, NotAuthentic
from ._lanecrypt import open_parquet as open
from ._lanecrypt import seal_parquet as seal

__all__ = ["Image", "Keys", "NotAuthentic", "kms_keys", "open", "seal"]


def kms_keys(unwrap_key: Callable[[bytes, str], bytes]) -> Callable[[bytes], bytes]:
    """Keys of files that pyarrow's `CryptoFactory` wrote, for `open`.

    `unwrap_key` is what the `KmsClient` of pyarrow has: it gets a wrapped key and the name of a master key, and gives the
    key. Keys that are wrapped twice are unwrapped here the second time. A master key's answer is kept for the next
    column. Files whose key material is stored outside of them are refused.
    """
    wrapping_keys: dict[str, bytes] = {}

    def key(metadata: bytes) -> bytes:
        material = json.loads(metadata)
        if material.get("keyMaterialType") != "PKMT1" or not material.get("internalStorage", True):
            raise ValueError("the key's metadata is not key material of pyarrow's (PKMT1) that is stored in the file")
        master, wrapped = material["masterKeyID"], material["wrappedDEK"]
        if not material["doubleWrapping"]:
            return unwrap_key(wrapped, master)
        wrapping_id = material["keyEncryptionKeyID"]
        if wrapping_id not in wrapping_keys:
            wrapping_keys[wrapping_id] = unwrap_key(material["wrappedKEK"], master)
        sealed = base64.b64decode(wrapped)
        return AESGCM(wrapping_keys[wrapping_id]).decrypt(sealed[:12], sealed[12:], base64.b64decode(wrapping_id))

    return key
