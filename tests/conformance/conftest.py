"""Start and end adapters for tests."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _quick_builds() -> Iterator[None]:
    """An adapter in Rust runs a few cases: to optimise it would take longer than it runs."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        patched.setenv("CARGO_PROFILE_DEV_DEBUG", "0")
        yield
