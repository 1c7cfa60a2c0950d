"""A store, a keyset and a job for each test."""

import json
import os
import random
import subprocess
import sys

import pytest
from driven import CRATES, SIZE, Job

from lanecrypt import tink


@pytest.fixture(scope="session")
def ask():
    """Asks the store, which is the one of the tests of crates/objects."""
    script = CRATES / "objects/tests/stores/store.py"
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with subprocess.Popen([sys.executable, script], **pipes) as store:
        endpoint = json.loads(store.stdout.readline())
        os.environ |= {"AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"}
        os.environ |= {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}

        def ask(do, **task):
            print(json.dumps({"do": do} | task), file=store.stdin, flush=True)
            answer = json.loads(store.stdout.readline())
            assert "error" not in answer, answer
            return answer["result"]

        yield ask
        store.stdin.close()


@pytest.fixture(scope="session")
def keyset(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "keyset"
    tink.Keyset.generate().save(path)
    os.environ["LANECRYPT_KEYSET"] = str(path)
    return path


@pytest.fixture
def job(ask, keyset, tmp_path, request):
    """A source in the store, and the places of a job."""
    name = request.node.name
    plain, other = tmp_path / "plain", tmp_path / "other"
    plain.write_bytes(random.Random(name).randbytes(SIZE))
    other.write_bytes(plain.read_bytes()[:-1] + b"?")
    ask("put", key=f"{name}/plain", path=str(plain))
    return Job(ask=ask, name=name, plain=plain, other=other, keyset=keyset, log=tmp_path / "log")
