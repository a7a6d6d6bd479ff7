"""Which rules the runs of a check could have put to the test, as far as their rows show.

Theory of operation. The tables do not tell clocks and profiles. But what was put to the test shows
them: runs on a clock that moves by itself visit certain rules and no other; and a rule that needs a
structure, an accounting or an observable is hardly the only one of its kind that is never visited.
What callers can do (``features has cancel``) shows nothing where nobody did it: there the rule is
taken to apply.
"""

import re
from collections.abc import Sequence, Set

from purgatory_traces.replay.overlapping.rules import RULES_ON_A_WALL_CLOCK
from purgatory_spec.profiles import Component
from purgatory_spec.requirements import Requirement

_TERM = re.compile(r"`([a-z_]+) (?:is|has|is not) ([a-z0-9_]+)`")
_EXECUTOR = "executor"
_FEATURES = "features"
_SORTS_OF_POOLS = frozenset({"strict", "non_strict", "unbounded"})


def never_tested(
    component: Component, rules: Sequence[Requirement], held: Set[str], broken: Set[str]
) -> list[Requirement]:
    """The rules of a component that the runs could have put to the test, and did not.

    Args:
        component: Whose rules.
        rules: All of them.
        held: The ids of those that were put to the test, and held.
        broken: The ids of those that a run breaks; they were put to the test as well.
    """
    # A finding on a clock that moves by itself may name a rule that is not visited there.
    on_a_wall_clock = RULES_ON_A_WALL_CLOCK[component]
    only_those = bool(held) and held <= on_a_wall_clock
    tested = held | broken
    shown = {term for rule in rules if rule.id in tested for term in _terms(rule)}
    return [
        rule
        for rule in rules
        if rule.id not in tested
        and (not only_those or rule.id in on_a_wall_clock)
        and (not tested or _terms(rule) <= shown)
    ]


def _terms(rule: Requirement) -> frozenset[str]:
    """What of a rule's condition shows wherever it holds."""
    return frozenset(
        match.group()
        for match in _TERM.finditer(rule.condition)
        if match[1] != _EXECUTOR and (match[1] != _FEATURES or match[2] in _SORTS_OF_POOLS)
    )
