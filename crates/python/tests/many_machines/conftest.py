"""What tests need that are not ours: one that is missing is a skip by name, or a failure where it is expected."""

import importlib.util
import os
import shutil

import pytest

INSIDE = "LANECRYPT_INSIDE_NAMESPACE"
# These run in a network namespace of their own, which test_namespace.py makes.
collect_ignore = [] if INSIDE in os.environ else ["inside"]


@pytest.fixture
def judges():
    """A function of the modules and programs that a test cannot do without."""

    def need(modules=(), programs=()):
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        missing += [name for name in programs if shutil.which(name) is None]
        expected = os.environ.get("LANECRYPT_EXPECT_JUDGES", "").split(",")
        if any(name in expected or "all" in expected for name in missing):
            pytest.fail(f"expected, but not here: {', '.join(missing)}")
        if missing:
            pytest.skip(f"not here: {', '.join(missing)}")

    return need
