"""Ciphers with their keys, which are never shown and are cleared with the object."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from .. import _lanecrypt

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["AES", "ARIA", "DES", "HIGHT", "LEA", "SEED", "SM4", "Algorithm", "Camellia", "TripleDES"]


class Algorithm(_lanecrypt.Algorithm):
    """A cipher under a key; sizes are in bits. With a block of 128 bits, XTS takes two keys as one."""

    __slots__ = ()
    name: ClassVar[str]
    block_size: ClassVar[int]
    key_sizes: ClassVar[frozenset[int]]

    def __new__(cls, key: Buffer) -> Self:
        return super().__new__(cls, cls.name.lower().replace("triple", "t"), key)


class AES(Algorithm):
    """AES (FIPS 197)."""

    __slots__ = ()
    name, block_size, key_sizes = "AES", 128, frozenset([128, 192, 256, 384, 512])


class ARIA(Algorithm):
    """ARIA (RFC 5794)."""

    __slots__ = ()
    name, block_size, key_sizes = "ARIA", 128, frozenset([128, 192, 256, 384, 512])


class Camellia(Algorithm):
    """Camellia (RFC 3713)."""

    __slots__ = ()
    name, block_size, key_sizes = "Camellia", 128, frozenset([128, 192, 256, 384, 512])


class SEED(Algorithm):
    """SEED (RFC 4269)."""

    __slots__ = ()
    name, block_size, key_sizes = "SEED", 128, frozenset([128, 256])


class SM4(Algorithm):
    """SM4 (GB/T 32907)."""

    __slots__ = ()
    name, block_size, key_sizes = "SM4", 128, frozenset([128, 256])


class LEA(Algorithm):
    """LEA (KS X 3246)."""

    __slots__ = ()
    name, block_size, key_sizes = "LEA", 128, frozenset([128, 192, 256, 384, 512])


class TripleDES(Algorithm):
    """Triple DES (SP 800-67): EDE with two or three keys."""

    __slots__ = ()
    name, block_size, key_sizes = "TripleDES", 64, frozenset([128, 192])


class DES(Algorithm):
    """DES (FIPS 46-3), for what is old: anybody can try all its keys."""

    __slots__ = ()
    name, block_size, key_sizes = "DES", 64, frozenset([64])


class HIGHT(Algorithm):
    """HIGHT (ISO/IEC 18033-3)."""

    __slots__ = ()
    name, block_size, key_sizes = "HIGHT", 64, frozenset([128])
