"""How fast encrypted Parquet files open: `python parquet.py [MIB] [FOLDER]`, in the wheel's environment, without pyarrow.

It writes a plaintext file of two columns of 64-bit integers by itself, for pages of 1 MiB and of 64 KiB, seals it, and
prints GB/s of plaintext for opening it on the CPU and, where there is one, to a GPU. The file is in the page cache. What
is opened is compared with what was written.
"""

import hashlib
import os
import struct
import sys
import tempfile
import time

import lanecrypt
from lanecrypt import parquet

KEYS = parquet.Keys(bytes(range(32)), column_keys={"a": bytes(range(1, 33)), "b": bytes(range(2, 34))})
GROUP = 128 << 20  # bytes of a row group
TIMES = 5

# Types of Thrift's compact protocol.
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encoded(kind, value):
    if kind in (I32, I64):
        return varint((value << 1) ^ (value >> 63))
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == LIST:
        of, items = value
        head = bytes([len(items) << 4 | of]) if len(items) < 15 else bytes([0xF0 | of]) + varint(len(items))
        return head + b"".join(encoded(of, item) for item in items)
    return struct_of(*value)


def struct_of(*fields):
    """A structure of fields (number, type, value) in the order of their numbers."""
    out, last = bytearray(), 0
    for number, kind, value in fields:
        out += bytes([number - last << 4 | kind]) + encoded(kind, value)
        last = number
    return bytes(out) + b"\0"


def page_header(size):
    of_page = ((1, I32, size // 8), (2, I32, 0), (3, I32, 3), (4, I32, 3))
    return struct_of((1, I32, 0), (2, I32, size), (3, I32, size), (5, STRUCT, of_page))


def write_plain(path, size, page_bytes):
    """A file of two columns with `size` bytes of values; returns what each page has behind its number."""
    header, groups = page_header(page_bytes), []
    pages = GROUP // 2 // page_bytes
    base = os.urandom(page_bytes)
    with open(path, "wb", buffering=1 << 22) as file:
        file.write(b"PAR1")
        for group in range(size // GROUP):
            columns = []
            for number, name in enumerate([b"a", b"b"]):
                start = file.tell()
                for page in range(pages):
                    file.write(header)
                    file.write(struct.pack("<QII", group, number, page))
                    file.write(memoryview(base)[16:])
                written = file.tell() - start
                values = pages * page_bytes // 8
                metadata = (
                    (1, I32, 2),
                    (2, LIST, (I32, [0])),
                    (3, LIST, (BINARY, [name])),
                    (4, I32, 0),
                    (5, I64, values),
                    (6, I64, written),
                    (7, I64, written),
                    (9, I64, start),
                )
                columns.append(((2, I64, 0), (3, STRUCT, metadata)))
            groups.append(((1, LIST, (STRUCT, columns)), (2, I64, GROUP), (3, I64, pages * page_bytes // 8)))
        leaf = lambda name: ((1, I32, 2), (3, I32, 0), (4, BINARY, name))
        schema = [((4, BINARY, b"schema"), (5, I32, 2)), leaf(b"a"), leaf(b"b")]
        rows = len(groups) * pages * page_bytes // 8
        footer = struct_of((1, I32, 2), (2, LIST, (STRUCT, schema)), (3, I64, rows), (4, LIST, (STRUCT, groups)))
        file.write(footer + struct.pack("<I", len(footer)) + b"PAR1")
    return base[16:]


def timed(name, size, call):
    walls, result = [], None
    for _ in range(TIMES):
        result = None  # its memory is free before the next
        start = time.perf_counter()
        result = call()
        walls.append(time.perf_counter() - start)
    median, best = sorted(walls)[TIMES // 2], min(walls)
    each = " ".join(f"{size / wall / 1e9:.1f}" for wall in walls)
    print(f"  {name}: median {size / median / 1e9:.1f} GB/s, best {size / best / 1e9:.1f} (each: {each})", flush=True)
    return result


def main():
    mebibytes = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    size = max(mebibytes << 20, GROUP) // GROUP * GROUP
    memory = sys.argv[2] if len(sys.argv) > 2 else "/dev/shm" if os.path.isdir("/dev/shm") else None
    devices = lanecrypt.devices()
    print(f"devices: {devices}; {os.cpu_count()} cores; {size >> 20} MiB of values")
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        plain, sealed = os.path.join(folder, "plain"), os.path.join(folder, "sealed")
        for page_bytes in [1 << 20, 64 << 10]:
            base = write_plain(plain, size, page_bytes)
            for algorithm in ["AES_GCM_V1", "AES_GCM_CTR_V1"]:
                print(f"pages of {page_bytes >> 10} KiB, {algorithm}, in {folder}:", flush=True)
                start = time.perf_counter()
                parquet.seal(plain, sealed, KEYS, algorithm=algorithm)
                print(f"  seal on the CPU: {size / (time.perf_counter() - start) / 1e9:.1f} GB/s", flush=True)
                image = timed("open on the CPU", size, lambda: parquet.open(sealed, KEYS))
                view = bytes(image)
                for group, number, page in [(0, 0, 0), (size // GROUP - 1, 1, GROUP // 2 // page_bytes - 1)]:
                    start = view.find(struct.pack("<QII", group, number, page) + base[:64])
                    if start < 0 or view[start + 16 : start + page_bytes] != base:
                        sys.exit(f"WRONG: page {page} of column {number} in row group {group}")
                digest = hashlib.sha256(view).digest()
                del view, image
                if not devices:
                    continue
                tensor = timed("open to a GPU", size, lambda: parquet.open(sealed, KEYS, device=0))
                if hashlib.sha256(tensor.tobytes()).digest() != digest:
                    sys.exit("WRONG: the GPU's file is not the CPU's")
                start = time.perf_counter()
                parquet.seal(tensor, sealed, KEYS, algorithm=algorithm)
                print(f"  seal from the GPU: {size / (time.perf_counter() - start) / 1e9:.1f} GB/s", flush=True)
                del tensor
                if hashlib.sha256(memoryview(parquet.open(sealed, KEYS))).digest() != digest:
                    sys.exit("WRONG: what the GPU sealed")
            os.remove(plain)
    print("all of it is right")


if __name__ == "__main__":
    main()
