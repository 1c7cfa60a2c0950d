"""The Dask example on three processes, of which one, and then the driver, are killed."""

import os
import signal

import pytest
from driven import PARTS, finish, refuses_a_changed_source
from distributed import Client, LocalCluster


@pytest.fixture
def cluster(ask, keyset):
    with LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        os.environ["DASK_SCHEDULER_ADDRESS"] = cluster.scheduler_address
        yield cluster


def test_killed(cluster, job):
    with Client(cluster) as client:
        workers = list(client.run(os.getpid).values())
    driver = job.start("dask_seal.py")
    job.wait(driver, 3)
    os.kill(workers[0], signal.SIGKILL)
    job.wait(driver, 10)
    driver.kill()
    driver.wait()
    assert job.there() == (False, 1)
    before = set(job.receipts())
    assert 10 <= len(before) < PARTS

    code, said = finish(job.start("dask_seal.py"))
    assert code == 0, said
    assert job.there() == (True, 0) and job.opens()
    assert job.receipts() == dict.fromkeys(range(PARTS), 1)


def test_changed(cluster, job):
    refuses_a_changed_source(job, "dask_seal.py")
