"""Drivers and plans over files: any order, other processes, what is refused. Stores are in many_machines."""

import os
import pickle
import subprocess
import sys

import pytest

from lanecrypt import tink

SIZE = 5_000_000


@pytest.fixture
def places(tmp_path):
    """A log, a keyset, a source and a target."""
    source = tmp_path / "plain"
    source.write_bytes(os.urandom(SIZE))
    return tmp_path / "log", tink.Keyset.generate(), source, tmp_path / "sealed"


def test_parts_by_anybody_and_twice(places):
    _, keyset, source, target = places
    with tink.Driver(*places, associated_data=b"name", part_bytes=1 << 20) as driver:
        plan = pickle.loads(pickle.dumps(driver.plan))
        assert plan.parts == 5 and driver.missing() == [0, 1, 2, 3, 4]
        for part in [3, 1, 3, 0, 4]:
            driver.acknowledge(plan.seal_part(keyset, part, threads=1))
        with pytest.raises(ValueError, match="1 of 5 parts are missing, the first of them is 2"):
            driver.commit()
        with pytest.raises(RuntimeError, match="in use"):
            tink.Driver(*places, associated_data=b"name")
    with tink.Driver(*places, associated_data=b"name") as driver:
        assert driver.missing() == [2] and not target.exists()
        driver.acknowledge(driver.plan.seal_part(keyset, 2))
        driver.commit()
        assert driver.missing() == []
    assert target.stat().st_size == plan.sealed_bytes
    assert tink.open_bytes(keyset, target.read_bytes(), associated_data=b"name") == source.read_bytes()


def test_a_changed_source(places):
    log, keyset, source, target = places
    with tink.Driver(*places) as driver:
        source.write_bytes(bytes(SIZE))
        with pytest.raises(tink.SourceChanged) as raised:
            driver.plan.seal_part(keyset, 0)
        assert isinstance(pickle.loads(pickle.dumps(raised.value)), tink.SourceChanged)
        driver.discard()
        with pytest.raises(ValueError, match="closed"):
            driver.missing()
    assert sorted(source.parent.iterdir()) == [source] and not log.exists() and not target.exists()


def test_what_is_refused(places):
    log, keyset, source, target = places
    with tink.Driver(*places) as driver:
        for receipt in ["", "{}", '{"part": 9, "tag": ""}', '{"part": 0, "tag": "of a store"}']:
            with pytest.raises(ValueError, match="not a receipt"):
                driver.acknowledge(receipt)
        with pytest.raises(ValueError, match="no part 1 in a job of 1 parts"):
            driver.plan.seal_part(keyset, 1)
        with pytest.raises(ValueError, match="no enabled streaming key"):
            driver.plan.seal_part(tink.Keyset.generate(), 0)
    with pytest.raises(ValueError, match="another target"):
        tink.Driver(log, keyset, source, "elsewhere")
    with pytest.raises(ValueError, match="not a plan"):
        tink.Plan.from_json("{}")
    for place in ["https://user:secret@host/key", "s3://bucket", "s3://id:secret@bucket/key"]:
        with pytest.raises(ValueError, match="accepted are") as raised:
            tink.Driver(log, keyset, place, target)
        assert "secret" not in str(raised.value)
    with pytest.raises(FileNotFoundError):
        tink.Driver(source.parent / "new log", keyset, source.parent / "nothing", target)
    assert not (source.parent / "new log").exists()


def test_a_log_that_would_be_the_source_or_the_target(places):
    log, keyset, source, target = places
    with pytest.raises(ValueError, match="is the log and the target of the job"):
        tink.Driver(target, keyset, source, target)
    with pytest.raises(ValueError, match="is the log and the source of the job"):
        tink.Driver(source, keyset, source, target)
    assert sorted(source.parent.iterdir()) == [source]


# A store that takes connections and says nothing.
SILENT = """
import os, signal, socket, sys, threading

silent = socket.create_server(("127.0.0.1", 0))
os.environ |= {
    "AWS_ENDPOINT_URL": "http://127.0.0.1:%d" % silent.getsockname()[1],
    "AWS_ALLOW_HTTP": "true",
    "AWS_ACCESS_KEY_ID": "id",
    "AWS_SECRET_ACCESS_KEY": "key",
}
from lanecrypt import tink

log, plain, sealed = sys.argv[1:]
store, keyset = "s3://bucket/key", tink.Keyset.generate()
with tink.Driver(log, keyset, plain, sealed) as driver:
    plan = tink.Plan.from_json(driver.plan.to_json().replace(plain, store))
    driver.discard()
signal.signal(signal.SIGINT, signal.default_int_handler)
for call in [
    lambda: tink.open(keyset, store, plain),
    lambda: plan.seal_part(keyset, 0),
    lambda: tink.Driver(log, keyset, store, sealed),
    lambda: tink.Driver(log, keyset, plain, store),
]:
    try:
        threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
        call()
    except KeyboardInterrupt:
        continue
    sys.exit("it was not interrupted")
"""


def test_a_store_that_does_not_answer_can_be_interrupted(places):
    log, _, source, target = places
    subprocess.run([sys.executable, "-c", SILENT, log, source, target], check=True, timeout=60)
    assert source.stat().st_size == SIZE and not target.exists()
