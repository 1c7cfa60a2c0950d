"""What all tests share: judges, which are other implementations, and how long hypothesis searches."""

import shutil

import hypothesis
import pytest
from judging import is_expected, judge

hypothesis.settings.register_profile("tests", max_examples=60, deadline=None, database=None)
hypothesis.settings.load_profile("tests")


@pytest.fixture(scope="session")
def judges():
    """A function of the modules and programs that a test cannot do without."""

    def need(modules=(), programs=()):
        for name in modules:
            judge(name)
        for name in programs:
            if shutil.which(name) is None:
                refuse = pytest.fail if is_expected(name) else pytest.skip
                refuse(f"there is no program {name} here")

    return need


@pytest.fixture(scope="session")
def pyca():
    """pyca/cryptography's ciphers."""
    return judge("cryptography.hazmat.primitives.ciphers")


@pytest.fixture(scope="session")
def pyca_aead():
    """pyca/cryptography's AEADs."""
    return judge("cryptography.hazmat.primitives.ciphers.aead")


@pytest.fixture(scope="session")
def decrepit():
    """pyca/cryptography's old ciphers."""
    return judge("cryptography.hazmat.decrepit.ciphers.algorithms")


@pytest.fixture(scope="session")
def numpy():
    """Arrays."""
    return judge("numpy")
