"""Two faults in one subject: of how many pairs of wrong subjects ``check`` shows both.

    python -m purgatory_lab.pairs_of_faults --component timer --pairs 10
    python -m purgatory_lab.pairs_of_faults --write docs
    python -m purgatory_lab.pairs_of_faults --whole --write docs

Two of the suite's wrong subjects that change different methods of one small implementation make
one with both faults. The second form takes a sample of the pairs and stores the end of each in
``reference/results/pairs-of-faults.json``, from which the table in ``reference/figures.md``
follows. The third one takes all pairs.

A fault is shown where the case of a cause fails for that cause's rule in the subject with this
fault alone, and does not in the subject with the other fault alone. A pair is left out where one
fault takes the other's place: no case in which the one fails by itself fails so in the subject with
both, neither as declared nor without an observable that the other one makes wrong. It is left out
too where the same campaign does not find one of the faults by itself.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from enum import Enum
from functools import cache, partial
from itertools import combinations, islice
from pathlib import Path
from random import Random

import click
import msgspec

from purgatory_conformance.reporting.marked_pages import write_between_marks
from purgatory_conformance.running.campaign import SUITES, Campaign, drawn_case, run_campaign
from purgatory_conformance.running.case_run import CaseRun, run_case
from purgatory_conformance.running.causes import Cause
from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.mutants import mutants
from purgatory_conformance.subjects.declared_as import DeclaredAs
from purgatory_conformance.subjects.subject import Subject, profile_of
from purgatory_conformance.support.registry import support_of
from purgatory_lab.documents import read_document, table, write_in_lines
from purgatory_spec.profiles import Component, Profile

MUTANTS = 40
"""The wrong subjects of a component of which pairs are made."""

PAIRS = 60
"""The pairs of a component in a sample."""

REGION = "pairs of faults"
"""The region of the page with the table."""

_BUDGET = SUITES["quick"]
_SEED = 1

_MOST_CASES = 400
"""The most cases that are drawn to see how a fault fails by itself."""

_ENOUGH_FAILING = 40
"""The failing cases of a fault that say whether it shows beside another one."""

Both = Callable[[], Subject]


class Shown(Enum):
    """The end of a pair: both faults are shown, one is hidden, or the pair cannot show both.

    One takes the other's place, or is so rare that the campaign does not find it by itself.
    """

    BOTH = "both"
    ONE = "one"
    REPLACED = "replaced"
    RARE = "rare"


class Pair(msgspec.Struct, frozen=True):
    """Two wrong subjects, and what a short campaign shows of the subject with both faults."""

    component: Component
    one: str
    other: str
    shown: Shown


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


def with_both(one: Mutant, other: Mutant) -> Both | None:
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
    """Yield the pairs of some wrong subjects, in a random order that is always the same."""
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
        return run_campaign(subject, one.component, seed=_SEED, budget=_BUDGET)


def is_shown(cause: Cause, fault: Mutant, other: Mutant) -> bool:
    """Decide whether the case of a cause fails for one fault and does not for the other."""
    case = cause.shrunk
    fails = []
    for wrong in (fault, other):
        with closing(wrong.make()) as alone:
            subject = DeclaredAs(alone, cause.compared(profile_of(alone, wrong.component)))
            run = run_case(subject, "alone", case.configuration, case.operations)
            fails.append(run.breaks(cause.rule))
    return fails == [True, False]


def are_both_shown(one: Mutant, other: Mutant, causes: Sequence[Cause]) -> bool:
    """Decide whether each of two faults has a cause of its own."""
    return all(
        any(is_shown(cause, fault, beside) for cause in causes)
        for fault, beside in ((one, other), (other, one))
    )


def can_show(fault: Mutant, other: Mutant) -> bool:
    """Decide whether some case that fails for one fault alone fails so beside the other, too.

    A fault of which no failing case is drawn counts as one that shows.
    """
    make = with_both(fault, other)
    assert make is not None
    failing = _failing_cases(fault)
    with closing(make()) as both, closing(fault.make()) as first, closing(other.make()) as second:
        for profile in _compared(profile_of(both, fault.component), other):
            subjects = [DeclaredAs(each, profile) for each in (both, first, second)]
            for case in failing:
                runs = [_run(subject, case) for subject in subjects]
                if _is_alike(runs[0], runs[1]) and not _is_alike(runs[0], runs[2]):
                    return True
    return not failing


def _compared(profile: Profile, other: Mutant) -> Iterator[Profile]:
    """Yield a profile, and the ones without an observable that a fault makes wrong by itself."""
    yield profile
    kinds = {run.divergence.kind for run in _failing_cases(other) if run.divergence is not None}
    for kind in sorted(kinds & profile.observables):
        yield msgspec.structs.replace(profile, observables=profile.observables - {kind})


@cache
def _failing_cases(wrong: Mutant) -> tuple[CaseRun, ...]:
    """Return cases of the quick suite, and further ones of its kind, that a fault fails in."""
    failing: list[CaseRun] = []
    support = support_of(wrong.component)
    with closing(wrong.make()) as subject:
        profile = profile_of(subject, wrong.component)
        for number in range(_MOST_CASES):
            # Every other case is steered towards the rule of the fault, which may be seldom met.
            wanted = frozenset({wrong.rule} if number % 2 else ())
            case = drawn_case(support, profile, f"{_SEED}-{number}", _BUDGET, wanted)
            run = run_case(subject, "alone", case.configuration, case.operations)
            if run.divergence is not None:
                failing.append(run)
            if len(failing) == _ENOUGH_FAILING:
                break
    return tuple(failing)


def _run(subject: Subject, case: CaseRun) -> CaseRun:
    return run_case(subject, "again", case.configuration, case.operations)


def _is_alike(run: CaseRun, other: CaseRun) -> bool:
    """Decide whether two cases fail in the same step, for the same rule and in the same way."""
    if run.divergence is None or other.divergence is None:
        return False
    return run.divergence.cause == other.divergence.cause and len(run.steps) == len(other.steps)


def is_found(fault: Mutant) -> bool:
    """Decide whether the campaign finds a fault by itself."""
    with closing(fault.make()) as subject:
        campaign = run_campaign(subject, fault.component, seed=_SEED, budget=_BUDGET)
    return bool(campaign.causes)


def pair_of(one: Mutant, other: Mutant) -> Pair:
    """Return what a short campaign shows of the subject with two faults."""
    if are_both_shown(one, other, judged_both(one, other).causes):
        shown = Shown.BOTH
    elif not (can_show(one, other) and can_show(other, one)):
        shown = Shown.REPLACED
    else:
        shown = Shown.ONE if is_found(one) and is_found(other) else Shown.RARE
    return Pair(one.component, one.name, other.name, shown)


def text_of(measured: Sequence[Pair]) -> str:
    """Return the shares as a Markdown table, and the pairs of which a fault is hidden."""
    rows = []
    for component in Component:
        count = Counter(each.shown for each in measured if each.component is component)
        if not count:
            continue
        both, tried = count[Shown.BOTH], count[Shown.BOTH] + count[Shown.ONE]
        share = f"{100 * both / tried:.0f} %" if tried else "-"
        words = component.value.replace("_", " ")
        left_out = (count[Shown.REPLACED], count[Shown.RARE])
        rows.append((words, str(tried), str(both), share, *map(str, left_out)))
    head = ("component", "pairs", "both shown", "share", "one in the other's place", "one too rare")
    hidden = [f"`{pair.one}` and `{pair.other}`" for pair in measured if pair.shown is Shown.ONE]
    return f"{table(head, rows)}\n\nOne fault is hidden: {'; '.join(hidden) or 'of no pair'}."


@click.command()
@click.option("--component", type=click.Choice([each.value for each in Component]), multiple=True)
@click.option("--pairs", "most", type=click.IntRange(1), default=PAIRS, show_default=True)
@click.option("--whole", is_flag=True, help="All pairs of each component.")
@click.option("--write", type=click.Path(exists=True, path_type=Path), default=None)
def main(component: tuple[str, ...], most: int, whole: bool, write: Path | None) -> None:
    """Measure, print a line for each pair, and with --write store them and write the table."""
    stored = write / "reference" / "results" / "pairs-of-faults.json" if write else None
    known = read_document(stored, list[Pair]) if stored and stored.is_file() else []
    for mine in map(Component, component or list(Component)):
        known = [each for each in known if each.component is not mine]
        for one, other in islice(pairs(mine), None if whole else most):
            known.append(pair_of(one, other))
            click.echo(f"{one.name} and {other.name}: {known[-1].shown.value}")
            if stored is not None:
                write_in_lines(stored, _in_order(known))
        if write is not None:
            page = write / "reference" / "figures.md"
            write_between_marks(page, REGION, text_of(_in_order(known)))
    click.echo(text_of(_in_order(known)))


def _in_order(measured: Sequence[Pair]) -> list[Pair]:
    return sorted(measured, key=lambda each: list(Component).index(each.component))


if __name__ == "__main__":
    main()
