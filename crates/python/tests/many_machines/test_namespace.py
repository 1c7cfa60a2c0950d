"""Ray and Dask in a network namespace of their own, with nothing but loopback: Ray listens on all addresses."""

import os
import pathlib
import subprocess
import sys

import pytest

INSIDE = pathlib.Path(__file__).parent / "inside"


@pytest.mark.parametrize("engine", ["ray", "dask"])
def test_inside(judges, engine, tmp_path):
    judges(["ray", "distributed", "moto", "boto3", "tink"], ["unshare", "ip"])
    may = subprocess.run(["unshare", "-n", "true"], capture_output=True, text=True)
    if may.returncode != 0:
        reason = f"no network namespace can be made here: {may.stderr.strip()}"
        (pytest.fail if os.environ.get("LANECRYPT_EXPECT_JUDGES") else pytest.skip)(reason)
    script = 'ip link set lo up && exec "$@"'
    pytest_inside = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", tmp_path / "inside"]
    command = ["unshare", "-n", "sh", "-c", script, "sh", *pytest_inside, INSIDE / f"test_{engine}.py"]
    variables = {"LANECRYPT_INSIDE_NAMESPACE": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    run = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr[-5_000:]
