"""``purgatory trace linearize``: whether the overlapping calls of a run are allowed."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from markupsafe import Markup

from purgatory_conformance.describing.words import counted, printable
from purgatory_conformance.problems import EXIT_INCONCLUSIVE, EXIT_USAGE, Problem
from purgatory_conformance.reporting.pages import page_template
from purgatory_traces.commands.check import foreseen
from purgatory_traces.linearizability.budget import MOST_CONFIGURATIONS
from purgatory_traces.linearizability.checker import Answered, Finding, check_run
from purgatory_traces.linearizability.share import ShareFound
from purgatory_traces.linearizability.timeline import WALL, timeline
from purgatory_traces.linearizability.timeline_layout import Layout, layout_of
from purgatory_traces.linearizability.traced_history import traced_history
from purgatory_traces.linearizability.words import EXIT_CODES, SYMBOLS, Words
from purgatory_traces.results.rows import QuarantineRow
from purgatory_traces.traces.lines import Located
from purgatory_traces.traces.sources import files_of, read_file


def render_page(finding: Finding) -> str:
    """Return the page with the finding about a run."""
    words = Words(finding)
    share = _drawn(finding)
    layout = None if share is None else layout_of(share, words)
    if layout is not None and not layout.bars:
        layout = None
    return page_template("timeline.html.jinja", "purgatory_traces").render(
        run=finding.history.run,
        subject=words.subject,
        symbol=SYMBOLS[finding.answered],
        good=finding.answered is Answered.LINEARIZABLE,
        answered=finding.answered.value,
        verdict=words.verdict,
        details=list(words.details()),
        share="" if share is None else share.name,
        shares=len(finding.shares),
        picture="" if layout is None else Markup(timeline(layout)),
        effects={} if layout is None else _effects(layout),
        layout=layout,
        wall=WALL,
        counted=counted,
    )


def _drawn(finding: Finding) -> ShareFound | None:
    """Return the share to draw: the one that fails first, or is explained least far.

    If all are explained it is the one with the most entries.
    """
    if not finding.shares:
        return None
    first = finding.shares[0]
    if first.refutation is not None or first.undecided is not None:
        return first
    return max(finding.shares, key=lambda share: len(share.entries))


def _effects(layout: Layout) -> dict[int, list[str]]:
    """Return the numbers of the effects of each call, by the call's number."""
    numbers: dict[int, list[str]] = {}
    for mark in layout.marks:
        part = f" ({mark.words})" if mark.words else ""
        numbers.setdefault(mark.bar.call.number, []).append(f"{mark.number}{part}")
    return numbers


_MOST_SHOWN = 3


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--run", "only", metavar="RUN", help="Only this run; all, if none is given.")
@click.option(
    "--configurations",
    type=click.IntRange(1),
    default=MOST_CONFIGURATIONS,
    show_default=True,
    help="The most that are remembered at once and, with 100 more for each call, looked at in all; "
    "a run that needs more is inconclusive.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Draw a timeline into this file: of the first run that is not linearizable, else of the "
    "first.",
)
@click.pass_context
def linearize(
    context: click.Context,
    paths: tuple[str, ...],
    only: str | None,
    configurations: int,
    html: Path | None,
) -> None:
    """Decide for the runs in PATHS whether some order of their overlapping calls is allowed.

    PATHS are files, folders and patterns. A call takes effect at an instant between its beginning
    and its return; a call that never returned at any instant after its beginning, or never.

    Ends with 0 if all runs are linearizable, 1 if one is not, else with 4: it could not be decided,
    or lines are missing.
    """
    with foreseen():
        lines, unread = _read(paths)
    if only is not None:
        lines = {run: found for run, found in lines.items() if run == only}
        if not lines:
            raise Problem(f"there is no run {only!r} in what was read", EXIT_USAGE)
    for row in unread[:_MOST_SHOWN]:
        click.echo(f"cannot be read: {row.file}, line {row.line}: {printable(row.reason)}")
    if len(unread) > _MOST_SHOWN:
        click.echo(f"cannot be read: {len(unread) - _MOST_SHOWN} more")
    if not lines:
        raise Problem("there is no run in what was read", EXIT_INCONCLUSIVE)
    drawn: Finding | None = None
    codes = {EXIT_INCONCLUSIVE} if unread else set()
    for run in sorted(lines):
        finding = check_run(traced_history(run, sorted(lines.pop(run))), configurations)
        for told in _told(finding):
            click.echo(told)
        codes.add(EXIT_CODES[finding.answered])
        if drawn is None or _is_worse(finding, drawn):
            drawn = finding
    if html is not None and drawn is not None:
        page = render_page(drawn)
        with foreseen():
            html.parent.mkdir(parents=True, exist_ok=True)
            html.write_text(page, encoding="utf-8")
        click.echo(f"timeline of run {printable(drawn.history.run)}: {html}")
    context.exit(1 if 1 in codes else max(codes))


def _read(paths: Sequence[str]) -> tuple[dict[str, list[Located]], list[QuarantineRow]]:
    """Return the lines of each run, and the lines of an unknown run."""
    lines: dict[str, list[Located]] = {}
    unread: list[QuarantineRow] = []
    for file in files_of(paths):
        for line in read_file(file):
            if isinstance(line, QuarantineRow):
                unread.append(line)
            else:
                lines.setdefault(line.run, []).append(line)
    return lines, unread


def _told(finding: Finding) -> Iterator[str]:
    words = Words(finding)
    symbol = SYMBOLS[finding.answered]
    yield f"{symbol} run {printable(finding.history.run)}: {words.verdict}"
    for detail in words.details():
        yield f"  {detail}"


def _is_worse(one: Finding, other: Finding) -> bool:
    """Decide whether a run is to be drawn instead of another one."""
    wrong = Answered.NOT_LINEARIZABLE
    return one.answered is wrong and other.answered is not wrong
