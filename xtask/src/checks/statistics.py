"""Compares numbers that `lanecrypt random` draws with their distributions, by tests of scipy's: the program is the argument."""

import subprocess
import sys

import numpy
from scipy import stats

NUMBERS = 20_000_000
# What chance gives once in a million runs of any of these tests.
LEAST = 1e-6


def drawn(what: str, bytes_each: int) -> numpy.ndarray:
    words = [sys.argv[1], "random", str(NUMBERS * bytes_each), "--seed", "1", "--as", what]
    return numpy.frombuffer(subprocess.run(words, capture_output=True, check=True).stdout, numpy.uint8)


def judged():
    """Names of tests, and their p values."""
    data = drawn("bytes", 1)
    yield "bytes: counts of each", stats.chisquare(numpy.bincount(data, minlength=256)).pvalue
    pairs = data[: len(data) // 2 * 2].view(numpy.uint16)
    yield "bytes: counts of each pair", stats.chisquare(numpy.bincount(pairs, minlength=1 << 16)).pvalue
    for bits, kind in ((32, numpy.float32), (64, numpy.float64)):
        units = drawn(f"units{bits}", bits // 8).view(kind).astype(numpy.float64)
        assert units.min() >= 0 and units.max() < 1, "in [0, 1)"
        yield f"units{bits}: Kolmogorov-Smirnov", stats.kstest(units, "uniform").pvalue
        normals = drawn(f"normals{bits}", bits // 8).view(kind).astype(numpy.float64)
        yield f"normals{bits}: Kolmogorov-Smirnov", stats.kstest(normals, "norm").pvalue
        yield f"normals{bits}: skewness and kurtosis", stats.normaltest(normals).pvalue
        # The tail, where Kolmogorov-Smirnov sees least: how many lie beyond four standard deviations.
        beyond = int((abs(normals) > 4).sum())
        yield f"normals{bits}: beyond 4", stats.binomtest(beyond, len(normals), 2 * stats.norm.sf(4)).pvalue
        yield f"normals{bits}: neighbours", stats.pearsonr(normals[:-1], normals[1:]).pvalue


failed = False
for name, value in judged():
    print(f"{name:<36} p = {value:.6f}", flush=True)
    failed |= not LEAST < value
sys.exit(failed)
