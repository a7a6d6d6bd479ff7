"""What tests of adapters share, and what tests of pages in a browser do."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def browser_page() -> Iterator["Page"]:
    """A page for the tests of one file: while it is open no other event loop can run."""
    from tests.conformance.reporting.browser import open_page

    with open_page() as opened:
        yield opened


@pytest.fixture(scope="session", autouse=True)
def _quick_builds() -> Iterator[None]:
    """An adapter in Rust runs a few cases: to optimise it would take longer than it runs."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        patched.setenv("CARGO_PROFILE_DEV_DEBUG", "0")
        yield
