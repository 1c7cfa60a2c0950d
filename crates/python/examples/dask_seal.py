"""Seals SOURCE into TARGET, paths or s3:// URLs, over Dask: dask_seal.py SOURCE TARGET LOG [PART_BYTES]

LANECRYPT_KEYSET is the path of the keyset on every machine, DASK_SCHEDULER_ADDRESS that of the scheduler; without it
there are processes on this machine. Started again with the same LOG, it goes on.
"""
import os
import sys

from dask.distributed import Client, as_completed
from lanecrypt import tink


def seal_part(part, plan):
    return plan.seal_part(tink.Keyset.load(os.environ["LANECRYPT_KEYSET"]), part, threads=1)


if __name__ == "__main__":
    source, target, log, *part_bytes = sys.argv[1:]
    keyset, part_bytes = tink.Keyset.load(os.environ["LANECRYPT_KEYSET"]), int(*part_bytes) or None
    with tink.Driver(log, keyset, source, target, part_bytes=part_bytes) as driver, Client() as client:
        tasks = client.map(seal_part, driver.missing(), plan=driver.plan, pure=False)
        try:
            for _, receipt in as_completed(tasks, with_results=True):
                driver.acknowledge(receipt)
        except tink.SourceChanged:
            driver.discard()
            raise
        driver.commit()
