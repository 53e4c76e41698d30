"""Fixtures shared by all tests that run whole programs. tests/README.md says how they are used."""
import pytest

from support import interpreters


@pytest.fixture
def interpreter(request):
    """The Python under test, "debian" or "wheel": parametrize it indirectly."""
    return interpreters.find_interpreter(request.param)
