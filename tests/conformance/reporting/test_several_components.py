"""Reports on several components of one subject: a part for each, and one verdict over all."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from rich.console import Console

from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.machine import render_badge, render_junit, render_markdown
from purgatory_conformance.reporting.results import Results, worst
from purgatory_conformance.reporting.results_file import read_results, write_results
from purgatory_conformance.reporting.terminal import print_results
from purgatory_spec.jsonlines import InvalidDocument
from purgatory_spec.profiles import Component


def with_exit_code(results: Results, code: int) -> Results:
    footer = msgspec.structs.replace(results.footer, exit_code=code, verdict=f"verdict {code}")
    return msgspec.structs.replace(results, footer=footer)


def printed(results: Sequence[Results], width: int = 100) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width)
    print_results(console, results, results_path="results.jsonl", report_path="report.html")
    return file.getvalue()


def test_results_of_several_components_are_read_as_they_were_written(
    broken_components: tuple[Results, ...], tmp_path: Path
) -> None:
    """They are the same, with the profiles and configurations of their components."""
    path = tmp_path / "results.jsonl"
    write_results(broken_components, path)
    assert read_results(path) == broken_components
    assert all(results.causes for results in broken_components)
    assert [results.component for results in read_results(path)] == list(Component)


def test_a_file_that_ends_inside_a_component_is_refused(
    broken_components: tuple[Results, ...], tmp_path: Path
) -> None:
    """The error says that a run did not end."""
    path = tmp_path / "results.jsonl"
    write_results(broken_components, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    first_footer = next(i for i, line in enumerate(lines) if '"line":"footer"' in line)
    for kept in (lines[:first_footer] + lines[first_footer + 1 :], lines[:-1]):
        path.write_text("\n".join(kept) + "\n", encoding="utf-8")
        with pytest.raises(InvalidDocument, match="did not end"):
            read_results(path)


@pytest.mark.parametrize(
    ("codes", "decisive"),
    [((0, 4, 3, 0), 3), ((3, 1, 4, 4), 1), ((0, 0, 0, 4), 4), ((0, 0, 0, 0), 0)],
)
def test_the_worst_component_decides(
    broken_components: tuple[Results, ...], codes: tuple[int, ...], decisive: int
) -> None:
    """Weigh a known fault most, then a component that gave no answer."""
    results = [with_exit_code(r, c) for r, c in zip(broken_components, codes, strict=True)]
    assert worst(results).footer.exit_code == decisive
    assert f"verdict {decisive}" in json.loads(render_badge(results))["message"]


def test_the_terminal_shows_each_component_and_a_closing_table(
    broken_components: tuple[Results, ...],
) -> None:
    """Each has its block, and the last lines are a table of all; one alone has no table."""
    text = printed(broken_components)
    for words in ("timer: structure", "purgatory: accounting", "memory pool: release validation"):
        assert words in text
    assert "channel muting: recovery" in text
    *_, header, timer, purgatory, pool, channels, _, _ = text.splitlines()
    columns = ["component", "verdict", "held", "cases", "steps"]
    assert header.split() == columns
    assert timer.startswith("timer           ✗ not conformant")
    assert purgatory.startswith("purgatory       ✗ not conformant")
    assert pool.startswith("memory pool     ✗ not conformant")
    assert channels.startswith("channel muting  ✗ not conformant")
    assert "timer        ✗ not conformant" in printed(broken_components[:3])
    assert "component    verdict" not in printed(broken_components[:1])


def test_the_table_fits_a_narrow_terminal(broken_components: tuple[Results, ...]) -> None:
    """Given results with the longest verdict: no column of the table is cut off."""
    results = [
        msgspec.structs.replace(
            each,
            footer=msgspec.structs.replace(
                each.footer, verdict="conformant with 13 declared deviations", steps=1_000_000
            ),
        )
        for each in broken_components
    ]
    rows = printed(results, width=80).splitlines()[-6:-2]
    assert [row.split()[-1] for row in rows] == ["1000000"] * 4


def test_the_page_has_a_section_for_each_component(broken_components: tuple[Results, ...]) -> None:
    """Each has its section, the causes have different anchors, and the table leads to them."""
    page = render_html(broken_components)
    for component in Component:
        assert f'<section id="{component.value}">' in page
        assert f'<a href="#{component.value}">' in page
    causes = sum(len(results.causes) for results in broken_components)
    anchors = [f'id="cause-{number}"' for number in range(1, causes + 1)]
    assert all(page.count(anchor) == 1 for anchor in anchors)
    assert '<a href="#timer">' not in render_html(broken_components[:1])


def test_machines_are_told_of_all_components(broken_components: tuple[Results, ...]) -> None:
    """Each component has a test suite with a case for each rule, and a heading."""
    root = ET.fromstring(render_junit(broken_components))
    names = [suite.attrib["name"] for suite in root]
    nouns = ("timer", "purgatory", "memory pool", "channel muting")
    assert names == [f"purgatory {noun} several" for noun in nouns]
    assert int(root.attrib["tests"]) == sum(int(suite.attrib["tests"]) for suite in root)
    assert int(root.attrib["failures"]) >= 3
    classes = {case.attrib["classname"] for case in root.iter("testcase")}
    assert classes == {f"purgatory.{component.value}" for component in Component}
    headings = [t for t in render_markdown(broken_components).splitlines() if t.startswith("## ")]
    assert ["timer of" in headings[0], "memory pool of" in headings[2]] == [True, True]
