"""Throughput beside pyca/cryptography, OpenSSL and Tink: a table, and JSON for a record.

    python benches/against_others.py [--bytes 1073741824] [--json FILE]

Every figure is the best of some passes, after one that is not counted; what is measured is compared with the other's
bytes first. OpenSSL is the program, by `openssl speed` over 16 KiB. Files lie in /dev/shm.
"""

import argparse
import io
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

KEY, IV = bytes(range(1, 33)), bytes(16)


def best(work, passes=5):
    """Seconds of the fastest pass."""
    work()
    times = []
    for _ in range(passes):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def row(what, bytes_, seconds, other, other_seconds, asked=None, aim=None):
    rates = [bytes_ / seconds / 1e9, bytes_ / other_seconds / 1e9]
    return dict(what=what, bytes=bytes_, ours=rates[0], other=other, others=rates[1], ratio=rates[0] / rates[1],
                asked=asked, aim=aim)


def one_thread(script, *arguments):
    """Runs a part of this program in a process whose threads are one."""
    environment = dict(os.environ, RAYON_NUM_THREADS="1")
    command = [sys.executable, __file__, "--part", script, *map(str, arguments)]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)


def aes_ctr(length):
    """AES-256 in CTR, in place on an array, beside pyca's `update_into`."""
    import numpy
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    import lanecrypt

    data = numpy.zeros(length, "uint8")
    other = numpy.zeros(length, "uint8")
    cipher = Cipher(algorithms.AES(KEY), modes.CTR(IV))
    cipher.encryptor().update_into(data, other)
    theirs_out = best(lambda: cipher.encryptor().update_into(data, other))
    lanecrypt.ctr("aes", KEY, IV, data)
    assert numpy.array_equal(data, other)
    theirs_in_place = best(lambda: cipher.encryptor().update_into(data, data))
    ours = best(lambda: lanecrypt.ctr("aes", KEY, IV, data))
    return [
        row("AES-256 CTR in place, one thread", length, ours, "pyca, in place", theirs_in_place, 1.5, 2),
        row("AES-256 CTR in place, one thread", length, ours, "pyca, to another buffer", theirs_out, 1.5, 2),
    ]


def small_calls():
    """Calls of 1 KiB, which are mostly what surrounds them."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM as Theirs

    import lanecrypt
    from lanecrypt.aead import AESGCM

    data, calls = bytearray(1024), 20_000

    def repeat(call):
        return best(lambda: [call() for _ in range(calls)] and None)

    def pyca():
        Cipher(algorithms.AES(KEY), modes.CTR(IV)).encryptor().update_into(data, out)

    out = bytearray(1024 + 16)
    ours, theirs = AESGCM(KEY), Theirs(KEY)
    return [
        row("AES-256 CTR, calls of 1 KiB with a new key", 1024 * calls,
            repeat(lambda: lanecrypt.ctr("aes", KEY, IV, data)), "pyca", repeat(pyca)),
        row("AES-256 GCM, messages of 1 KiB under one key", 1024 * calls,
            repeat(lambda: ours.encrypt(IV[:12], data, None)), "pyca",
            repeat(lambda: theirs.encrypt(IV[:12], data, None))),
    ]


def other_ciphers(length):
    """ARIA, Camellia and triple DES on one thread, beside pyca where it has them and else `openssl speed`."""
    import numpy
    from cryptography.hazmat.decrepit.ciphers import algorithms
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    import lanecrypt

    data = numpy.zeros(length, "uint8")
    out = numpy.zeros(length + 16, "uint8")
    rows = []
    for name, cipher, theirs, key in [
        ("Camellia-256 ECB", "camellia", algorithms.Camellia, KEY),
        ("triple DES ECB", "tdes", algorithms.TripleDES, KEY[:24]),
    ]:
        ours = best(lambda: lanecrypt.ecb(cipher, key, data), 3)
        other = Cipher(theirs(key), modes.ECB())
        rows.append(row(name + ", one thread", length, ours, "pyca",
                        best(lambda: other.encryptor().update_into(data, out), 1), 10, 20))
    for name, cipher, evp, key in [
        ("ARIA-256 CTR", "aria", "aria-256-ctr", KEY),
        ("Camellia-256 CTR", "camellia", "camellia-256-ctr", KEY),
    ]:
        ours = best(lambda: lanecrypt.ctr(cipher, key, IV, data), 3)
        rate = openssl_rate(evp)
        if rate:
            rows.append(row(name + ", one thread", length, ours, "openssl speed", length / rate, 10, 20))
    return rows


def openssl_rate(evp):
    """Bytes a second of `openssl speed`, if there is one."""
    command = ["openssl", "speed", "-seconds", "2", "-bytes", "16384", "-evp", evp]
    try:
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return float(re.findall(r"([\d.]+)k\s*$", said.strip())[0]) * 1000


def sealed_files(length, folder):
    """Sealing and opening a file, on all cores, beside Tink's wheel."""
    from tink import json_proto_keyset_format, secret_key_access, streaming_aead

    from lanecrypt import tink

    keyset = tink.Keyset.generate()
    streaming_aead.register()
    handle = json_proto_keyset_format.parse(keyset.to_json(), secret_key_access.TOKEN)
    theirs = handle.primitive(streaming_aead.StreamingAead)
    plain, sealed, opened = (folder / name for name in ("plain", "sealed", "opened"))
    with open(plain, "wb") as file:
        for _ in range(0, length, 1 << 20):
            file.write(os.urandom(1 << 20))

    def copy(source, target):
        while piece := source.read(1 << 20):
            target.write(piece)

    def seal():
        with open(plain, "rb") as source, theirs.new_encrypting_stream(open(sealed, "wb"), b"") as target:
            copy(source, target)

    def unseal():
        with theirs.new_decrypting_stream(open(sealed, "rb"), b"") as source, open(opened, "wb") as target:
            copy(io.BufferedReader(source, 1 << 20), target)

    theirs_seal, theirs_open = best(seal, 2), best(unseal, 2)
    assert opened.read_bytes() == plain.read_bytes()
    ours_seal = best(lambda: tink.seal(keyset, plain, sealed))
    ours_open = best(lambda: tink.open(keyset, sealed, opened))
    assert opened.read_bytes() == plain.read_bytes()
    return [
        row("sealing a file", length, ours_seal, "tink", theirs_seal, 4, 10),
        row("opening a file", length, ours_open, "tink", theirs_open, 3, 5),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--part", choices=["aes_ctr", "small_calls", "other_ciphers"])
    options, rest = parser.parse_known_args()
    if options.part:
        print(json.dumps(globals()[options.part](*map(int, rest))))
        return
    rows = one_thread("aes_ctr", options.bytes)
    rows += one_thread("small_calls")
    rows += one_thread("other_ciphers", options.bytes // 8)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        rows += sealed_files(options.bytes, pathlib.Path(folder))
    load = os.getloadavg()[0]
    print(f"{'':46}{'GB/s':>8}  {'beside':24}{'GB/s':>8}{'ratio':>8}  asked, aim    load {load:.1f}")
    for line in rows:
        goals = f"{line['asked']}, {line['aim']}" if line["asked"] else ""
        print(f"{line['what']:46}{line['ours']:8.3f}  {line['other']:24}{line['others']:8.3f}{line['ratio']:8.2f}  {goals}")
    if options.json:
        machine = dict(platform=platform.platform(), cores=os.cpu_count(), load=load, python=platform.python_version())
        options.json.write_text(json.dumps(dict(machine=machine, rows=rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
