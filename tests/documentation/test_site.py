"""The site builds without a warning, holds every rule and function, and loads nothing."""

import ast
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from purgatory_spec.profiles import Component
from purgatory_spec.requirements import requirements

from .code_blocks import ROOT

pytestmark = [pytest.mark.documentation, pytest.mark.slow]

ANNOTATED = (
    *("timer", "pending_tasks", "timing_wheel", "arithmetic"),
    *("purgatory", "purgatory_calls", "course", "purgatory_state", "watcher_lists"),
    *("memory_pool", "memory_pool_arithmetic", "claims/purgatory", "claims/memory_pool"),
)
LOADING = {
    ("img", "src"),
    ("script", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("link", "href"),
}
"""What makes a browser fetch something; the address of an ``a`` does not."""


class Page(HTMLParser):
    """The anchors of a page, what it loads, and its words."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.anchors: set[str] = set()
        self.loads: list[str] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name == "id":
                self.anchors.add(value)
            if value and (tag, name) in LOADING:
                self.loads.append(value)

    def handle_data(self, data: str) -> None:
        self.text += data


def build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", site],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stdout
    assert "WARNING" not in done.stdout
    return folder


@pytest.mark.parametrize("component", Component)
def test_every_rule_has_an_anchor(site: Path, component: Component) -> None:
    page = Page(site / "reference" / component.value.replace("_", "-") / "index.html")
    assert [rule.id for rule in requirements(component) if rule.id not in page.anchors] == []


def test_every_rule_names_who_states_and_who_breaks_it(site: Path) -> None:
    text = (site / "reference" / "timer" / "index.html").read_text(encoding="utf-8")
    sections = re.split(r'<h3 id="(TIMER-[A-Z-]+)"', text)[1:]
    by_rule = dict(zip(sections[::2], sections[1::2], strict=True))
    assert by_rule.keys() == {rule.id for rule in requirements(Component.TIMER)}
    assert "<code>timing_wheel.TimingWheel.insert</code>" in by_rule["TIMER-SPAN"]
    assert "<code>wheel.Wheel.place</code>" in by_rule["TIMER-SPAN"]
    assert "<code>boundaries-of-level-one</code>" in by_rule["TIMER-SPAN"]
    assert "<code>span-of-all-buckets</code>" in by_rule["TIMER-SPAN"]


def test_the_annotated_model_shows_every_function(site: Path) -> None:
    page = Page(site / "reference" / "model" / "index.html")
    text = re.sub(r"\s+", " ", page.text)
    missing: list[str] = []
    for module in ANNOTATED:
        source = (ROOT / "model" / "purgatory_model" / f"{module}.py").read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            last_line = source.splitlines()[(node.end_lineno or 0) - 1].strip()
            if f" {node.name}" not in text or last_line not in text:
                missing.append(f"{module}.{node.name}")
    assert missing == []


def test_the_annotated_model_shows_rules_beside_functions(site: Path) -> None:
    text = (site / "reference" / "model" / "index.html").read_text(encoding="utf-8")
    (piece,) = re.findall(
        r'<strong class="piece-name" id="arithmetic.level_end".*?<pre>', text, re.S
    )
    assert '<a href="../timer/#TIMER-SPAN">TIMER-SPAN</a>' in piece
    assert "a level covers its interval less the present tick" in piece


def test_the_command_line_reference_shows_every_command(site: Path) -> None:
    page = Page(site / "reference" / "command-line" / "index.html")
    commands = [
        "check",
        "coverage",
        "doctor",
        "explain",
        "list",
        "model-explore",
        "replay",
        "report",
    ]
    assert [c for c in commands if f"purgatory-{c}" not in page.anchors] == []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = [Page(path) for path in sorted(site.rglob("*.html"))]
    assert len(pages) >= 12
    elsewhere = [
        f"{page.path.name}: {address}"
        for page in pages
        for address in page.loads
        if re.match(r"([a-z]+:)?//", address)
    ]
    assert elsewhere == []


def test_no_style_sheet_loads_from_elsewhere(site: Path) -> None:
    sheets = sorted(site.rglob("*.css"))
    assert sheets
    foreign = re.compile(r"""(?:@import|url\()\s*['"]?(?:https?:)?//""")
    assert [sheet.name for sheet in sheets if foreign.search(sheet.read_text("utf-8"))] == []


def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("[away](nowhere.md)\n", encoding="utf-8")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    config = re.sub(r"(?s)\nnav:.*", "\n", config)
    config = re.sub(
        r"(?m)^(hooks|watch|exclude_docs|not_in_nav|extra_\w+):.*\n(?:  .*\n)*",
        "",
        config,
    )
    (tmp_path / "mkdocs.yml").write_text(config, encoding="utf-8")
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode == 1
    assert "nowhere.md" in done.stdout


def test_every_run_of_a_lesson_is_a_figure_of_the_site(site: Path) -> None:
    figures = 0
    for lesson in sorted((ROOT / "docs" / "course").glob("*.md")):
        text = lesson.read_text(encoding="utf-8")
        runs = text.count("```jsonl viewer ") + text.count('<div class="play-slot"')
        name = "" if lesson.stem == "index" else lesson.stem
        page = (site / "course" / name / "index.html").read_text(encoding="utf-8")
        assert page.count('<figure class="purgatory-viewer"') == runs, lesson.name
        assert page.count("</figure>") == runs
        assert ("prefers-reduced-motion" in page) == (runs > 0)
        figures += runs
    assert figures > 0
