"""What tests of pages in a browser share."""

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
