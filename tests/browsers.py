"""Which browser the tests of pages use."""

import shutil

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser_path() -> str | None:
    """The first browser that is installed; None where none is."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)
