"""The simulation of many machines, against what can be counted by hand."""

import importlib.util
import pathlib

import pytest

path = pathlib.Path(__file__).parents[1] / "benches/scaling.py"
spec = importlib.util.spec_from_file_location("scaling", path)
scaling = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scaling)


@pytest.mark.parametrize("parts, slots, rounds", [(1, 1, 1), (7, 1, 7), (8, 4, 2), (9, 4, 3), (3, 100, 1)])
def test_without_a_driver_there_are_rounds(parts, slots, rounds):
    assert scaling.simulate(parts, slots, 0, 5) == 5 * rounds


def test_a_slow_driver_is_all_there_is():
    assert scaling.simulate(1000, 50, 1, 10) == 1000 + 10
    # With as many slots as tasks fit into the work of one, neither waits for the other.
    assert scaling.simulate(1000, 10, 1, 10) == pytest.approx(1000 + 10 + 99, abs=1)


def test_what_bounds():
    model = scaling.Model(schedule=1e-3, fixed=0, per_byte=1e-9, cores=10, network=5e9, store=1e11)
    mib = 1 << 20
    assert model.bounds(mib, 3) == pytest.approx({"cores": 3e10, "network": 1.5e10, "store": 1e11, "driver": 1e3 * mib})
    for machines, part, least in [(1, 512, 5e9), (3, 512, 1.5e10), (100, 512, 1e11), (100, 64, 64e3 * mib), (1, 1, 1e3 * mib)]:
        assert model.throughput(part * mib, machines) == pytest.approx(least, rel=0.1)
        assert min(model.bounds(part * mib, machines).values()) == pytest.approx(least)


def test_table_and_picture():
    model = scaling.Model(schedule=3e-4, fixed=1e-3, per_byte=5e-10)
    assert scaling.table(model).count("\n") > 10 and "| 1,000 |" in scaling.table(model)
    assert scaling.picture(model).count("<polyline") == 4
