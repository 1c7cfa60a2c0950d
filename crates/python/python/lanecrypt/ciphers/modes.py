"""Modes of operation, with what a message begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["CBC", "CFB", "CTR", "ECB", "GCM", "OFB", "XTS", "Mode"]


class Mode:
    """A mode, and its IV, counter or tweak if it has one."""

    __slots__ = ("iv",)
    name: ClassVar[str] = ""

    def __init__(self, iv: Buffer) -> None:
        # Of an int, `bytes` alone makes as many zeros.
        self.iv = bytes(memoryview(iv))


class ECB(Mode):
    """Every block by itself: equal blocks stay equal."""

    __slots__ = ()
    name = "ECB"

    def __init__(self) -> None:
        super().__init__(b"")


class CBC(Mode):
    """Blocks chained by their ciphertext (SP 800-38A); whole blocks."""

    __slots__ = ()
    name = "CBC"

    @property
    def initialization_vector(self) -> bytes:
        """The IV, a block."""
        return self.iv


class CFB(CBC):
    """Cipher feedback with segments of a block (SP 800-38A); any length."""

    __slots__ = ()
    name = "CFB"


class OFB(CBC):
    """Output feedback (SP 800-38A); any length."""

    __slots__ = ()
    name = "OFB"


class CTR(Mode):
    """A counter of a whole block, big-endian, which wraps; any length."""

    __slots__ = ()
    name = "CTR"

    @property
    def nonce(self) -> bytes:
        """The first counter, a block."""
        return self.iv


class XTS(Mode):
    """One data unit (IEEE 1619), of 16 bytes to 2^20 blocks, with a tweak of 16 bytes; all of it in one update."""

    __slots__ = ()
    name = "XTS"

    @property
    def tweak(self) -> bytes:
        """The tweak: the number of the data unit, least significant byte first."""
        return self.iv


class GCM(CBC):
    """Galois counter mode (SP 800-38D), with a tag of at least `min_tag_length` bytes to decrypt."""

    __slots__ = ("min_tag_length", "tag")
    name = "GCM"

    def __init__(self, initialization_vector: Buffer, tag: bytes | None = None, min_tag_length: int = 16) -> None:
        super().__init__(initialization_vector)
        if min_tag_length < 4:
            raise ValueError(f"min_tag_length is {min_tag_length}; tags have 4 bytes at least")
        if not 8 <= len(self.iv) <= 128:
            raise ValueError(f"initialization_vector has {len(self.iv)} bytes; accepted are 8 to 128")
        if tag is not None and not min_tag_length <= len(tag) <= 16:
            raise ValueError(f"tag has {len(tag)} bytes; accepted are {min_tag_length} to 16")
        self.tag = tag
        self.min_tag_length = min_tag_length
