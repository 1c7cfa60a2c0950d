"""For a machine with a GPU: `python on_gpu.py [MIB]`, in the wheel's environment, without pytest.

It runs over our own tensors, and over those of PyTorch and CuPy where they are installed, prints what ran and how
fast a sealed file goes to the device and back, and ends with an error at the first wrong byte.
"""

import ctypes
import faulthandler
import os
import resource
import socket
import sys
import tempfile
import threading
import time

import lanecrypt
from lanecrypt import frames, tink

KEY, IV = bytes(range(32)), bytes(range(7, 23))
MODES = {
    "aes ctr": lambda data, **more: lanecrypt.ctr("aes", KEY, IV, data, **more),
    "tdes ctr": lambda data, **more: lanecrypt.ctr("tdes", KEY[:24], IV[:8], data, **more),
    "camellia ecb": lambda data, **more: lanecrypt.ecb("camellia", KEY, data, **more),
    "hight ecb, decrypted": lambda data, **more: lanecrypt.ecb("hight", KEY[:16], data, decrypt=True, **more),
    "aria cbc": lambda data, **more: lanecrypt.cbc("aria", KEY, IV, data, **more),
    "seed cbc, decrypted": lambda data, **more: lanecrypt.cbc("seed", KEY[:16], IV, data, decrypt=True, **more),
    "aes xts": lambda data, **more: lanecrypt.xts("aes", KEY, data, unit_bytes=4096, **more),
    "aria xts, decrypted": lambda data, **more: lanecrypt.xts("aria", KEY, data, unit_bytes=500, decrypt=True, **more),
}


class View:
    """A part of a tensor of ours, with `__cuda_array_interface__` and no more."""

    def __init__(self, tensor, start, length, **entries):
        self.tensor, self.start, self.length, self.entries = tensor, start, length, entries

    @property
    def __cuda_array_interface__(self):
        whole = self.tensor.__cuda_array_interface__
        data = (whole["data"][0] + self.start, False)
        return whole | {"shape": (self.length,), "data": data} | self.entries


def require(is_right, what):
    if not is_right:
        sys.exit(f"WRONG: {what}")


def refused(error, call, what):
    try:
        call()
    except error as raised:
        print(f"  refused: {raised}")
    else:
        sys.exit(f"WRONG: {what} was not refused")


def opened(folder, keyset, plain):
    path = os.path.join(folder, "small")
    with open(path, "wb") as file:
        file.write(tink.seal_bytes(keyset, plain))
    return tink.open_to_device(path, keyset)


def modes_over_views(folder, keyset):
    plain = os.urandom(1 << 20)
    length = 1_000_000 - 1_000_000 % 4000
    for name, mode in MODES.items():
        expected = bytearray(plain[100 : 100 + length])
        mode(expected)
        for start in [0, 1, 8]:
            plain_there = plain[100 - start : 100 - start + length + start]
            tensor = opened(folder, keyset, plain_there)
            mode(View(tensor, start, length, stream=1 if start else None))
            found = tensor.tobytes()
            require(found[:start] == plain_there[:start], f"{name}: before {start}")
            require(found[start:] == expected, f"{name} from {start} on")
            other = opened(folder, keyset, bytes(length))
            mode(View(opened(folder, keyset, plain_there), start, length), out=other)
            require(other.tobytes() == expected, f"{name} from {start} on into another tensor")
        print(f"  {name}: in place and not, at 0, 1 and 8 mod 16")


def drained(seal, keep=True):
    """What comes out of a pair of sockets, if it is wanted."""
    ours, theirs = socket.socketpair()
    parts = []

    def read():
        while part := theirs.recv(1 << 20):
            if keep:
                parts.append(part)

    reader = threading.Thread(target=read)
    reader.start()
    with theirs:
        with ours:
            seal(ours)
        reader.join()
    return b"".join(parts)


def buffers_streams_and_frames(folder, keyset):
    plain = os.urandom(40 << 20)
    tensor = opened(folder, keyset, plain)
    sealed = bytearray(keyset.sealed_bytes(len(plain)))
    tink.seal_from_device_to_buffer(tensor, sealed, keyset)
    require(tink.open_bytes(keyset, sealed) == plain, "a buffer")
    sent = drained(lambda ours: tink.seal_from_device_to_stream(tensor, ours, keyset))
    require(tink.open_bytes(keyset, sent) == plain, "a socket")
    key, block = frames.generate_key(), 64 << 10
    places = [number * 7 % 640 for number in range(640)]
    blocks = [View(tensor, place * block, block) for place in places]
    names = [str(place).encode() for place in places]
    sealed = bytearray(frames.seal(key, blocks, associated_data=names))
    back = opened(folder, keyset, bytes(len(plain)))
    blocks = [View(back, place * block, block) for place in places]
    frames.open(key, sealed, blocks, associated_data=names)
    require(back.tobytes() == plain, "frames")
    sealed[5 * (block + frames.OVERHEAD) + 1000] ^= 1
    wrong = frames.open(key, sealed, blocks, associated_data=names, strict=False)
    require(wrong == [5], f"frames that are wrong: {wrong}")
    print("  buffers, sockets, frames")


class Queue:
    """What a program queues on a stream of CUDA's: a function of Python's, which takes its time, and bytes after it."""

    PER_THREAD = 2  # its handle means another stream on every thread

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        handle = ctypes.c_void_p()
        self.checked("cuStreamCreate", ctypes.byref(handle), ctypes.c_uint(1))  # in order with no other
        self.streams = [handle.value, self.PER_THREAD]
        self.function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: time.sleep(0.3))

    def checked(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        require(status == 0, f"{name} gave {status}")

    def put(self, stream, tensor, byte):
        address = ctypes.c_uint64(tensor.__cuda_array_interface__["data"][0])
        handle, count = ctypes.c_void_p(stream), ctypes.c_size_t(len(tensor))
        self.checked("cuLaunchHostFunc", handle, self.function, None)
        self.checked("cuMemsetD8Async", address, ctypes.c_ubyte(byte), count, handle)


def what_owners_queue(folder, keyset):
    """It comes before what is called here, and the function in it gets the interpreter."""
    faulthandler.dump_traceback_later(120, exit=True)  # without the interpreter it would wait for ever
    size, ctr, key, path = 1 << 20, MODES["aes ctr"], frames.generate_key(), os.path.join(folder, "queued")
    after, sealed = bytes([7]) * size, bytearray(keyset.sealed_bytes(size))
    expected = bytearray(after)
    ctr(expected)
    back = opened(folder, keyset, bytes(size))
    back.tobytes()  # this thread has the device's context now
    queue = Queue()

    def to_file(tensor, view):
        tink.seal_from_device(view, path, keyset)
        with open(path, "rb") as file:
            return tink.open_bytes(keyset, file.read()) == after

    def to_buffer(tensor, view):
        tink.seal_from_device_to_buffer(view, sealed, keyset)
        return tink.open_bytes(keyset, sealed) == after

    def to_frame(tensor, view):
        frames.open(key, frames.seal(key, view), back)
        return back.tobytes() == after

    def in_place(tensor, view):
        ctr(view)
        return tensor.tobytes() == expected

    def by_two_names(tensor, view):
        ctr(view, out=tensor)
        return tensor.tobytes() == expected

    def to_another(tensor, view):
        ctr(view, out=back)
        return back.tobytes() == expected

    def freed(tensor, view):
        return True

    for use in [to_file, to_buffer, to_frame, in_place, by_two_names, to_another, freed]:
        # At first alone: memory that is made in a call waits for most of what is queued.
        for stream in [None, *queue.streams]:
            tensor = opened(folder, keyset, bytes(size) if stream else after)
            if stream:
                queue.put(stream, tensor, 7)
            require(use(tensor, View(tensor, 0, size, stream=stream)), f"{use.__name__} after stream {stream}")
            del tensor  # before others are queued, as its end waits for all
    faulthandler.cancel_dump_traceback_later()
    print("  what owners have queued, with a function of Python's in it")


def refusals(folder, keyset):
    tensor = opened(folder, keyset, bytes(1000))
    ctr = MODES["aes ctr"]

    class Host:
        __cuda_array_interface__ = {"shape": (16,), "typestr": "|u1", "data": (id(tensor), False), "version": 3}

    refused(ValueError, lambda: ctr(Host()), "memory of the host")
    refused(ValueError, lambda: ctr(tensor, backend="cpu"), "the CPU")
    refused(ValueError, lambda: ctr(tensor, out=bytearray(1000)), "a buffer of the host")
    refused(ValueError, lambda: lanecrypt.ecb("aes", KEY, tensor), "half a block")
    ctr(tensor, backend="cuda:0")


def with_library(name, library, folder, keyset):
    """Tensors of PyTorch or arrays of CuPy: on the default stream and on one of their own, and back from ours."""
    is_torch = name == "torch"
    plain = os.urandom(4_000_000)
    tensor = opened(folder, keyset, plain)
    theirs = library.from_dlpack(tensor)
    del tensor
    to_bytes = (lambda array: array.cpu().numpy().tobytes()) if is_torch else (lambda array: array.get().tobytes())
    require(to_bytes(theirs) == plain, f"{name}.from_dlpack")
    stream = library.cuda.Stream() if is_torch else library.cuda.Stream(non_blocking=True)
    for on_stream in [False, True]:
        context = (library.cuda.stream(stream) if is_torch else stream) if on_stream else None
        if context:
            context.__enter__()
        theirs += 1  # still running when the next line begins
        expected = bytearray((byte + 1) & 255 for byte in plain)
        MODES["aes ctr"](theirs)
        MODES["aes ctr"](expected)
        require(to_bytes(theirs) == expected, f"{name}, on a stream of its own: {on_stream}")
        askew = theirs[3 : 3 + 4096 * 100]
        MODES["aes xts"](askew)
        askew_expected = bytearray(expected[3 : 3 + 4096 * 100])
        MODES["aes xts"](askew_expected)
        expected[3 : 3 + 4096 * 100] = askew_expected
        require(to_bytes(theirs) == expected, f"{name}, a view, on a stream of its own: {on_stream}")
        path = os.path.join(folder, "theirs")
        theirs += 1
        require(tink.seal_from_device(theirs, path, keyset) == len(plain), f"{name}: sealed")
        plain = bytes((byte + 1) & 255 for byte in expected)
        with open(path, "rb") as file:
            require(tink.open_bytes(keyset, file.read()) == plain, f"{name}: sealed and opened")
        if is_torch:
            pinned = library.empty(keyset.sealed_bytes(len(plain)), dtype=library.uint8, pin_memory=True).numpy()
            tink.seal_from_device_to_buffer(theirs, pinned, keyset)
            require(tink.open_bytes(keyset, pinned) == plain, f"{name}: sealed into pinned memory")
        if context:
            context.__exit__(None, None, None)
    refused(BufferError, lambda: MODES["aes ctr"](theirs[::2]), "every second byte")
    print(f"  {name} {library.__version__}: from_dlpack, ctr, views, streams, seal_from_device")


def timed(name, size, call):
    """GB/s, and how many cores were busy."""
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    result = call()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cores = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / wall
    print(f"  {name}: {size / wall / 1e9:.1f} GB/s, {cores:.1f} cores")
    return result


def large(folder, mebibytes):
    keyset = tink.Keyset.generate()
    plain, sealed, again = (os.path.join(folder, name) for name in ["plain", "sealed", "again"])
    part, size = os.urandom(1 << 20), mebibytes << 20
    with open(plain, "wb") as file:
        for number in range(mebibytes):
            file.write(number.to_bytes(8, "little") + part[8:])
    tink.seal(keyset, plain, sealed)
    os.remove(plain)
    for time_number in range(4):
        tensor = None
        tensor = timed(f"open_to_device {time_number}", size, lambda: tink.open_to_device(sealed, keyset))
    for number in {0, mebibytes // 2, mebibytes - 1}:
        expected = number.to_bytes(8, "little") + part[8:]
        view = tink.open_to_device(sealed, keyset, offset=number << 20, length=1 << 20)
        require(view.tobytes() == expected, f"mebibyte {number}")
    os.remove(sealed)
    timed("seal_from_device", size, lambda: tink.seal_from_device(tensor, again, keyset))
    to_socket = lambda ours: tink.seal_from_device_to_stream(tensor, ours, keyset)
    timed("to a socket", size, lambda: drained(to_socket, keep=False))
    with tink.Sealed(again, keyset) as reader:
        for number in range(mebibytes):
            expected = number.to_bytes(8, "little") + part[8:]
            require(reader.read(number << 20, 1 << 20) == expected, f"sealed mebibyte {number}")


def main():
    mebibytes = int(sys.argv[1]) if len(sys.argv) > 1 else 8192
    print("devices:", lanecrypt.devices())
    require(lanecrypt.devices(), "there is no GPU")
    keyset = tink.Keyset.generate()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        print("our own tensors:")
        modes_over_views(folder, keyset)
        buffers_streams_and_frames(folder, keyset)
        what_owners_queue(folder, keyset)
        refusals(folder, keyset)
        for name in ["torch", "cupy"]:
            try:
                library = __import__(name)
            except ImportError as error:
                print(f"  {name}: not run, {error}")
            else:
                with_library(name, library, folder, keyset)
        print(f"{mebibytes} MiB in {folder}:")
        large(folder, mebibytes)
    print("all of it is right")


if __name__ == "__main__":
    main()
