"""The site, built once for all tests of it."""

from pathlib import Path

import pytest

from .code_blocks import ROOT
from .sites import PAGES, build


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as Markdown."""
    from purgatory_lab.site_pages.pages import write_pages

    folder = tmp_path_factory.mktemp("project") / PAGES
    write_pages(folder)
    return folder


@pytest.fixture(scope="session")
def site(pages: Path) -> Path:
    """The site, built without a warning."""
    project = pages.parents[1]
    (project / "mkdocs.yml").write_bytes((ROOT / "mkdocs.yml").read_bytes())
    done = build(project)
    assert done.returncode == 0, done.stdout
    assert "Warning" not in done.stdout
    return project / "site"
