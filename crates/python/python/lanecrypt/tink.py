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

Tink's libraries open what is sealed here, and the other way round; keysets are Tink's JSON. What was changed, cut off
or sealed under another key raises `NotAuthentic`, a source that changed `SourceChanged`, both a `ValueError`;
reading and writing raise `OSError`.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from ._lanecrypt import (
    DeviceTensor,
    Driver,
    Job,
    Keyset,
    NotAuthentic,
    Plan,
    Sealed,
    SourceChanged,
    open,
    open_bytes,
    open_to_device,
    seal,
    seal_bytes,
    seal_from_device,
    seal_from_device_to_buffer,
    seal_from_device_to_stream,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "DeviceTensor",
    "Driver",
    "Job",
    "Keyset",
    "NotAuthentic",
    "Plan",
    "Reader",
    "Sealed",
    "SourceChanged",
    "open",
    "open_bytes",
    "open_to_device",
    "seal",
    "seal_bytes",
    "seal_from_device",
    "seal_from_device_to_buffer",
    "seal_from_device_to_stream",
]


class Reader(io.RawIOBase):
    """The plaintext of a `Sealed` as a file that is read and sought; `io.BufferedReader` goes round it."""

    def __init__(self, sealed: Sealed) -> None:
        self._sealed = sealed
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        count = self._sealed.readinto(buffer, self._position)
        self._position += count
        return count

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        bases = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._sealed.size}
        if whence not in bases:
            raise ValueError(f"whence is {whence}; accepted are 0, 1 and 2")
        if bases[whence] + offset < 0:
            raise ValueError(f"position {bases[whence] + offset} is before the beginning")
        self._position = bases[whence] + offset
        return self._position
