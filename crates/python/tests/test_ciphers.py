"""Streaming contexts: pyca/cryptography's bytes in whatever pieces, and its order of calls."""

import os
import subprocess
import sys

import hypothesis
import hypothesis.strategies as st
import pytest

from lanecrypt.ciphers import (
    AlreadyFinalized,
    AlreadyUpdated,
    Cipher,
    InvalidTag,
    NotYetFinalized,
    algorithms,
    modes,
)

KEY, IV = bytes(range(32)), bytes([0xFF] * 16)
STREAMS = ["CTR", "CFB", "OFB"]
PIECES = st.lists(st.binary(max_size=200) | st.integers(0, 70_000).map(bytes), max_size=8)


def in_pieces(context, pieces):
    return b"".join([context.update(piece) for piece in pieces]) + context.finalize()


def their_mode(pyca, name, iv):
    old = pytest.importorskip("cryptography.hazmat.decrepit.ciphers.modes") if name in ("CFB", "OFB") else pyca.modes
    return getattr(old, name)(iv) if hasattr(old, name) else getattr(pyca.modes, name)(iv)


@pytest.mark.parametrize("name", [*STREAMS, "CBC"])
@hypothesis.given(pieces=PIECES)
def test_pieces_are_pycas(pyca, name, pieces):
    text = b"".join(pieces)
    if name == "CBC":
        text = text[: len(text) // 16 * 16]
        cut = [text[i : i + 23] for i in range(0, len(text), 23)]
        pieces = cut
    theirs = pyca.Cipher(pyca.algorithms.AES(KEY), their_mode(pyca, name, IV)).encryptor()
    cipher = Cipher(algorithms.AES(KEY), getattr(modes, name)(IV))
    sealed = in_pieces(cipher.encryptor(), pieces)
    assert sealed == theirs.update(text) + theirs.finalize()
    assert in_pieces(cipher.decryptor(), [sealed[i : i + 37] for i in range(0, len(sealed), 37)]) == text


@pytest.mark.parametrize(
    "kind", [algorithms.AES, algorithms.ARIA, algorithms.Camellia, algorithms.SEED, algorithms.SM4,
             algorithms.LEA, algorithms.TripleDES, algorithms.DES, algorithms.HIGHT]
)
@pytest.mark.parametrize("name", ["ECB", "CBC", "CTR", "CFB", "OFB"])
def test_into_buffers(kind, name):
    block = kind.block_size // 8
    key = KEY[: min(kind.key_sizes) // 8]
    cipher = Cipher(kind(key), modes.ECB() if name == "ECB" else getattr(modes, name)(IV[:block]))
    text = os.urandom((9_000_000 if name == "CTR" else 300_000) // block * block)
    whole = cipher.encryptor().update(text)
    assert len(whole) == len(text) and whole != text
    # From one buffer to another, in place, and by threes.
    out = bytearray(len(text))
    assert cipher.encryptor().update_into(text, out) == len(text) and out == whole
    out = bytearray(text)
    assert cipher.encryptor().update_into(out, out) == len(text) and out == whole
    context, out, written = cipher.decryptor(), bytearray(len(text)), 0
    for start in range(0, len(text), 100_001):
        written += context.update_into(whole[start : start + 100_001], memoryview(out)[written:])
    assert context.finalize() == b"" and written == len(text) and out == text


def test_xts_is_pycas(pyca):
    key, tweak, text = os.urandom(64), os.urandom(16), os.urandom(10_007)
    theirs = pyca.Cipher(pyca.algorithms.AES(key), pyca.modes.XTS(tweak)).encryptor()
    cipher = Cipher(algorithms.AES(key), modes.XTS(tweak))
    context = cipher.encryptor()
    sealed = context.update(text)
    assert sealed == theirs.update(text) and cipher.decryptor().update(sealed) == text
    with pytest.raises(ValueError, match="one update"):
        context.update(text)
    with pytest.raises(ValueError, match="data unit of 15 bytes"):
        cipher.encryptor().update(bytes(15))
    with pytest.raises(ValueError, match="tweak of 15 bytes"):
        Cipher(algorithms.AES(key), modes.XTS(bytes(15))).encryptor()
    with pytest.raises(ValueError, match="must not be equal"):
        Cipher(algorithms.AES(bytes(64)), modes.XTS(tweak)).encryptor()


@hypothesis.given(pieces=PIECES, associated=st.lists(st.binary(max_size=40), max_size=3))
def test_gcm_is_pycas(pyca, pieces, associated):
    theirs = pyca.Cipher(pyca.algorithms.AES(KEY), pyca.modes.GCM(IV)).encryptor()
    ours = Cipher(algorithms.AES(KEY), modes.GCM(IV)).encryptor()
    for part in associated:
        theirs.authenticate_additional_data(part)
        ours.authenticate_additional_data(part)
    expected = in_pieces(theirs, pieces)
    assert in_pieces(ours, pieces) == expected and ours.tag == theirs.tag

    known = Cipher(algorithms.AES(KEY), modes.GCM(IV, ours.tag)).decryptor()
    later = Cipher(algorithms.AES(KEY), modes.GCM(IV)).decryptor()
    for context, end in [(known, known.finalize), (later, lambda: later.finalize_with_tag(ours.tag))]:
        for part in associated:
            context.authenticate_additional_data(part)
        out = bytearray(expected)
        assert context.update_into(out, out) == len(out)
        assert end() == b"" and out == b"".join(pieces)


def test_gcm_refuses():
    encryptor = Cipher(algorithms.Camellia(KEY), modes.GCM(IV)).encryptor()
    with pytest.raises(NotYetFinalized):
        encryptor.tag
    sealed = encryptor.update(b"text")
    with pytest.raises(AlreadyUpdated):
        encryptor.authenticate_additional_data(b"late")
    encryptor.finalize()
    wrong = bytes([encryptor.tag[0] ^ 1]) + encryptor.tag[1:]
    for tag in [wrong, bytes(16)]:
        decryptor = Cipher(algorithms.Camellia(KEY), modes.GCM(IV, tag)).decryptor()
        decryptor.update(sealed)
        with pytest.raises(InvalidTag):
            decryptor.finalize()
    decryptor = Cipher(algorithms.Camellia(KEY), modes.GCM(IV)).decryptor()
    decryptor.update(sealed)
    with pytest.raises(ValueError, match="a tag is needed"):
        decryptor.finalize()
    with pytest.raises(ValueError, match="tag has 12 bytes; accepted are 16 to 16"):
        decryptor.finalize_with_tag(encryptor.tag[:12])
    short = Cipher(algorithms.Camellia(KEY), modes.GCM(IV, encryptor.tag[:12], min_tag_length=12)).decryptor()
    assert short.update(sealed) == b"text" and short.finalize() == b""
    for wrong in [dict(tag=bytes(12)), dict(min_tag_length=3)]:
        with pytest.raises(ValueError):
            modes.GCM(IV, **wrong)
    with pytest.raises(ValueError, match="defined for 16 bytes"):
        Cipher(algorithms.DES(bytes(8)), modes.GCM(IV)).encryptor()


def test_the_order_of_calls():
    for mode in [modes.CTR(IV), modes.GCM(IV)]:
        context = Cipher(algorithms.AES(KEY), mode).encryptor()
        context.finalize()
        for call in [context.finalize, lambda: context.update(b""), lambda: context.update_into(b"", bytearray())]:
            with pytest.raises(AlreadyFinalized):
                call()
    encryptor = Cipher(algorithms.AES(KEY), modes.GCM(IV)).encryptor()
    sealed = encryptor.update(b"text") + encryptor.finalize()
    decryptor = Cipher(algorithms.AES(KEY), modes.GCM(IV)).decryptor()
    assert decryptor.update(sealed) + decryptor.finalize_with_tag(encryptor.tag) == b"text"
    for call in [
        decryptor.finalize,
        lambda: decryptor.finalize_with_tag(encryptor.tag),
        lambda: decryptor.finalize_with_tag(b"of another length"),
        lambda: decryptor.authenticate_additional_data(b"late"),
        lambda: encryptor.authenticate_additional_data(b"late"),
    ]:
        with pytest.raises(AlreadyFinalized):
            call()
    context = Cipher(algorithms.AES(KEY), modes.CBC(IV)).encryptor()
    assert context.update(bytes(17)) == context.update(b"") + Cipher(
        algorithms.AES(KEY), modes.CBC(IV)
    ).encryptor().update(bytes(16))
    with pytest.raises(ValueError, match="the data ends 1 bytes into a block of 16 bytes"):
        context.finalize()


def test_what_is_refused():
    cipher = Cipher(algorithms.AES(KEY), modes.CTR(IV))
    with pytest.raises(ValueError, match="buf has 9 bytes; the result of this update has 10"):
        cipher.encryptor().update_into(bytes(10), bytearray(9))
    data = bytearray(100)
    with pytest.raises(ValueError, match="overlap"):
        cipher.encryptor().update_into(memoryview(data)[:50], memoryview(data)[10:])
    with pytest.raises(BufferError, match="read-only"):
        cipher.encryptor().update_into(b"1234", b"1234")
    with pytest.raises(ValueError, match="key of 17 bytes; accepted are .16, 24, 32. bytes, and twice that in XTS"):
        algorithms.AES(bytes(17))
    with pytest.raises(ValueError, match="tdes key of 8 bytes; accepted are .16, 24. bytes$"):
        algorithms.TripleDES(bytes(8))
    with pytest.raises(ValueError, match="key of 64 bytes"):
        Cipher(algorithms.AES(bytes(64)), modes.CTR(IV)).encryptor()
    with pytest.raises(ValueError, match="IV of 15 bytes"):
        Cipher(algorithms.AES(KEY), modes.CBC(IV[:15])).encryptor()
    with pytest.raises(TypeError):
        Cipher(algorithms.AES(KEY), "CTR")
    with pytest.raises(RuntimeError):
        Cipher(algorithms.AES(KEY), modes.CTR(IV), backend="cuda:99").encryptor()


def test_keys_are_never_shown():
    key = os.urandom(32)
    shown = repr(algorithms.AES(key)) + repr(vars(type(algorithms.AES(key)))) + repr(dir(algorithms.AES(key)))
    assert key.hex() not in shown and repr(key)[2:-1] not in shown
    assert algorithms.AES(key).key_size == 256 and algorithms.AES.block_size == 128


def test_ivs_are_buffers():
    """`bytes` makes as many zeros of an int: a nonce that everybody has."""
    for mode in (modes.CBC, modes.CFB, modes.CTR, modes.GCM, modes.OFB, modes.XTS):
        for wrong in (16, [7] * 16, "sixteen letters.", None):
            with pytest.raises(TypeError):
                mode(wrong)
        assert mode(bytearray(range(16))).iv == mode(memoryview(bytes(range(16)))).iv == bytes(range(16))


@pytest.mark.parametrize("mode", [modes.CTR(IV), modes.CBC(IV), modes.GCM(IV)], ids=lambda mode: mode.name)
def test_an_update_that_was_refused_is_none(mode):
    cipher, room = Cipher(algorithms.AES(KEY), mode), bytearray(64)
    expected = cipher.encryptor().update(bytes(96))
    context = cipher.encryptor()
    assert context.update(bytes(32)) == expected[:32]
    for error, text, data, buf in [
        (ValueError, "buf has 63 bytes; the result of this update has 64", bytes(64), memoryview(room)[:63]),
        (ValueError, "data and buf overlap", memoryview(room)[:32], memoryview(room)[16:]),
        (BufferError, "buf is read-only", bytes(64), bytes(64)),
    ]:
        with pytest.raises(error, match=text):
            context.update_into(data, buf)
    assert context.update_into(bytes(64), room) == 64
    assert room == expected[32:]


# A host build of the kernels whose launches of one fail. It has the others from the library that it needs.
FAILING = """
struct Expected { unsigned threads, group_threads, shared_bytes, parameter_bytes; };
extern "C" const Expected *aes_bitslice_ctr(const void *, const void *, unsigned long) {
    static const Expected none{};
    return &none;
}
"""
UPDATES = """
from lanecrypt.ciphers import AlreadyFinalized, Cipher, algorithms, modes

def raises(error, call, *arguments):
    try:
        call(*arguments)
    except error:
        return
    raise SystemExit(f"{call} did not raise {error.__name__}")

for mode in modes.CTR(bytes(16)), modes.GCM(bytes(12)):
    cipher = Cipher(algorithms.AES(bytes(32)), mode, backend="host-bitslice")
    text = bytearray(100_000)
    for arguments in [text], [text, bytearray(100_000)], [text, text]:
        context = cipher.encryptor()
        update = context.update_into if arguments[1:] else context.update
        raises(RuntimeError, update, *arguments)
        raises(AlreadyFinalized, update, *arguments)
        raises(AlreadyFinalized, context.update, b"")
        raises(AlreadyFinalized, context.finalize)
"""


def test_an_update_whose_engine_fails_ends_the_message(tmp_path, judges):
    """Trying it again would go on elsewhere in the message, or use a counter twice."""
    host = os.environ.get("LANECRYPT_HOST_KERNELS")
    if host is None:
        pytest.skip("LANECRYPT_HOST_KERNELS does not name the host build of the kernels")
    compiler = os.environ.get("CXX", "g++")
    judges(programs=[compiler])
    source, library = tmp_path / "failing.cpp", tmp_path / "failing.so"
    source.write_text(FAILING)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-Wl,--no-as-needed", host], check=True)
    environment = dict(os.environ, LANECRYPT_HOST_KERNELS=str(library))
    subprocess.run([sys.executable, "-c", UPDATES], env=environment, check=True, timeout=300)


def test_an_update_that_failed_is_none():
    cipher = Cipher(algorithms.AES(bytes(range(32))), modes.XTS(bytes(16)))
    expected = cipher.encryptor().update(bytes(64))
    context, room = cipher.encryptor(), bytearray(64)
    with pytest.raises(ValueError, match="buf has 63 bytes"):
        context.update_into(bytes(64), memoryview(room)[:63])
    with pytest.raises(ValueError):
        context.update(bytes(15))
    assert context.update_into(bytes(64), room) == 64
    assert room == expected
    with pytest.raises(ValueError, match="one update"):
        context.update(bytes(64))


def test_a_data_unit_that_is_refused_is_not_in_the_buffer():
    cipher = Cipher(algorithms.AES(bytes(range(32))), modes.XTS(bytes(16)))
    for length, text in [(1, "unit of 1 bytes"), (15, "unit of 15 bytes"), ((1 << 24) + 1, "at most 2.20 blocks")]:
        for context in [cipher.encryptor(), cipher.decryptor()]:
            secret, out = b"s" * length, bytearray(length)
            with pytest.raises(ValueError, match=text):
                context.update_into(secret, out)
            assert out == bytes(length)
            with pytest.raises(ValueError, match=text):
                context.update(secret)
    assert len(cipher.encryptor().update(bytes(1 << 24))) == 1 << 24


def test_empty_updates_of_xts_are_pycas(pyca):
    key, tweak, text = os.urandom(64), os.urandom(16), os.urandom(33)
    theirs = pyca.Cipher(pyca.algorithms.AES(key), pyca.modes.XTS(tweak)).encryptor()
    context, empty = Cipher(algorithms.AES(key), modes.XTS(tweak)).encryptor(), bytearray()
    assert context.update(b"") == theirs.update(b"") == b"" and context.update_into(empty, empty) == 0
    assert context.update(text) == theirs.update(text)
    assert context.update(b"") == theirs.update(b"") == b""
    assert context.finalize() == b""


@pytest.mark.parametrize("mode", [modes.ECB(), modes.CBC(IV)], ids=lambda mode: mode.name)
@pytest.mark.parametrize("held", [0, 1, 15])
@pytest.mark.parametrize("length", [0, 1, 16, 31, 33, 10_000])
def test_in_place_after_bytes_that_are_held_back(mode, held, length):
    cipher, text = Cipher(algorithms.AES(KEY), mode), os.urandom(held + length)
    whole = len(text) // 16 * 16
    expected = cipher.encryptor().update(text[:whole])
    context, buffer = cipher.encryptor(), bytearray(text[held:] + bytes(15))
    assert context.update(text[:held]) == b""
    assert context.update_into(memoryview(buffer)[:length], buffer) == whole
    assert buffer[:whole] == expected
    assert context.update(bytes(-len(text) % 16)) == cipher.encryptor().update(text + bytes(-len(text) % 16))[whole:]
