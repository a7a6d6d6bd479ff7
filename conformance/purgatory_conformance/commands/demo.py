"""The tour in a terminal: a right timer is judged, then a wrong one, and the report is written."""

import inspect
import io
import textwrap
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.terminal_theme import TerminalTheme

from purgatory_conformance.checking import Check, judged, keep
from purgatory_conformance.commands.options import WORK, opened
from purgatory_conformance.describing.words import counted
from purgatory_conformance.problems import EXIT_SUBJECT_FAILED, Problem
from purgatory_conformance.progress import CampaignProgress
from purgatory_conformance.reporting.results import Results
from purgatory_conformance.reporting.story import stories
from purgatory_conformance.reporting.terminal import BAD, GOOD, print_steps
from purgatory_conformance.reporting.terminal_page import TerminalPage, standard_output
from purgatory_conformance.specimens.small.timer import SmallTimer
from purgatory_conformance.specimens.wrong.wheel import expires_with_its_bucket
from purgatory_conformance.whole_files import write_whole
from purgatory_spec.profiles import Component

RIGHT: Final = "bundled"
WRONG: Final = "mutant:expires-with-its-bucket"

_SUITE: Final = "quick"
_SEED: Final = 1
_WIDTH: Final = 80

_HEAD: Final = "bold #6cb8f0"

_THEME: Final = TerminalTheme((20, 24, 28), (228, 233, 238), [(228, 233, 238)] * 8)

# The picture names no font to fetch: it is shown in the reader's own.
_PICTURE: Final = """<svg xmlns="http://www.w3.org/2000/svg" role="img"
  viewBox="0 0 {width} {height}">
<title>purgatory demo</title>
<style>
.{unique_id}-matrix {{ font: {char_height}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas,
  monospace; white-space: pre; }}
{styles}
</style>
<defs>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""

Judge = Callable[[str], tuple[Results, Path]]


@click.command()
@click.option("--open", "opens", is_flag=True, help="Open the report in a browser.")
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write what is printed into this SVG file, and print nothing.",
)
@WORK
def demo(opens: bool, record: Path | None, work: Path) -> None:
    """Show the suite at work: a right timer, a wrong one, the report. Two minutes, no Java."""
    console = standard_output() if record is None else recorder()

    def judge(subject: str) -> tuple[Results, Path]:
        return _judged(subject, work / "demo", None if record else console)

    report = tour(TerminalPage(console), judge)
    if record is not None:
        record.parent.mkdir(parents=True, exist_ok=True)
        write_whole(record, picture_of(console).encode())
    if opens:
        webbrowser.open(report.resolve().as_uri())


def recorder() -> Console:
    """Return a console that keeps what is printed, the same on every terminal."""
    return Console(
        record=True,
        width=_WIDTH,
        file=io.StringIO(),
        color_system="truecolor",
        force_terminal=True,
        no_color=False,
        legacy_windows=False,
        highlight=False,
    )


def picture_of(console: Console) -> str:
    """Return what a recorder keeps as an SVG file, which loads nothing."""
    return console.export_svg(
        title="$ purgatory demo", theme=_THEME, code_format=_PICTURE, unique_id="demo"
    )


def _judged(subject: str, work: Path, shown: Console | None) -> tuple[Results, Path]:
    """Judge the timer of a subject, and return the results and where the report is."""
    asked = opened(subject, "", work, "")
    check = Check(asked, _SUITE, _SEED, work)
    try:
        if shown is None:
            results = judged(check, Component.TIMER)
        else:
            with CampaignProgress(shown, subject) as progress:
                results = judged(check, Component.TIMER, progress.update)
    finally:
        asked.subject.close()
    _, report = keep(check, [results])
    return results, report


def tour(page: TerminalPage, judge: Judge) -> Path:
    """Print the tour, and return where the report on the wrong timer is.

    Raises:
        Problem: the right timer is not conformant, or the wrong one is.
    """
    page.ruled("── 1 of 4  a right timer", _HEAD)
    page.say("This package has a timer: a hierarchical timing wheel. The suite asks it")
    page.say("stored and generated cases, and compares each answer with a model.")
    page.gap()
    _print_verdict(page, _expected(judge(RIGHT)[0], conformant=True))
    page.ruled("── 2 of 4  a wrong timer", _HEAD)
    page.say("Now a small timer in which one line is changed. Judged again:")
    page.gap()
    for line, style in changed_lines():
        page.verbatim(line, style, indent=2)
    page.gap()
    results, report = judge(WRONG)
    _print_verdict(page, _expected(results, conformant=False))
    _print_cause(page, results)
    page.ruled("── 3 of 4  the report", _HEAD)
    page.say("This page shows the steps as a wheel that moves:")
    page.gap()
    page.verbatim(report.as_posix(), "bold", indent=2)
    page.gap()
    page.ruled("── 4 of 4  yours", _HEAD)
    page.say("An adapter for your own timer, in one of six languages; then judge it:")
    page.gap()
    page.verbatim("purgatory init --lang python my-timer", "bold", indent=2)
    page.verbatim("purgatory check my-timer", "bold", indent=2)
    return report


def changed_lines() -> tuple[tuple[str, str], ...]:
    """Return the method of the small timer that the wrong one changes, as a diff with styles."""
    right = textwrap.dedent(inspect.getsource(SmallTimer.comes_due)).splitlines()
    wrong = inspect.getsource(expires_with_its_bucket.comes_due).splitlines()
    return (
        (f"  {right[0]}", ""),
        (f"- {right[-1]}", GOOD),
        (f"+ {wrong[-1]}", BAD),
    )


def _expected(results: Results, *, conformant: bool) -> Results:
    """Return the results if they are those that the tour is about."""
    if (results.footer.exit_code == 0) is conformant and bool(results.causes) is not conformant:
        return results
    words = "is not conformant" if conformant else "was not found to be wrong"
    raise Problem(f"{results.header.subject} {words}", EXIT_SUBJECT_FAILED)


def _print_verdict(page: TerminalPage, results: Results) -> None:
    footer = results.footer
    style = GOOD if footer.exit_code == 0 else BAD
    page.say((f"{footer.symbol} {footer.verdict}", style), indent=2)
    rules = f"{results.rules_held} of {counted(len(results.rules), 'rule')} held"
    cases = f"{footer.vectors} stored cases, {counted(footer.cases, 'generated case')}"
    page.say(f"{rules}; {cases}, {counted(footer.steps, 'step')}", indent=4)
    page.gap()


def _print_cause(page: TerminalPage, results: Results) -> None:
    """Print the shrunk steps of the most frequent cause."""
    story = stories(results)[0]
    page.say(f"{counted(story.cases, 'case')} failed. The suite shrinks them to the fewest steps:")
    page.gap()
    page.say((f"✗ broken  {story.rule}", BAD), f": {story.title}", indent=2, hang=4)
    page.say(f"a {story.configuration}", indent=2)
    print_steps(page, story.steps)
    page.labelled("expected", (story.expected, GOOD), width=10, indent=2)
    page.labelled("seen", (story.seen, BAD), width=10, indent=2)
    page.gap()
