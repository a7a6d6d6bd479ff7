"""The page of a run: verdict, timeline and the same in words, in one file that loads nothing."""

from markupsafe import Markup

from purgatory_conformance.describing.words import counted
from purgatory_conformance.reporting.pages import page_template
from purgatory_traces.linearizability.checker import Answered, Finding
from purgatory_traces.linearizability.share import ShareFound
from purgatory_traces.linearizability.timeline import WALL, timeline
from purgatory_traces.linearizability.timeline_layout import Layout, layout_of
from purgatory_traces.linearizability.words import SYMBOLS, Words


def render_page(finding: Finding) -> str:
    """The page of what was found of a run."""
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
    """The share that is drawn: the one that fails first, or is explained least far.

    If all are explained it is the one with the most entries.
    """
    if not finding.shares:
        return None
    first = finding.shares[0]
    if first.refutation is not None or first.undecided is not None:
        return first
    return max(finding.shares, key=lambda share: len(share.entries))


def _effects(layout: Layout) -> dict[int, list[str]]:
    """The numbers of the effects of each call, by the call's number."""
    numbers: dict[int, list[str]] = {}
    for mark in layout.marks:
        part = f" ({mark.words})" if mark.words else ""
        numbers.setdefault(mark.bar.call.number, []).append(f"{mark.number}{part}")
    return numbers
