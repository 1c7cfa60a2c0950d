"""The Ray example on three nodes, of which a worker, a raylet and the driver are killed."""

import os
import pathlib
import signal
import time

import pytest
from driven import PARTS, finish, refuses_a_changed_source
from ray.cluster_utils import Cluster


@pytest.fixture
def cluster(ask, keyset):
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.extra = [cluster.add_node(num_cpus=1) for _ in range(2)]
    os.environ["RAY_ADDRESS"] = cluster.address
    yield cluster
    cluster.shutdown()


def kill_a_worker():
    """Kills a process that seals a part just now."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cmdline").read_bytes().startswith(b"ray::seal_part"):
                    os.kill(int(process.name), signal.SIGKILL)
                    return
            except OSError:
                continue
    raise AssertionError("nobody sealed")


def test_killed(cluster, job):
    driver = job.start("ray_seal.py")
    job.wait(driver, 3)
    kill_a_worker()
    job.wait(driver, 7)
    cluster.remove_node(cluster.extra[0], allow_graceful=False)
    job.wait(driver, 12)
    driver.kill()
    driver.wait()
    assert job.there() == (False, 1)
    before = set(job.receipts())
    assert 12 <= len(before) < PARTS

    code, said = finish(job.start("ray_seal.py"))
    assert code == 0, said
    assert job.there() == (True, 0) and job.opens()
    # Nothing that was acknowledged was done again.
    assert job.receipts() == dict.fromkeys(range(PARTS), 1)
    sent = job.ask("puts", key=f"{job.name}/sealed")
    assert sum(sent.values()) < PARTS + len(before), sent


def test_changed(cluster, job):
    refuses_a_changed_source(job, "ray_seal.py")
