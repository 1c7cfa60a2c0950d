"""GCM over whole messages: pyca/cryptography's bytes and its way of refusing."""

import os

import hypothesis
import hypothesis.strategies as st
import pytest

from lanecrypt.aead import AESGCM, ARIAGCM, CamelliaGCM, InvalidTag

KEY, NONCE = bytes(range(32)), b"never twice!"


@hypothesis.given(
    key=st.sampled_from([16, 24, 32]).flatmap(lambda size: st.binary(min_size=size, max_size=size)),
    nonce=st.binary(min_size=8, max_size=128),
    data=st.binary(max_size=40_000),
    associated=st.none() | st.binary(max_size=99),
)
def test_aes_is_pycas(pyca_aead, key, nonce, data, associated):
    theirs, ours = pyca_aead.AESGCM(key), AESGCM(key)
    sealed = ours.encrypt(nonce, data, associated)
    assert sealed == theirs.encrypt(nonce, data, associated)
    assert ours.decrypt(nonce, sealed, associated) == data


# RFC 9367's and RFC 6367's suites have no vectors of the mode alone; these are zeros by botan and openssl.
@pytest.mark.parametrize("kind", [AESGCM, ARIAGCM, CamelliaGCM])
@pytest.mark.parametrize("length", [0, 1, 16, 8191, 1 << 20, (3 << 20) + 7])
def test_into_buffers(kind, length):
    gcm, data = kind(KEY), os.urandom(length)
    sealed = gcm.encrypt(NONCE, data, b"header")
    buffer = bytearray(data + bytes(16))
    # In place, and from one buffer to another.
    assert gcm.encrypt_into(NONCE, memoryview(buffer)[:length], b"header", buffer) == length + 16
    assert buffer == sealed
    other = bytearray(length + 16)
    assert gcm.encrypt_into(NONCE, data, b"header", other) == length + 16 and other == sealed
    assert gcm.decrypt_into(NONCE, buffer, b"header", memoryview(buffer)[:length]) == length
    assert buffer[:length] == data
    other = bytearray(length)
    assert gcm.decrypt_into(NONCE, sealed, b"header", other) == length and other == data


def test_other_ciphers_are_opensslls(pyca):
    """Camellia in GCM through the stream interface of our own, whose hash is AES's, and ARIA likewise."""
    from lanecrypt.ciphers import Cipher, algorithms, modes

    for gcm, algorithm in [(ARIAGCM, algorithms.ARIA), (CamelliaGCM, algorithms.Camellia)]:
        encryptor = Cipher(algorithm(KEY), modes.GCM(NONCE)).encryptor()
        encryptor.authenticate_additional_data(b"header")
        pieces = encryptor.update(b"in ") + encryptor.update(b"pieces") + encryptor.finalize()
        assert pieces + encryptor.tag == gcm(KEY).encrypt(NONCE, b"in pieces", b"header")


@pytest.mark.parametrize("kind", [AESGCM, ARIAGCM, CamelliaGCM])
def test_what_was_changed_is_refused(kind):
    gcm, data = kind(KEY), os.urandom(100_000)
    sealed = bytearray(gcm.encrypt(NONCE, data, b"header"))
    out = bytearray(len(data))
    for place in [0, 50_000, len(data) - 1, len(data), len(sealed) - 1]:
        sealed[place] ^= 1
        with pytest.raises(InvalidTag):
            gcm.decrypt(NONCE, sealed, b"header")
        with pytest.raises(InvalidTag):
            gcm.decrypt_into(NONCE, sealed, b"header", out)
        sealed[place] ^= 1
    assert out == sealed[: len(data)], "no plaintext"
    for nonce, associated, text in [(b"another one.", b"header", sealed), (NONCE, None, sealed), (NONCE, b"", sealed[1:])]:
        with pytest.raises(InvalidTag):
            gcm.decrypt(nonce, text, associated)
    with pytest.raises(InvalidTag):
        gcm.decrypt(NONCE, b"short", b"header")


def test_wrong_arguments():
    gcm = AESGCM(KEY)
    for wrong, text in [(7, "nonce has 7 bytes"), (129, "nonce has 129 bytes")]:
        with pytest.raises(ValueError, match=text):
            gcm.encrypt(bytes(wrong), b"", None)
    with pytest.raises(ValueError, match="buf has 18 bytes; expected are 17"):
        gcm.encrypt_into(NONCE, b"x", None, bytearray(18))
    with pytest.raises(ValueError, match="buf has 2 bytes; expected are 1"):
        gcm.decrypt_into(NONCE, gcm.encrypt(NONCE, b"x", None), None, bytearray(2))
    with pytest.raises(BufferError, match="read-only"):
        gcm.encrypt_into(NONCE, b"x", None, bytes(17))
    buffer = memoryview(bytearray(40))
    with pytest.raises(ValueError, match="data and buf overlap"):
        gcm.encrypt_into(NONCE, buffer[1:21], None, buffer[:36])
    # The place of the tag has a part of the data, or all of it.
    for data in [buffer[20:40], buffer[24:28], buffer[36:40]]:
        with pytest.raises(ValueError, match="data and buf overlap"):
            gcm.encrypt_into(NONCE, data, None, buffer[40 - 16 - len(data) :])
    with pytest.raises(ValueError, match="data and buf overlap"):
        gcm.decrypt_into(NONCE, buffer[:36], None, buffer[1:21])
    with pytest.raises(BufferError, match="associated_data is not contiguous"):
        gcm.encrypt(NONCE, b"", buffer[::2])
    with pytest.raises(ValueError, match="accepted are"):
        AESGCM(bytes(17))
    with pytest.raises(ValueError, match="accepted are"):
        AESGCM.generate_key(64)
    with pytest.raises(TypeError):
        gcm.encrypt(NONCE, "text", None)


def test_keys_are_random_and_never_shown():
    key = ARIAGCM.generate_key(bit_length=192)
    assert len(key) == 24 and key != ARIAGCM.generate_key(192)
    for shown in [repr(AESGCM(KEY)), str(AESGCM(KEY))]:
        assert KEY.hex() not in shown and repr(KEY)[2:-1] not in shown
