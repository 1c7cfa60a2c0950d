"""Seals SOURCE into TARGET, paths or s3:// URLs, over a Ray cluster: ray_seal.py SOURCE TARGET LOG [PART_BYTES]

LANECRYPT_KEYSET is the path of the keyset on every machine. Started again with the same LOG, it goes on.
"""
import os
import sys

import ray
from lanecrypt import tink


@ray.remote(max_retries=-1)
def seal_part(plan, part):
    return plan.seal_part(tink.Keyset.load(os.environ["LANECRYPT_KEYSET"]), part, threads=1)


source, target, log, *part_bytes = sys.argv[1:]
keyset = tink.Keyset.load(os.environ["LANECRYPT_KEYSET"])
with tink.Driver(log, keyset, source, target, part_bytes=int(*part_bytes) or None) as driver:
    plan = ray.put(driver.plan)
    tasks = [seal_part.remote(plan, part) for part in driver.missing()]
    try:
        while tasks:
            [done], tasks = ray.wait(tasks)
            driver.acknowledge(ray.get(done))
    except tink.SourceChanged:
        driver.discard()
        raise
    driver.commit()
