"""Drivers that are started, watched and killed, and the job that they drive."""

import collections
import json
import pathlib
import subprocess
import sys
import time
import types

CRATES = pathlib.Path(__file__).parents[4]
EXAMPLES = CRATES / "python/examples"
PART = 5 << 20
PARTS = 30
# The first part has the header, and each segment a tag.
SIZE = PARTS * (PART - 5 * 16) - 40


class Job(types.SimpleNamespace):
    def start(self, example):
        """A driver, as a person starts it."""
        places = [f"s3://bucket/{self.name}/{key}" for key in ["plain", "sealed"]]
        command = [sys.executable, EXAMPLES / example, *places, self.log, str(PART)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def receipts(self):
        """How often each part was acknowledged."""
        lines = self.log.read_text().splitlines()[1:] if self.log.exists() else []
        return collections.Counter(json.loads(line)["done"]["part"] for line in lines if '"done"' in line)

    def wait(self, driver, count):
        """Waits for so many receipts, while the driver lives."""
        end = time.monotonic() + 180
        while len(self.receipts()) < count:
            assert driver.poll() is None, driver.stdout.read()
            assert time.monotonic() < end, f"{len(self.receipts())} of {count} receipts"
            time.sleep(0.01)

    def change(self):
        self.ask("put", key=f"{self.name}/plain", path=str(self.other))

    def there(self):
        """Whether the target is there, and how many uploads are under way."""
        prefix = f"{self.name}/sealed"
        return self.ask("keys", prefix=prefix) != [], self.ask("uploads", prefix=prefix)

    def opens(self):
        return self.ask("opens", keyset=str(self.keyset), key=f"{self.name}/sealed", plain=str(self.plain), ad="")


def finish(driver):
    """The exit code of a driver, and what it said."""
    said, _ = driver.communicate(timeout=180)
    return driver.returncode, said


def refuses_a_changed_source(job, example):
    """The source changes in the middle: the job fails, and nothing is left."""
    driver = job.start(example)
    job.wait(driver, 3)
    job.change()
    code, said = finish(driver)
    assert code != 0 and "the source changed: its version was" in said, said
    assert job.there() == (False, 0) and not job.log.exists()
