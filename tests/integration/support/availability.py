"""What a test needs from the machine, and what happens where that is missing.

On a developer's machine the test is skipped with the reason. With TORCHTRACE_CI=1 it fails with the
same reason, since a test that silently does not run protects nothing.
"""
import os

import pytest


def unavailable(reason):
    """Skips the calling test, or fails it in CI."""
    if os.environ.get("TORCHTRACE_CI") == "1":
        pytest.fail(f"needed in CI: {reason}", pytrace=False)
    pytest.skip(reason)
