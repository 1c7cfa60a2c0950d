"""Sealed files: Tink's streaming AEAD, in parallel and at any place.

>>> import pathlib, tempfile
>>> from lanecrypt import tink
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "plain").write_bytes(b"a file")
>>> keyset = tink.Keyset.generate()
>>> tink.seal(keyset, folder / "plain", folder / "sealed")
6
>>> tink.open(keyset, folder / "sealed", folder / "opened")
6
>>> with tink.Sealed(folder / "sealed", keyset) as sealed:
...     sealed.read(2, 4)
b'file'

Tink's libraries open what is sealed here, and the other way round; keysets are Tink's JSON.
"""

from ._lanecrypt import (
    Driver,
    Job,
    Keyset,
    NotAuthentic,
    Plan,
    Sealed,
    SourceChanged,
    open,
    open_bytes,
    seal,
    seal_bytes,
)

__all__ = [
    "Driver",
    "Job",
    "Keyset",
    "NotAuthentic",
    "Sealed",
    "SourceChanged",
    "open",
    "open_bytes",
    "seal",
    "seal_bytes",
]
