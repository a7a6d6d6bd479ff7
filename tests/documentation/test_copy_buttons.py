"""The copy button of a console block copies its commands, in a headless browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route

from tests.conformance.reporting.browser import open_page

from .code_blocks import ROOT
from .sites import build

pytestmark = [pytest.mark.verify, pytest.mark.documentation, pytest.mark.browser, pytest.mark.slow]

ORIGIN = "http://localhost"
"""Of the pages, which come from files: a browser lets pages of this origin copy."""

BLOCKS = """# Blocks

```console
$ purgatory list \\
    --json
listed: 3
$ purgatory explain TIMER-SPAN
TIMER-SPAN (MUST): ...
```

```python
price = "$ 5"
print(price)
```
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one page with the theme, and with the script of the project."""
    folder = tmp_path_factory.mktemp("blocks")
    (folder / "docs" / "assets").mkdir(parents=True)
    script = ROOT / "docs" / "assets" / "copy-commands.js"
    (folder / "docs" / "assets" / script.name).write_bytes(script.read_bytes())
    (folder / "docs" / "index.md").write_text(BLOCKS, encoding="utf-8")
    config = """
site_name: blocks
theme: {font: false, features: [content.code.copy]}
extra_javascript: [assets/copy-commands.js]
markdown_extensions: [pymdownx.highlight, pymdownx.superfences]
"""
    (folder / "mkdocs.yml").write_text(config, encoding="utf-8")
    done = build(folder)
    assert done.returncode == 0, done.stdout
    return folder / "site"


@contextmanager
def shown(site: Path, without: str = "") -> Iterator[Page]:
    """The page in a browser that gets the files of the site, less one that is named."""

    def answer(route: Route) -> None:
        path = site / (route.request.url.removeprefix(ORIGIN).lstrip("/") or "index.html")
        if path.is_file() and path.name != without:
            route.fulfill(path=path)
        else:
            route.abort()

    with open_page() as page:
        page.route(f"{ORIGIN}/**", answer)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=ORIGIN)
        page.goto(f"{ORIGIN}/")
        yield page


def copied(page: Page, place: int) -> str:
    """Return what stands on the clipboard after a click on the button of the block at a place."""
    page.locator(".highlight").nth(place).locator("button[data-clipboard-target]").click()
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_a_console_block_gives_its_commands_alone(site: Path) -> None:
    with shown(site) as page:
        assert copied(page, 0) == ("purgatory list \\\n    --json\npurgatory explain TIMER-SPAN")
        assert copied(page, 1).strip() == 'price = "$ 5"\nprint(price)'


def test_without_the_script_the_prompts_are_copied(site: Path) -> None:
    with shown(site, without="copy-commands.js") as page:
        text = copied(page, 0)
        assert text.startswith("$ purgatory list")
        assert "listed: 3" in text


def test_the_site_loads_the_script() -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "extra_javascript: [assets/copy-commands.js]" in config
