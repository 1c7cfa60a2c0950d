"""Judges: modules that are not ours."""

import importlib
import os

import pytest


def judge(name):
    """A module that is not ours. Where it is missing the test is skipped, or fails if it is expected to be here."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        expected = os.environ.get("LANECRYPT_EXPECT_JUDGES", "").split(",")
        if "all" in expected or name.split(".")[0] in expected:
            pytest.fail(f"LANECRYPT_EXPECT_JUDGES names {name}, but {error}")
        pytest.skip(f"there is no {name} here: {error}")
