"""What an engine costs over the same work in one process, and the parts of the model of scaling.py.

    python machines.py OUT [--bytes N] [--part-bytes N] [--rounds N] [--folder FOLDER]

writes OUT/machines.json and a table, OUT/machines.md, with `ray` installed and the machine otherwise idle. Files lie in
a RAM disk, so that nothing but memory limits reading and writing. The fastest pass of each counts: what disturbs makes
one longer, never shorter.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import ray
from lanecrypt import aead, tink

WORKERS = 3
SEGMENT = 1 << 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--part-bytes", type=int, default=64 << 20)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folder", default="/dev/shm")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        bench = Bench(pathlib.Path(folder), given)
        measured = bench.measure()
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "machines.json").write_text(json.dumps(measured, indent=2) + "\n")
    (given.out / "machines.md").write_text(table(measured))
    print(table(measured))


def table(measured):
    ours, engine = (min(measured[name]) for name in ["oneProcessSeconds", "raySeconds"])
    rate = measured["bytes"] / 1e9
    rows = [
        ("the whole job in one process", f"{ours:.2f} s, {rate / ours:.2f} GB/s"),
        (f"the same over Ray, {measured['workers']} workers", f"{engine:.2f} s, {rate / engine:.2f} GB/s"),
        ("Ray's part of that", f"{measured['overhead']:+.0%}"),
        ("schedule: the driver, for a task that does nothing", f"{measured['scheduleSecondsPerTask'] * 1e6:,.0f} µs"),
        ("a part of no bytes: plan, keyset, receipt, log", f"{measured['fixedSecondsPerPart'] * 1e6:,.0f} µs"),
        *((f"{name}, one thread", f"{1e-9 / measured[name + 'SecondsPerByte']:.2f} GB/s") for name in ["read", "seal", "write"]),
    ]
    lines = [f"| {measured['bytes'] >> 30} GiB in parts of {measured['partBytes'] >> 20} MiB, {measured['cores']} cores | |", "|---|---|"]
    return "\n".join(lines + [f"| {what} | {figure} |" for what, figure in rows]) + "\n"


class Bench:
    def __init__(self, folder, given):
        self.folder, self.given = folder, given
        self.plain, self.keys = folder / "plain", folder / "keys"
        tink.Keyset.generate().save(self.keys)
        os.environ["LANECRYPT_KEYSET"] = str(self.keys)
        self.write(self.plain)

    def write(self, path):
        block = os.urandom(1 << 20)
        with open(path, "wb") as file:
            for _ in range(self.given.bytes >> 20):
                file.write(block)

    def warm_up(self):
        """A virtual machine gets memory that it has not used for a while from its host, a tenth as fast."""
        spare = self.folder / "spare"
        self.write(spare)
        self.job(self.in_one_process)
        spare.unlink()
        self.job(self.over_ray)

    def measure(self):
        # Ray's workers give way to everything else; here they and this process are the same work.
        os.environ.setdefault("RAY_worker_niceness", str(os.nice(0)))
        ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
        # All workers are there, and have imported what they need.
        ray.get([nap.remote(0.5) for _ in range(WORKERS)])
        self.warm_up()
        ours, engines = [], []
        for _ in range(self.given.rounds):
            ours.append(self.job(self.in_one_process))
            engines.append(self.job(self.over_ray))
        parts = -(-self.given.bytes // self.given.part_bytes)
        return {
            "cpu": cpu(),
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
            "ray": ray.__version__,
            "workers": WORKERS,
            "bytes": self.given.bytes,
            "partBytes": self.given.part_bytes,
            "oneProcessSeconds": ours,
            "raySeconds": engines,
            "overhead": min(engines) / min(ours) - 1,
            "scheduleSecondsPerTask": self.schedule(max(1000, parts)),
            "fixedSecondsPerPart": self.fixed(),
        } | self.bytes_of_a_core()

    def job(self, seal_all):
        """Seconds of a whole job: header, parts, receipts, commit."""
        log, target = self.folder / "log", self.folder / "sealed"
        start = time.perf_counter()
        keyset = tink.Keyset.load(self.keys)
        with tink.Driver(log, keyset, self.plain, target, part_bytes=self.given.part_bytes) as driver:
            seal_all(driver, keyset)
            driver.commit()
        seconds = time.perf_counter() - start
        log.unlink()
        target.unlink()
        return seconds

    @staticmethod
    def in_one_process(driver, keyset):
        for part in driver.missing():
            driver.acknowledge(driver.plan.seal_part(keyset, part))

    @staticmethod
    def over_ray(driver, _keyset):
        plan = ray.put(driver.plan)
        acknowledge_all(driver, [seal_part.remote(plan, part) for part in driver.missing()])

    def schedule(self, count):
        """Seconds of the driver for a task that does nothing."""
        plan = ray.put(b"a plan" * 100)
        start = time.perf_counter()
        acknowledge_all(None, [nothing.remote(plan, part) for part in range(count)])
        return (time.perf_counter() - start) / count

    def fixed(self):
        """Seconds of a part of no bytes: the plan, the keyset, the receipt and the log."""
        empty, target, log = (self.folder / name for name in ["empty", "nothing", "other log"])
        empty.touch()
        keyset = tink.Keyset.load(self.keys)
        with tink.Driver(log, keyset, empty, target) as driver:
            text = driver.plan.to_json()

            def once():
                plan = tink.Plan.from_json(text)
                driver.acknowledge(plan.seal_part(tink.Keyset.load(self.keys), 0, threads=1))

            seconds = best(once, 50)
            driver.discard()
        return seconds

    def bytes_of_a_core(self):
        """Seconds per byte of one thread, by what it does."""
        size = self.given.part_bytes
        buffer = bytearray(size)
        with open(self.plain, "rb", buffering=0) as source, open(self.folder / "written", "wb", buffering=0) as target:
            read = best(lambda: os.preadv(source.fileno(), [buffer], 0), 10)
            write = best(lambda: os.pwrite(target.fileno(), buffer, 0), 10)
        # A segment at a time, as files are sealed.
        cipher, nonce, out = aead.AESGCM(bytes(32)), bytes(12), bytearray(SEGMENT + 16)
        segments = [memoryview(buffer)[start : start + SEGMENT] for start in range(0, size, SEGMENT)]
        seal = best(lambda: [cipher.encrypt_into(nonce, segment, None, out) for segment in segments], 10)
        return {
            "readSecondsPerByte": read / size,
            "sealSecondsPerByte": seal / size,
            "writeSecondsPerByte": write / size,
        }


@ray.remote(max_retries=-1)
def seal_part(plan, part):
    return plan.seal_part(tink.Keyset.load(os.environ["LANECRYPT_KEYSET"]), part, threads=1)


@ray.remote
def nothing(_plan, part):
    return f'{{"part":{part},"tag":"{"a" * 34}"}}'


@ray.remote
def nap(seconds):
    tink.Keyset.generate()
    time.sleep(seconds)


def acknowledge_all(driver, tasks):
    while tasks:
        [done], tasks = ray.wait(tasks)
        receipt = ray.get(done)
        if driver is not None:
            driver.acknowledge(receipt)


def best(work, rounds):
    def once():
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return min(once() for _ in range(rounds))


def cpu():
    lines = subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("Model name")), "?")


if __name__ == "__main__":
    main()
