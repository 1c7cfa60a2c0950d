"""The Python package under valgrind's memcheck, with keys, data and tags undefined: `cargo xtask ct --wheel` runs it.

Each step calls the package as users do. A branch or an address that depends on a secret is an error of memcheck; steps
may have one, where a verdict is public. A step with tables must have errors, or memcheck saw nothing.
"""

import ctypes
import mmap
import platform
import sys

import lanecrypt
from lanecrypt.aead import AESGCM, ARIAGCM, InvalidTag
from lanecrypt.ciphers import Cipher, algorithms, modes

# The requests of valgrind.h and memcheck.h.
RUNNING_ON_VALGRIND, COUNT_ERRORS = 0x1001, 0x1201
MAKE_MEM_UNDEFINED, MAKE_MEM_DEFINED, GET_VBITS = (0x4D430000 + n for n in (1, 2, 8))

# What valgrind knows for a request, as a function of the address of six words, on x86-64: rax has the address, rdx the
# answer, and the four rotations and the exchange change nothing.
SEQUENCE = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3")

CODE = mmap.mmap(-1, len(SEQUENCE), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
CODE.write(SEQUENCE)
CALL = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)(ctypes.addressof(ctypes.c_char.from_buffer(CODE)))

BYTES = 5 * 16
IV = bytes(range(16))
NONCE = bytes(12)


def request(code, *arguments):
    """Valgrind's answer; 0 where it does not run."""
    words = (ctypes.c_size_t * 6)(code, *arguments)
    return CALL(ctypes.addressof(words))


def address(buffer):
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


def noise(length):
    return bytearray((i * 37 + 11) % 251 for i in range(length))


def secret(length):
    """Bytes that memcheck takes for undefined."""
    buffer = noise(length)
    request(MAKE_MEM_UNDEFINED, address(buffer), length)
    return buffer


def is_undefined(buffer):
    bits = bytearray(len(buffer))
    answer = request(GET_VBITS, address(buffer), address(bits), len(buffer))
    return answer == 1 and all(byte == 0xFF for byte in bits)


def defined(buffer):
    request(MAKE_MEM_DEFINED, address(buffer), len(buffer))
    return buffer


class Steps:
    """The steps so far, and what is wrong with them."""

    def __init__(self):
        self.count, self.wrong = 0, []

    def step(self, name, work, verdicts=0, trips=False):
        """Does `work`, which has this many public verdicts, or trips more often."""
        before = request(COUNT_ERRORS)
        result = work()
        errors = request(COUNT_ERRORS) - before
        self.count += 1
        if trips and errors == 0:
            self.wrong.append(f"{name}: nothing was seen of tables: memcheck was blind")
        elif not trips and errors < verdicts:
            self.wrong.append(f"{name}: memcheck did not see the verdict: it was blind")
        elif not trips and errors > verdicts:
            self.wrong.append(f"{name}: {errors - verdicts} branches or addresses depend on a secret")
        return result

    def look_at(self, name, output):
        """Whether what a step gave is undefined in every bit."""
        if not is_undefined(output):
            self.wrong.append(f"{name}: memcheck takes the output for defined: it was blind")

    def compare(self, name, text):
        if defined(text) != noise(len(text)):
            self.wrong.append(f"{name}: another text")


def functions(steps, cipher, key_bytes):
    """The functions over a whole buffer, there and back."""
    for mode, run in [
        ("ctr", lambda key, data, _: lanecrypt.ctr(cipher, key, IV, data)),
        ("ecb", lambda key, data, back: lanecrypt.ecb(cipher, key, data, decrypt=back)),
        ("cbc", lambda key, data, back: lanecrypt.cbc(cipher, key, IV, data, decrypt=back)),
        ("xts", lambda key, data, back: lanecrypt.xts(cipher, key, data, unit_bytes=48, decrypt=back)),
    ]:
        # Whether the two keys of XTS are equal is public.
        keys, verdicts = (2, 1) if mode == "xts" else (1, 0)
        data = secret(BYTES)
        for back in (False, True):
            name = f"{mode} of {cipher}, {'decrypted' if back else 'encrypted'}"
            steps.step(name, lambda: run(secret(keys * key_bytes), data, back), verdicts)
            steps.look_at(name, data)
        steps.compare(f"{mode} of {cipher}", data)


def sealed(steps, name, kind, key_bytes):
    """GCM of a whole message, sealed, opened, and changed."""
    made = bytearray(BYTES + 16)
    aead = steps.step(f"{name}: a key", lambda: kind(secret(key_bytes)))
    steps.step(f"{name}: sealed", lambda: aead.encrypt_into(NONCE, secret(BYTES), b"header", made))
    steps.look_at(f"{name}: sealed", made)
    opened = bytearray(BYTES)
    steps.step(f"{name}: opened", lambda: aead.decrypt_into(NONCE, made, b"header", opened), 1)
    steps.look_at(f"{name}: opened", opened)
    steps.compare(name, opened)
    made[-1] ^= 1

    def refused():
        try:
            aead.decrypt_into(NONCE, made, b"header", opened)
        except InvalidTag:
            return
        steps.wrong.append(f"{name}: a wrong tag was taken for the right one")

    steps.step(f"{name}: refused", refused, 1)


def streams(steps):
    """The interface of pyca/cryptography, in pieces."""
    for name, mode in [("CTR", modes.CTR(IV)), ("CBC", modes.CBC(IV)), ("CFB", modes.CFB(IV)), ("OFB", modes.OFB(IV))]:
        def run(out):
            encryptor = Cipher(algorithms.Camellia(secret(16)), mode).encryptor()
            encryptor.update_into(secret(BYTES), out)
            encryptor.finalize()

        out = bytearray(BYTES)
        steps.step(f"a stream in {name}", lambda: run(out))
        steps.look_at(f"a stream in {name}", out)


def main():
    if platform.machine() != "x86_64" or not request(RUNNING_ON_VALGRIND):
        sys.exit("this runs under valgrind, on x86-64 alone: cargo xtask ct --wheel")
    lanecrypt.self_test()
    steps = Steps()
    functions(steps, "aes", 32)
    functions(steps, "aria", 16)
    sealed(steps, "AESGCM", AESGCM, 32)
    sealed(steps, "ARIAGCM", ARIAGCM, 16)
    streams(steps)
    data = secret(BYTES)
    steps.step("tables", lambda: lanecrypt.ecb("aes", secret(16), data, backend="table32"), trips=True)
    print("\n".join(steps.wrong) or f"the wheel: nothing in {steps.count} steps but public verdicts, and tables trip")
    sys.exit(bool(steps.wrong))


main()
