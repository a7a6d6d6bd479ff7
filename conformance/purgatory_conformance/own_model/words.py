"""A difference between two models, told step by step."""

import textwrap
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from purgatory_conformance.describing.states import describe_state
from purgatory_conformance.describing.steps import (
    describe_configuration,
    describe_operation,
    describe_outcome,
)
from purgatory_conformance.describing.words import (
    counted,
    describe_observed,
    instance_noun,
    noun,
    printable,
    shortened,
)
from purgatory_conformance.knowledge import profile_fields
from purgatory_conformance.own_model.comparison import Difference
from purgatory_conformance.own_model.exploring import Explored
from purgatory_conformance.own_model.generating import Generated
from purgatory_conformance.own_model.loading import OwnModel
from purgatory_judge.judgement import Divergence
from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Profile, component_of
from purgatory_spec.requirements import requirement

_MOST_OUTCOMES = 4
_MOST_OF_A_STATE = 400


def print_difference(
    console: Console, difference: Difference, divergence: Divergence, profile: Profile
) -> None:
    """Print the steps on which both models agree, the differing step, and the rule."""
    made_with = describe_configuration(difference.configuration)
    _say(console, f"a {instance_noun(component_of(difference.configuration))} with {made_with}")
    for number, step in enumerate(difference.steps, start=1):
        assert step.outcome is not None
        asked = describe_operation(step.operation)
        _say(console, f"{number}  {asked}  ->  {_outcome(step.operation, step.outcome)}", 2)
    number = len(difference.steps) + 1
    _say(console, f"{number}  {describe_operation(difference.operation)}", 2)
    rules = (*difference.rules_alone, *difference.both)
    own = (*difference.own_alone, *difference.both)
    _say(console, f"the rules: {_outcomes(difference.operation, rules)}", 7)
    _say(console, f"yours: {_outcomes(difference.operation, own)}", 7)
    _say(console, f"the state of the rules: {describe_state(divergence.before)}", 7)
    _say(console, f"your state: {_states(difference)}", 7)
    console.print()
    _say(console, verdict(difference))
    rule = requirement(divergence.rule)
    _say(console, f"The rule is {rule.id} ({rule.level.value}): {rule.title}.")
    if not rule.applies_to(profile):
        _say(console, f"It binds where {rule.condition}; here the rules leave the choice free.")
    _say(console, f"Read it: purgatory explain {rule.id}")


def verdict(difference: Difference) -> str:
    """Return the direction in which the two models differ, in a sentence."""
    if not difference.own_alone:
        return "Yours forbids what the rules allow, and allows nothing that they forbid."
    if not difference.rules_alone:
        return "Yours allows what the rules forbid, beside all that they allow."
    return "Yours allows what the rules forbid, and forbids what the rules allow."


def _outcomes(operation: Operation, outcomes: Iterable[Outcome]) -> str:
    words = list(dict.fromkeys(_outcome(operation, outcome) for outcome in outcomes))
    if not words:
        return "nothing is possible"
    shown = " | ".join(words[:_MOST_OUTCOMES])
    more = len(words) - _MOST_OUTCOMES
    return f"{shown} | and {counted(more, 'other')}" if more > 0 else shown


def _outcome(operation: Operation, outcome: Outcome) -> str:
    """Return the outcome of an operation in words, with the observables in brackets."""
    said = describe_outcome(operation, outcome)
    observed = describe_observed(outcome)
    return f"{said} ({observed})" if observed else said


def _states(difference: Difference) -> str:
    states = sorted(map(repr, difference.own_states))
    others = f", or one of {len(states) - 1} others" if len(states) > 1 else ""
    return f"{shortened(states[0], _MOST_OF_A_STATE)}{others}"


def _say(console: Console, words: str, indent: int = 0) -> None:
    """Print one line, or several of which all but the first are indented further."""
    margins = " " * indent, " " * (indent + 7 if indent else 0)
    width = max(console.width, 40)
    for line in textwrap.wrap(
        printable(words),
        width,
        initial_indent=margins[0],
        subsequent_indent=margins[1],
        break_on_hyphens=False,
    ):
        console.print(Text(line), no_wrap=True, overflow="ignore", crop=False)


def print_agreement(
    console: Console, own: OwnModel, explored: Explored, generated: Generated
) -> None:
    """Print that the models agree, how much was compared, and the undeclared rest."""
    of_whom = f"the rules of the {noun(own.component)}"
    _say(console, f"{own.path.name} agrees with {of_whom} wherever they were compared.")
    extent = "every state visited" if explored.complete else "not every state visited"
    pairs, asked = counted(explored.pairs, "state"), counted(explored.operations, "operation")
    _say(console, f"explored:  {pairs}, {asked} asked, small instances, {extent}")
    cases, steps = counted(generated.cases, "case"), counted(generated.steps, "step")
    _say(console, f"generated: {cases}, {steps}")
    if left_out := _left_out(own.profile):
        _say(console, f"not asked, since PROFILE does not have it: {', '.join(left_out)}")


def as_object(
    own: OwnModel,
    explored: Explored,
    generated: Generated,
    difference: Difference | None,
    divergence: Divergence | None,
) -> dict[str, object]:
    """Return the comparison and its difference for programs; outcomes as in the protocol."""
    return {
        "component": own.component,
        "explored": {
            "pairs": explored.pairs,
            "operations": explored.operations,
            "complete": explored.complete,
        },
        "generated": {"cases": generated.cases, "steps": generated.steps},
        "not_asked": _left_out(own.profile),
        "difference": difference
        and divergence
        and {
            "rule": divergence.rule,
            "found_in": generated.found_in or None,
            "configuration": difference.configuration,
            "steps": difference.steps,
            "operation": difference.operation,
            "own_alone": difference.own_alone,
            "rules_alone": difference.rules_alone,
            "both": difference.both,
            "own_states": sorted(map(repr, difference.own_states)),
        },
    }


def _left_out(profile: Profile) -> list[str]:
    """Return the features and observables not asked, since the profile lacks them."""
    return [*_undeclared(profile, "features"), *_undeclared(profile, "observables")]


def _undeclared(profile: Profile, field: str) -> list[str]:
    """Return the features or observables that a profile could declare and does not."""
    declared: frozenset[str] = getattr(profile, field)
    known = next(each for each in profile_fields(component_of(profile)) if each.name == field)
    return [str(each.value) for each in known.choice or () if each.value not in declared]
