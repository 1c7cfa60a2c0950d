"""The script for Slurm, with the variables that Slurm sets: tasks in any order, some of them twice."""

import os
import pathlib
import random
import subprocess

import pytest

from lanecrypt import tink

ROOT = pathlib.Path(__file__).parents[4]
TASKS = 5


@pytest.fixture
def command(judges):
    """The path of the command `lanecrypt`, which cargo builds with the tests of this workspace."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = target.absolute() / "debug/lanecrypt"
    judges(programs=[str(path)])
    return path


def test_tasks_in_any_order_and_twice(command, tmp_path):
    keyset = tink.Keyset.generate()
    source, target, keys, job = (tmp_path / name for name in ["plain", "sealed", "keys", "job.json"])
    keyset.save(keys)
    plain = random.Random(1).randbytes(30 << 20)
    source.write_bytes(plain)
    new = [command, "job", "new", "--keyset", keys, "--part-bytes", "2M", source, target]
    job.write_bytes(subprocess.run(new, check=True, stdout=subprocess.PIPE).stdout)

    def task(number, **more):
        script = ROOT / "crates/python/examples/slurm_seal.sh"
        path = f"{command.parent}:{os.environ['PATH']}"
        slurm = {"SLURM_ARRAY_TASK_ID": str(number), "SLURM_ARRAY_TASK_COUNT": str(TASKS)}
        variables = os.environ | slurm | {"PATH": path, "LANECRYPT_KEYSET": str(keys)}
        return subprocess.run([script, job, source, target], env=variables, **more)

    numbers = list(range(1, TASKS + 1)) * 2
    random.Random(2).shuffle(numbers)
    for number in numbers:
        assert not target.exists()
        task(number, check=True)
    subprocess.run([command, "job", "commit", job, target], check=True)
    assert tink.open_bytes(keyset, target.read_bytes()) == plain


def test_a_changed_source_is_refused(command, tmp_path):
    source, target, keys, job = (tmp_path / name for name in ["plain", "sealed", "keys", "job.json"])
    tink.Keyset.generate().save(keys)
    source.write_bytes(bytes(1000))
    new = [command, "job", "new", "--keyset", keys, source, target]
    job.write_bytes(subprocess.run(new, check=True, stdout=subprocess.PIPE).stdout)
    source.write_bytes(bytes(1000))
    seal = [command, "seal", "--keyset", keys, "--job", job, "--part", "1/1", source, target]
    refused = subprocess.run(seal, capture_output=True, text=True)
    assert refused.returncode != 0 and "the source changed" in refused.stderr
    assert subprocess.run([command, "job", "commit", job, target]).returncode != 0 and not target.exists()
