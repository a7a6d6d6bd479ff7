"""A diverging step as lanes: its answer, events and observables, expected beside seen."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest

from purgatory_conformance.describing.words import (
    counted,
    describe_events,
    describe_value,
    printable,
)
from purgatory_judge.differences import reason_words
from purgatory_judge.judgement import Divergence
from purgatory_model.step import observables_match, result_matches
from purgatory_spec.outcomes import Outcome

NOTHING = "—"
"""The sign that stands where only the other side has something."""

_MOST_PAIRS = 14


@dataclass(frozen=True, slots=True)
class Pair:
    """An expected value or event and the observed one, both in words."""

    expected: str
    seen: str

    @property
    def differs(self) -> bool:
        """Decide whether the two are told apart."""
        return self.expected != self.seen


@dataclass(frozen=True, slots=True)
class Lane:
    """The answer, the events or the observables of a step, expected beside seen."""

    about: str
    pairs: tuple[Pair, ...]


def lanes_of(divergence: Divergence) -> tuple[Lane, ...]:
    """Return the lanes of a diverging step, at least one, of which at least one pair differs.

    Where nothing differs by itself, as where a rule asks for less than an outcome, the sentences
    of the divergence are the lane.
    """
    right, outcome = divergence.right, divergence.outcome
    lanes = () if right is None else tuple(_lanes(right, outcome))
    if any(pair.differs for lane in lanes for pair in lane.pairs):
        return lanes
    sentences = Pair(printable(divergence.expected), printable(divergence.seen))
    return (*lanes, Lane(divergence.kind.replace("_", " "), (sentences,)))


def differing_names(divergence: Divergence) -> frozenset[str]:
    """Return the names in the events that differ, or that come in another order."""
    if divergence.right is None:
        return frozenset()
    right, seen = divergence.right.events, divergence.outcome.events
    wanted, came = Counter(right), Counter(seen)
    differing = (wanted - came) + (came - wanted)
    if not differing and right != seen:
        return frozenset(
            event.task
            for pair in zip(right, seen, strict=True)
            if pair[0] != pair[1]
            for event in pair
        )
    return frozenset(event.task for event in differing)


def _lanes(right: Outcome, seen: Outcome) -> Iterator[Lane]:
    if right.rejected is not seen.rejected:
        yield Lane("answer", (Pair(reason_words(right.rejected), reason_words(seen.rejected)),))
    elif not result_matches(right.result, seen.result):
        yield Lane("result", (Pair(describe_value(right.result), describe_value(seen.result)),))
    if right.events or seen.events:
        yield Lane("events", tuple(_shortened(_aligned(_events(right), _events(seen)))))
    differing = [
        Pair(f"{printable(name)} {describe_value(value)}", _observable(name, seen))
        for name, value in right.observed.items()
        if not observables_match({name: value}, seen.observed)
    ]
    if differing:
        yield Lane("observables that differ", tuple(differing))


def _observable(name: str, seen: Outcome) -> str:
    if name not in seen.observed:
        return f"{printable(name)} {NOTHING}"
    return f"{printable(name)} {describe_value(seen.observed[name])}"


def _events(outcome: Outcome) -> list[str]:
    return [describe_events(Outcome(events=(event,))) for event in outcome.events]


def _aligned(expected: list[str], seen: list[str]) -> Iterator[Pair]:
    """Yield the two sequences side by side, what is alike in them at one height."""
    matcher = SequenceMatcher(None, expected, seen, autojunk=False)
    for _, a, b, c, d in matcher.get_opcodes():
        for one, other in zip_longest(expected[a:b], seen[c:d], fillvalue=NOTHING):
            yield Pair(one, other)


def _shortened(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield the pairs without those in the middle of many that are alike, and without too many."""
    shown: list[Pair] = []
    for differs, group in groupby(pairs, key=lambda pair: pair.differs):
        alike = list(group)
        if not differs and len(alike) > 3:
            words = f"… {counted(len(alike) - 2, 'event')} alike"
            alike = [alike[0], Pair(words, words), alike[-1]]
        shown += alike
    yield from shown[:_MOST_PAIRS]
    if len(shown) > _MOST_PAIRS:
        more = f"… and {len(shown) - _MOST_PAIRS} more"
        yield Pair(more, more)
