"""A cause of failure as every report tells it: the rule, the steps, what was expected and seen.

The results file has the steps and the sentences. What it leaves to be derived is derived here: the
rule's text from the specification, and the model's states by judging the recorded steps anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from purgatory_conformance.describing.steps import (
    describe_configuration,
    describe_operation,
    describe_outcome,
)
from purgatory_conformance.describing.words import (
    STATE_SYMBOLS,
    instance_noun,
    joined,
    legend_of,
    observed_values,
    paragraphs,
    printable,
    replay_command,
)
from purgatory_conformance.reporting.results import CauseLine, Hint, Results, RuleLine
from purgatory_judge.case_judge import Deviation
from purgatory_judge.components import on_real_clock
from purgatory_judge.judgement import TooManyStates
from purgatory_judge.registry import judged
from purgatory_judge.retraced_case import RetracedCase
from purgatory_spec.profiles import Configuration
from purgatory_spec.requirements import known_requirement


@dataclass(frozen=True, slots=True)
class ToldValue:
    """An observable after a step; ``changed`` where the step before has shown another value."""

    name: str
    value: str
    changed: bool


@dataclass(frozen=True, slots=True)
class ToldStep:
    """A step in words. The last one of a cause diverges."""

    number: int
    operation: str
    outcome: str
    values: tuple[ToldValue, ...]
    diverges: bool

    @property
    def line(self) -> str:
        """Return the step on one line of plain text, without its observables."""
        diverges = "  <- diverges" if self.diverges else ""
        return f"{self.number:>3}  {self.operation}  -> {self.outcome}{diverges}"


@dataclass(frozen=True, slots=True)
class Story:
    """A cause in words; every string can be printed on one line."""

    cause: CauseLine[Configuration]
    rule: str
    level: str
    title: str
    text: tuple[str, ...]
    """The paragraphs of the rule (Markdown), its symptom first; none where the rule is unknown."""
    cases: int
    source: str
    configuration: str
    """The instance, for example ``timer with tick 1 ms``."""
    steps: tuple[ToldStep, ...]
    expected: str
    seen: str
    before: str
    after: str
    command: str
    """The command that replays the case; empty where no replay file was written."""
    answers: str
    """A sentence where the case does not fail in every repetition; otherwise empty."""
    also: str
    """The further rules that cases of this cause were blamed on, in a sentence; or empty."""
    hints: tuple[Hint, ...]

    @property
    def legend(self) -> str:
        """Return the legend of the sign ``*``; empty where no state has the sign."""
        return legend_of(self.before, self.after)

    @property
    def shows_observables(self) -> bool:
        """Decide whether any step shows something beside its events."""
        return any(step.values for step in self.steps)


def stories(results: Results) -> tuple[Story, ...]:
    """Return the causes of failure, the most frequent first."""
    by_frequency = sorted(results.causes, key=lambda cause: -cause.cases)
    return tuple(_story(cause, results) for cause in by_frequency)


def _story(cause: CauseLine[Configuration], results: Results) -> Story:
    told = rule_line(cause.rule, results)
    made_with = describe_configuration(cause.configuration)
    answers = ""
    if cause.answers is not None:
        answers = f"failed in {cause.answers[0]} of {cause.answers[1]} repetitions"
    return Story(
        cause=cause,
        rule=cause.rule,
        level=told.level,
        title=told.title,
        text=rule_text(cause.rule),
        cases=cause.cases,
        source=printable(cause.source),
        configuration=f"{instance_noun(results.component)} with {made_with}",
        steps=_told(cause),
        expected=printable(cause.expected),
        seen=printable(cause.seen),
        before=printable(cause.before),
        after=printable(cause.after),
        command=replay_command(cause.replay, *results.header.again) if cause.replay else "",
        answers=answers,
        also=f"some cases of this cause were blamed on {joined([*cause.also])}"
        if cause.also
        else "",
        hints=cause.hints,
    )


def _told(cause: CauseLine[Configuration]) -> tuple[ToldStep, ...]:
    told: list[ToldStep] = []
    before: dict[str, str] = {}
    for number, step in enumerate(cause.steps, start=1):
        shown = observed_values(step.outcome) if step.outcome else []
        told.append(
            ToldStep(
                number=number,
                operation=describe_operation(step.operation),
                outcome=describe_outcome(step.operation, step.outcome)
                if step.outcome
                else "no answer",
                values=tuple(
                    ToldValue(name, value, before.get(name, value) != value)
                    for name, value in shown
                ),
                diverges=number == len(cause.steps),
            )
        )
        before = dict(shown)
    return tuple(told)


def rule_text(identifier: str) -> tuple[str, ...]:
    """Return the symptom and the paragraphs of a rule; empty for a rule unknown to the suite."""
    rule = known_requirement(identifier)
    return tuple(paragraphs(rule.told)) if rule else ()


def rule_line(identifier: str, results: Results) -> RuleLine:
    """Return the line about a rule, made up where a cause names a rule that was not counted."""
    for line in results.rules:
        if line.id == identifier:
            return line
    rule = known_requirement(identifier)
    level, title = (rule.level.value, rule.title) if rule else ("", "")
    return RuleLine(identifier, level, title, visits=0, minimum=0, state="broken")


def all_rules(results: Results) -> tuple[RuleLine, ...]:
    """Return every rule of the results, those included that only a cause names."""
    known = {line.id for line in results.rules}
    blamed = (rule for cause in results.causes for rule in (cause.rule, *cause.also))
    others = dict.fromkeys(rule for rule in blamed if rule not in known)
    return (*results.rules, *(rule_line(identifier, results) for identifier in others))


def state_counts(rules: Sequence[RuleLine]) -> list[tuple[str, str, int]]:
    """Return the symbol, the word and the number of rules of each occurring state."""
    counts = [
        (symbol, state, sum(rule.state == state for rule in rules))
        for state, symbol in STATE_SYMBOLS.items()
    ]
    return [entry for entry in counts if entry[2]]


def retraced(cause: CauseLine[Configuration], results: Results) -> RetracedCase | None:
    """Return the cause's steps judged anew; None where they cannot be.

    None where that gives no states: on a real clock, under a variant of another suite, or where
    the steps do not diverge for this version of the model.
    """
    profile = results.header.profile
    if on_real_clock(profile):
        return None
    deviations = tuple(
        Deviation(line.rule, line.variant, line.replay) for line in results.deviations
    )
    states: list[object] = []
    try:
        judge = judged(results.component).judge(cause.configuration, profile, deviations)
        for step in cause.steps:
            if step.outcome is None:
                return None
            states.append(judge.state)
            divergence = judge.step(step.operation, step.outcome).divergence
            if divergence is not None:
                # Behind an observable that is wrong earlier the states are not those of the cause.
                if len(states) < len(cause.steps):
                    return None
                return RetracedCase(
                    cause.configuration, profile, cause.steps, tuple(states), divergence
                )
    except (ValueError, TooManyStates):
        return None
    return None
