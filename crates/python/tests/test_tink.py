"""Sealed files: round trips, refusals, jobs; the Tink wheel opens what is sealed here, and the other way round."""

import os

import pytest

from lanecrypt import tink

SIZES = [0, 1, (1 << 20) - 57, (1 << 20) - 56, (1 << 20) - 55, 5_000_000]


@pytest.fixture(scope="module")
def keyset():
    return tink.Keyset.generate()


@pytest.mark.parametrize("size", SIZES)
def test_files_come_back(tmp_path, keyset, size):
    plain = os.urandom(size)
    (tmp_path / "plain").write_bytes(plain)
    names = dict(associated_data=b"name")
    assert tink.seal(keyset, tmp_path / "plain", tmp_path / "sealed", **names) == size
    assert tink.open(keyset, tmp_path / "sealed", tmp_path / "opened", **names) == size
    assert (tmp_path / "opened").read_bytes() == plain
    sealed = (tmp_path / "sealed").read_bytes()
    assert tink.open_bytes(keyset, sealed, **names) == plain
    with tink.Sealed(tmp_path / "sealed", keyset, b"name") as opened:
        assert len(opened) == opened.size == size
        assert opened.read(size // 2, size) == plain[size // 2 :]
    with pytest.raises(ValueError, match="closed"):
        opened.read(0, 1)


def test_jobs(tmp_path, keyset):
    plain = os.urandom(3_000_000)
    source, target = tmp_path / "plain", tmp_path / "sealed"
    source.write_bytes(plain)
    job = tink.Job.new(keyset, source, part_bytes=1 << 20)
    job.create(target)
    again = tink.Job.from_json(job.to_json())
    assert again.parts == 3 and job.missing(target) == [0, 1, 2]
    for part in [2, 0, 2, 1]:
        assert not target.exists()
        again.seal_part(keyset, part, source, target)
    assert job.missing(target) == []
    job.commit(target)
    assert tink.open_bytes(keyset, target.read_bytes()) == plain
    source.write_bytes(plain)
    with pytest.raises(tink.SourceChanged):
        job.seal_part(keyset, 0, source, target)
