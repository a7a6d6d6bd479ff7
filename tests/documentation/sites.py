"""Builds of the site, or of a small one, with the tool of the site."""

import subprocess
import sys
from pathlib import Path

PAGES = "purgatory-work/pages"
"""The folder of the pages according to ``mkdocs.yml``."""


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build ``folder/site`` as ``folder/mkdocs.yml`` says."""
    return subprocess.run(
        [Path(sys.executable).parent / "zensical", "build", "--strict"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
