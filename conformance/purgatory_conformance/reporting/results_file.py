"""``results.jsonl``: the results of a check, one JSON object per line.

A subject's components come one after another, each from its header to its footer.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from purgatory_conformance.reporting.results import (
    RESULTS_FORMAT,
    CauseLine,
    DeviationLine,
    FailureLine,
    Footer,
    Header,
    Line,
    RefusalLine,
    Results,
    RuleLine,
)
from purgatory_conformance.whole_files import write_whole
from purgatory_spec import profiles
from purgatory_spec.jsonlines import InvalidDocument, decode_line, encode_line, read_text

_HEADERS: Mapping[profiles.Component, type[Header[profiles.Profile]]] = {
    profiles.Component.TIMER: Header[profiles.TimerProfile],
    profiles.Component.PURGATORY: Header[profiles.PurgatoryProfile],
    profiles.Component.MEMORY_POOL: Header[profiles.MemoryPoolProfile],
    profiles.Component.CHANNEL_MUTING: Header[profiles.ChannelMutingProfile],
}

_CAUSES: Mapping[profiles.Component, type[CauseLine[profiles.Configuration]]] = {
    profiles.Component.TIMER: CauseLine[profiles.TimerConfiguration],
    profiles.Component.PURGATORY: CauseLine[profiles.PurgatoryConfiguration],
    profiles.Component.MEMORY_POOL: CauseLine[profiles.MemoryPoolConfiguration],
    profiles.Component.CHANNEL_MUTING: CauseLine[profiles.ChannelMutingConfiguration],
}

_KINDS: Mapping[str, type[RuleLine | DeviationLine | RefusalLine | FailureLine | Footer]] = {
    "rule": RuleLine,
    "deviation": DeviationLine,
    "refusal": RefusalLine,
    "failure": FailureLine,
    "footer": Footer,
}


class _Tag(msgspec.Struct, frozen=True):
    """The kind of a line; a header gives the component and the format of the file too."""

    line: str
    component: profiles.Component = profiles.Component.TIMER
    format: int = RESULTS_FORMAT


def write_results(results: Sequence[Results], path: Path) -> None:
    """Write the file whole, under its name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(encode_line(line) + "\n" for each in results for line in _lines(each))
    write_whole(path, text.encode())


def _lines(results: Results) -> Iterator[Line]:
    yield results.header
    yield from results.rules
    yield from results.causes
    yield from results.deviations
    yield from results.refusals
    yield from results.failures
    yield results.footer


def read_results(path: Path) -> tuple[Results, ...]:
    """Read a results file: what was found about each component, at least one.

    Raises:
        InvalidDocument: the file is no results file; the error names the line.
    """
    texts = read_text(path).rstrip("\n").split("\n")
    found: list[Results] = []
    lines: list[Line] = []
    component = profiles.Component.TIMER
    for number, text in enumerate(texts, start=1):
        tag = decode_line(text, _Tag, str(path), number)
        if tag.line == "header":
            if lines:
                problem = "a second header without a footer before it: the earlier run did not end"
                raise InvalidDocument(str(path), number, problem)
            if tag.format != RESULTS_FORMAT:
                problem = f"format {tag.format} is not {RESULTS_FORMAT}"
                raise InvalidDocument(str(path), number, problem)
            component = tag.component
        elif not lines:
            raise InvalidDocument(str(path), number, "the first line is not a results header")
        lines.append(_line(text, tag.line, component, str(path), number))
        if isinstance(lines[-1], Footer):
            found.append(_results(lines))
            lines = []
    if lines:
        raise InvalidDocument(
            str(path), len(texts), "the last line is no footer: the run did not end"
        )
    return tuple(found)


def _line(text: str, tag: str, component: profiles.Component, path: str, number: int) -> Line:
    """Return the line of the given kind about the given component."""
    if tag == "header":
        return decode_line(text, _HEADERS[component], path, number)
    if tag == "cause":
        return decode_line(text, _CAUSES[component], path, number)
    if tag not in _KINDS:
        raise InvalidDocument(path, number, f"there is no line of the kind {tag!r}")
    return decode_line(text, _KINDS[tag], path, number)


def _results(lines: Sequence[Line]) -> Results:
    header, footer = lines[0], lines[-1]
    assert isinstance(header, Header)
    assert isinstance(footer, Footer)
    return Results(
        header=header,
        rules=tuple(line for line in lines if isinstance(line, RuleLine)),
        causes=tuple(line for line in lines if isinstance(line, CauseLine)),
        deviations=tuple(line for line in lines if isinstance(line, DeviationLine)),
        failures=tuple(line for line in lines if isinstance(line, FailureLine)),
        footer=footer,
        refusals=tuple(line for line in lines if isinstance(line, RefusalLine)),
    )
