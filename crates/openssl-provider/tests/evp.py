"""The module under libcrypto, through ctypes: `evp.py TEST MODULES`, where MODULES has lanecrypt.so.

Every test compares with OpenSSL's own providers, call by call.
"""

import ctypes
import itertools
import random
import sys
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_ulong, c_void_p

crypto = ctypes.CDLL("libcrypto.so.3")


def declare(name, result, *arguments):
    function = getattr(crypto, name)
    function.restype, function.argtypes = result, arguments
    return function


EACH_CIPHER = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
EACH_NAME = ctypes.CFUNCTYPE(None, c_char_p, c_void_p)
search = declare("OSSL_PROVIDER_set_default_search_path", c_int, c_void_p, c_char_p)
load = declare("OSSL_PROVIDER_load", c_void_p, c_void_p, c_char_p)
unload = declare("OSSL_PROVIDER_unload", c_int, c_void_p)
provider_name = declare("OSSL_PROVIDER_get0_name", c_char_p, c_void_p)
fetch = declare("EVP_CIPHER_fetch", c_void_p, c_void_p, c_char_p, c_char_p)
set_default_properties = declare("EVP_set_default_properties", c_int, c_void_p, c_char_p)
do_all = declare("EVP_CIPHER_do_all_provided", None, c_void_p, EACH_CIPHER, c_void_p)
names_do_all = declare("EVP_CIPHER_names_do_all", c_int, c_void_p, EACH_NAME, c_void_p)
cipher_provider = declare("EVP_CIPHER_get0_provider", c_void_p, c_void_p)
key_length = declare("EVP_CIPHER_get_key_length", c_int, c_void_p)
iv_length = declare("EVP_CIPHER_get_iv_length", c_int, c_void_p)
block_size = declare("EVP_CIPHER_get_block_size", c_int, c_void_p)
get_mode = declare("EVP_CIPHER_get_mode", c_int, c_void_p)
get_flags = declare("EVP_CIPHER_get_flags", c_ulong, c_void_p)
ctx_new = declare("EVP_CIPHER_CTX_new", c_void_p)
ctx_free = declare("EVP_CIPHER_CTX_free", None, c_void_p)
ctx_copy = declare("EVP_CIPHER_CTX_copy", c_int, c_void_p, c_void_p)
ctx_ctrl = declare("EVP_CIPHER_CTX_ctrl", c_int, c_void_p, c_int, c_int, c_void_p)
ctx_flags = declare("EVP_CIPHER_CTX_set_flags", None, c_void_p, c_int)
ctx_rand_key = declare("EVP_CIPHER_CTX_rand_key", c_int, c_void_p, c_char_p)
set_padding = declare("EVP_CIPHER_CTX_set_padding", c_int, c_void_p, c_int)
set_key_length = declare("EVP_CIPHER_CTX_set_key_length", c_int, c_void_p, c_int)
get_num = declare("EVP_CIPHER_CTX_get_num", c_int, c_void_p)
set_num = declare("EVP_CIPHER_CTX_set_num", c_int, c_void_p, c_int)
updated_iv = declare("EVP_CIPHER_CTX_get_updated_iv", c_int, c_void_p, c_char_p, c_size_t)
original_iv = declare("EVP_CIPHER_CTX_get_original_iv", c_int, c_void_p, c_char_p, c_size_t)
init = declare(
    "EVP_CipherInit_ex2", c_int, c_void_p, c_void_p, c_char_p, c_char_p, c_int, c_void_p
)
update = declare("EVP_CipherUpdate", c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_int)
final = declare("EVP_CipherFinal_ex", c_int, c_void_p, c_void_p, c_void_p)
whole = declare("EVP_Cipher", c_int, c_void_p, c_void_p, c_void_p, c_uint)
get_error = declare("ERR_get_error", c_ulong)


class Parameter(ctypes.Structure):
    """`OSSL_PARAM`."""

    _fields_ = [("key", c_char_p), ("kind", c_uint), ("data", c_void_p), ("size", c_size_t), ("returned", c_size_t)]


OCTETS, UNANSWERED = 5, c_size_t(-1).value
# What is drawn or used up when it is asked for, and what libssl asks of suites that are not offered.
NOT_ASKED = (b"tag", b"tlsivgen", b"randkey", b"tls-mac", b"tlsaadpad")
gettable = declare("EVP_CIPHER_gettable_params", ctypes.POINTER(Parameter), c_void_p)
ctx_gettable = declare("EVP_CIPHER_CTX_gettable_params", ctypes.POINTER(Parameter), c_void_p)
get_params = declare("EVP_CIPHER_get_params", c_int, c_void_p, c_void_p)
ctx_get = declare("EVP_CIPHER_CTX_get_params", c_int, c_void_p, c_void_p)
ctx_iv_length = declare("EVP_CIPHER_CTX_get_iv_length", c_int, c_void_p)

ECB, CBC, CFB, OFB, CTR, GCM, CCM, XTS = 1, 2, 3, 4, 5, 6, 7, 0x10001
IVLEN, GET_TAG, SET_TAG, FIXED_IV, IV_GEN, AAD = 0x9, 0x10, 0x11, 0x12, 0x13, 0x16
SET_IV_INV = 0x18
LENGTH_BITS = 0x2000
RAND_KEY = 0x200
PARITY = 0xFE

# Memory of the tests' own that stays as it is protected.
GUARDED = []

draw = random.Random(20261122)


def errors():
    """The codes of the queue, of the libraries of providers alone: the line is nobody's business."""
    codes = []
    while code := get_error():
        codes.append(code & 0x7FFFFFFF)
    return [code for code in codes if code >> 23 & 0xFF == 57]


class Cipher:
    """A fetched cipher."""

    def __init__(self, name, properties):
        self.name = name
        self.pointer = fetch(None, name.encode(), properties.encode())
        errors()

    def __bool__(self):
        return bool(self.pointer)

    def facts(self):
        read = (key_length, iv_length, block_size, get_mode, get_flags)
        return [function(self.pointer) for function in read]


class Context:
    """A context whose every result is kept, to be compared."""

    def __init__(self, cipher):
        self.pointer, self.cipher, self.log = ctx_new(), cipher, []
        self.held = 0

    def __del__(self):
        ctx_free(self.pointer)

    def note(self, *what):
        self.log.append((*what, errors()))

    def init(self, encrypts, key, iv=None):
        first = self.cipher.pointer if key is not None else None
        self.held = 0
        self.note("init", init(self.pointer, first, key, iv, encrypts, None))

    def update(self, data, in_place=False, bits=None):
        """Runs a piece; in place it lies in the output, as far behind as bytes are held back."""
        output = ctypes.create_string_buffer(bytes(self.held) + bytes(data) + bytes(64))
        source = ctypes.create_string_buffer(bytes(data) + b"?")
        if in_place:
            source = ctypes.addressof(output) + self.held
        written = c_int(-1)
        length = len(data) if bits is None else bits
        done = update(self.pointer, output, byref(written), source, length)
        count = written.value if bits is None else (written.value + 7) // 8
        result = output.raw[:count] if done else b""
        self.held += len(data) - len(result)
        self.note("update", done, written.value if done else 0, result)
        self.state()
        return result

    def nothing(self):
        """Calls without any data, which may come without an address: what is held stays, and no message ends."""
        memory, written = ctypes.create_string_buffer(64), c_int(-1)
        for output, data in ((memory, None), (None, memory)):
            done = update(self.pointer, output, byref(written), data, 0)
            self.note("nothing", done, written.value if done else 0)
        # EVP_Cipher without input ends messages of GCM, and OpenSSL's XTS refuses it without a code.
        if get_mode(self.cipher.pointer) not in (GCM, XTS):
            self.note("nothing whole", whole(self.pointer, memory, None, 0))

    def associate(self, data):
        written = c_int(-1)
        source = ctypes.create_string_buffer(bytes(data))
        self.note("aad", update(self.pointer, None, byref(written), source, len(data)))

    def final(self):
        output, written = ctypes.create_string_buffer(64), c_int(-1)
        done = final(self.pointer, output, byref(written))
        result = output.raw[: written.value] if done else b""
        self.note("final", done, result)
        return result

    def state(self):
        size = iv_length(self.cipher.pointer)
        if size > 0:
            now, before = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
            done = updated_iv(self.pointer, now, size), original_iv(self.pointer, before, size)
            self.note("ivs", *done, now.raw, before.raw)
        if get_mode(self.cipher.pointer) != GCM:
            self.note("num", get_num(self.pointer))

    def ctrl(self, what, length, place=None):
        """A command, with what is in its place then."""
        place = ctypes.create_string_buffer(place or b"", 160)
        done = ctx_ctrl(self.pointer, what, length, place)
        self.note("ctrl", what, length, done, place.raw[:length] if done else b"")
        return place.raw

    def copy(self):
        other = Context(self.cipher)
        other.log, other.held = list(self.log), self.held
        other.note("copy", ctx_copy(other.pointer, self.pointer))
        return other


def bytes_of(length):
    return draw.randbytes(length)


def same(ours, theirs, what):
    for i, (one, other) in enumerate(zip(ours.log, theirs.log)):
        assert one == other, f"{what}: call {i}: {one} and not {other}"
    assert len(ours.log) == len(theirs.log), what


def names_of(pointer):
    names = []
    names_do_all(pointer, EACH_NAME(lambda name, _: names.append(name.decode())), None)
    return sorted(names)


def provided(by):
    """Names of the ciphers of a provider, as lists."""
    found = []

    def each(pointer, _):
        if provider_name(cipher_provider(pointer)).decode() == by:
            found.append(names_of(pointer))

    do_all(None, EACH_CIPHER(each), None)
    return found


def query_of(name):
    return "lanecrypt.aes=yes" if name.upper().startswith(("AES", "ID-AES")) else "provider=lanecrypt"


def judge(name):
    return Cipher(name, "provider=default") or Cipher(name, "provider=legacy")


def pairs(has_judge=True):
    """Ours and theirs, of every cipher but CCM, which takes no pieces."""
    for ours, theirs in all_pairs():
        if bool(theirs) == has_judge and get_mode(ours.pointer) != CCM:
            yield ours, theirs


def all_pairs():
    for names in provided("lanecrypt"):
        ours, theirs = Cipher(names[-1], query_of(names[-1])), judge(names[-1])
        assert ours, names
        yield ours, theirs


def pieces(length, most):
    """Random lengths that add up, zeros among them."""
    while length > 0:
        piece = min(length, draw.choice([0, 1, 7, 8, 15, 16, 17, draw.randrange(most), most]))
        yield piece
        length -= piece


def test_names():
    ours = provided("lanecrypt")
    flat = {name for names in ours for name in names}
    known = provided("default") + provided("legacy")
    for names in ours:
        theirs = [other for other in known if set(other) & set(names)]
        assert len(theirs) <= 1, names
        is_new = names[0].startswith(("HIGHT", "LEA")) or any("CAMELLIA" in n and "GCM" in n for n in names)
        # OpenSSL has these from 3.1 and 3.2 on.
        assert is_new == (not theirs) or {"SM4-GCM", "SM4-CCM", "SM4-XTS"} & set(names), names
        for other in theirs:
            assert set(other) == set(names), (other, names)
    left_out = ("CTS", "WRAP", "DESX", "CMS3DES")
    for names in known:
        ours_is_meant = any(n.startswith(("CAMELLIA", "ARIA", "SEED", "SM4", "DES")) for n in names)
        if ours_is_meant and not any(word in n for n in names for word in left_out):
            assert set(names) <= flat, f"{names} is missing"
    for ours, theirs in all_pairs():
        if theirs:
            assert ours.facts() == theirs.facts(), (ours.name, ours.facts(), theirs.facts())


def test_pieces():
    for ours, theirs in pairs():
        key, iv = bytes_of(key_length(ours.pointer)), bytes_of(iv_length(ours.pointer))
        for trial in range(6):
            encrypts, padded, in_place = trial & 1, draw.random() < 0.5, draw.random() < 0.5
            slow = "CFB1" in ours.name
            length = draw.randrange(200 if slow else 20000)
            if not padded:
                length -= length % block_size(ours.pointer)
            data = bytes_of(length)
            cuts = list(pieces(length, 100 if slow else draw.choice([40, 1000, 9000])))
            contexts = [Context(ours), Context(theirs)]
            for context in contexts:
                context.init(encrypts, key, iv)
                set_padding(context.pointer, padded)
                at = 0
                for cut in cuts:
                    context.update(data[at : at + cut], in_place)
                    at += cut
                if get_mode(ours.pointer) != GCM:
                    context.final()
            same(*contexts, f"{ours.name} in pieces {cuts}")


def test_large():
    """Calls that are long enough for threads, and counters that wrap."""
    data = bytes_of(3 << 20)
    for ours, theirs in pairs():
        mode = get_mode(ours.pointer)
        if not ours.name.startswith(("CAMELLIA-128", "DES-EDE3", "ARIA-256")) or "CFB1" in ours.name:
            continue
        key, iv = bytes_of(key_length(ours.pointer)), b"\xff" * iv_length(ours.pointer)
        contexts = [Context(ours), Context(theirs)]
        for encrypts in (1, 0) if mode not in (CFB, OFB) else (0,):
            for context in contexts:
                context.init(encrypts, key, iv)
                context.update(data[:5])
                context.update(data[5:-3], in_place=True)
                context.update(data[-3:])
        same(*contexts, ours.name)


def answers(listed, asked, pointer, iv_bytes):
    """Every parameter that can be asked for, with what is said of it: whether, its length, its value."""
    found = {}
    for known in itertools.takewhile(lambda known: known.key, listed(pointer)):
        if known.key in NOT_ASKED:
            continue
        room = iv_bytes if known.kind == OCTETS else known.size
        place = ctypes.create_string_buffer(room + 8)
        end = Parameter()
        one = Parameter(known.key, known.kind, ctypes.addressof(place), room, UNANSWERED)
        both = (Parameter * 2)(one, end)
        done = asked(pointer, both)
        found[known.key] = (known.kind, known.size, done, both[0].returned, place.raw[:room])
    errors()
    return found


def test_parameters():
    """What a program can ask of a cipher and of a context, before, amid and after data."""
    for ours, theirs in all_pairs():
        if not theirs:
            continue
        key, iv = bytes_of(key_length(ours.pointer)), bytes_of(iv_length(ours.pointer))
        asked = []
        for cipher in (ours, theirs):
            context, data = Context(cipher), b"some bytes more than a block"
            ask = lambda: answers(ctx_gettable, ctx_get, context.pointer, ctx_iv_length(context.pointer))
            found = [answers(gettable, get_params, cipher.pointer, 0)]
            assert init(context.pointer, cipher.pointer, key, None, 1, None)
            found.append(ask())
            assert init(context.pointer, None, None, iv[: ctx_iv_length(context.pointer)], 1, None)
            found.append(ask())
            set_padding(context.pointer, 0)
            if get_mode(cipher.pointer) != CCM:
                context.update(data)
                found.append(ask())
            set_num(context.pointer, 5)
            found.append(ask())
            asked.append(found)
        for step, (mine, others) in enumerate(zip(*asked)):
            assert mine == others, (ours.name, step, mine, others)


def test_padding():
    """Padding that is wrong, and ends that are not whole, are refused with the same codes."""
    for ours, theirs in pairs():
        block = block_size(ours.pointer)
        if block == 1:
            continue
        key, iv = bytes_of(key_length(ours.pointer)), bytes_of(iv_length(ours.pointer))
        plain = Context(theirs)
        plain.init(1, key, iv)
        set_padding(plain.pointer, 0)
        ends = [bytes([n]) * n for n in range(1, block + 1)]
        ends += [bytes(block), bytes([block + 1]) * block, b"\xff" * block]
        ends += [b"\x03\x02\x03", b"\x04\x03\x03\x03", b"\x02\x01\x02\x02"]
        for end in ends:
            sealed = plain.update((bytes_of(2 * block) + end)[-2 * block :])
            plain.init(1, None, iv)
            contexts = [Context(ours), Context(theirs)]
            for context in contexts:
                for length in (2 * block, 2 * block - 1, block, 1, 0):
                    context.init(0, key, iv)
                    context.update(sealed[:length])
                    context.final()
                context.init(0, key, iv)
                set_padding(context.pointer, 0)
                context.update(sealed[:-1])
                context.final()
                context.init(1, key, iv)
                set_padding(context.pointer, 0)
                context.update(sealed[:-1])
                context.final()
            same(*contexts, f"{ours.name} with {end}")
        # Without an output there is no room for the block that is held; OpenSSL's own write it there all the same.
        context, written = Context(ours), c_int()
        context.init(0, key, iv)
        context.update(bytes(block))
        set_padding(context.pointer, 0)
        assert not update(context.pointer, None, byref(written), b"", 0)
        assert [code & 0xFFF for code in errors()] == [106], ours.name
        assert len(context.final()) == block, ours.name


def test_copies():
    """A copy in the middle goes on by itself, and so does the first."""
    for ours, theirs in pairs():
        key, iv = bytes_of(key_length(ours.pointer)), bytes_of(iv_length(ours.pointer))
        data = bytes_of(300)
        contexts = [Context(ours), Context(theirs)]
        copies = []
        for context in contexts:
            context.init(1, key, iv)
            context.update(data[:77])
            context.update(data[77:90])
            copy = context.copy()
            copy.update(data[90:])
            context.update(data[100:133])
            copy.final(), context.final()
            copies.append(copy)
        same(*contexts, ours.name)
        same(*copies, f"a copy of {ours.name}")


def test_again():
    """Contexts are used again: without a key, without an IV, the other way; keys of wrong lengths."""
    for ours, theirs in pairs():
        size, iv = key_length(ours.pointer), bytes_of(iv_length(ours.pointer))
        key, data = bytes_of(size), bytes_of(77)
        contexts = [Context(ours), Context(theirs)]
        mode = get_mode(ours.pointer)
        for context in contexts:
            context.init(1, key, None)
            if mode != GCM:  # which draws an IV
                context.update(data)
                context.init(1, None, None)
                context.update(data)
            context.init(1, None, iv)
            context.nothing()
            context.update(data)
            context.nothing()
            if mode != GCM:
                context.init(1, None, None)
                context.update(data)
            # The other way OpenSSL's ECB, CBC and XTS want a key again; ours do not.
            context.init(0, key if mode in (ECB, CBC, XTS) else None, iv)
            context.update(data)
            context.init(1, key[::-1], iv)
            context.update(data)
            for wrong in (size - 1, size + 1, 0):
                context.note("length", set_key_length(context.pointer, wrong))
            context.note("length", set_key_length(context.pointer, size))
        same(*contexts, ours.name)
        unkeyed = [Context(ours), Context(theirs)]
        for context in unkeyed:
            init(context.pointer, context.cipher.pointer, None, iv, 1, None)
            context.update(data)
            context.final()
        same(*unkeyed, f"{ours.name} without a key")


def test_bits():
    """CFB of bits counts bits where a flag says so, and registers can be set."""
    for ours, theirs in pairs():
        if ours.name == "DES-CFB1":  # OpenSSL's takes eight times as many bits
            continue
        key, iv = bytes_of(key_length(ours.pointer)), bytes_of(iv_length(ours.pointer))
        mode, data = get_mode(ours.pointer), bytes_of(40)
        contexts = [Context(ours), Context(theirs)]
        for context in contexts:
            context.init(1, key, iv)
            if "CFB1" in ours.name:
                ctx_flags(context.pointer, LENGTH_BITS)
                for bits in (1, 7, 13, 64, 3):
                    context.update(data[: (bits + 7) // 8], True, bits)
            elif mode in (CFB, OFB) and "CFB8" not in ours.name:
                context.note("set num", set_num(context.pointer, 5))
                context.update(data)
        same(*contexts, ours.name)


def before_a_guard(length):
    """An address with so many bytes up to a page that no access is good for."""
    import mmap

    pages = mmap.mmap(-1, 4 * mmap.PAGESIZE)
    end = ctypes.addressof(ctypes.c_char.from_buffer(pages)) + 3 * mmap.PAGESIZE
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = (c_void_p, c_size_t, c_int)
    assert protect(end, mmap.PAGESIZE, 0) == 0
    GUARDED.append(pages)
    return end - length


def test_overlaps_of_bits():
    """Output that overwrites input is kept apart, and nothing after the input is read."""
    for ours, theirs in pairs():
        if not ours.name.endswith("CFB1"):
            continue
        # OpenSSL's DES-CFB1 takes eight times as many bits.
        judge = ours if ours.name == "DES-CFB1" else theirs
        key, iv = bytes_of(key_length(ours.pointer)), bytes_of(iv_length(ours.pointer))
        data = bytes_of(1000)
        for direction, run in ((1, update), (0, update), (1, whole), (0, whole)):
            results = []
            for cipher, shift in ((judge, 0), (ours, 0), (ours, -1), (ours, 1)):
                context, written = Context(cipher), c_int()
                context.init(direction, key, iv)
                ctx_flags(context.pointer, LENGTH_BITS)
                source = before_a_guard(len(data) + max(shift, 0))
                ctypes.memmove(source, data, len(data))
                if run is update:
                    assert update(context.pointer, source + shift, byref(written), source, 8000)
                    assert written.value == 8000
                else:
                    assert whole(context.pointer, source + shift, source, 8000) > 0
                results.append(ctypes.string_at(source + shift, len(data)))
            assert all(result == results[0] for result in results), (ours.name, direction, run)


def test_overlaps():
    """Output that overwrites input which is still needed; a whole block at a time is what EVP_Cipher does."""
    for ours, _ in pairs():
        if "CFB1" in ours.name:
            continue
        key, iv = bytes_of(key_length(ours.pointer)), bytes_of(iv_length(ours.pointer))
        data, block = bytes_of(3000), 16
        for shift in (0, 1, 5, 16, 40):
            for direction in (1, 0):
                plain, moved = Context(ours), Context(ours)
                for context in (plain, moved):
                    context.init(direction, key, iv)
                    set_padding(context.pointer, 0)
                expected = plain.update(data[:3]) + plain.update(data[3 : 3 + 2048])
                memory = ctypes.create_string_buffer(b"." * 4000)
                start = moved.update(data[:3])
                written = c_int()
                for source, target in ((100 + shift, 100), (100, 100 + shift)):
                    copy = moved.copy()
                    memory[100:100] = b""
                    ctypes.memmove(ctypes.addressof(memory) + source, data[3:], 2048)
                    base = ctypes.addressof(memory)
                    assert update(copy.pointer, base + target, byref(written), base + source, 2048)
                    result = start + memory.raw[target : target + written.value]
                    assert result == expected, (ours.name, shift, source, target)
        if block_size(ours.pointer) > 1:
            keeps_what_is_held(ours, key, iv, data)
        context, output = Context(ours), ctypes.create_string_buffer(64)
        context.init(1, key, iv)
        expected = context.update(data[: 4 * block])[: 3 * block]
        context.init(1, None, iv)
        if get_mode(ours.pointer) != GCM:
            assert whole(context.pointer, output, data, 3 * block) > 0
            assert output.raw[: 3 * block] == expected, ours.name


def keeps_what_is_held(cipher, key, iv, data):
    """The end of the input is held back, and lies where the output of its start goes: part of a block, or padding."""
    block = block_size(cipher.pointer)
    for direction, length in ((1, block + block // 2), (0, 2 * block)):
        plain, moved = Context(cipher), Context(cipher)
        for context in (plain, moved):
            context.init(direction, key, iv)
        expected = plain.update(data[:length]) + plain.update(data[:block])
        memory, written = ctypes.create_string_buffer(4 * block), c_int()
        base = ctypes.addressof(memory)
        ctypes.memmove(base, data, length)
        assert update(moved.pointer, base + block, byref(written), base, length)
        result = memory.raw[block : block + written.value] + moved.update(data[:block])
        assert result == expected, (cipher.name, direction)


def ghash(h, *strings):
    """GHASH by its definition."""
    key, state = int.from_bytes(h, "big"), 0
    lengths = b"".join((8 * len(string)).to_bytes(8, "big") for string in strings)
    padded = [string + bytes(-len(string) % 16) for string in strings]
    text = b"".join(padded) + lengths
    for i in range(0, len(text), 16):
        state ^= int.from_bytes(text[i : i + 16], "big")
        product, factor = 0, key
        for bit in range(127, -1, -1):
            product ^= factor if state >> bit & 1 else 0
            factor = factor >> 1 ^ (0xE1 << 120 if factor & 1 else 0)
        state = product
    return state.to_bytes(16, "big")


def gcm_run(cipher, encrypts, key, iv, aad, data, cut, tag=None):
    context = Context(cipher)
    assert init(context.pointer, cipher.pointer, None, None, encrypts, None)
    context.note("ivlen", ctx_ctrl(context.pointer, IVLEN, len(iv), None))
    # Without the cipher, which would bring the usual length back.
    context.note("init", init(context.pointer, None, key, iv, encrypts, None))
    if tag is not None:
        context.note("tag", ctx_ctrl(context.pointer, SET_TAG, len(tag), tag))
    for i in range(0, len(aad), cut):
        context.associate(aad[i : i + cut])
    text = b"".join(context.update(data[i : i + cut]) for i in range(0, len(data), cut))
    context.final()
    made = ctypes.create_string_buffer(16)
    if encrypts:
        context.note("made", ctx_ctrl(context.pointer, GET_TAG, 16, made), made.raw)
        context.update(b"after the end")
    return context, text, made.raw


def gcm_all():
    return [pair for pair in all_pairs() if get_mode(pair[0].pointer) == GCM]


def test_gcm():
    for ours, theirs in gcm_all():
        key = bytes_of(key_length(ours.pointer))
        for iv_bytes, aad, length in [(12, 0, 0), (12, 13, 1), (8, 40, 100), (60, 5, 5000), (1, 7, 16)]:
            iv, aad, data = bytes_of(iv_bytes), bytes_of(aad), bytes_of(length)
            cut = draw.choice([1, 5, 16, 33, 1000])
            one, sealed, tag = gcm_run(ours, 1, key, iv, aad, data, cut)
            given = tag[: draw.choice([4, 12, 16])]
            wrong = bytes([given[0] ^ 1]) + given[1:]
            runs = [(0, sealed, given), (0, sealed, wrong), (0, sealed, None)]
            runs = [(e, key, iv, aad, text, 7, tag) for e, text, tag in runs]
            opened = [gcm_run(ours, *run) for run in runs]
            assert opened[0][1] == data, ours.name
            finals = [[e[1] for e in o[0].log if e[0] == "final"] for o in opened]
            assert finals == [[1], [0], [0]], (ours.name, finals)
            if theirs:
                other = gcm_run(theirs, 1, key, iv, aad, data, cut)
                same(one, other[0], f"{ours.name} with {iv_bytes}")
                for mine, run in zip(opened, runs):
                    same(mine[0], gcm_run(theirs, *run)[0], f"{ours.name} opened")
            elif iv_bytes == 12 and length < 200:
                by_definition(ours.name, key, iv, aad, data, sealed, tag)


def test_gcm_in_disorder():
    """IVs and tags that are missing, too short or long, too early or late, are taken or refused as OpenSSL's own do."""
    for ours, theirs in gcm_all():
        if not theirs:
            continue
        key, data = bytes_of(key_length(ours.pointer)), bytes_of(50)
        iv, tag = bytes_of(128), bytes_of(16)
        contexts = [Context(ours), Context(theirs)]
        for context in contexts:
            assert init(context.pointer, context.cipher.pointer, key, None, 1, None)
            for length in (-1, 0, 129, 11):
                context.ctrl(IVLEN, length)
            # An IV that is drawn has 12 bytes or more.
            context.note("drawn", update(context.pointer, tag, byref(c_int()), data, 16))
            for length in (1, 12, 128):
                context.ctrl(IVLEN, length)
                context.init(1, None, iv)
                context.ctrl(GET_TAG, 16)
                context.update(data)
                context.ctrl(SET_TAG, 16, tag)
                context.ctrl(IVLEN, length)
                context.update(data)
                context.final()
                for size in (0, 1, 16, 17):
                    context.ctrl(GET_TAG, size)
                context.init(1, None, iv)
                # An IV of another length is none.
                context.ctrl(IVLEN, 16)
                context.update(data)
            context.ctrl(IVLEN, 12)
            made = b""
            for direction in (1, 0):
                context.init(direction, None, iv)
                text = context.update(data if direction else text)
                for size in (0, 17, 16):
                    context.ctrl(GET_TAG if direction else SET_TAG, size, made)
                context.final()
                made = context.ctrl(GET_TAG, 16)
            assert init(context.pointer, context.cipher.pointer, key, None, 0, None)
            context.note("no IV", update(context.pointer, tag, byref(c_int()), data, 16))
        same(*contexts, ours.name)


def test_gcm_draws_ivs():
    """An encryption without an IV draws one, which the other opens."""
    for ours, theirs in gcm_all():
        key, data, ivs = bytes_of(key_length(ours.pointer)), bytes_of(20), set()
        for sealer, opener in [(ours, theirs or ours), (theirs or ours, ours), (ours, ours)]:
            context, iv = Context(sealer), ctypes.create_string_buffer(12)
            context.init(1, key)
            assert not original_iv(context.pointer, iv, 12)
            sealed = context.update(data)
            context.final()
            tag = context.ctrl(GET_TAG, 16)[:16]
            assert original_iv(context.pointer, iv, 12)
            ivs.add(iv.raw)
            opened = gcm_run(opener, 0, key, iv.raw, b"", sealed, 20, tag)[0]
            assert [entry[:3] for entry in opened.log][-1] == ("final", 1, b""), ours.name
        assert len(ivs) == 3, ivs


def by_definition(name, key, iv, aad, data, sealed, tag):
    """CTR and the hash by OpenSSL's ECB and CTR, where it has no GCM of this cipher, or by ours, where it has none of it."""

    def other(mode):
        name_of_mode = name.replace("GCM", mode)
        return judge(name_of_mode) or Cipher(name_of_mode, "provider=lanecrypt")

    ecb = Context(other("ECB"))
    ecb.init(1, key)
    h, mask = ecb.update(bytes(16)), ecb.update(iv + b"\0\0\0\1")
    ctr = Context(other("CTR"))
    ctr.init(1, key, iv + b"\0\0\0\2")
    assert ctr.update(data) == sealed, name
    expected = bytes(a ^ b for a, b in zip(ghash(h, aad, sealed), mask))
    assert tag == expected, name


def ccm_run(cipher, encrypts, key, iv, aad, data, tag, announced=True, is_whole=False):
    """A message of CCM; `tag` is what is to be compared, or the length of what is to be made."""
    context = Context(cipher)
    assert init(context.pointer, cipher.pointer, None, None, encrypts, None)
    context.note("ivlen", ctx_ctrl(context.pointer, IVLEN, len(iv), None))
    length, given = (tag, None) if isinstance(tag, int) else (len(tag), tag)
    context.note("tag", ctx_ctrl(context.pointer, SET_TAG, length, given))
    context.note("init", init(context.pointer, None, key, iv, encrypts, None))
    written, output = c_int(-1), ctypes.create_string_buffer(b"?" * (len(data) + 16))
    if announced:
        done = update(context.pointer, None, byref(written), None, len(data))
        context.note("length", done, written.value)
    # Bindings such as those of Rust hand over associated data that has no bytes, too.
    context.associate(aad)
    context.nothing()
    if is_whole:
        done = whole(context.pointer, output, data, len(data))
    else:
        done = update(context.pointer, output, byref(written), data, len(data))
    text = output.raw[: len(data)] if done > 0 else b""
    context.note("data", done, text)
    if done > 0:
        context.note("end", final(context.pointer, output, byref(written)), written.value)
    context.note("parameters", answers(ctx_gettable, ctx_get, context.pointer, ctx_iv_length(context.pointer)))
    made = ctypes.create_string_buffer(16)
    if encrypts:
        # Where a tag or its length was refused, one of the usual length is made.
        length = 12 if given or length % 2 else length
        context.note("made", ctx_ctrl(context.pointer, GET_TAG, length, made), made.raw)
        context.note("again", ctx_ctrl(context.pointer, GET_TAG, length, made))
        assert not update(context.pointer, output, byref(written), data, len(data)), "the nonce is used"
        errors()
    return context, text, made.raw[:length]


def test_ccm():
    for ours, theirs in all_pairs():
        if get_mode(ours.pointer) != CCM:
            continue
        key = bytes_of(key_length(ours.pointer))
        # Lengths of the nonce, the associated data, the data, and the tag; the last three are none that CCM has.
        good = [(7, 0, 1, 4), (13, 13, 16, 16), (12, 40, 1000, 8), (8, 65279, 33, 12), (11, 65300, 40_000, 14), (12, 5, 0, 16)]
        for iv_bytes, aad, length, tag_bytes in [*good, (6, 3, 9, 16), (14, 3, 9, 16), (12, 3, 9, 5)]:
            iv, aad, data = bytes_of(iv_bytes), bytes_of(aad), bytes_of(length)
            one, sealed, tag = ccm_run(ours, 1, key, iv, aad, data, tag_bytes)
            wrong = bytes([tag[0] ^ 1]) + tag[1:]
            runs = [(0, sealed, tag), (0, sealed, wrong), (0, sealed, tag_bytes), (1, data, tag)]
            opened = [ccm_run(ours, e, key, iv, aad, text, tag) for e, text, tag in runs]
            if (iv_bytes, len(aad), length, tag_bytes) in good:
                assert [o[1] for o in opened[:3]] == [data, b"", b""], ours.name
            if theirs:
                same(one, ccm_run(theirs, 1, key, iv, aad, data, tag_bytes)[0], ours.name)
                for mine, (e, text, tag) in zip(opened, runs):
                    same(mine[0], ccm_run(theirs, e, key, iv, aad, text, tag)[0], f"{ours.name} {e}")
        for how in ({"announced": False}, {"is_whole": True}, {"announced": False, "is_whole": True}):
            run = (1, key, bytes_of(12), b"beside", bytes_of(50), 16)
            mine, other = ccm_run(ours, *run, **how), ccm_run(theirs or ours, *run, **how)
            same(mine[0], other[0], f"{ours.name} {how}")


def record_of(cipher, encrypts, key, fixed, aad, text):
    """One record as libssl runs it; an encryption's IV is random, so that others must open it."""
    context = Context(cipher)
    assert init(context.pointer, cipher.pointer, key, None, encrypts, None)
    assert ctx_ctrl(context.pointer, FIXED_IV, 4, fixed) == 1
    added = ctx_ctrl(context.pointer, AAD, 13, aad)
    assert added == 16, added
    memory = ctypes.create_string_buffer(text + bytes(added + 16))
    written = c_int()
    length = len(text) + (added if encrypts else 0)
    done = update(context.pointer, memory, byref(written), memory, length)
    return memory.raw[: written.value] if encrypts else memory.raw[8 : 8 + written.value], done


def test_gcm_records():
    for ours, theirs in gcm_all():
        key, fixed = bytes_of(key_length(ours.pointer)), bytes_of(4)
        for length in (0, 1, 1000, 16384):
            data = bytes_of(length)
            for sealer, opener in [(ours, theirs or ours), (theirs or ours, ours)]:
                start = bytes_of(11)
                aad = start + (length + 8).to_bytes(2, "big")
                sealed, done = record_of(sealer, 1, key, fixed, aad, bytes(8) + data)
                assert done and len(sealed) == length + 24, ours.name
                aad = start + len(sealed).to_bytes(2, "big")
                opened, done = record_of(opener, 0, key, fixed, aad, sealed)
                assert done and opened == data, (ours.name, length)
                wrong = sealed[:-1] + bytes([sealed[-1] ^ 1])
                opened, done = record_of(opener, 0, key, fixed, aad, wrong)
                assert not done, ours.name
        context = Context(ours)
        given, iv = ctypes.create_string_buffer(8), bytes_of(12)
        assert init(context.pointer, ours.pointer, key, None, 1, None)
        assert ctx_ctrl(context.pointer, FIXED_IV, -1, iv) == 1, "as SSH has it"
        for step in range(3):
            assert ctx_ctrl(context.pointer, IV_GEN, 8, given) == 1
            expected = int.from_bytes(iv[4:], "big") + step & (1 << 64) - 1
            assert given.raw == expected.to_bytes(8, "big")


def test_gcm_records_that_do_not_come():
    """What comes where a record was announced is refused, and so is what would have its IV."""
    for ours, theirs in gcm_all():
        if not theirs:
            continue
        key, iv, data = bytes_of(key_length(ours.pointer)), bytes_of(12), bytes_of(40)
        aad = bytes_of(11) + (13).to_bytes(2, "big")
        calls = (
            ("apart", lambda context: context.update(data)),
            ("too short", lambda context: context.update(data[:23], in_place=True)),
            ("associated data", lambda context: context.associate(data)),
            ("the end", lambda context: context.final()),
            ("the end by EVP_Cipher", lambda context: context.note(whole(context.pointer, None, None, 0))),
        )
        for what, call in calls:
            contexts = [Context(ours), Context(theirs)]
            for context in contexts:
                assert init(context.pointer, context.cipher.pointer, key, None, 1, None)
                assert ctx_ctrl(context.pointer, FIXED_IV, -1, iv) == 1
                assert ctx_ctrl(context.pointer, AAD, 13, aad) == 16
                context.nothing()
                call(context)
                context.update(data)
                context.final()
            same(*contexts, f"{ours.name}: {what}")


def test_gcm_fixed_ivs():
    """Both parts of an IV have a length; an encryption draws the second, a decryption is told it, each in its order."""
    for ours, theirs in gcm_all():
        key, fixed, data = bytes_of(key_length(ours.pointer)), bytes_of(20), bytes_of(30)
        drawn = set()
        for direction, iv_bytes in [(1, 12), (1, 12), (0, 12), (1, 11), (1, 20), (0, 20)]:
            contexts = [Context(ours), Context(theirs or ours)]
            for context in contexts:
                # Without codes, of which OpenSSL has none here.
                done = lambda *command: context.note(command[0], ctx_ctrl(context.pointer, *command), errors() * 0)
                assert init(context.pointer, context.cipher.pointer, key, None, direction, None)
                context.ctrl(IVLEN, iv_bytes)
                given = ctypes.create_string_buffer(20)
                done(IV_GEN, -1, given)
                done(SET_IV_INV, 8, fixed)
                for length in (0, 3, iv_bytes, iv_bytes - 7, iv_bytes - 8):
                    context.ctrl(FIXED_IV, length, fixed)
                done(IV_GEN, -1, given)
                context.note("fixed", given.raw[: iv_bytes - 8])
                end = given.raw[iv_bytes - 8 : iv_bytes]
                if direction and iv_bytes > 11:
                    drawn.add(end)
                    done(SET_IV_INV, 8, end)
                    done(IV_GEN, 8, given)
                    following = int.from_bytes(end, "big") + 1 & (1 << 64) - 1
                    context.note("counted", given.raw[:8] == following.to_bytes(8, "big"))
                elif not direction:
                    context.note("not drawn", end)
                    done(SET_IV_INV, 8, fixed)
                    context.update(data)
            same(*contexts, (ours.name, direction, iv_bytes))
        assert len(drawn) == 6, drawn


# What OpenSSL has not: a cipher, and a vector of its standard.
OURS_ALONE = [
    ("HIGHT", "00112233445566778899aabbccddeeff", "0000000000000000", "00f418aed94f03f2"),
    ("LEA-128", "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "101112131415161718191a1b1c1d1e1f", "9fc84e3528c6c6185532c7a704648bfd"),
    (
        "LEA-256",
        "0f1e2d3c4b5a69788796a5b4c3d2e1f0f0e1d2c3b4a5968778695a4b3c2d1e0f",
        "303132333435363738393a3b3c3d3e3f",
        "d651aff647b189c13a8900ca27f9e197",
    ),
]


def test_ciphers_of_ours_alone():
    for vector in OURS_ALONE:
        has_modes_of_ecb(*vector)


def has_modes_of_ecb(name, key, plaintext, ciphertext):
    """The vector, and modes made of ECB."""
    ecb, cbc, ctr = (Cipher(f"{name}-{mode}", "") for mode in ("ECB", "CBC", "CTR"))
    plaintext = bytes.fromhex(plaintext)
    context = Context(ecb)
    context.init(1, bytes.fromhex(key))
    set_padding(context.pointer, 0)
    assert context.update(plaintext).hex() == ciphertext
    block, length = len(plaintext), 100 * len(plaintext)
    key, iv, data = bytes_of(len(key) // 2), bytes_of(block), bytes_of(length)
    one = Context(ecb)
    one.init(1, key)
    set_padding(one.pointer, 0)
    xor = lambda a, b: bytes(x ^ y for x, y in zip(a, b))
    chained, previous, number = b"", iv, int.from_bytes(iv, "big")
    streamed = b""
    for i in range(0, length, block):
        previous = one.update(xor(previous, data[i : i + block]))
        chained += previous
        counter = (number + i // block) % (1 << 8 * block)
        streamed += xor(data[i : i + block], one.update(counter.to_bytes(block, "big")))
    for cipher, expected in ((cbc, chained), (ctr, streamed)):
        context = Context(cipher)
        context.init(1, key, iv)
        cut = b"".join(context.update(data[i : i + 37]) for i in range(0, length, 37))
        assert cut + context.final()[:0] == expected[: len(cut)] and len(cut) >= length - block
        context.init(0, None, iv)
        set_padding(context.pointer, 0)
        assert context.update(expected) == data


def test_choice():
    """Camellia is taken where a query prefers this provider; AES only where one names it."""

    def chosen(name, query):
        return provider_name(cipher_provider(Cipher(name, query).pointer)).decode()

    for name in ("CAMELLIA-256-CBC", "ARIA-128-GCM", "DES-EDE3-CBC"):
        assert chosen(name, "") == "default", "the first one loaded"
        assert chosen(name, "?provider=lanecrypt") == "lanecrypt"
    for name in ("AES-128-ECB", "AES-256-GCM", "AES-192-CTR"):
        for query in ("", "?provider=lanecrypt", "provider=default"):
            assert chosen(name, query) == "default", (name, query)
        assert chosen(name, "?lanecrypt.aes=yes") == "lanecrypt"
        assert not Cipher(name, "provider=lanecrypt")
    assert set_default_properties(None, b"?provider=lanecrypt")
    assert chosen("CAMELLIA-256-CBC", "") == "lanecrypt"
    assert chosen("AES-256-CBC", "") == "default"


def test_keys():
    """Random keys of DES have odd parity."""
    for name in ("DES-CBC", "DES-EDE-OFB", "DES-EDE3-ECB"):
        cipher = Cipher(name, "provider=lanecrypt")
        context, size = Context(cipher), key_length(cipher.pointer)
        assert init(context.pointer, cipher.pointer, None, None, 1, None)
        first, second = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
        assert ctx_rand_key(context.pointer, first) == 1
        assert ctx_rand_key(context.pointer, second) == 1
        assert first.raw != second.raw
        assert all(byte.bit_count() % 2 for byte in first.raw), first.raw


def test_processes():
    """A child of a fork runs large calls by itself; the module is unloaded and loaded again."""
    import os
    import signal

    ours = Cipher("CAMELLIA-128-CTR", "provider=lanecrypt")
    data = bytes_of(4 << 20)
    context = Context(ours)
    context.init(1, bytes(16), bytes(16))
    expected = context.update(data)

    def child_runs(after):
        child = os.fork()
        if child == 0:
            signal.alarm(30)  # where it waits for threads that it does not have
            context.init(1, None, bytes(16))
            os._exit(0 if context.update(data) == expected and after() else 1)
        return os.waitpid(child, 0)[1] == 0

    assert child_runs(lambda: child_runs(lambda: True)), "a child, and a child of its own"
    for _ in range(5):
        assert unload(LANECRYPT[0])
        LANECRYPT[0] = load(None, b"lanecrypt")
        assert LANECRYPT[0]


for provider in (b"default", b"legacy"):
    assert load(None, provider), provider
assert search(None, sys.argv[2].encode())
LANECRYPT = [load(None, b"lanecrypt")]
assert LANECRYPT[0], "lanecrypt.so is not loaded"
globals()["test_" + sys.argv[1]]()
