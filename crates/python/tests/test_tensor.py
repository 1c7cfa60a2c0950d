"""Tensors: memory of a GPU that others own is encrypted where it lies, sealed files go there and back.

It runs on the host build of the kernels, a wheel with the cargo feature `host-kernels`: there memory of the GPU is
memory of numpy, and objects of this file say that it is a GPU's. `on_gpu.py` is for machines with a GPU.
"""

import ctypes
import errno
import gc
import io
import os
import socket
import threading
import time
import types

import numpy as np
import pytest

import lanecrypt
from lanecrypt import frames, parquet, tink
from lanecrypt.aead import AESGCM
from lanecrypt.ciphers import Cipher, algorithms, modes

CUDA, CPU = 2, 1
KEY, IV = bytes(range(32)), bytes(range(7, 23))


@pytest.fixture(scope="module")
def keyset():
    return tink.Keyset.generate("AES128_GCM_HKDF_4KB")


@pytest.fixture(scope="module", autouse=True)
def device(tmp_path_factory, keyset):
    """A wheel without the host build of the kernels has no device here: skipped, unless it must be there."""
    path = tmp_path_factory.mktemp("device") / "sealed"
    path.write_bytes(tink.seal_bytes(keyset, b"hello"))
    try:
        assert tink.open_to_device(path, keyset).tobytes() == b"hello"
    except RuntimeError as error:
        if "LANECRYPT_HOST_KERNELS" in os.environ:
            raise
        pytest.skip(f"no device, and no wheel with host-kernels: {error}")


class Interface:
    """An array with `__cuda_array_interface__`."""

    def __init__(self, array, read_only=False, **entries):
        self.array, self.read_only, self.entries = array, read_only, entries

    @property
    def __cuda_array_interface__(self):
        entries = {
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (self.array.ctypes.data if self.array.size else 0, self.read_only),
            "version": 3,
            "strides": None if self.array.flags.c_contiguous else self.array.strides,
        }
        return entries | self.entries


class Cupy(Interface, bytearray):
    """An array of a type with buffers, which CuPy's refuse to give; the one here has nothing in it."""


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
name_of = ctypes.pythonapi.PyCapsule_GetName
name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.restype, set_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
USED = b"used_dltensor"


class DLPack:
    """A tensor of DLPack over an array, from byte `offset` on, that counts its capsules and deleted tensors."""

    def __init__(self, array, version=None, flags=0, offset=0, kind=CUDA, bits=None, strides=None):
        self.array, self.version, self.flags, self.offset = array, version, flags, offset
        self.kind, self.bits = kind, bits or 8 * array.itemsize
        self.strides = strides or [stride // array.itemsize for stride in array.strides]
        self.made, self.deleted, self.held, self.streams = 0, 0, [], []

    def __dlpack_device__(self):
        return (self.kind, 0)

    def tensor(self):
        dimensions = self.array.ndim
        shape = (ctypes.c_int64 * dimensions)(*self.array.shape)
        strides = (ctypes.c_int64 * dimensions)(*self.strides)
        self.held += [shape, strides]
        data = self.array.ctypes.data - self.offset
        return Tensor(data, self.kind, 0, dimensions, 1, self.bits, 1, shape, strides, self.offset)

    def delete(self, _):
        self.deleted += 1

    def capsule(self, stream):
        self.streams.append(stream)
        self.made += 1
        deleter = Deleter(self.delete)
        if self.version is None:
            managed, name = Managed(self.tensor(), None, deleter), b"dltensor"
        else:
            managed = Versioned(*self.version, None, deleter, self.flags, self.tensor())
            name = b"dltensor_versioned"
        self.held += [managed, deleter, name]
        self.last = new_capsule(ctypes.addressof(managed), name, None)
        return self.last

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        assert max_version >= (1, 0) and copy is False
        return self.capsule(stream)


class Old(DLPack):
    """As packages are that know no version."""

    def __dlpack__(self, *, stream=None):
        return self.capsule(stream)


def wrappers(array):
    interfaces = [Interface(array), Interface(array, stream=1), Cupy(array, stream=1)]
    return [*interfaces, DLPack(array), DLPack(array, version=(1, 0)), Old(array)]


MODES = {
    "ctr": lambda data, **more: lanecrypt.ctr("aes", KEY, IV, data, **more),
    "ctr of tdes": lambda data, **more: lanecrypt.ctr("tdes", KEY[:24], IV[:8], data, **more),
    "ecb": lambda data, **more: lanecrypt.ecb("camellia", KEY, data, **more),
    "ecb, decrypted": lambda data, **more: lanecrypt.ecb("hight", KEY[:16], data, decrypt=True, **more),
    "cbc": lambda data, **more: lanecrypt.cbc("aria", KEY, IV, data, **more),
    "cbc, decrypted": lambda data, **more: lanecrypt.cbc("seed", KEY[:16], IV, data, decrypt=True, **more),
    "xts": lambda data, **more: lanecrypt.xts("aes", KEY, data, unit_bytes=64, first_unit=1 << 70, **more),
    "xts, decrypted": lambda data, **more: lanecrypt.xts("aria", KEY, data, unit_bytes=48, decrypt=True, **more),
}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES.keys())
def test_modes_run_where_tensors_lie(mode):
    for start, elements in [(0, 100), (1, 60), (3, 16), (0, 0)]:
        room = np.frombuffer(os.urandom(8 * 120), np.uint8).copy()
        before = room.tobytes()
        array = room[start : start + 8 * elements]
        expected = bytearray(array)
        mode(expected)
        for wrapper in wrappers(array):
            room[:] = np.frombuffer(before, np.uint8)
            mode(wrapper)
            assert array.tobytes() == expected
            assert room[:start].tobytes() + room[start + 8 * elements :].tobytes() == (
                before[:start] + before[start + 8 * elements :]
            )
            room[:] = np.frombuffer(before, np.uint8)
            out = np.full(8 * elements, 7, np.uint8)
            mode(wrapper, out=Interface(out))
            assert out.tobytes() == expected and room.tobytes() == before


def test_the_deleter_is_called_once():
    for make in [lambda array: DLPack(array, version=(1, 1)), DLPack, Old]:
        tensor = make(np.zeros(64, np.uint8))
        for calls in [1, 2]:
            lanecrypt.ctr("aes", KEY, IV, tensor)
            assert tensor.made == tensor.deleted == calls and tensor.streams[-1] == 1
            assert name_of(tensor.last).startswith(b"used_dltensor")
        with pytest.raises(ValueError):
            lanecrypt.ctr("aes", KEY[:7], IV, tensor)
        with pytest.raises(ValueError):
            lanecrypt.ecb("aes", KEY, DLPack(np.zeros(15, np.uint8)))
        assert tensor.made == tensor.deleted == 3


def test_elements_of_any_type_and_shape():
    for array in [np.zeros((3, 5, 2), np.float32), np.zeros((4, 1, 8), np.int64)[:, ::-1], np.zeros((), np.complex128)]:
        expected = bytearray(array.nbytes)
        lanecrypt.ctr("aes", KEY, IV, expected)
        for wrapper in wrappers(array):
            array[...] = 0
            lanecrypt.ctr("aes", KEY, IV, wrapper)
            assert array.tobytes() == expected


def refused(error, match, wrapper, **more):
    with pytest.raises(error, match=match):
        lanecrypt.ctr("aes", KEY, IV, wrapper, **more)


def test_what_does_not_fit_is_refused():
    array = np.arange(64, dtype=np.uint8)
    before = array.tobytes()
    for wrapper in wrappers(np.zeros((8, 8), np.uint16)[:, ::2]) + wrappers(np.zeros((4, 4), np.uint16).T):
        refused(BufferError, "not contiguous", wrapper)
    refused(BufferError, "read-only", Interface(array, read_only=True))
    refused(BufferError, "read-only", DLPack(array, version=(1, 0), flags=1))
    refused(BufferError, "gave a copy", DLPack(array, version=(1, 0), flags=2))
    refused(BufferError, "version 2.0", DLPack(array, version=(2, 0)))
    refused(BufferError, "4 bits", DLPack(array, bits=4))
    refused(BufferError, "mask", Interface(array, mask=array))
    refused(ValueError, "stream of data is 0", Interface(array, stream=0))
    refused(ValueError, "typestr", Interface(array, typestr="uint8"))
    refused(ValueError, "too large", Interface(array, shape=(1 << 40, 1 << 40)))
    refused(TypeError, "kind 1", DLPack(array, kind=CPU))
    refused(ValueError, "out has 63 bytes; expected are 64", Interface(array), out=Interface(array[1:]))
    refused(ValueError, "overlap", Interface(array[:60]), out=Interface(array[4:]))
    refused(ValueError, "both are, or none is", Interface(array), out=bytearray(64))
    refused(ValueError, "both are, or none is", bytearray(64), out=Interface(array))
    refused(ValueError, "for a tensor it is auto", Interface(array), backend="cpu")
    refused(ValueError, "for a tensor it is auto", Interface(array), backend="bitslice-u64")
    with pytest.raises(ValueError, match="block"):
        lanecrypt.cbc("aes", KEY, IV, Interface(array[:33]))
    with pytest.raises(ValueError, match="equal"):
        lanecrypt.xts("aes", bytes(64), Interface(array))

    class Used(DLPack):
        def capsule(self, stream):
            capsule = super().capsule(stream)
            assert set_name(capsule, USED) == 0
            return capsule

    refused(BufferError, "nobody has used", Used(array))
    assert array.tobytes() == before


def test_in_place_is_the_same_tensor():
    array = np.zeros(64, np.uint8)
    lanecrypt.ctr("aes", KEY, IV, Interface(array), out=DLPack(array))
    expected = bytearray(64)
    lanecrypt.ctr("aes", KEY, IV, expected)
    assert array.tobytes() == expected


def test_every_owners_stream_is_waited_for(tmp_path, keyset):
    """The host build has CUDA's default stream alone, and refuses to wait for another."""
    array, other = np.zeros(64, np.uint8), np.zeros(64, np.uint8)
    theirs = Interface(array, stream=2)
    for call in [
        lambda: lanecrypt.ctr("aes", KEY, IV, theirs),
        lambda: lanecrypt.ctr("aes", KEY, IV, theirs, out=Interface(array)),
        lambda: lanecrypt.ctr("aes", KEY, IV, Interface(array), out=theirs),
        lambda: lanecrypt.ctr("aes", KEY, IV, theirs, out=Interface(other)),
        lambda: lanecrypt.ctr("aes", KEY, IV, Interface(other), out=theirs),
        lambda: lanecrypt.random.bytes(out=theirs),
        lambda: frames.seal(KEY, theirs),
        lambda: tink.seal_from_device_to_buffer(theirs, bytearray(keyset.sealed_bytes(64)), keyset),
        lambda: parquet.seal(theirs, tmp_path / "sealed", KEY),
    ]:
        with pytest.raises(RuntimeError, match="the stream is not of the primary context"):
            call()
    assert not array.any() and not other.any()


def test_what_is_short_runs_on_a_device():
    def all_of(backend):
        data = bytearray(range(96))
        lanecrypt.ctr("aes", KEY, IV, data, backend=backend)
        lanecrypt.xts("aes", KEY + IV * 2, data, backend=backend)
        gcm = AESGCM(KEY, backend=backend)
        sealed = gcm.encrypt(IV, data, b"header")
        assert gcm.decrypt(IV, sealed, b"header") == data
        for mode in [modes.CBC(IV), modes.CTR(IV), modes.GCM(IV)]:
            encryptor = Cipher(algorithms.AES(KEY), mode, backend=backend).encryptor()
            sealed += encryptor.update(data[:40]) + encryptor.update(data[40:]) + encryptor.finalize()
        return sealed + encryptor.tag

    assert all_of("host-bitslice") == all_of("cpu")


@pytest.mark.parametrize("template", ["AES128_GCM_HKDF_4KB", "AES256_CTR_HMAC_SHA256_4KB"])
def test_sealed_files_go_to_a_device_and_back(tmp_path, template):
    keyset = tink.Keyset.generate(template)
    sealed, again = tmp_path / "sealed", tmp_path / "again"
    for size in [0, 1, 5000, 100_000]:
        plain = os.urandom(size)
        sealed.write_bytes(tink.seal_bytes(keyset, plain, associated_data=b"weights"))
        seen = []
        tensor = tink.open_to_device(sealed, keyset, associated_data=b"weights", progress=seen.append)
        assert tensor.tobytes() == plain and seen[-1] == size
        assert (tensor.nbytes, len(tensor), tensor.shape, tensor.dtype, tensor.device) == (size, size, (size,), "uint8", 0)
        assert f"{size} bytes" in repr(tensor)
        for held in [tensor, Interface(np.frombuffer(plain, np.uint8), read_only=True)]:
            assert tink.seal_from_device(held, again, keyset, associated_data=b"weights") == size
            assert tink.open_bytes(keyset, again.read_bytes(), associated_data=b"weights") == plain
    part = tink.open_to_device(sealed, keyset, associated_data=b"weights", offset=4321, length=77_777)
    assert part.tobytes() == plain[4321 : 4321 + 77_777]
    with pytest.raises(ValueError, match="100001"):
        tink.open_to_device(sealed, keyset, associated_data=b"weights", offset=1, length=100_000)


@pytest.mark.parametrize("template", ["AES128_GCM_HKDF_4KB", "AES256_CTR_HMAC_SHA256_4KB"])
def test_tensors_are_sealed_into_buffers(template):
    keyset = tink.Keyset.generate(template)
    for size in [0, 1, 4000, 100_000]:
        plain = os.urandom(size)
        tensor = Interface(np.frombuffer(plain, np.uint8), read_only=True)
        sealed = np.full(keyset.sealed_bytes(size), 7, np.uint8)
        seen = []
        named = {"associated_data": b"weights", "progress": seen.append}
        assert tink.seal_from_device_to_buffer(tensor, sealed, keyset, **named) == size
        assert tink.open_bytes(keyset, sealed, associated_data=b"weights") == plain
        assert seen[-1] == size
        for wrong in [bytearray(len(sealed) - 1), bytearray(len(sealed) + 1)]:
            with pytest.raises(ValueError, match=str(len(sealed))):
                tink.seal_from_device_to_buffer(tensor, wrong, keyset)
    with pytest.raises(BufferError, match="read-only"):
        tink.seal_from_device_to_buffer(tensor, bytes(len(sealed)), keyset)
    with pytest.raises(TypeError, match="not memory of a GPU"):
        tink.seal_from_device_to_buffer(plain, sealed, keyset)


class Few:
    """A writer that takes at most 1,000 bytes at once, and raises after so many."""

    def __init__(self, most=1 << 30):
        self.taken, self.most = bytearray(), most

    def write(self, data):
        if len(self.taken) + len(data) > self.most:
            raise LookupError("no more")
        self.taken += data[:1000]
        return min(len(data), 1000)


@pytest.mark.parametrize("template", ["AES128_GCM_HKDF_4KB", "AES256_CTR_HMAC_SHA256_4KB"])
def test_tensors_are_sealed_for_streams(template):
    keyset = tink.Keyset.generate(template)
    plain = os.urandom(1_000_000)
    tensor = Interface(np.frombuffer(plain, np.uint8), read_only=True)

    def received(seal):
        ours, theirs = socket.socketpair()
        parts = []
        reader = threading.Thread(target=lambda: parts.extend(iter(lambda: theirs.recv(1 << 16), b"")))
        reader.start()
        with theirs, ours:
            assert seal(ours) == len(plain)
            ours.sendall(b"")  # it is still open
            ours.shutdown(socket.SHUT_WR)
            reader.join()
        return b"".join(parts)

    def with_timeout(ours):
        ours.settimeout(30)
        return tink.seal_from_device_to_stream(tensor, ours, keyset)

    few, whole = Few(), io.BytesIO()
    assert tink.seal_from_device_to_stream(tensor, few, keyset) == len(plain)
    assert tink.seal_from_device_to_stream(tensor, whole, keyset) == len(plain)
    for sealed in [
        few.taken,
        whole.getvalue(),
        received(lambda ours: tink.seal_from_device_to_stream(tensor, ours, keyset)),
        received(with_timeout),
    ]:
        assert tink.open_bytes(keyset, sealed) == plain
    for most in [0, 10, 5_000, 900_000]:
        few = Few(most)
        with pytest.raises(LookupError, match="no more"):
            tink.seal_from_device_to_stream(tensor, few, keyset)
        with pytest.raises(ValueError):
            tink.open_bytes(keyset, few.taken)
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours, pytest.raises(BrokenPipeError):
        tink.seal_from_device_to_stream(tensor, ours, keyset)
    with pytest.raises(TypeError, match="neither sendall nor write"):
        tink.seal_from_device_to_stream(tensor, object(), keyset)


def test_a_raw_stream_that_takes_nothing():
    keyset = tink.Keyset.generate("AES128_GCM_HKDF_4KB")
    plain = os.urandom(1_000_000)
    tensor = Interface(np.frombuffer(plain, np.uint8), read_only=True)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with open(reader, "rb"), open(writer, "wb", buffering=0) as raw, pytest.raises(BlockingIOError) as raised:
        tink.seal_from_device_to_stream(tensor, raw, keyset)
    assert raised.value.errno == errno.EAGAIN
    taken = bytearray()
    tink.seal_from_device_to_stream(tensor, types.SimpleNamespace(write=taken.extend), keyset)  # it says nothing
    assert tink.open_bytes(keyset, taken) == plain


@pytest.mark.parametrize("template", ["AES128_GCM_HKDF_4KB", "AES256_CTR_HMAC_SHA256_4KB"])
def test_a_peer_that_takes_nothing_is_not_waited_for(template):
    keyset = tink.Keyset.generate(template)
    tensor = Interface(np.frombuffer(os.urandom(4_000_000), np.uint8), read_only=True)

    def stop(done):
        raise LookupError("enough")

    ours, theirs = socket.socketpair()
    late = threading.Timer(30, theirs.close)
    late.start()
    start = time.monotonic()
    with ours, theirs, pytest.raises(LookupError, match="enough"):
        tink.seal_from_device_to_stream(tensor, ours, keyset, progress=stop)
    late.cancel()
    assert time.monotonic() - start < 20


def test_frames_of_blocks():
    key = frames.generate_key()
    layers = [np.frombuffer(os.urandom(10 * 4096), np.uint8).reshape(10, 4096).copy() for _ in range(3)]
    tensors = [Interface(layers[0]), DLPack(layers[1]), Interface(layers[2])]
    plain = [layer.copy() for layer in layers]
    blocks = [7, 0, 9]
    names = [f"{block} of {layer}".encode() for block in blocks for layer in range(3)]
    sealed = frames.seal(key, tensors, blocks=blocks, associated_data=names)
    assert len(sealed) == frames.sealed_bytes([4096] * 9)
    into = bytearray(len(sealed))
    assert frames.seal_into(into, key, tensors, blocks=blocks, associated_data=names) == len(sealed)
    assert into != sealed
    for given in [sealed, into, frames.split(sealed), tuple(bytes(frame) for frame in frames.split(into))]:
        for layer in layers:
            layer[:] = 0x77
        assert frames.open(key, given, tensors, blocks=blocks, associated_data=names) == []
        for layer, before in zip(layers, plain):
            assert (layer[blocks] == before[blocks]).all()
            others = [block for block in range(10) if block not in blocks]
            assert (layer[others] == 0x77).all()
    given = frames.split(sealed)
    given[2], given[4] = given[4], given[2]
    given[8] = given[8][:-1]
    with pytest.raises(frames.NotAuthentic, match="frames 2, 4, 8") as raised:
        frames.open(key, given, tensors, blocks=blocks, associated_data=names)
    assert raised.value.frames == [2, 4, 8]
    assert frames.open(key, given, tensors, blocks=blocks, associated_data=names, strict=False) == [2, 4, 8]
    assert not layers[2][7].any() and not layers[1][0].any() and (layers[0][7] == plain[0][7]).all()
    every = list(range(9))
    assert frames.open(bytes(32), sealed, tensors, blocks=blocks, associated_data=names, strict=False) == every
    assert frames.open(key, sealed, tensors, blocks=blocks, strict=False) == every


def test_frames_of_tensors_and_what_is_refused():
    key = bytes(range(32))
    arrays = [np.arange(length, dtype=np.uint8) for length in [0, 1, 16, 33, 200]]
    tensors = [Interface(array) for array in arrays]
    sealed = frames.seal(key, tensors)
    back = [np.zeros_like(array) for array in arrays]
    assert frames.open(key, sealed, [Interface(array) for array in back]) == []
    assert all((one == other).all() for one, other in zip(arrays, back))
    one = frames.seal(key, tensors[4])
    frames.open(key, one, Interface(back[4]))
    frames.open(key, [one], [Interface(back[4])])
    into = bytearray(b"name" + bytes(len(one) - 4))
    assert frames.seal_into(into, key, tensors[4], associated_data=[memoryview(into)[:4]]) == len(one)
    frames.open(key, into, Interface(back[4]), associated_data=[b"name"])
    assert frames.seal(key, []) == b"" and frames.open(key, b"", []) == []
    assert frames.seal(key, tensors, blocks=[]) == b""
    for call, error, text in [
        (lambda: frames.seal(bytes(31), tensors), ValueError, "32"),
        (lambda: frames.seal(key, tensors, associated_data=[b"a"]), ValueError, "expected are 5"),
        (lambda: frames.seal(key, tensors[4], blocks=[0, 200]), IndexError, "block 200"),
        (lambda: frames.seal(key, [bytes(4)]), TypeError, "not memory of a GPU"),
        (lambda: frames.seal_into(bytearray(5), key, tensors), ValueError, "5 bytes"),
        (lambda: frames.open(key, sealed, tensors[:4]), ValueError, "5 frames"),
        (lambda: frames.open(key, sealed[:-1], tensors), ValueError, "frame"),
        (lambda: frames.open(key, sealed, [tensors[4]] * 5), ValueError, "same memory"),
        (lambda: frames.open(key, one, Interface(back[4], read_only=True)), BufferError, "read-only"),
        (lambda: frames.split(sealed[:-1]), ValueError, "no whole frame"),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_no_tensor_of_what_was_changed(tmp_path, keyset):
    path = tmp_path / "sealed"
    sealed = tink.seal_bytes(keyset, bytes(50_000))
    for at in [0, 30, 100, 4095, 4096, 25_000, len(sealed) - 1]:
        changed = bytearray(sealed)
        changed[at] ^= 4
        path.write_bytes(changed)
        with pytest.raises(tink.NotAuthentic):
            tink.open_to_device(path, keyset)
    path.write_bytes(sealed)
    with pytest.raises(tink.NotAuthentic):
        tink.open_to_device(path, keyset, associated_data=b"other")
    with pytest.raises(FileNotFoundError):
        tink.open_to_device(tmp_path / "nothing", keyset)
    with pytest.raises(TypeError, match="not memory of a GPU"):
        tink.seal_from_device(bytes(10), path, keyset)
    assert path.read_bytes() == sealed


class AsCpu:
    """What numpy takes: a tensor of the host build, whose memory is the host's, says that it is."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack_device__(self):
        return (CPU, 0)

    def __dlpack__(self, **named):
        named.pop("stream", None)
        capsule = self.tensor.__dlpack__(**named)
        name = name_of(capsule)
        managed = Versioned if name == b"dltensor_versioned" else Managed
        managed.from_address(pointer_of(capsule, name)).tensor.device_type = CPU
        return capsule


def opened(tmp_path, keyset, plain):
    path = tmp_path / "sealed"
    path.write_bytes(tink.seal_bytes(keyset, plain))
    return tink.open_to_device(path, keyset)


def test_memory_lives_as_long_as_a_consumer(tmp_path, keyset):
    plain = os.urandom(70_000)
    for version in [None, (1, 0), (1, 3), (0, 8)]:
        tensor = opened(tmp_path, keyset, plain)
        assert tensor.__dlpack_device__() == (CUDA, 0)
        capsule = tensor.__dlpack__(max_version=version, stream=1)
        is_versioned = version is not None and version >= (1, 0)
        assert name_of(capsule) == (b"dltensor_versioned" if is_versioned else b"dltensor")
        del capsule  # nobody used it
        array, other = np.from_dlpack(AsCpu(tensor)), np.from_dlpack(AsCpu(tensor))
        assert array.shape == (70_000,) and array.dtype == np.uint8
        del tensor
        gc.collect()
        assert array.tobytes() == plain
        del array
        assert other.tobytes() == plain
        # The last one may be any thread's.
        thread = threading.Thread(target=lambda held: held.clear(), args=([other],))
        del other
        thread.start()
        thread.join()


def test_a_tensor_of_ours_is_one_for_us(tmp_path, keyset):
    plain = os.urandom(5000)
    tensor = opened(tmp_path, keyset, plain)
    interface = tensor.__cuda_array_interface__
    assert interface["version"] == 3 and interface["shape"] == (5000,) and interface["typestr"] == "|u1"
    assert ctypes.string_at(interface["data"][0], 5000) == plain
    expected = bytearray(plain)
    lanecrypt.ctr("aes", KEY, IV, expected)
    lanecrypt.ctr("aes", KEY, IV, tensor)
    assert tensor.tobytes() == expected
    with pytest.raises(BufferError):
        tensor.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(CPU, 0))
    assert opened(tmp_path, keyset, b"").__cuda_array_interface__["data"] == (0, False)


def test_threads_share_a_device(tmp_path, keyset):
    arrays = [np.frombuffer(os.urandom(4096), np.uint8).copy() for _ in range(4)]
    expected = [bytearray(array) for array in arrays]
    threads = [threading.Thread(target=lanecrypt.ctr, args=("aes", KEY, IV, DLPack(array))) for array in arrays]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for array, text in zip(arrays, expected):
        lanecrypt.ctr("aes", KEY, IV, text)
        assert array.tobytes() == text
