"""The site builds without a warning, holds every rule and function, and loads nothing."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from purgatory_spec.profiles import Component
from purgatory_spec.requirements import requirements

from .code_blocks import ROOT
from .sites import PAGES, build

pytestmark = [pytest.mark.verify, pytest.mark.documentation, pytest.mark.slow]

ANNOTATED = (
    *("kafka_timer", "timing_wheel", "pending_tasks", "arithmetic"),
    *("timer", "choices/timers"),
    *("kafka_purgatory", "walk", "call", "purgatory_state", "watcher_lists"),
    *("purgatory_faces", "purgatory", "choices/walks", "choices/meanwhile"),
    *("choices/watches", "choices/inline_executor", "choices/accounting"),
    *("memory_pool", "memory_pool_arithmetic", "claims/purgatory", "claims/memory_pool"),
)
LOADING = {
    ("img", "src"),
    ("script", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("link", "href"),
}
"""The attributes that make a browser fetch something; the address of an ``a`` does not."""


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


@pytest.mark.parametrize("component", Component)
def test_every_rule_has_an_anchor(site: Path, component: Component) -> None:
    page = Page(site / "reference" / component.value.replace("_", "-") / "index.html")
    assert [rule.id for rule in requirements(component) if rule.id not in page.anchors] == []


def test_every_rule_names_who_states_and_who_breaks_it(site: Path) -> None:
    text = (site / "reference" / "timer" / "index.html").read_text(encoding="utf-8")
    sections = re.split(r'<h3 id="(TIMER-[A-Z-]+)"', text)[1:]
    by_rule = dict(zip(sections[::2], sections[1::2], strict=True))
    assert by_rule.keys() == {rule.id for rule in requirements(Component.TIMER)}
    for link, name in (
        ("../model/timer/#timing_wheel.TimingWheel.insert", "timing_wheel.TimingWheel.insert"),
        ("../implementation/timer/#wheel.Wheel.place", "wheel.Wheel.place"),
        ("../vectors/timer/#boundaries-of-level-one", "boundaries-of-level-one"),
        ("../mutants/#span-of-all-buckets", "span-of-all-buckets"),
    ):
        assert f'<a href="{link}"><code>{name}</code></a>' in by_rule["TIMER-SPAN"]


def test_the_annotated_model_shows_every_function(site: Path) -> None:
    parts = sorted((site / "reference" / "model").rglob("*.html"))
    assert len(parts) == 5
    text = re.sub(r"\s+", " ", "".join(Page(path).text for path in parts))
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
    text = (site / "reference" / "model" / "timer" / "index.html").read_text(encoding="utf-8")
    (piece,) = re.findall(
        r'<strong class="piece-name" id="arithmetic.level_end".*?<pre>', text, re.S
    )
    assert '<a href="../../timer/#TIMER-SPAN">TIMER-SPAN</a>' in piece
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
    pages = tmp_path / PAGES
    pages.mkdir(parents=True)
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    config = re.sub(r"(?s)\nnav:.*", "\n", config)
    config = re.sub(r"(?m)^(not_in_nav|extra_\w+):.*\n(?:  .*\n)*", "", config)
    (tmp_path / "mkdocs.yml").write_text(config, encoding="utf-8")
    for link in ("nowhere.md", "index.md#nowhere"):
        (pages / "index.md").write_text(f"[away]({link})\n", encoding="utf-8")
        done = build(tmp_path)
        assert done.returncode == 1
        assert "index.md:1:" in done.stdout
    (pages / "index.md").write_text("# Here\n\n[away](index.md#here)\n", encoding="utf-8")
    assert build(tmp_path).returncode == 0


def test_every_run_of_a_lesson_is_a_figure_of_the_site(site: Path) -> None:
    figures = 0
    for lesson in sorted((ROOT / "docs" / "course").glob("*.md")):
        text = lesson.read_text(encoding="utf-8")
        runs = len(re.findall('^```jsonl viewer |class="play-slot"', text, re.MULTILINE))
        name = "" if lesson.stem == "index" else lesson.stem
        page = (site / "course" / name / "index.html").read_text(encoding="utf-8")
        assert page.count('<figure class="purgatory-viewer"') == runs, lesson.name
        assert page.count("</figure>") == runs
        assert ("prefers-reduced-motion" in page) == (runs > 0)
        figures += runs
    assert figures > 0


def unlisted(pages: Path) -> list[str]:
    """The pages to which the index of their folder, if there is one, does not lead."""
    found: list[str] = []
    for index in sorted(pages.rglob("index.md")):
        links = set(re.findall(r"\]\(([^)#]+)", index.read_text(encoding="utf-8")))
        here = [page for page in index.parent.glob("*.md") if page != index]
        below = [page for page in index.parent.glob("*/index.md") if index.parent != pages]
        listed = [page.relative_to(index.parent).as_posix() for page in here + below]
        found += [f"{index.parent.name}/{each}" for each in sorted(listed) if each not in links]
    return found


def test_the_index_of_a_folder_leads_to_every_page_of_it(pages: Path) -> None:
    assert len(list(pages.rglob("index.md"))) >= 8
    assert unlisted(pages) == []


def test_a_page_that_no_index_lists_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "how-to"
    folder.mkdir()
    (folder / "index.md").write_text("[a](a.md)\n", encoding="utf-8")
    for name in ("a.md", "b.md"):
        (folder / name).touch()
    assert unlisted(tmp_path) == ["how-to/b.md"]


def test_a_page_leads_up_to_its_index(site: Path) -> None:
    page = (site / "how-to" / "use-the-timer" / "index.html").read_text(encoding="utf-8")
    assert re.search(r'<a class="way-up" href="\.\./">How to</a>', page)
    page = (site / "reference" / "model" / "timer" / "index.html").read_text(encoding="utf-8")
    assert re.search(r'<a class="way-up" href="\.\./">The annotated model</a>', page)


def test_the_navigation_has_at_most_thirty_entries() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    assert 10 < len(re.findall(r"\.md$", nav, re.MULTILINE)) <= 30


def test_every_plot_has_a_caption_in_words(site: Path) -> None:
    plots = 0
    for page in ("reference/performance", "explanation/workload-studies"):
        text = (site / page / "index.html").read_text(encoding="utf-8")
        captions = re.findall(r"<figcaption>([^<]+)</figcaption>", text)
        assert len(captions) == len(re.findall(r"<img[^>]+\.svg", text))
        assert [each for each in captions if " " not in each] == []
        plots += len(captions)
    assert plots > 15
