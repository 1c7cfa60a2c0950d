"""One-call modes over buffers: the bytes of other implementations, every kind of buffer, and what is refused."""

import array
import concurrent.futures
import ctypes
import mmap
import multiprocessing
import os

import hypothesis
import hypothesis.strategies as st
import pytest

import lanecrypt
from judging import judge

KEYS = {"aes": 32, "aria": 24, "camellia": 16, "des": 8, "tdes": 24, "seed": 16, "sm4": 16, "lea": 24, "hight": 16}
BLOCKS = {"des": 8, "tdes": 8, "hight": 8}
LENGTHS = [0, 1, 15, 16, 17, 4096, 8191, 8192, 100_003, (1 << 20) + 5]
KEY, IV = bytes(range(1, 33)), bytes([0xFF] * 15 + [0xFE])


def whole(length, block):
    return length // block * block


def pyca_bytes(context, data):
    return context.update(bytes(data)) + context.finalize()


@pytest.mark.parametrize("length", LENGTHS)
def test_ctr_is_pycas(pyca, length):
    data = os.urandom(length)
    expected = pyca_bytes(pyca.Cipher(pyca.algorithms.AES(KEY), pyca.modes.CTR(IV)).encryptor(), data)
    mine = bytearray(data)
    lanecrypt.ctr("aes", KEY, IV, mine)
    assert mine == expected
    out = bytearray(length)
    lanecrypt.ctr("AES-256", KEY, IV, data, out)
    assert out == expected


@pytest.mark.parametrize("length", [0, 16, 160, 8192, 1 << 20])
@pytest.mark.parametrize("cipher", ["aes", "camellia", "seed", "sm4", "tdes"])
def test_ecb_and_cbc_are_pycas(pyca, decrepit, cipher, length):
    theirs = {
        "aes": pyca.algorithms.AES,
        "camellia": decrepit.Camellia,
        "seed": decrepit.SEED,
        "sm4": pyca.algorithms.SM4,
        "tdes": decrepit.TripleDES,
    }[cipher]
    key, data = KEY[: KEYS[cipher]], os.urandom(length)
    iv = IV[: BLOCKS.get(cipher, 16)]
    for mode, mine in [
        (pyca.modes.ECB(), lambda data, **how: lanecrypt.ecb(cipher, key, data, **how)),
        (pyca.modes.CBC(iv), lambda data, **how: lanecrypt.cbc(cipher, key, iv, data, **how)),
    ]:
        expected = pyca_bytes(pyca.Cipher(theirs(key), mode).encryptor(), data)
        found = bytearray(data)
        mine(found)
        assert found == expected
        mine(found, decrypt=True)
        assert found == data


@pytest.mark.parametrize("units", [(512, 0, 512 * 9), (4096, 7, 4096 * 300), (512, 1 << 64, 512 * 3 + 77), (33, 0, 33)])
def test_xts_is_pycas(pyca, units):
    unit, first, length = units
    key, data = os.urandom(64), os.urandom(length)
    expected = b""
    for number, start in enumerate(range(0, length, unit)):
        tweak = (first + number).to_bytes(16, "little")
        context = pyca.Cipher(pyca.algorithms.AES(key), pyca.modes.XTS(tweak)).encryptor()
        expected += pyca_bytes(context, data[start : start + unit])
    mine = bytearray(data)
    lanecrypt.xts("aes", key, mine, unit_bytes=unit, first_unit=first)
    assert mine == expected
    lanecrypt.xts("aes-256", key, mine, unit_bytes=unit, first_unit=first, decrypt=True)
    assert mine == data


def test_ciphers_of_pycryptodome():
    crypto = judge("Cryptodome.Cipher.DES"), judge("Cryptodome.Cipher.DES3"), judge("Cryptodome.Cipher.AES")
    for module, name in zip(crypto, ["des", "tdes", "aes"]):
        key, data = os.urandom(KEYS[name]), os.urandom(4800)
        mine = bytearray(data)
        lanecrypt.ecb(name, key, mine)
        assert mine == module.new(key, module.MODE_ECB).encrypt(data)


@pytest.mark.parametrize("cipher", KEYS)
@hypothesis.given(data=st.binary(max_size=70_000), counter=st.binary(min_size=16, max_size=16))
def test_ctr_is_its_own_inverse_everywhere(cipher, data, counter):
    key, counter = KEY[: KEYS[cipher]], counter[: BLOCKS.get(cipher, 16)]
    mine = bytearray(data)
    lanecrypt.ctr(cipher, key, counter, mine, backend="cpu")
    by_name = {"hight": ["bitslice-u64", "table"], "lea": ["wordslice-u32", "reference"]}
    for backend in ["auto", *by_name.get(cipher, ["bitslice-u64", "table32"])]:
        out = bytearray(len(data))
        lanecrypt.ctr(cipher, key, counter, data, out, backend=backend)
        assert out == mine
    lanecrypt.ctr(cipher, key, counter, mine)
    assert mine == data


def buffers(tmp_path, numpy, data):
    """The same bytes in every kind of buffer, each with a function that reads them."""
    yield (it := bytearray(data)), lambda: bytes(it)
    view = memoryview(bytearray(b"x" * 3 + data + b"y"))[3:-1]
    yield view, lambda: bytes(view)
    words = array.array("i", data)
    yield words, words.tobytes
    for dtype, shape in [("uint8", -1), ("float32", -1), ("int16", (4, -1))]:
        matrix = numpy.frombuffer(bytearray(data), dtype=dtype).reshape(shape)
        yield matrix, matrix.tobytes
    with open(tmp_path / "mapped", "w+b") as file:
        file.write(data)
        file.flush()
        mapped = mmap.mmap(file.fileno(), len(data))
        yield mapped, lambda: mapped[:]
        mapped.close()


def test_every_kind_of_buffer(tmp_path, numpy):
    data = os.urandom(40_000)
    expected = bytearray(data)
    lanecrypt.ctr("aes", KEY, IV, expected)
    count = 0
    for buffer, read in buffers(tmp_path, numpy, data):
        lanecrypt.ctr("aes", bytearray(KEY), memoryview(IV), buffer)
        assert read() == expected
        count += 1
    assert count == 7


def test_buffers_without_shape_or_strides(numpy):
    class Pair(ctypes.Structure):
        _fields_ = [("first", ctypes.c_uint32), ("second", ctypes.c_uint64)]

    element = bytearray(8)
    for buffer, read in [
        ((ctypes.c_ubyte * 16)(), bytes),
        ((ctypes.c_uint32 * 2 * 2)(), bytes),
        (multiprocessing.RawArray("B", 16), bytes),
        (Pair(), bytes),
        ((Pair * 3)(), bytes),
        (ctypes.c_uint64(), bytes),
        (memoryview(element).cast("q", shape=[]), lambda _: element),
        (numpy.zeros((), "u8"), lambda array: array.tobytes()),
        ((ctypes.c_ubyte * 0)(), bytes),
    ]:
        expected = bytearray(len(read(buffer)))
        lanecrypt.ctr("aes", KEY, IV, expected)
        lanecrypt.ctr("aes", KEY, IV, buffer)
        assert read(buffer) == expected


def test_what_is_refused(numpy):
    def refuse(kind, text, *arguments, call=lanecrypt.ctr, **options):
        with pytest.raises(kind, match=text):
            call(*arguments, **options)

    data = bytearray(64)
    refuse(BufferError, "data is read-only", "aes", KEY, IV, bytes(64))
    refuse(BufferError, "out is read-only", "aes", KEY, IV, data, bytes(64))
    refuse(BufferError, "data is not contiguous", "aes", KEY, IV, numpy.zeros((8, 8), "uint8")[:, ::2])
    refuse(BufferError, "not contiguous", "aes", KEY, IV, memoryview(data)[::-1])
    refuse(ValueError, "out has 63 bytes; expected are 64", "aes", KEY, IV, data, bytearray(63))
    refuse(ValueError, "overlap", "aes", KEY, IV, memoryview(data)[:32], memoryview(data)[1:33])
    refuse(ValueError, "aes key of 17 bytes; accepted are", "aes", KEY[:17], IV, data)
    refuse(ValueError, "aes key of 16 bytes; accepted are .32.", "aes-256", KEY[:16], IV, data)
    refuse(ValueError, "no cipher \"rot13\"; known are aes", "rot13", KEY, IV, data)
    refuse(ValueError, "CTR IV of 15 bytes; the block of this cipher takes 16", "aes", KEY, IV[:15], data)
    refuse(ValueError, "no backend \"abacus\"; it has reference", "aes", KEY, IV, data, backend="abacus")
    refuse(RuntimeError, "cuda:99|no CUDA|CUDA device", "aes", KEY, IV, data, backend="cuda:99")
    refuse(TypeError, "buffer|bytes-like", "aes", KEY, IV, "text")
    refuse(TypeError, "buffer|bytes-like", "aes", "a key of 16 byte", IV, data)
    refuse(ValueError, "multiple of the 16-byte block", "aes", KEY, bytearray(17), call=lanecrypt.ecb)
    refuse(ValueError, "multiple of the 8-byte block", "des", KEY[:8], IV[:8], bytearray(17), call=lanecrypt.cbc)
    refuse(ValueError, "must not be equal", "aes", KEY * 2, data, call=lanecrypt.xts)
    refuse(ValueError, "data unit of 15 bytes", "aes", KEY, data, call=lanecrypt.xts, unit_bytes=15)
    refuse(ValueError, "at most 2.20 blocks", "aes", KEY, data, call=lanecrypt.xts, unit_bytes=(1 << 24) + 1)
    refuse(ValueError, "two keys", "aes", KEY[:31], data, call=lanecrypt.xts)
    refuse(ValueError, "defined for 16 bytes", "des", KEY[:16], data, call=lanecrypt.xts)
    assert data == bytes(64)


def test_same_memory_as_data_and_out():
    data = bytearray(os.urandom(10_000))
    before = bytes(data)
    lanecrypt.ctr("aes", KEY, IV, data, data)
    lanecrypt.ctr("aes", KEY, IV, memoryview(data), data)
    assert data == before


def test_keys_and_ivs_in_the_data():
    """They are read before anything is written."""
    for call, parts in [
        (lanecrypt.ctr, [slice(32), slice(32, 48)]),
        (lanecrypt.ecb, [slice(32)]),
        (lanecrypt.cbc, [slice(32), slice(32, 48)]),
        (lanecrypt.xts, [slice(32)]),
    ]:
        data, expected = memoryview(bytearray(range(64))), bytearray(range(64))
        call("aes", *[bytes(expected[part]) for part in parts], expected)
        call("aes", *[data[part] for part in parts], data)
        assert data == expected


def test_memory_in_use_is_refused():
    """Two calls over the same memory, of which one writes, have references that Rust must not have."""
    data = bytearray(64 << 20)
    outcomes = []

    def run():
        try:
            lanecrypt.ctr("tdes", KEY[:24], IV[:8], data)
            outcomes.append("ran")
        except BufferError as error:
            assert "another call" in str(error)
            outcomes.append("refused")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(run) for _ in range(4)]:
            future.result()
    assert "ran" in outcomes and "refused" in outcomes
    lanecrypt.ctr("aes", KEY, IV, data)  # nothing stays in use


def test_the_interpreter_is_released():
    """Threads that each have a buffer of their own all come to their end, and others run meanwhile."""
    buffers = [bytearray(16 << 20) for _ in range(4)]
    expected = bytearray(16 << 20)
    lanecrypt.ctr("camellia", KEY, IV, expected)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda buffer: lanecrypt.ctr("camellia", KEY, IV, buffer), buffers))
    assert all(buffer == expected for buffer in buffers)


def in_child(pipe):
    data = bytearray(4 << 20)
    lanecrypt.ctr("aes", KEY, IV, data)
    pipe.send_bytes(bytes(data[-16:]))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_have_threads():
    expected = bytearray(4 << 20)
    lanecrypt.ctr("aes", KEY, IV, expected)  # all threads are there before the fork
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=in_child, args=(sender,))
    child.start()
    assert receiver.poll(60), "the child waits for threads that it has not"
    assert receiver.recv_bytes() == expected[-16:]
    child.join(60)
    assert child.exitcode == 0


def free_bytes():
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable"))


@pytest.mark.skipif(free_bytes() < 6 << 30, reason="takes 4 GiB of memory")
def test_over_four_gib(pyca):
    length = (4 << 30) + 4099
    data = mmap.mmap(-1, length)
    lanecrypt.ctr("aes", KEY, IV, data)
    for offset in [0, (4 << 30) - 16, (4 << 30) + 4080]:
        counter = (int.from_bytes(IV, "big") + offset // 16) % (1 << 128)
        mode = pyca.modes.CTR(counter.to_bytes(16, "big"))
        expected = pyca_bytes(pyca.Cipher(pyca.algorithms.AES(KEY), mode).encryptor(), bytes(19))
        assert data[offset : offset + 19] == expected
    data.close()


def test_devices_and_names():
    assert all(device.number >= 0 and device.name for device in lanecrypt.devices())


def test_self_tests():
    assert lanecrypt.self_test("aes") >= 21
    assert lanecrypt.self_test() >= sum(lanecrypt.self_test(cipher) for cipher in KEYS)
    assert lanecrypt.self_test("sm4", backend="bitslice-u64") == lanecrypt.self_test("sm4")
    assert issubclass(lanecrypt.SelfTestError, RuntimeError)
    with pytest.raises(ValueError, match="there is no cipher"):
        lanecrypt.self_test("rot13")
    with pytest.raises(ValueError, match="no backend"):
        lanecrypt.self_test("aes", backend="rot13")
    # An implementation that not all ciphers have.
    assert lanecrypt.self_test(backend="table32") >= lanecrypt.self_test("aes", backend="table32")
    with pytest.raises(ValueError, match="no backend"):
        lanecrypt.self_test("lea", backend="bitslice-u64")
    assert lanecrypt.self_test(backend="bitslice-u64") > lanecrypt.self_test("aes", backend="bitslice-u64")
    with pytest.raises(ValueError, match="no cipher has a backend .rot13."):
        lanecrypt.self_test(backend="rot13")
