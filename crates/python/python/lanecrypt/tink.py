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
import operator
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
    """The plaintext of a `Sealed` as a file that is read and sought; `io.BufferedReader` goes round it.

    It keeps the segment that it opened last, until it is closed: short reads one after the other open each segment once.
    """

    def __init__(self, sealed: Sealed) -> None:
        self._sealed = sealed
        self._position = 0
        self._forget()

    def close(self) -> None:
        self._forget()
        super().close()

    def readable(self) -> bool:
        self._checkClosed()
        return True

    def seekable(self) -> bool:
        self._checkClosed()
        return True

    def readinto(self, buffer: Buffer) -> int:
        self._checkClosed()
        view = memoryview(buffer)
        if view.readonly or not view.c_contiguous:
            return self._sealed.readinto(buffer, self._position)  # which says what is wrong
        view = (view.cast("B") if view.nbytes else view.cast("B", [0]))[: self._left()]
        if view and len(view) >= self._sealed._segment(self._position)[1]:
            count = self._sealed.readinto(view, self._position)
        else:
            count = 0
            while count < len(view):
                part = self._segment_from(self._position + count)[: len(view) - count]
                view[count : count + len(part)] = part
                count += len(part)
        self._position += count
        return count

    def readall(self) -> bytes:
        self._checkClosed()
        left = self._left()
        text = self._sealed.read(self._position, left) if left else b""
        self._position += len(text)
        return text

    def tell(self) -> int:
        self._checkClosed()
        return self._position

    def _left(self) -> int:
        """Bytes from the position on."""
        return max(0, self._sealed.size - self._position)

    def _forget(self) -> None:
        self._kept = 0, b""  # where it begins, and its bytes

    def _segment_from(self, place: int) -> memoryview:
        """What the segment that has this place of the plaintext has from there on: at least a byte."""
        start, kept = self._kept
        if not start <= place < start + len(kept):
            start, length = self._sealed._segment(place)
            kept = self._sealed.read(start, length)
            self._kept = start, kept
        return memoryview(kept)[place - start :]

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._checkClosed()
        bases = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._sealed.size}
        if whence not in bases:
            raise ValueError(f"whence is {whence}; accepted are 0, 1 and 2")
        position = bases[whence] + operator.index(offset)
        if position < 0:
            raise ValueError(f"position {position} is before the beginning")
        self._position = position
        return position
