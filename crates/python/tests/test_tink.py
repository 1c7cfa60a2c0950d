"""Sealed files: round trips, refusals, jobs; the Tink wheel opens what is sealed here, and the other way round."""

import errno
import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from judging import judge
from lanecrypt import tink

TEMPLATES = [
    "AES128_GCM_HKDF_4KB",
    "AES256_GCM_HKDF_1MB",
    "AES128_CTR_HMAC_SHA256_4KB",
    "AES256_CTR_HMAC_SHA256_1MB",
]
SIZES = [0, 1, (1 << 20) - 57, (1 << 20) - 56, (1 << 20) - 55, 5_000_000]


@pytest.fixture(scope="module")
def keyset():
    return tink.Keyset.generate()


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "plain"
    path.write_bytes(os.urandom(3_000_000))
    return path


@pytest.mark.parametrize("size", SIZES)
def test_files_come_back(tmp_path, keyset, size):
    plain = os.urandom(size)
    (tmp_path / "plain").write_bytes(plain)
    names = dict(associated_data=b"name")
    assert tink.seal(keyset, tmp_path / "plain", tmp_path / "sealed", **names) == size
    assert tink.open(keyset, str(tmp_path / "sealed"), tmp_path / "opened", threads=1, **names) == size
    assert (tmp_path / "opened").read_bytes() == plain
    sealed = (tmp_path / "sealed").read_bytes()
    assert tink.open_bytes(keyset, sealed, **names) == plain
    assert tink.open_bytes(keyset, tink.seal_bytes(keyset, plain)) == plain
    with tink.Sealed(tmp_path / "sealed", keyset, b"name") as opened:
        assert len(opened) == opened.size == size
        assert opened.read(size // 2, size) == plain[size // 2 :]
        assert opened.read(size, 1) == opened.read(1 << 60, 1 << 62) == b""
    with pytest.raises(ValueError, match="closed"):
        opened.read(0, 1)


@pytest.mark.parametrize("template", TEMPLATES)
def test_tinks_wheel(tmp_path, template):
    streaming = judge("tink.streaming_aead")
    secrets, keysets = judge("tink.secret_key_access"), judge("tink")
    streaming.register()
    ours = tink.Keyset.generate(template)
    handle = keysets.json_proto_keyset_format.parse(ours.to_json(), secrets.TOKEN)
    theirs = handle.primitive(streaming.StreamingAead)
    for size in [0, 1, 4097, 2_500_000]:
        plain = os.urandom(size)
        sealed = tink.seal_bytes(ours, plain, associated_data=b"name")
        with theirs.new_decrypting_stream(io.BytesIO(sealed), b"name") as stream:
            assert stream.read() == plain
        out = Kept()
        with theirs.new_encrypting_stream(out, b"name") as stream:
            stream.write(plain)
        assert tink.open_bytes(ours, out.kept, associated_data=b"name") == plain
    again = tink.Keyset.from_json(keysets.json_proto_keyset_format.serialize(handle, secrets.TOKEN))
    assert again.ids == ours.ids == [ours.primary_id]


class Kept(io.BytesIO):
    """Bytes that can be read after the stream was closed."""

    def close(self):
        self.kept = self.getvalue()
        super().close()


def test_what_is_not_authentic(tmp_path, keyset, source):
    sealed, opened = tmp_path / "sealed", tmp_path / "opened"
    tink.seal(keyset, source, sealed)
    good = sealed.read_bytes()
    for place in [0, 5, 1_000_000, len(good) - 1]:
        bad = bytearray(good)
        bad[place] ^= 1
        sealed.write_bytes(bad)
        with pytest.raises(tink.NotAuthentic):
            tink.open(keyset, sealed, opened)
        with pytest.raises(ValueError):
            tink.open_bytes(keyset, bad)
    for cut in [0, 10, 1 << 20, len(good) - 1]:
        sealed.write_bytes(good[:cut])
        with pytest.raises(tink.NotAuthentic):
            tink.open(keyset, sealed, opened)
    sealed.write_bytes(good)
    for other in [dict(keyset=tink.Keyset.generate()), dict(keyset=keyset, associated_data=b"x")]:
        with pytest.raises(tink.NotAuthentic):
            tink.open(sealed=sealed, target=opened, **other)
    assert not opened.exists() and sorted(os.listdir(tmp_path)) == ["plain", "sealed"]


def test_errors_of_files(tmp_path, keyset, source):
    with pytest.raises(FileNotFoundError) as raised:
        tink.seal(keyset, tmp_path / "none", tmp_path / "sealed")
    assert raised.value.errno == 2 and "none" in str(raised.value)
    for give in [
        lambda: tink.seal(keyset, source, tmp_path / "none" / "sealed"),
        lambda: keyset.save(tmp_path / "none" / "keys"),
    ]:
        with pytest.raises(FileNotFoundError) as raised:
            give()
        assert raised.value.errno == errno.ENOENT and str(raised.value).count(str(tmp_path)) == 1
    for source_and_target in [(tmp_path, tmp_path / "sealed"), (source, tmp_path)]:
        with pytest.raises(IsADirectoryError) as raised:
            tink.seal(keyset, *source_and_target)
        assert raised.value.errno == errno.EISDIR
    with pytest.raises(OSError, match="regular file") as raised:
        tink.seal(keyset, "/dev/null", tmp_path / "sealed")
    assert raised.value.errno == errno.EINVAL
    for threads in [0, 1025]:
        with pytest.raises(ValueError, match=f"threads is {threads}; accepted is 1 to 1024"):
            tink.seal(keyset, source, tmp_path / "sealed", threads=threads)
    with pytest.raises(ValueError, match="for sealed files it is one of"):
        tink.seal(keyset, source, tmp_path / "sealed", backend="bitslice-u64")
    with pytest.raises(RuntimeError):
        tink.seal(keyset, source, tmp_path / "sealed", backend="cuda:99")
    with pytest.raises(ValueError, match="unknown template"):
        tink.Keyset.generate("ROT13")


def test_keysets(tmp_path, keyset):
    path = tmp_path / "keys"
    keyset.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert tink.Keyset.load(path).to_json() == keyset.to_json()
    with pytest.raises(FileExistsError):
        keyset.save(path)
    keyset.save(tmp_path / "wrapped", passphrase="correct horse")
    assert tink.Keyset.load(tmp_path / "wrapped", passphrase=b"correct horse").ids == keyset.ids
    with pytest.raises(tink.NotAuthentic):
        tink.Keyset.load(tmp_path / "wrapped", passphrase="correct hors")
    with pytest.raises(ValueError):
        tink.Keyset.from_json("{}")
    secret = json.loads(keyset.to_json())["key"][0]["keyData"]["value"]
    assert secret not in repr(keyset) + str(keyset)


# Where the interpreter is not released, the thread never writes.
LOADED = """
import os, sys, threading
from lanecrypt import tink

def write():
    with open(sys.argv[1], "w") as pipe:
        pipe.write(keyset.to_json())

keyset = tink.Keyset.generate()
os.mkfifo(sys.argv[1])
threading.Thread(target=write).start()
assert tink.Keyset.load(sys.argv[1]).ids == keyset.ids
"""


def test_a_keyset_may_come_from_another_thread(tmp_path):
    subprocess.run([sys.executable, "-c", LOADED, tmp_path / "pipe"], check=True, timeout=60)


# A call that does not serve signals is waited for in vain.
PIPES = """
import os, signal, sys, threading
from lanecrypt import tink

keyset = tink.Keyset.generate()
os.mkfifo(sys.argv[1])
try:
    tink.Sealed(sys.argv[1], keyset)
except OSError as error:
    assert "regular file" in str(error)
else:
    sys.exit("it was opened")
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
    tink.Keyset.load(sys.argv[1])
except KeyboardInterrupt:
    sys.exit(0)
sys.exit("it was loaded")
"""


def test_a_pipe_of_which_nobody_has_the_other_end(tmp_path):
    subprocess.run([sys.executable, "-c", PIPES, tmp_path / "pipe"], check=True, timeout=60)


def test_readers(tmp_path, keyset, source):
    plain = source.read_bytes()
    tink.seal(keyset, source, tmp_path / "sealed")
    sealed = tink.Sealed(tmp_path / "sealed", keyset)
    buffer = bytearray(b"." * 1000)
    assert sealed.readinto(buffer, len(plain) - 400) == 400
    assert buffer == plain[-400:] + b"." * 600
    with pytest.raises(BufferError, match="read-only"):
        sealed.readinto(bytes(10), 0)
    file = io.BufferedReader(tink.Reader(sealed), 10_000)
    assert file.read(7) == plain[:7] and file.seek(-5, io.SEEK_END) == len(plain) - 5
    assert file.read() == plain[-5:] and file.read(1) == b""
    assert file.seek(1 << 20) == file.tell() == 1 << 20 and file.read(3) == plain[1 << 20 : (1 << 20) + 3]
    with pytest.raises(ValueError):
        tink.Reader(sealed).seek(-1)
    readers = [threading.Thread(target=sealed.read, args=(0, len(plain))) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()


class Counted:
    """A `Sealed` that counts what it opens."""

    def __init__(self, sealed):
        self.sealed, self.size, self.lengths = sealed, sealed.size, []

    def _segment(self, offset):
        return self.sealed._segment(offset)

    def read(self, offset, length):
        self.lengths.append(length)
        return self.sealed.read(offset, length)

    def readinto(self, buffer, offset):
        self.lengths.append(len(buffer))
        return self.sealed.readinto(buffer, offset)


@pytest.mark.parametrize("template", TEMPLATES)
def test_readers_open_a_segment_once(tmp_path, source, template):
    keyset, plain = tink.Keyset.generate(template), source.read_bytes()
    tink.seal(keyset, source, tmp_path / "sealed")
    counted = Counted(tink.Sealed(tmp_path / "sealed", keyset))
    reader = tink.Reader(counted)
    assert b"".join(iter(lambda: reader.read(1000), b"")) == plain
    assert sum(counted.lengths) == len(plain)
    counted.lengths.clear()
    assert reader.seek(5) == 5 and reader.read() == plain[5:] and reader.tell() == len(plain)
    assert counted.lengths == [len(plain) - 5]
    # Across segments, into more than one, and beyond the end.
    for start, length in [((1 << 20) - 100, 200), (4000, 200), (3, 2_500_000), (len(plain) - 7, 100), (len(plain), 9)]:
        reader.seek(start)
        buffer = bytearray(b"." * length)
        count = reader.readinto(buffer)
        assert count == len(plain[start : start + length])
        assert buffer == plain[start : start + count] + b"." * (length - count)
    assert reader.seek(1 << 70) == 1 << 70 and reader.read() == reader.read(5) == b""


def test_a_closed_reader_gives_nothing_out(tmp_path, keyset, source):
    tink.seal(keyset, source, tmp_path / "sealed")
    sealed = tink.Sealed(tmp_path / "sealed", keyset)
    with tink.Reader(sealed) as reader:
        assert len(reader.read(10)) == 10
        with pytest.raises(TypeError):
            reader.seek(1.5)
    for call in [
        reader.read,
        lambda: reader.read(1),
        lambda: reader.readinto(bytearray(1)),
        reader.readall,
        lambda: reader.seek(0),
        reader.tell,
        reader.readable,
        reader.seekable,
    ]:
        with pytest.raises(ValueError, match="closed"):
            call()
    assert len(sealed.read(0, 10)) == 10


def test_progress_and_its_exceptions(tmp_path, keyset, source, monkeypatch):
    seen = []
    tink.seal(keyset, source, tmp_path / "sealed", progress=seen.append)
    assert seen[-1] == 3_000_000 and seen == sorted(seen)

    def stop(done):
        raise ZeroDivisionError

    # The target is there when the last call is made: that is success.
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: told.append(what.exc_type))
    assert tink.seal(keyset, source, tmp_path / "other", progress=stop) == 3_000_000
    assert told == [ZeroDivisionError]
    tink.open(keyset, tmp_path / "other", tmp_path / "text")
    assert (tmp_path / "text").read_bytes() == source.read_bytes()

    # What is no Exception is raised all the same.
    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tink.seal(keyset, source, tmp_path / "third", progress=interrupt)
    tink.open(keyset, tmp_path / "third", tmp_path / "text")
    assert (tmp_path / "text").read_bytes() == source.read_bytes() and len(told) == 1

    # What takes longer than a tick is cancelled.
    large = tmp_path / "large"
    large.touch()
    os.truncate(large, 64 << 30)
    with pytest.raises(ZeroDivisionError):
        tink.seal(keyset, large, tmp_path / "cancelled", progress=stop)
    assert not (tmp_path / "cancelled").exists()


def test_paths_are_what_python_takes(tmp_path, keyset, source):
    sealed, text = os.fsencode(tmp_path / "sealed"), os.fsencode(tmp_path / "text")
    tink.seal(keyset, os.fsencode(source), sealed)
    tink.open(keyset, sealed, text)
    assert (tmp_path / "text").read_bytes() == source.read_bytes()
    with tink.Sealed(sealed, keyset) as file:
        assert file.size == 3_000_000
    with pytest.raises(TypeError, match="PathLike"):
        tink.seal(keyset, 3, sealed)


@pytest.fixture
def interruptible():
    """What a script starts in the background ignores the signal, and so would Python."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_interruption_leaves_nothing(tmp_path, keyset):
    big = tmp_path / "big"
    with open(big, "wb") as file:
        file.truncate(8 << 30)  # seconds of work, and no more on the disk if it goes on
    timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        tink.seal(keyset, big, tmp_path / "sealed", threads=1)
    timer.join()
    assert os.listdir(tmp_path) == ["big"]


def test_jobs(tmp_path, keyset, source):
    plain, target = source.read_bytes(), tmp_path / "sealed"
    job = tink.Job.new(keyset, source, associated_data=b"name", part_bytes=1 << 20)
    job.create(target)
    again = tink.Job.from_json(job.to_json())
    assert again.parts == 3 and job.missing(target) == [0, 1, 2]
    for part in [2, 0, 2]:
        again.seal_part(keyset, part, source, target)
    assert job.missing(target) == [1] and not target.exists()
    with pytest.raises(ValueError, match="1 of 3 parts are missing"):
        job.commit(target)
    again.seal_part(keyset, 1, source, target, threads=1)
    job.commit(target)
    assert job.missing(target) == []
    job.discard(target)  # nothing is left of it but the target
    assert target.stat().st_size == job.sealed_bytes
    assert tink.open_bytes(keyset, target.read_bytes(), associated_data=b"name") == plain


def test_jobs_refuse(tmp_path, keyset, source):
    target = tmp_path / "sealed"
    job = tink.Job.new(keyset, source)
    job.create(target)
    with pytest.raises(FileExistsError):
        job.create(target)
    with pytest.raises(ValueError, match="no part 1 in a job of 1 parts"):
        job.seal_part(keyset, 1, source, target)
    with pytest.raises(ValueError, match="no enabled streaming key"):
        job.seal_part(tink.Keyset.generate(), 0, source, target)
    source.write_bytes(b"another text")
    with pytest.raises(tink.SourceChanged, match="the source changed: its"):
        job.seal_part(keyset, 0, source, target)
    job.discard(target)
    assert os.listdir(tmp_path) == ["plain"]
