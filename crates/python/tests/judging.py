"""Judges: modules that are not ours."""

import importlib
import os

import pytest


def is_expected(name):
    """Whether a judge that is missing is a failure."""
    expected = os.environ.get("LANECRYPT_EXPECT_JUDGES", "").split(",")
    return "all" in expected or name in expected


def judge(name):
    """A module that is not ours. Where it is missing the test is skipped, or fails if it is expected to be here."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if is_expected(name.split(".")[0]):
            pytest.fail(f"LANECRYPT_EXPECT_JUDGES names {name}, but {error}")
        pytest.skip(f"there is no {name} here: {error}")
