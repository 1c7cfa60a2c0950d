"""What the Tink wheel is asked to do: tasks as JSON on standard input, one failure a line on output."""

import json
import sys

import tink
from tink import aead, cleartext_keyset_handle, streaming_aead
from tink.streaming_aead import streaming_aead_key_templates as templates

streaming_aead.register()


def keyset(path, passphrase=None):
    with open(path) as file:
        text = file.read()
    if passphrase is None:
        return cleartext_keyset_handle.read(tink.JsonKeysetReader(text))
    wrapped = json.loads(text)
    reader = tink.JsonKeysetReader(json.dumps(wrapped["tink"]))
    return tink.read_keyset_handle(reader, UnderPassphrase(wrapped["kdf"], passphrase))


class UnderPassphrase(aead.Aead):
    """The key of an encrypted keyset, as pyca/cryptography derives it."""

    def __init__(self, kdf, passphrase):
        import base64

        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

        assert kdf["algorithm"] == "argon2id" and kdf["version"] == 19
        salt = base64.b64decode(kdf["salt"], validate=True)
        argon2 = Argon2id(
            salt=salt, length=32, iterations=kdf["passes"], lanes=kdf["lanes"], memory_cost=kdf["memoryKib"]
        )
        self.gcm = AESGCM(argon2.derive(passphrase.encode()))

    def encrypt(self, plaintext, associated_data):
        raise NotImplementedError

    def decrypt(self, ciphertext, associated_data):
        return self.gcm.decrypt(ciphertext[:12], ciphertext[12:], associated_data)


def opened(task):
    primitive = keyset(task["keyset"], task.get("passphrase")).primitive(streaming_aead.StreamingAead)
    with open(task["sealed"], "rb") as source:
        with primitive.new_decrypting_stream(source, task["ad"].encode()) as stream:
            return stream.read()


def make(task):
    handle = tink.new_keyset_handle(getattr(templates, task["template"]))
    with open(task["keyset"], "w") as file:
        cleartext_keyset_handle.write(tink.JsonKeysetWriter(file), handle)


def seal(task):
    primitive = keyset(task["keyset"]).primitive(streaming_aead.StreamingAead)
    with open(task["plain"], "rb") as source, open(task["sealed"], "wb") as target:
        with primitive.new_encrypting_stream(target, task["ad"].encode()) as stream:
            stream.write(source.read())


def open_(task):
    with open(task["plain"], "rb") as file:
        assert opened(task) == file.read(), "another plaintext"


def refuse(task):
    try:
        opened(task)
    except tink.TinkError:
        return
    raise AssertionError("it was opened")


for task in json.load(sys.stdin):
    try:
        {"make": make, "seal": seal, "open": open_, "refuse": refuse}[task["do"]](task)
    except Exception as error:  # whatever it is, the test shows it
        print(f"{task}: {type(error).__name__}: {error}")
