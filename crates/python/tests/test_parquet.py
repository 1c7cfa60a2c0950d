"""Parquet with encrypted columns: pyarrow reads what is sealed here, and the other way round; what was changed is named."""

import base64
import io
import itertools
import os
import struct

import pytest

from judging import judge
from lanecrypt import parquet, tink

ALGORITHMS = ["AES_GCM_V1", "AES_GCM_CTR_V1"]
KEY = bytes(range(16))


@pytest.fixture(scope="module")
def pa():
    return judge("pyarrow")


@pytest.fixture(scope="module")
def pq(pa):
    judge("pyarrow.parquet")
    return pa.parquet


@pytest.fixture(scope="module")
def encryption(pq):
    return judge("pyarrow.parquet.encryption")


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    """The number of a device. A wheel without the host build of the kernels has none here: skipped, unless it must."""
    path = tmp_path_factory.mktemp("device") / "sealed"
    keyset = tink.Keyset.generate("AES128_GCM_HKDF_4KB")
    path.write_bytes(tink.seal_bytes(keyset, b"hello"))
    try:
        tink.open_to_device(path, keyset)
    except RuntimeError as error:
        if "LANECRYPT_HOST_KERNELS" in os.environ:
            raise
        pytest.skip(f"no device, and no wheel with host-kernels: {error}")
    return 0


def test_what_is_no_path_and_no_bytes(tmp_path):
    with pytest.raises(BufferError, match="source is not contiguous"):
        parquet.open(memoryview(bytearray(100))[::2], KEY)
    with pytest.raises(BufferError, match="image is not contiguous"):
        parquet.seal(memoryview(bytearray(100))[::2], tmp_path / "sealed", KEY)
    with pytest.raises(TypeError, match="PathLike"):
        parquet.open(3, KEY)
    # Bytes are a file itself, also where one has that name.
    (tmp_path / "people").write_bytes(b"")
    with pytest.raises(ValueError, match="not a Parquet file"):
        parquet.open(os.fsencode(tmp_path / "people"), KEY)


def table_of(pa, rows=3000):
    """Numbers, texts that repeat and need a dictionary, absent values, and columns of lists and structures."""
    return pa.table(
        {
            "id": pa.array(range(rows), pa.int64()),
            "name": pa.array([f"name {i % 17}" if i % 5 else None for i in range(rows)]),
            "half": pa.array([i / 2 for i in range(rows)], pa.float64()),
            "tags": pa.array([[i, i + 1][: i % 3] for i in range(rows)], pa.list_(pa.int32())),
            "place": pa.array([{"x": i, "y": str(i)} for i in range(rows)]),
        }
    )


def written(pq, table, encryption=None, **options):
    buffer = io.BytesIO()
    pq.write_table(table, buffer, encryption_properties=encryption, **options)
    return buffer.getvalue()


def read(pa, pq, plain, **options):
    return pq.read_table(pa.BufferReader(plain), **options)


class Kms:
    """A key management service that is none: wrapped keys are base64 of the key and of the master key's name."""

    def __init__(self, encryption):
        class Client(encryption.KmsClient):
            def __init__(self, configuration):
                encryption.KmsClient.__init__(self)

            def wrap_key(self, key, master):
                return base64.b64encode(master.encode() + b":" + key)

            def unwrap_key(self, wrapped, master):
                return unwrap_key(wrapped, master)

        self.factory = encryption.CryptoFactory(lambda configuration: Client(configuration))
        self.connection = encryption.KmsConnectionConfig()


def unwrap_key(wrapped, master):
    name, key = base64.b64decode(wrapped).split(b":", 1)
    assert name == master.encode()
    return key


OPTIONS = [
    dict(data_page_version="1.0", compression="snappy", row_group_size=1000, write_page_index=True),
    dict(data_page_version="2.0", compression="zstd", row_group_size=700, data_page_size=512),
    dict(data_page_version="1.0", compression="none", use_dictionary=False, data_page_size=2000),
    dict(data_page_version="2.0", compression="gzip", write_page_index=True, data_page_size=1000, write_batch_size=50),
]


@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
@pytest.mark.parametrize("plaintext_footer", [False, True])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_files_of_pyarrow_open(tmp_path, pa, pq, encryption, algorithm, plaintext_footer, options):
    table = table_of(pa)
    for bits, prefix, stores in [(128, None, True), (192, b"a prefix", True), (256, b"a prefix", False)]:
        key = os.urandom(bits // 8)
        properties = encryption.create_encryption_properties(
            key,
            aad_prefix=prefix,
            store_aad_prefix=stores,
            encryption_algorithm=algorithm,
            plaintext_footer=plaintext_footer,
        )
        sealed = written(pq, table, properties, **options)
        assert sealed[:4] == (b"PAR1" if plaintext_footer else b"PARE")
        image = parquet.open(sealed, key, aad_prefix=None if stores else prefix)
        assert read(pa, pq, image).equals(table)
        assert read(pa, pq, image, filters=[("id", "=", 1234)]).num_rows == 1
        path = tmp_path / "sealed"
        path.write_bytes(sealed)
        again = parquet.open(path, bytearray(key), aad_prefix=prefix, threads=2)
        assert again.tobytes() == image.tobytes() == bytes(memoryview(image)) and len(image) == image.nbytes
        if prefix and not stores:
            with pytest.raises(ValueError, match="asks for an AAD prefix"):
                parquet.open(sealed, key)
        with pytest.raises(ValueError, match="AAD prefix" if not prefix else "not"):
            parquet.open(sealed, key, aad_prefix=b"another one")


@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
@pytest.mark.parametrize("plaintext_footer", [False, True])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_pyarrow_opens_ours(tmp_path, pa, pq, encryption, algorithm, plaintext_footer, options):
    table = table_of(pa)
    plain = written(pq, table, **options)
    path = tmp_path / "sealed"
    for bits, prefix, stores in [(128, None, True), (192, b"a prefix", True), (256, b"a prefix", False)]:
        key = os.urandom(bits // 8)
        more = dict(algorithm=algorithm, plaintext_footer=plaintext_footer)
        size = parquet.seal(plain, path, key, aad_prefix=prefix, store_aad_prefix=stores, **more)
        assert size == path.stat().st_size
        properties = encryption.create_decryption_properties(key, aad_prefix=None if stores else prefix)
        assert pq.read_table(path, decryption_properties=properties).equals(table)
        some = pq.read_table(path, decryption_properties=properties, filters=[("id", ">", 2990)])
        assert some.num_rows == 9
        image = parquet.open(path, key, aad_prefix=prefix)
        assert read(pa, pq, image).equals(table)
        other = encryption.create_decryption_properties(os.urandom(bits // 8), aad_prefix=None if stores else prefix)
        with pytest.raises((OSError, pa.ArrowInvalid)):
            pq.read_table(path, decryption_properties=other)


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("double_wrapping", [False, True])
@pytest.mark.parametrize("plaintext_footer", [False, True])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_files_of_a_kms(pa, pq, encryption, algorithm, plaintext_footer, double_wrapping, uniform):
    table, kms = table_of(pa), Kms(encryption)
    for bits in [128, 192, 256]:
        columns = {} if uniform else {"column_keys": {"m1": ["id", "name"], "m2": ["place.x", "tags.list.element"]}}
        if uniform:
            columns["uniform_encryption"] = True
        configuration = encryption.EncryptionConfiguration(
            footer_key="m0",
            encryption_algorithm=algorithm,
            plaintext_footer=plaintext_footer,
            double_wrapping=double_wrapping,
            data_key_length_bits=bits,
            **columns,
        )
        properties = kms.factory.file_encryption_properties(kms.connection, configuration)
        sealed = written(pq, table, properties, row_group_size=1100, write_page_index=True)
        image = parquet.open(sealed, parquet.kms_keys(unwrap_key))
        assert read(pa, pq, image).equals(table)

        def refuses(wrapped, master):
            if master != "m0":
                raise KeyError(master)
            return unwrap_key(wrapped, master)

        if uniform:
            continue
        with pytest.raises(KeyError, match="m1"):
            parquet.open(sealed, parquet.kms_keys(refuses))
        half = parquet.open(sealed, parquet.kms_keys(refuses), columns=["half"])
        assert read(pa, pq, half).equals(table.select(["half"]))
        chosen = parquet.open(sealed, parquet.kms_keys(unwrap_key), columns=["place", "tags", "id"], row_groups=[2, 0])
        expected = pa.concat_tables([table.slice(2200), table.slice(0, 1100)]).select(["id", "tags", "place"])
        assert read(pa, pq, chosen).equals(expected)


@pytest.mark.parametrize("plaintext_footer", [False, True])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_kms_opens_ours(tmp_path, pa, pq, encryption, algorithm, plaintext_footer):
    table, kms = table_of(pa), Kms(encryption)
    keys = {name: os.urandom(32) for name in ["footer", "id", "place.y"]}

    def material(name, is_footer):
        wrapped = base64.b64encode(b"m-" + name.encode() + b":" + keys[name]).decode()
        fields = f'"masterKeyID":"m-{name}","wrappedDEK":"{wrapped}","doubleWrapping":false'
        if is_footer:
            fields += ',"kmsInstanceID":"DEFAULT","kmsInstanceURL":"DEFAULT"'
        start = '{"keyMaterialType":"PKMT1","internalStorage":true,"isFooterKey":'
        return f"{start}{str(is_footer).lower()},{fields}}}".encode()

    plain = written(pq, table, row_group_size=999, write_page_index=True, data_page_size=600)
    path = tmp_path / "sealed"
    columns = ["id", "place.y"]
    ours = parquet.Keys(keys["footer"], column_keys={name: keys[name] for name in columns})
    parquet.seal(
        plain,
        path,
        ours,
        algorithm=algorithm,
        plaintext_footer=plaintext_footer,
        footer_key_metadata=material("footer", True),
        column_key_metadata={name: material(name, False) for name in columns},
    )
    properties = kms.factory.file_decryption_properties(kms.connection)
    assert pq.read_table(path, decryption_properties=properties).equals(table)
    for key in [ours, parquet.kms_keys(unwrap_key)]:
        assert read(pa, pq, parquet.open(path, key)).equals(table)
    only_footer = parquet.Keys(keys["footer"])
    with pytest.raises(ValueError, match='no key for the column "id"'):
        parquet.open(path, only_footer)
    half = parquet.open(path, only_footer, columns=["half", "name"])
    assert read(pa, pq, half).equals(table.select(["name", "half"]))
    wrong = parquet.Keys(keys["footer"], column_keys={"id": keys["id"], "place.y": bytes(32)})
    with pytest.raises(parquet.NotAuthentic, match=r'column 5 in row group 0 \("place.y"\)'):
        parquet.open(path, wrong)


def test_tables_without_rows(tmp_path, pa, pq, encryption):
    table = table_of(pa, 0)
    properties = encryption.create_encryption_properties(KEY)
    image = parquet.open(written(pq, table, properties), KEY)
    assert read(pa, pq, image).equals(table)
    parquet.seal(image, tmp_path / "sealed", KEY)
    decryption = encryption.create_decryption_properties(KEY)
    assert pq.read_table(tmp_path / "sealed", decryption_properties=decryption).equals(table)


def test_checksums_and_bloom_filters(tmp_path, pa, pq, encryption):
    table = table_of(pa)
    more = dict(write_page_checksum=True, row_group_size=1000)
    plain = written(pq, table, bloom_filter_options={"id": {}}, **more)
    parquet.seal(plain, tmp_path / "sealed", KEY)
    decryption = encryption.create_decryption_properties(KEY)
    found = pq.read_table(tmp_path / "sealed", decryption_properties=decryption, page_checksum_verification=True)
    assert found.equals(table)
    image = parquet.open(tmp_path / "sealed", KEY)
    assert read(pa, pq, image, page_checksum_verification=True).equals(table)
    sealed = written(pq, table, encryption.create_encryption_properties(KEY), **more)
    assert read(pa, pq, parquet.open(sealed, KEY), page_checksum_verification=True).equals(table)


def test_many_pages(tmp_path, pa, pq, encryption):
    table = pa.table({"n": pa.array(range(200_000), pa.int64())})
    options = dict(use_dictionary=False, data_page_size=64, write_batch_size=16, compression="none")
    sealed = written(pq, table, encryption.create_encryption_properties(KEY), **options)
    image = parquet.open(sealed, KEY)
    assert read(pa, pq, image).equals(table)
    parquet.seal(image, tmp_path / "sealed", KEY)
    decryption = encryption.create_decryption_properties(KEY)
    assert pq.read_table(tmp_path / "sealed", decryption_properties=decryption).equals(table)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory, pa, pq):
    """A file of two row groups, and where each of its modules begins."""
    path = tmp_path_factory.mktemp("parquet") / "sealed"
    table = pa.table({"a": pa.array(range(100), pa.int64()), "b": pa.array(range(100), pa.int64())})
    plain = written(pq, table, row_group_size=50, use_dictionary=False, compression="none", write_page_index=True)
    parquet.seal(plain, path, KEY)
    return path.read_bytes()


def modules(sealed):
    """Where modules begin, up to the footer: but for their lengths, as in any file of these."""
    found, at = [], 4
    end = len(sealed) - 8 - struct.unpack("<I", sealed[-8:-4])[0]
    while at < end:
        found.append(at)
        at += 4 + struct.unpack("<I", sealed[at : at + 4])[0]
    assert at == end
    return [*found, end]


NAMES = [
    f"the {what} of column {column} in row group {group}"
    for group, column, what in itertools.product([0, 1], [0, 1], ["header of page 0", "page 0"])
] + [
    f"the {what} of column {column} in row group {group}"
    for group, column, what in itertools.product([0, 1], [0, 1], ["column index", "offset index"])
]


def test_what_was_changed_is_named(sealed):
    begins = modules(sealed)
    assert len(begins) == len(NAMES) + 1
    for (start, end), name in zip(itertools.pairwise(begins), NAMES):
        for at in [start + 4, start + 16, end - 17, end - 1]:
            changed = bytearray(sealed)
            changed[at] ^= 4
            with pytest.raises(parquet.NotAuthentic, match=name):
                parquet.open(changed, KEY)
    for at in [len(sealed) - 9, len(sealed) - 30]:
        changed = bytearray(sealed)
        changed[at] ^= 4
        with pytest.raises(parquet.NotAuthentic, match="the footer"):
            parquet.open(changed, KEY)
    with pytest.raises(parquet.NotAuthentic, match="the footer"):
        parquet.open(sealed, bytes(16))
    with pytest.raises(ValueError, match="a key of 15 bytes"):
        parquet.open(sealed, bytes(15))


def test_what_was_swapped_is_named(sealed):
    begins = modules(sealed)
    spans = list(itertools.pairwise(begins))

    def swapped(one, other):
        (a, b), (c, d) = spans[one], spans[other]
        assert b - a == d - c
        return sealed[:a] + sealed[c:d] + sealed[b:c] + sealed[a:b] + sealed[d:]

    with pytest.raises(parquet.NotAuthentic, match=NAMES[1]):
        parquet.open(swapped(1, 3), KEY)  # pages of two columns
    with pytest.raises(parquet.NotAuthentic, match=NAMES[1]):
        parquet.open(swapped(1, 5), KEY)  # of two row groups
    assert parquet.open(sealed, KEY).nbytes > 0


def test_signed_footers_that_were_changed(tmp_path, pa, pq):
    table = pa.table({"a": pa.array(range(100), pa.int64())})
    path = tmp_path / "sealed"
    parquet.seal(written(pq, table), path, KEY, plaintext_footer=True)
    sealed = path.read_bytes()
    length = struct.unpack("<I", sealed[-8:-4])[0]
    refused = 0
    for at in range(len(sealed) - 8 - length, len(sealed) - 8):
        changed = bytearray(sealed)
        changed[at] ^= 1
        with pytest.raises(ValueError) as raised:
            parquet.open(changed, KEY)
        refused += raised.type is parquet.NotAuthentic
    assert refused > length // 2
    unsigned = sealed[: -8 - 28] + struct.pack("<I", length - 28) + b"PAR1"
    with pytest.raises(ValueError, match="no signature"):
        parquet.open(unsigned, KEY)


def test_what_is_refused(tmp_path, pa, pq, sealed):
    plain = written(pq, table_of(pa))
    with pytest.raises(ValueError, match="not encrypted"):
        parquet.open(plain, KEY)
    with pytest.raises(ValueError, match="encrypted already"):
        parquet.seal(sealed, tmp_path / "sealed", KEY)
    with pytest.raises(ValueError, match="no column"):
        parquet.open(sealed, KEY, columns=["c"])
    with pytest.raises(ValueError, match="no row group 2; it has 2"):
        parquet.open(sealed, KEY, row_groups=[2])
    with pytest.raises(ValueError, match="no column"):
        parquet.seal(plain, tmp_path / "sealed", parquet.Keys(KEY, column_keys={"place": KEY}))
    with pytest.raises(ValueError, match="algorithm is"):
        parquet.seal(plain, tmp_path / "sealed", KEY, algorithm="AES_GCM_V2")
    with pytest.raises(FileNotFoundError):
        parquet.open(tmp_path / "nowhere", KEY)
    for threads in [0, 1025, 1 << 40]:
        with pytest.raises(ValueError, match=f"threads is {threads}; accepted is 1 to 1024"):
            parquet.open(sealed, KEY, threads=threads)
    with pytest.raises(ValueError, match="the file has no metadata of it"):
        parquet.open(sealed, lambda metadata: KEY)
    for length in range(0, len(sealed), 7):
        with pytest.raises(ValueError):
            parquet.open(sealed[:length], KEY)
    assert not (tmp_path / "sealed").exists() and not list(tmp_path.iterdir())


def test_no_page_of_ctr_is_verified(tmp_path, pa, pq):
    table = pa.table({"a": pa.array(range(100), pa.int64())})
    path = tmp_path / "sealed"
    parquet.seal(written(pq, table, use_dictionary=False, compression="none"), path, KEY, algorithm="AES_GCM_CTR_V1")
    changed = bytearray(path.read_bytes())
    at = modules(changed)[2] - 1  # the last byte of the only page
    changed[at] ^= 1
    values = read(pa, pq, parquet.open(changed, KEY))["a"].to_pylist()
    assert values[:-1] == list(range(99)) and values[-1] != 99


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_devices(tmp_path, pa, pq, encryption, device, algorithm):
    table = table_of(pa)
    keys = parquet.Keys(KEY, column_keys={"id": bytes(32), "name": bytes(24), "tags.list.element": KEY})
    path, again = tmp_path / "sealed", tmp_path / "again"
    plain = written(pq, table, row_group_size=800, data_page_size=700, write_batch_size=64, write_page_index=True)
    parquet.seal(plain, path, keys, algorithm=algorithm, aad_prefix=b"prefix")
    image = parquet.open(path, keys)
    tensor = parquet.open(path, keys, device=device)
    assert tensor.tobytes() == image.tobytes()
    assert read(pa, pq, tensor.tobytes()).equals(table)
    size = parquet.seal(tensor, again, keys, algorithm=algorithm)
    assert size == again.stat().st_size
    assert read(pa, pq, parquet.open(again, keys)).equals(table)
    some = dict(columns=["id", "half"], row_groups=[1, 3])
    assert parquet.open(path, keys, device=device, **some).tobytes() == parquet.open(path, keys, **some).tobytes()
    parquet.seal(tensor, again, KEY, algorithm=algorithm)
    decryption = encryption.create_decryption_properties(KEY)
    assert pq.read_table(again, decryption_properties=decryption).equals(table)


def test_what_was_changed_is_named_by_devices(sealed, device):
    begins = modules(sealed)
    for (start, end), name in zip(itertools.pairwise(begins), NAMES):
        changed = bytearray(sealed)
        changed[end - 1] ^= 4
        with pytest.raises(parquet.NotAuthentic, match=name):
            parquet.open(changed, KEY, device=device)
