"""Comparison of a subject with a behaviour's predictions, one operation after another."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from purgatory_spec import profiles
from purgatory_spec.operations import Advance
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value, ran
from purgatory_tla.cases.predictions import Driven, Prediction


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of an outcome: an observable's name, or a word for another part."""

    about: str
    predicted: str
    seen: str


@dataclass(slots=True)
class Comparison:
    """Follows one case of a subject of a profile.

    What the subject does not show is not compared. Where a behaviour leaves the order of tasks
    inside a tick open, the executor's queue is the subject's: from then on what it handed over
    first must run first.
    """

    profile: profiles.Profile
    _handed: deque[str] = field(default_factory=deque)

    def difference(self, prediction: Prediction, seen: Outcome) -> Difference | None:
        """Return the first thing in which an outcome is not as predicted, or None."""
        expected = prediction.outcome
        answers = "answer" not in prediction.free
        if answers and expected.rejected is not seen.rejected:
            told = (_rejection(expected), _rejection(seen))
            return Difference("answer", *told)
        events = self._expected_events(expected.events)
        self._handed.extend(e.task for e in seen.events if e.kind is EventKind.EXPIRED)
        if "events" not in prediction.free and not _agree(events, seen.events, prediction.groups):
            return Difference("events", _in_words(events), _in_words(seen.events))
        if answers and self._has_result(prediction) and not _same_result(prediction, seen.result):
            return Difference("result", _value(expected.result), _value(seen.result))
        for name, value in expected.observed.items():
            if name in seen.observed and seen.observed[name] != value:
                return Difference(name, _value(value), _value(seen.observed[name]))
        return None

    def _expected_events(self, events: tuple[Event, ...]) -> tuple[Event, ...]:
        """Return the expected events; the task that runs is the first one handed over."""
        if not any(event.kind is EventKind.RAN for event in events) or not self._handed:
            return events
        return (ran(self._handed.popleft()),)

    def _has_result(self, prediction: Prediction) -> bool:
        if isinstance(self.profile, profiles.TimerProfile):
            return (
                isinstance(prediction.operation, Advance)
                and prediction.outcome.result is not None
                and profiles.Observable.ADVANCE_RESULT in self.profile.observables
            )
        return True


@dataclass(slots=True)
class Followed:
    """The extent to which a subject followed a behaviour.

    Attributes:
        outcomes: The subject's outcomes, the differing outcome last.
        difference: The difference in the last outcome; None where all outcomes agree.
        left: Why the subject may have gone another way, so that the behaviour is not its own.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    difference: Difference | None = None
    left: str = ""

    def steps(self, driven: Driven) -> int:
        """Return the number of TLA+ steps that the subject followed."""
        agreed = len(self.outcomes) - (self.difference is not None or bool(self.left))
        return sum(len(prediction.steps) for prediction in driven.predictions[:agreed])


def follow(driven: Driven, declared: profiles.Profile, outcomes: Iterable[Outcome]) -> Followed:
    """Compare the outcomes of the operations, one by one, up to the first difference."""
    comparison = Comparison(declared)
    followed = Followed()
    for prediction, outcome in zip(driven.predictions, outcomes, strict=False):
        followed.outcomes.append(outcome)
        difference = comparison.difference(prediction, outcome)
        if difference is not None and prediction.either:
            followed.left = prediction.either
            break
        if difference is not None:
            followed.difference = difference
            break
    return followed


def misfit(driven: Driven, declared: profiles.Profile) -> str:
    """Return the reason why a subject of this profile cannot be asked; else empty."""
    chosen = driven.profile
    needs = frozenset(each for prediction in driven.predictions for each in prediction.needs)
    match chosen, declared:
        case profiles.TimerProfile(), profiles.TimerProfile():
            fields: tuple[str, ...] = ("executor", "rounding", "negative_delay")
        case profiles.PurgatoryProfile(), profiles.PurgatoryProfile():
            fields = ("executor",)
        case profiles.MemoryPoolProfile(), profiles.MemoryPoolProfile():
            fields = ("release_validation",) if needs & _TOLD_APART else ()
        case _:
            return "the subject's profile is that of another component"
    for name in fields:
        wanted, given = getattr(chosen, name), getattr(declared, name)
        if wanted is not given:
            return (
                f"the behaviour has {name.replace('_', ' ')} {wanted.value}, "
                f"the subject declares {given.value}"
            )
    return ""


_TOLD_APART = {profiles.MemoryPoolFeature.RELEASE_AGAIN, profiles.MemoryPoolFeature.RELEASE_FOREIGN}
"""The features that pools with and without release validation answer differently."""

STEPPED = profiles.Executor.STEPPED
"""The executor that every behaviour has: expiring and running are two steps in TLA+."""


def _agree(expected: Sequence[Event], seen: Sequence[Event], groups: tuple[int, ...]) -> bool:
    if len(expected) != len(seen):
        return False
    position = 0
    for size in (*groups, *[1] * (len(expected) - sum(groups))):
        here = slice(position, position + size)
        if _by_task(expected[here]) != _by_task(seen[here]):
            return False
        position += size
    return True


def _by_task(events: Sequence[Event]) -> dict[str, list[EventKind]]:
    found: dict[str, list[EventKind]] = {}
    for event in events:
        found.setdefault(event.task, []).append(event.kind)
    return found


def _same_result(prediction: Prediction, seen: Value) -> bool:
    """Decide whether a result is the predicted one, with a list of names in any order."""
    expected = prediction.outcome.result
    if isinstance(expected, tuple) and isinstance(seen, tuple):
        return sorted(expected) == sorted(seen)
    return type(expected) is type(seen) and expected == seen


def _rejection(outcome: Outcome) -> str:
    return "not refused" if outcome.rejected is None else f"refused: {outcome.rejected.value}"


def _in_words(events: Sequence[Event]) -> str:
    return ", ".join(f"{e.task} {e.kind.value.replace('_', ' ')}" for e in events) or "none"


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " ".join(value) or "nothing"
    return "none" if value is None else str(value)
