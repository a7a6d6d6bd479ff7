"""``results.jsonl``: what a campaign found, one JSON object per line, everything else derived."""

from pathlib import Path
from typing import TypeAlias

import msgspec

from purgatory_conformance.reporting.states import describe_state
from purgatory_conformance.running.campaign import Campaign
from purgatory_spec.cases import Step
from purgatory_spec.jsonlines import InvalidDocument, decode_line, encode_line
from purgatory_spec.messages import Implementation
from purgatory_spec.profiles import TimerConfiguration, TimerProfile

RESULTS_FORMAT = 1
"""Version of the file format; a reader rejects any other."""


class Header(msgspec.Struct, frozen=True, tag_field="line", tag="header"):
    """The first line: who was judged, by what."""

    subject: str
    implementation: Implementation
    profile: TimerProfile
    suite_version: str
    schema: str
    suite: str
    seed: int
    format: int = RESULTS_FORMAT


class RuleLine(msgspec.Struct, frozen=True, tag_field="line", tag="rule"):
    """One applicable rule: how many generated steps put it to the test, and whether it held.

    ``state`` is ``held``, ``broken``, ``deviates`` (broken as declared) or ``too few``.
    """

    id: str
    level: str
    title: str
    visits: int
    minimum: int
    state: str


class CauseLine(msgspec.Struct, frozen=True, tag_field="line", tag="cause"):
    """One cause of failure, shown by a shrunk case; its last step diverges.

    ``answers`` is [failed, repetitions] where the subject is nondeterministic.
    """

    rule: str
    kind: str
    cases: int
    expected: str
    seen: str
    before: str
    after: str
    configuration: TimerConfiguration
    steps: tuple[Step, ...]
    replay: str
    source: str
    answers: tuple[int, int] | None = None


class DeviationLine(msgspec.Struct, frozen=True, tag_field="line", tag="deviation"):
    """One declared deviation and how many cases showed it."""

    rule: str
    variant: str
    replay: str
    reason: str
    issue: str
    cases: int


class FailureLine(msgspec.Struct, frozen=True, tag_field="line", tag="failure"):
    """One time that the subject gave no valid answer."""

    kind: str
    explanation: str
    asked: str
    received: str
    standard_error: str


class Footer(msgspec.Struct, frozen=True, tag_field="line", tag="footer"):
    """The last line: the verdict. A file without it is from a run that did not end."""

    verdict: str
    why: str
    exit_code: int
    vectors: int
    cases: int
    steps: int
    seconds: float
    hint: str


Line: TypeAlias = Header | RuleLine | CauseLine | DeviationLine | FailureLine | Footer

_KINDS: dict[str, type[Line]] = {
    "header": Header,
    "rule": RuleLine,
    "cause": CauseLine,
    "deviation": DeviationLine,
    "failure": FailureLine,
    "footer": Footer,
}


class _Tag(msgspec.Struct, frozen=True):
    """What kind of line it is; a header gives the format of the file too."""

    line: str
    format: int = RESULTS_FORMAT


class Results(msgspec.Struct, frozen=True):
    """A results file, read."""

    header: Header
    rules: tuple[RuleLine, ...]
    causes: tuple[CauseLine, ...]
    deviations: tuple[DeviationLine, ...]
    failures: tuple[FailureLine, ...]
    footer: Footer


def results_of(
    campaign: Campaign,
    *,
    subject: str,
    implementation: Implementation,
    profile: TimerProfile,
    suite: str,
    suite_version: str,
    schema: str,
    replays: dict[int, str],
) -> Results:
    """The results of a campaign; ``replays`` has the file of each cause by its position."""
    broken = {cause.rule for cause in campaign.causes}
    deviating = {rule for rule, seen in campaign.seen.items() if seen.cases}
    return Results(
        header=Header(
            subject, implementation, profile, suite_version, schema, suite, campaign.seed
        ),
        rules=tuple(
            RuleLine(
                id=rule.id,
                level=rule.level.value,
                title=rule.title,
                visits=campaign.visits[rule.id],
                minimum=campaign.budget.minimum_visits,
                state=_state(rule.id, campaign, broken, deviating),
            )
            for rule in campaign.rules
        ),
        causes=tuple(
            _cause_line(campaign, index, replays.get(index, ""))
            for index in range(len(campaign.causes))
        ),
        deviations=tuple(
            DeviationLine(
                rule=seen.deviation.rule,
                variant=seen.deviation.variant,
                replay=seen.deviation.replay,
                reason=seen.deviation.reason,
                issue=seen.deviation.issue,
                cases=seen.cases,
            )
            for seen in campaign.seen.values()
        ),
        failures=tuple(
            FailureLine(f.kind.value, f.explanation, f.asked, f.received, f.standard_error)
            for f in campaign.failures
        ),
        footer=Footer(
            verdict=campaign.verdict.value,
            why=campaign.why,
            exit_code=campaign.verdict.exit_code,
            vectors=campaign.vectors,
            cases=campaign.cases,
            steps=campaign.steps,
            seconds=round(campaign.seconds, 3),
            hint=campaign.hint,
        ),
    )


def _state(rule: str, campaign: Campaign, broken: set[str], deviating: set[str]) -> str:
    if rule in broken:
        return "broken"
    if rule in deviating:
        return "deviates"
    return "held" if campaign.visits[rule] >= campaign.budget.minimum_visits else "too few"


def _cause_line(campaign: Campaign, index: int, replay: str) -> CauseLine:
    cause = campaign.causes[index]
    divergence = cause.shrunk.divergence
    assert divergence is not None
    return CauseLine(
        rule=cause.rule,
        kind=cause.kind,
        cases=cause.cases,
        expected=divergence.expected,
        seen=divergence.seen,
        before=describe_state(divergence.before),
        after=describe_state(divergence.after),
        configuration=cause.shrunk.configuration,
        steps=tuple(cause.shrunk.steps),
        replay=replay,
        source=cause.source,
        answers=cause.answers,
    )


def write_results(results: Results, path: Path) -> None:
    """Write the file whole, under its name only when it is complete."""
    lines: list[Line] = [results.header, *results.rules, *results.causes]
    lines += [*results.deviations, *results.failures, results.footer]
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    text = "".join(encode_line(line) + "\n" for line in lines)
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def read_results(path: Path) -> Results:
    """Read a results file.

    Raises:
        InvalidDocument: says where the file is not one.
    """
    try:
        texts = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidDocument(str(path), 1, f"cannot be read: {error}") from error
    lines: list[Line] = []
    found = decode_line(texts[0], _Tag, str(path), 1).format
    if found != RESULTS_FORMAT:
        raise InvalidDocument(str(path), 1, f"format {found} is not {RESULTS_FORMAT}")
    for number, text in enumerate(texts, start=1):
        tag = decode_line(text, _Tag, str(path), number).line
        if tag not in _KINDS:
            raise InvalidDocument(str(path), number, f"there is no line of the kind {tag!r}")
        lines.append(decode_line(text, _KINDS[tag], str(path), number))
    if not lines or not isinstance(lines[0], Header):
        raise InvalidDocument(str(path), 1, "the first line is not a results header")
    if not isinstance(lines[-1], Footer):
        raise InvalidDocument(
            str(path), len(lines), "the last line is no footer: the run did not end"
        )
    return Results(
        header=lines[0],
        rules=tuple(line for line in lines if isinstance(line, RuleLine)),
        causes=tuple(line for line in lines if isinstance(line, CauseLine)),
        deviations=tuple(line for line in lines if isinstance(line, DeviationLine)),
        failures=tuple(line for line in lines if isinstance(line, FailureLine)),
        footer=lines[-1],
    )
