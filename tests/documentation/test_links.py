"""Every link of the pages can be followed in a checkout, and on a code host."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

from purgatory_lab.site_pages.profiles import PROFILE_PAGE, profile_page

from .code_blocks import ROOT

_FENCE = re.compile(r"^ *```")
_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.*?)(?: *\{[^{}]*\})?$")
_LINKED_WORDS = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page outside of code blocks, with their numbers."""
    is_code = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code:
            yield number, line


def anchors(page: Path) -> set[str]:
    """The anchors that a code host gives to the headings of a page."""
    found: set[str] = set()
    for _, line in prose(page):
        heading = _HEADING.match(line)
        if heading:
            words = _LINKED_WORDS.sub(r"\1", heading[1]).replace("`", "")
            slug = slugify(words, "-")
            again = sum(each == slug or each.startswith(f"{slug}-") for each in found)
            found.add(f"{slug}-{again}" if slug in found else slug)
    return found


def dead_links(pages: list[Path]) -> list[str]:
    """The links to files that are not there, or to headings that their pages do not have."""
    dead: list[str] = []
    known: dict[Path, set[str]] = {}
    for page in pages:
        for number, line in prose(page):
            for link in _LINK.findall(_CODE.sub("", line)):
                path, _, anchor = link.partition("#")
                if ":" in path:
                    continue
                target = (page.parent / path).resolve() if path else page.resolve()
                if not target.exists():
                    dead.append(f"{page}:{number}: {link}: there is no such file")
                elif anchor and target.suffix == ".md":
                    if target not in known:
                        known[target] = anchors(target)
                    if anchor not in known[target]:
                        dead.append(f"{page}:{number}: {link}: there is no such heading")
    return dead


def test_every_link_leads_somewhere() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    pages = [ROOT / name for name in listed.stdout.split()]
    assert len(pages) > 40
    assert dead_links(pages) == []


def test_dead_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# A title: with `code`\n## Twice\n## Twice\n```\n# no\n```\n")
    page = tmp_path / "a.md"
    page.write_text(
        "[good](b.md#a-title-with-code) [second](b.md#twice-1) [code](b.md#no)\n"
        "[gone](c.md#x) `[none](d.md)` [far](https://example.org/e.md)\n"
    )
    assert dead_links([page]) == [
        f"{page}:1: b.md#no: there is no such heading",
        f"{page}:2: c.md#x: there is no such file",
    ]


@pytest.mark.slow
def test_the_page_of_the_profiles_follows_from_the_sources() -> None:
    """Compare with what `python -m purgatory_lab.site_pages --profiles docs` writes."""
    assert (ROOT / "docs" / PROFILE_PAGE).read_text(encoding="utf-8") == profile_page()
