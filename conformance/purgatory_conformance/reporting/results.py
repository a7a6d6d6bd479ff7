"""The findings of a check, line by line; every report is derived from them."""

import json
from collections.abc import Sequence
from typing import Generic, TypeAlias, TypeVar

import msgspec

from purgatory_conformance.describing.states import describe_state
from purgatory_conformance.describing.words import (
    STATE_SYMBOLS,
    VERDICT_SYMBOLS,
    counted,
    printable,
)
from purgatory_conformance.running.campaign import Campaign
from purgatory_conformance.running.ways_out import WayOut
from purgatory_judge.components import not_compared
from purgatory_spec.cases import Step
from purgatory_spec.messages import Implementation
from purgatory_spec.profiles import (
    Component,
    Configuration,
    Profile,
)

RESULTS_FORMAT = 2
"""Version of the file format; a reader rejects any other."""

AProfile = TypeVar("AProfile", bound=Profile, covariant=True)
AConfiguration = TypeVar("AConfiguration", bound=Configuration, covariant=True)


class Header(msgspec.Struct, Generic[AProfile], frozen=True, tag_field="line", tag="header"):
    """The first line about a component: the subject, and the suite that judged it."""

    subject: str
    implementation: Implementation
    profile: AProfile
    suite_version: str
    schema: str
    suite: str
    seed: int
    component: Component = Component.TIMER
    format: int = RESULTS_FORMAT
    package_version: str = ""
    again: tuple[str, ...] = ()
    """The words that ``purgatory replay`` needs besides the file of a cause."""

    @property
    def suite_words(self) -> str:
        """Return the version of the suite, and the distribution it came in where that is known."""
        if not self.package_version:
            return self.suite_version
        return f"{self.suite_version} (purgatory-spec {self.package_version})"


class RuleLine(msgspec.Struct, frozen=True, tag_field="line", tag="rule"):
    """A rule that applies: the steps that put it to the test, and whether it held.

    ``state`` is ``held``, ``broken``, ``deviates`` (broken as declared), ``doubtful`` (broken in a
    case that did not fail again on a real clock) or ``too few``. ``followed_by`` are the rules that
    the very next step put to the test, in some case; a campaign on Spark does not tell them.
    """

    id: str
    level: str
    title: str
    visits: int
    minimum: int
    state: str
    followed_by: tuple[str, ...] = ()

    @property
    def symbol(self) -> str:
        """Return the symbol of the state; empty for a state of another version."""
        return STATE_SYMBOLS.get(self.state, "")


class Hint(msgspec.Struct, frozen=True):
    """A hint for a failure that is a choice or a known deviation: the lines to declare.

    ``paste`` is ready for the profile or for ``purgatory.toml``, ``finding`` a place in the
    documentation; both may be empty.
    """

    words: str
    paste: str = ""
    finding: str = ""


class CauseLine(
    msgspec.Struct, Generic[AConfiguration], frozen=True, tag_field="line", tag="cause"
):
    """A cause of failure, shown by a shrunk case; its last step diverges.

    ``answers`` is [failed, repetitions] where the case does not fail in every repetition; ``also``
    are further rules that cases of this cause were blamed on before they were shrunk.
    """

    rule: str
    kind: str
    cases: int
    expected: str
    seen: str
    before: str
    after: str
    configuration: AConfiguration
    steps: tuple[Step, ...]
    replay: str
    source: str
    answers: tuple[int, int] | None = None
    also: tuple[str, ...] = ()
    hints: tuple[Hint, ...] = ()


class RefusalLine(msgspec.Struct, frozen=True, tag_field="line", tag="refusal"):
    """A refusal of instances or operations: the subject's words, and the number of cases."""

    reason: str
    cases: int

    @property
    def words(self) -> str:
        """Return the number of cases and the reason on one line."""
        return f"{counted(self.cases, 'case')}: {printable(self.reason)}"


class DeviationLine(msgspec.Struct, frozen=True, tag_field="line", tag="deviation"):
    """A declared deviation and the number of cases that showed it."""

    rule: str
    variant: str
    replay: str
    reason: str
    issue: str
    cases: int


class FailureLine(msgspec.Struct, frozen=True, tag_field="line", tag="failure"):
    """A failure of the subject to give a valid answer."""

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
    ended_by: str = ""
    """The reason for ending before all was tested often enough; empty where nothing ended it."""

    @property
    def symbol(self) -> str:
        """Return the symbol of the verdict."""
        return VERDICT_SYMBOLS.get(self.exit_code, "!")

    @property
    def generated(self) -> str:
        """Return the number of generated cases and of steps in words, and what ended them early."""
        early = f" (ended early: {self.ended_by})" if self.ended_by else ""
        return f"{counted(self.cases, 'generated case')}{early}, {counted(self.steps, 'step')}"

    @property
    def was_run(self) -> str:
        """Return the vectors, cases, steps and seconds of the run in words."""
        vectors = f"{counted(self.vectors, 'vector')}, " if self.vectors else ""
        return f"{vectors}{self.generated}, {self.seconds:.1f} s"


Line: TypeAlias = (
    Header[Profile]
    | RuleLine
    | CauseLine[Configuration]
    | DeviationLine
    | RefusalLine
    | FailureLine
    | Footer
)


class Results(msgspec.Struct, frozen=True):
    """The findings about one component."""

    header: Header[Profile]
    rules: tuple[RuleLine, ...]
    causes: tuple[CauseLine[Configuration], ...]
    deviations: tuple[DeviationLine, ...]
    failures: tuple[FailureLine, ...]
    footer: Footer
    refusals: tuple[RefusalLine, ...] = ()

    @property
    def rules_held(self) -> int:
        """Return the number of rules that held."""
        return sum(rule.state == "held" for rule in self.rules)

    @property
    def not_compared(self) -> str:
        """Return a sentence about what passing time hides, without its full stop; or nothing."""
        hidden = not_compared(self.header.profile) if self.has_profile else ()
        return f"Not compared, since time really passes: {', '.join(hidden)}" if hidden else ""

    @property
    def component(self) -> Component:
        """Return the component that was judged."""
        return self.header.component

    @property
    def has_profile(self) -> bool:
        """Decide whether the subject told its profile; else the header's profile is made up."""
        return bool(self.rules) or not self.failures


_WORST_FIRST = (1, 3, 4)
"""The exit codes, the worst first: a known fault weighs more than an open question."""


def worst(results: Sequence[Results]) -> Results:
    """Return the results of the component that decides about the subject, the first of them."""
    for code in _WORST_FIRST:
        for each in results:
            if each.footer.exit_code == code:
                return each
    deviating = [each for each in results if each.deviations]
    return deviating[0] if deviating else results[0]


def results_of(
    campaign: Campaign,
    *,
    subject: str,
    implementation: Implementation,
    profile: Profile,
    suite: str,
    suite_version: str,
    schema: str,
    replays: dict[int, str],
    package_version: str = "",
    again: tuple[str, ...] = (),
) -> Results:
    """Return the results of a campaign; ``replays`` has the file of each cause by its position."""
    return Results(
        header=Header(
            subject,
            implementation,
            profile,
            suite_version,
            schema,
            suite,
            campaign.seed,
            campaign.component,
            package_version=package_version,
            again=again,
        ),
        rules=tuple(
            RuleLine(
                id=rule.id,
                level=rule.level.value,
                title=rule.title,
                visits=campaign.visits[rule.id],
                minimum=campaign.budget.minimum_visits,
                state=_state(rule.id, campaign),
                followed_by=tuple(
                    each.id for each in campaign.rules if campaign.pairs[rule.id, each.id]
                ),
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
            verdict=campaign.verdict_words,
            why=campaign.why,
            exit_code=campaign.verdict.exit_code,
            vectors=campaign.vectors,
            cases=campaign.cases,
            steps=campaign.steps,
            seconds=round(campaign.seconds, 3),
            ended_by=campaign.ended_by,
        ),
        refusals=tuple(
            RefusalLine(reason, cases) for reason, cases in campaign.refusals.reasons.most_common()
        ),
    )


def _state(rule: str, campaign: Campaign) -> str:
    unsettled = {cause.rule for cause in campaign.causes if cause.unsettled}
    broken = {cause.rule for cause in campaign.causes} | set(campaign.blamed)
    if rule in broken:
        return "doubtful" if rule in unsettled else "broken"
    if campaign.seen.get(rule) is not None and campaign.seen[rule].cases:
        return "deviates"
    return "held" if campaign.visits[rule] >= campaign.budget.minimum_visits else "too few"


def _hint(way: WayOut, rule: str, replay: str) -> Hint:
    if not way.variant:
        return Hint(way.words, way.line)
    paste = f"""[[deviation]]
rule = {quoted(rule)}
variant = {quoted(way.variant)}
replay = {quoted(replay)}
reason = {quoted(way.reason)}"""
    return Hint(way.words, paste, f"docs/findings.md#{way.finding}" if way.finding else "")


def quoted(words: str) -> str:
    """Return a string as TOML has it; JSON escapes are TOML's."""
    return json.dumps(words, ensure_ascii=False)


def _cause_line(campaign: Campaign, index: int, replay: str) -> CauseLine[Configuration]:
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
        also=cause.also,
        hints=tuple(_hint(way, cause.rule, replay) for way in cause.ways_out),
    )
