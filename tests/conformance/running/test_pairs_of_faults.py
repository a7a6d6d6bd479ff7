"""Two faults in one subject are two causes: pairs of the suite's own wrong subjects.

Two wrong subjects that change different methods of one small implementation make one with both
faults. Both are shown where two of its causes are named by a rule of the one and of the other.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import combinations, islice
from random import Random

import pytest

from purgatory_conformance.running.campaign import SUITES, Campaign, run_campaign
from purgatory_conformance.running.case_run import run_case
from purgatory_conformance.running.causes import Cause
from purgatory_conformance.running.replay_file import compared_as_stored, replay_case
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutant, mutants
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_spec.profiles import Component

MUTANTS = 40
"""The wrong subjects of a component of which pairs are made."""

PAIRS = 20
"""The pairs of a component that are tried."""

LEAST = 0.75
"""The share of pairs of which both faults must be shown; of a pool's 20 pairs they are in 19."""


def class_of(wrong: Mutant) -> type | None:
    """Return the class of a wrong subject of ours with the whole profile; None of others."""
    make = wrong.make
    if wrong.report or not isinstance(make, partial) or "profile" in make.keywords:
        return None
    small = make.args[-1] if make.args else None
    return small if isinstance(small, type) else None


def changed(small: type) -> set[str]:
    """Return the names of what a wrong subject changes or adds."""
    own = [each for each in small.__mro__ if ".specimens.wrong." in f"{each.__module__}."]
    return {
        name
        for each in own
        for name, value in vars(each).items()
        if not name.startswith("__") or (name == "__init__" and inspect.isfunction(value))
    }


def with_both(one: Mutant, other: Mutant) -> Callable[[], Subject] | None:
    """Return what makes a subject with the faults of two; None where they change one method."""
    first, second = class_of(one), class_of(other)
    if first is None or second is None or changed(first) & changed(second):
        return None
    assert isinstance(one.make, partial)
    assert isinstance(other.make, partial)
    if one.make.args[:-1] != other.make.args[:-1]:
        return None
    try:
        both = type("Both", (first, second), {})
    except TypeError:
        return None  # one is a kind of the other
    name = f"{one.name}+{other.name}"
    return partial(one.make.func, *one.make.args[:-1], both, name=name)


def pairs(component: Component) -> Iterator[tuple[Mutant, Mutant]]:
    """Yield the pairs of some wrong subjects of a component, in a random order."""
    random = Random(f"pairs {component.value}")
    mine = [each for each in mutants() if each.component is component and class_of(each)]
    some = random.sample(mine, min(MUTANTS, len(mine)))
    every = [pair for pair in combinations(some, 2) if with_both(*pair)]
    yield from random.sample(every, len(every))


def judged_both(one: Mutant, other: Mutant) -> Campaign:
    """Return the result of a short campaign on a subject with two faults."""
    make = with_both(one, other)
    assert make is not None
    with closing(make()) as subject:
        return run_campaign(subject, one.component, seed=1, budget=SUITES["quick"])


def are_both_shown(one: Mutant, other: Mutant, campaign: Campaign) -> bool:
    """Decide whether two causes are named by a rule of the one and by a rule of the other."""
    firsts, seconds = (
        [at for at, cause in enumerate(campaign.causes) if cause.rule in (wrong.rule, *wrong.also)]
        for wrong in (one, other)
    )
    return any(first != second for first in firsts for second in seconds)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cancel-takes-time-out", "second-try-throws-unarmed"),
        ("lost-on-cascade", "zero-dropped"),
        ("cancel-counts-twice", "cancel-sticks"),
        ("pool-zero-granted", "pool-negative-credits"),
        ("pool-used-never-above-size", "pool-time-restores"),
        ("pool-strict-ignores-size", "pool-size-is-what-is-left"),
    ],
)
def test_a_fault_is_not_hidden_by_another(one: str, other: str) -> None:
    """The same count is wrong in both, the next number is answered wrongly, or all cases fail."""
    first, second = mutant(one), mutant(other)
    assert are_both_shown(first, second, judged_both(first, second))


@pytest.mark.slow
def test_a_fault_alone_is_one_cause() -> None:
    """Both faults of pairs above are single causes by themselves, and so is what hides a fault."""
    for name in ("pool-size-is-what-is-left", "cancel-takes-time-out", "pool-zero-granted"):
        wrong = mutant(name)
        with closing(wrong.make()) as subject:
            budget = SUITES["quick"]
            campaign = run_campaign(subject, wrong.component, seed=1, budget=budget)
        assert [cause.rule for cause in campaign.causes] == [wrong.rule]


@pytest.mark.large
@pytest.mark.parametrize("component", [Component.MEMORY_POOL])
def test_both_faults_of_most_pairs_are_shown(component: Component) -> None:
    """Given pairs of the component's wrong subjects: print those of which a fault is hidden."""
    tried = list(islice(pairs(component), PAIRS))
    hidden = [
        f"{one.name} and {other.name}"
        for one, other in tried
        if not are_both_shown(one, other, judged_both(one, other))
    ]
    print(f"{component.value}: {len(tried) - len(hidden)} of {len(tried)}; not {hidden}")
    assert len(hidden) <= (1 - LEAST) * len(tried)


def test_what_is_hidden_says_how_it_shows() -> None:
    """Given a size that is always wrong: the case of the other fault fails for the size first."""
    one, other = mutant("pool-strict-ignores-size"), mutant("pool-size-is-what-is-left")
    campaign = judged_both(one, other)
    (hidden,) = [cause for cause in campaign.causes if cause.rule == one.rule]
    assert [way.words.split(":")[0] for way in hidden.ways_out] == [f"{other.rule} hides it"]
    assert one.rule not in {rule.id for rule in campaign.held}
    with closing(other.make()) as subject:
        shown = hidden.shrunk
        assert run_case(subject, "", shown.configuration, shown.operations).breaks(other.rule)
    with closing(one.make()) as subject:
        assert run_case(subject, "", shown.configuration, shown.operations).breaks(one.rule)
    stored_case_fails_for_its_own_rule(one, other, hidden)


def stored_case_fails_for_its_own_rule(one: Mutant, other: Mutant, hidden: Cause) -> None:
    """With all observables the same case fails for the rule of the fault that hides it."""
    make = with_both(one, other)
    assert make is not None
    with closing(make()) as both:
        profile = hidden.compared(profile_of(both, one.component))
        case = replay_case(hidden.shrunk, hidden.rule, OpenSubject("both", both), profile)
        asked = compared_as_stored(case, both)
        again = run_case(asked, "", case.header.configuration, case.operations)
        assert again.breaks(case.header.breaks)
        assert case.header.breaks == hidden.rule == one.rule
        plain = run_case(both, "", case.header.configuration, case.operations)
        assert plain.breaks(other.rule)
