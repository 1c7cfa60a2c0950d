"""Random numbers for cryptography and for simulations, into buffers and into memory of GPUs.

>>> import array, lanecrypt.random
>>> noise = lanecrypt.random.randn(out=array.array("f", [0.0] * 1000))
>>> abs(sum(noise)) < 200
True

`out` is anything with a contiguous buffer, such as an array of NumPy, or a tensor of PyTorch, CuPy or JAX on a GPU, which is
filled where it lies. The functions here share a generator that nobody can foresee, and that a process which was forked
has anew. `Generator` has numbers that can be repeated: the same from a seed on a CPU and on a GPU, in one call or in many,
with streams that never meet and a state that can be saved.

The key stream is AES-128 in counter mode, under a key of `CTR_DRBG` (SP 800-90A). On a GPU, AES looks up in tables.
"""

from __future__ import annotations

import builtins
import os
from typing import TYPE_CHECKING, overload

from ._lanecrypt import Generator

if TYPE_CHECKING:
    from typing import Any

    from ._lanecrypt import _Out

__all__ = ["Generator", "bytes", "rand", "randint", "randn"]


def _renew() -> None:
    """Takes another key: at first, and in a process that was forked, whose parent has the old one."""
    global _shared
    _shared = Generator()


_renew()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


@overload
def bytes(count: int) -> builtins.bytes: ...


@overload
def bytes(count: None = None, *, out: _Out) -> _Out: ...


def bytes(count: int | None = None, *, out: Any = None) -> Any:
    """Random bytes: `count` of them, or as many as `out` has; returns them, or `out`.

    >>> import lanecrypt.random
    >>> len(lanecrypt.random.bytes(20))
    20
    """
    return _shared.bytes(count, out=out)  # type: ignore[call-overload]


def randint(low: int, high: int, *, out: _Out) -> _Out:
    """Fills `out`, of int32, uint32, int64 or uint64, with integers from `low` to below `high`, each as likely."""
    return _shared.randint(low, high, out=out)


def rand(*, out: _Out) -> _Out:
    """Fills `out`, of float32 or float64, with numbers in [0, 1)."""
    return _shared.rand(out=out)


def randn(*, out: _Out) -> _Out:
    """Fills `out`, of float32 or float64, with numbers of the standard normal distribution."""
    return _shared.randn(out=out)
