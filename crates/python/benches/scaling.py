"""How a job grows with machines: simulated from what machines.py measured on one.

    python scaling.py machines.json OUT

writes OUT/scaling.md, a table, and OUT/scaling.svg. A driver hands out one task after the other; a machine seals as many
parts at once as it has cores. What was not measured here is written beside the table: cores and network of a machine,
and what the store gives.
"""

import heapq
import json
import math
import pathlib
import sys
from dataclasses import dataclass

MIB = 1 << 20
PETABYTE = 10**15
MACHINES = [1, 3, 10, 30, 100, 300, 1000]
PART_MIB = [8, 64, 512]
# Most parts of an object in S3.
MOST_PARTS = 10_000


@dataclass
class Model:
    """Seconds and bytes per second."""

    schedule: float  # of the driver, a task
    fixed: float  # of a worker, a part
    per_byte: float  # of a core: reading, sealing, writing
    cores: int = 16
    network: float = 25e9 / 8  # of a machine, each way
    store: float = 1e12  # of the store, all machines together, each way

    def work(self, part_bytes, machines):
        """Seconds of a part where all slots work: its core's, or its share of the network and of the store."""
        slots = machines * self.cores
        slowest = max(self.per_byte, self.cores / self.network, slots / self.store)
        return self.fixed + part_bytes * slowest

    def bounds(self, part_bytes, machines):
        """Bytes per second that each part of the system allows."""
        of_cores = machines * self.cores * part_bytes / (self.fixed + part_bytes * self.per_byte)
        return {
            "cores": of_cores,
            "network": machines * self.network,
            "store": self.store,
            "driver": part_bytes / self.schedule,
        }

    def throughput(self, part_bytes, machines, total=PETABYTE):
        """Bytes per second of a job, simulated over as many parts as show it."""
        slots = machines * self.cores
        parts = min(math.ceil(total / part_bytes), 20 * slots)
        return parts * part_bytes / simulate(parts, slots, self.schedule, self.work(part_bytes, machines))


def simulate(parts, slots, schedule, work):
    """Seconds until all parts are done, where a task goes to the slot that was free first."""
    free = [0.0] * min(slots, parts)
    driver = 0.0
    for _ in range(parts):
        driver = max(driver, free[0]) + schedule
        heapq.heapreplace(free, driver + work)
    return max(free)


def model(measured):
    names = ["readSecondsPerByte", "sealSecondsPerByte", "writeSecondsPerByte"]
    per_byte = sum(measured[name] for name in names)
    return Model(measured["scheduleSecondsPerTask"], measured["fixedSecondsPerPart"], per_byte)


def table(model):
    """The table, and what bounds each row."""
    heads = "".join(f" {part} MiB, GB/s | bound | 1 PB, h |" for part in PART_MIB)
    lines = [f"| machines |{heads}", "|---|" + "---|---|---|" * len(PART_MIB)]
    for machines in MACHINES:
        cells = []
        for part in PART_MIB:
            rate = model.throughput(part * MIB, machines)
            bounds = model.bounds(part * MIB, machines)
            cells.append(f" {rate / 1e9:,.1f} | {min(bounds, key=bounds.get)} | {PETABYTE / rate / 3600:,.1f} |")
        lines.append(f"| {machines:,} |" + "".join(cells))
    return "\n".join(lines) + "\n\n" + parts_of(model)


def parts_of(model):
    """The measured parts, the assumed ones, and where scaling ends."""
    core = 1 / model.per_byte
    lines = [
        f"Measured: {model.schedule * 1e6:,.0f} µs of the driver a task, {model.fixed * 1e6:,.0f} µs of a worker a part,",
        f"{core / 1e9:.2f} GB/s of a core that reads, seals and writes. Assumed: {model.cores} cores and",
        f"{model.network / 1e9:.2f} GB/s of network a machine, {model.store / 1e9:,.0f} GB/s of the store.",
        "",
        "| bytes of a part | most one driver hands out, GB/s | machines for that | most in one object, TB | objects of 1 PB |",
        "|---|---|---|---|---|",
    ]
    for part in PART_MIB:
        bytes_ = part * MIB
        bounds = model.bounds(bytes_, 1)
        machines = bounds["driver"] / min(bounds["cores"], bounds["network"])
        most = MOST_PARTS * bytes_
        lines.append(
            f"| {part} MiB | {bounds['driver'] / 1e9:,.0f} | {machines:,.0f} | {most / 1e12:,.2f} |"
            f" {math.ceil(PETABYTE / most):,} |"
        )
    return "\n".join(lines) + "\n"


def picture(model):
    """Throughput by machines, both on logarithmic axes."""
    wide, high, left, low = 640, 400, 60, 360
    top = math.log10(max(bound for part in PART_MIB for bound in [model.bounds(part * MIB, 1000)["network"], model.store])) + 0.2
    bottom = math.log10(min(model.throughput(PART_MIB[0] * MIB, 1), model.network)) - 0.2

    def place(machines, rate):
        across = left + (wide - left - 110) * math.log10(machines) / 3
        return f"{across:.1f},{low - (low - 20) * (math.log10(rate) - bottom) / (top - bottom):.1f}"

    def line(points, label, style):
        x, y = points[-1].split(",")
        return (
            f'<polyline points="{" ".join(points)}" fill="none" stroke="currentColor" {style}/>'
            f'<text x="{float(x) + 6:.1f}" y="{float(y) + 4:.1f}">{label}</text>'
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="12"'
        ' fill="currentColor">',
        f'<text x="{left}" y="{high - 4}">machines</text><text x="4" y="14">GB/s</text>',
    ]
    for machines in MACHINES:
        x, y = place(machines, 10**bottom).split(",")
        parts.append(f'<text x="{x}" y="{float(y) + 16:.1f}" text-anchor="middle">{machines:,}</text>')
    for power in range(math.ceil(bottom), math.floor(top) + 1):
        x, y = place(1, 10**power).split(",")
        parts.append(f'<text x="{float(x) - 8:.1f}" y="{y}" text-anchor="end">{10 ** (power - 9):g}</text>')
        parts.append(f'<path d="M{x} {y}H{wide - 110}" stroke="currentColor" stroke-opacity="0.2"/>')
    for part, dashes in zip(PART_MIB, ["", 'stroke-dasharray="6 3"', 'stroke-dasharray="2 3"']):
        points = [place(machines, model.throughput(part * MIB, machines)) for machines in MACHINES]
        parts.append(line(points, f"parts of {part} MiB", f'stroke-width="2" {dashes}'))
    parts.append(line([place(machines, model.store) for machines in MACHINES], "the store", 'stroke-opacity="0.5"'))
    return "\n".join(parts) + "\n</svg>\n"


def main():
    measured, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    of_here = model(json.loads(measured.read_text()))
    (out / "scaling.md").write_text(table(of_here))
    (out / "scaling.svg").write_text(picture(of_here))
    print(table(of_here))


if __name__ == "__main__":
    main()
