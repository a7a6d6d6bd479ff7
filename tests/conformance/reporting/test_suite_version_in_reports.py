"""Each report says by which version of the suite it was judged, and of which distribution."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from purgatory_conformance.reporting.html import render_html
from purgatory_conformance.reporting.machine import render_badge, render_junit, render_markdown
from purgatory_conformance.reporting.results import Results
from purgatory_conformance.reporting.results_file import read_results, write_results
from purgatory_conformance.reporting.terminal import print_results

from .conftest import MakeResults, never_expires

BOTH = "version 7 (purgatory-spec 0.9.2)"


@pytest.fixture
def of_version_seven(make_results: MakeResults) -> Results:
    results = make_results(never_expires())
    header = msgspec.structs.replace(
        results.header, suite_version="7", package_version="0.9.2", suite="quick"
    )
    return msgspec.structs.replace(results, header=header)


def on_terminal(results: Results) -> str:
    file = io.StringIO()
    print_results(Console(file=file, width=120), [results], results_path="", report_path="")
    return file.getvalue()


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (on_terminal, f"quick suite, {BOTH}, seed 1"),
        (lambda results: render_markdown([results]), f"quick suite, {BOTH}, seed 1"),
        (
            lambda results: render_junit([results]),
            'name="suite version" value="7 (purgatory-spec 0.9.2)"',
        ),
        (lambda results: render_html([results]), f"judged by the conformance suite, {BOTH}"),
        (lambda results: json.loads(render_badge([results]))["message"], "suite 7"),
    ],
)
def test_reports_carry_the_version(
    report: Callable[[Results], str], words: str, of_version_seven: Results
) -> None:
    """Given results of suite version 7, in the distribution 0.9.2: the report says so."""
    assert words in report(of_version_seven)


def test_results_are_read_with_both_versions(of_version_seven: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    write_results([of_version_seven], path)
    assert '"suite_version":"7"' in path.read_text("utf-8")
    assert '"package_version":"0.9.2"' in path.read_text("utf-8")
    assert read_results(path) == (of_version_seven,)


def test_results_of_before_the_version_was_counted_apart_are_read(
    make_results: MakeResults, tmp_path: Path
) -> None:
    """Given results that name no distribution: the version stands there alone."""
    path = tmp_path / "results.jsonl"
    write_results([make_results(never_expires())], path)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    del lines[0]["package_version"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    (results,) = read_results(path)
    assert "quick suite, version 0.1.0, seed 1" in on_terminal(results)
