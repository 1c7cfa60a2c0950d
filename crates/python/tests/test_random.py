"""Random numbers: from a seed they are the same in any buffer, in memory of a GPU and in any number of calls."""

import array
import ctypes
import inspect
import multiprocessing
import os
import signal
import threading

import numpy as np
import pytest
from test_tensor import device, keyset, wrappers  # noqa: F401, fixtures

import lanecrypt
from lanecrypt import random

DRAWS = {
    "bytes": ("uint8", lambda generator, out: generator.bytes(out=out)),
    "int32": ("int32", lambda generator, out: generator.randint(-5, 2**30, out=out)),
    "uint32": ("uint32", lambda generator, out: generator.randint(0, 2**32, out=out)),
    "int64": ("int64", lambda generator, out: generator.randint(-(2**63), 1, out=out)),
    "uint64": ("uint64", lambda generator, out: generator.randint(7, 2**63 + 8, out=out)),
    "rand32": ("float32", lambda generator, out: generator.rand(out=out)),
    "rand64": ("float64", lambda generator, out: generator.rand(out=out)),
    "randn32": ("float32", lambda generator, out: generator.randn(out=out)),
    "randn64": ("float64", lambda generator, out: generator.randn(out=out)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_are_the_same_however_they_are_drawn(name):
    dtype, draw = DRAWS[name]
    whole = np.zeros(3001, dtype)
    generator = random.Generator(seed=1)
    assert draw(generator, whole) is whole
    assert generator.place == whole.nbytes
    parts = np.zeros_like(whole)
    generator = random.Generator(seed=1)
    for part in np.split(parts, [1, 1, 4, 1000, 2999]):
        draw(generator, part)
    assert (parts == whole).all() and len(np.unique(whole)) > 200


@pytest.mark.parametrize("name", DRAWS)
def test_memory_of_a_gpu_has_the_same_numbers(name, device):  # noqa: F811
    dtype, draw = DRAWS[name]
    expected = np.zeros(1000, dtype)
    draw(random.Generator(seed=2), expected)
    for first in (0, 1):
        found = np.zeros_like(expected)
        for wrapper in wrappers(found[first:]):
            wrapper.dtype = np.dtype(dtype)
            found[:] = 0
            generator = random.Generator(seed=2)
            generator.place = first * found.itemsize
            draw(generator, wrapper)
            assert (found[first:] == expected[first:]).all() and not found[:first].any()


def test_integers_are_those_of_the_range():
    generator = random.Generator(seed=3)
    dice = generator.randint(1, 7, out=array.array("i", bytes(40_000)))
    assert set(dice) == {1, 2, 3, 4, 5, 6}
    assert all(9_000 < 6 * dice.count(pips) < 11_000 for pips in range(1, 7))
    for low, high, out in [(1, 1, "i"), (-1, 3, "I"), (0, 2**31 + 1, "i"), (-(2**63) - 1, 0, "q"), (0, 2**64 + 1, "Q")]:
        with pytest.raises(ValueError, match="range|has"):
            generator.randint(low, high, out=array.array(out, bytes(8)))
    for call in (generator.rand, generator.randn):
        with pytest.raises(TypeError, match="float32 or float64"):
            call(out=bytearray(8))
    with pytest.raises(TypeError, match="int32"):
        generator.randint(0, 2, out=np.zeros(3, "int16"))
    with pytest.raises(ValueError, match="count"):
        generator.bytes(3, out=bytearray(3))


def test_states_and_streams():
    generator = random.Generator(seed=4)
    generator.bytes(1001)
    state = generator.get_state()
    expected = generator.bytes(64)
    assert random.Generator.from_state(state).bytes(64) == expected
    generator.bytes(5)
    generator.set_state(state)
    assert generator.bytes(64) == expected and len(state) == 32
    streams = [generator.stream(number) for number in (0, 1, 2**48 - 1)]
    assert len({stream.bytes(64) for stream in streams}) == 3
    with pytest.raises(ValueError, match="streams are numbered"):
        generator.stream(2**48)
    with pytest.raises(ValueError, match="expected are 32"):
        generator.set_state(state[1:])
    assert state.hex() not in repr(generator)


def child(queue):
    queue.put(random.bytes(32))


def test_nobody_foresees_what_is_shared_not_even_a_fork():
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    children = [context.Process(target=child, args=(queue,)) for _ in range(2)]
    for process in children:
        process.start()
    drawn = {random.bytes(32), *(queue.get() for _ in children)}
    for process in children:
        process.join()
    assert len(drawn) == 3
    assert random.Generator().bytes(32) != random.Generator().bytes(32)
    floats = random.rand(out=np.zeros(10))
    assert (floats < 1).all() and random.randn(out=np.zeros(10)).any()
    assert set(random.randint(0, 2, out=np.zeros(100, "int64"))) == {0, 1}


def test_threads_share_a_generator():
    generator = random.Generator(seed=5)
    outs = [np.zeros(100_000) for _ in range(4)]
    threads = [threading.Thread(target=generator.rand, kwargs={"out": out}) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = random.Generator(seed=5).rand(out=np.zeros(400_000))
    assert {out[0] for out in outs} == set(whole[::100_000])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_does_not_wait_for_a_thread_of_its_parent():
    generator, out, end = random.Generator(seed=6), np.zeros(2_000_000), threading.Event()

    def draw():
        while not end.is_set():
            generator.randn(out=out)

    def code_of_a_child():
        child = os.fork()
        if child:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        code = 3
        try:
            signal.alarm(20)
            generator.bytes(1 << 20)
            code = 0
        except RuntimeError as error:
            code = 1 if "when the process was forked" in str(error) else 2
        finally:
            os._exit(code)

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        codes = []
        while set(codes) <= {0} and len(codes) < 200:
            codes.append(code_of_a_child())
    finally:
        end.set()
        thread.join()
    assert 1 in codes and set(codes) <= {0, 1}, codes
    # A child of a process that does not draw goes on with the numbers of its parent.
    assert code_of_a_child() == 0


def test_arrays_of_ctypes_have_the_same_numbers():
    out = random.Generator(seed=7).randn(out=(ctypes.c_double * 100)())
    assert list(out) == list(random.Generator(seed=7).randn(out=np.zeros(100)))


def test_the_package_has_it():
    assert lanecrypt.random is random
    for function in (random.bytes, random.rand, random.randint, random.randn):
        signature = inspect.signature(function)
        assert signature.return_annotation is not signature.empty
        assert all(argument.annotation is not argument.empty for argument in signature.parameters.values())
