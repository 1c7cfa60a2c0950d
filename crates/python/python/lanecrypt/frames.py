"""Frames: blocks of GPU memory sealed one by one under one key, many in a call, such as those of a key-value cache.

    key = frames.generate_key()
    names = [f"{model}/{block}/{layer}".encode() for block in blocks for layer in range(len(layers))]
    sealed = frames.seal(key, layers, blocks=blocks, associated_data=names)
    for name, frame in zip(names, frames.split(sealed)):
        store[name] = frame
    ...
    frames.open(key, [store[name] for name in names], layers, blocks=blocks, associated_data=names)

A frame is opened without the others. What was changed, or swapped with a frame of another name, is named by
`NotAuthentic`, a `ValueError`, in its `frames`: its block is zeros then, and all others are complete.

Each frame is a message of XAES-256-GCM, so that any number may be sealed under a key. Its bytes:

    0 to 4     LCF1
    4 to 8     L, bytes of the block, little-endian
    8 to 32    the nonce
    32 to 32+L the ciphertext
    then 16    the tag

>>> from lanecrypt import frames
>>> len(frames.generate_key())
32
>>> frames.sealed_bytes([65536] * 3) == 3 * (65536 + frames.OVERHEAD)
True
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ._lanecrypt import NotAuthentic
from ._lanecrypt import open_frames as open
from ._lanecrypt import seal_frames as seal
from ._lanecrypt import seal_frames_into as seal_into

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["OVERHEAD", "NotAuthentic", "generate_key", "open", "seal", "seal_into", "sealed_bytes", "split"]

#: Bytes that a frame has besides its block.
OVERHEAD = 48


def generate_key() -> bytes:
    """A random key, 32 bytes."""
    return os.urandom(32)


def sealed_bytes(lengths: Iterable[int]) -> int:
    """Bytes of the frames of blocks of these lengths."""
    return sum(length + OVERHEAD for length in lengths)


def split(sealed: Buffer) -> list[memoryview]:
    """Frames that lie one behind the other, as views of the same memory. That they are authentic is not known by then.

    >>> frame = b"LCF1" + (5).to_bytes(4, "little") + bytes(24 + 5 + 16)
    >>> [len(view) for view in split(frame + frame)]
    [53, 53]
    """
    view, frames, at = memoryview(sealed).cast("B"), [], 0
    while at < len(view):
        end = at + OVERHEAD + int.from_bytes(view[at + 4 : at + 8], "little")
        if view[at : at + 4] != b"LCF1" or end > len(view):
            raise ValueError(f"there is no whole frame at byte {at}")
        frames.append(view[at:end])
        at = end
    return frames
