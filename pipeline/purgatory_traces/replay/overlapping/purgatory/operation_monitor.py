"""Knowledge about one delayed operation: all explanations of its events, as one small object.

Theory of operation. ``LateExplainer`` follows all explanations of a history. Most
operations have the same history, but for names. So names are made alike before it is asked: the
operation has always the same name, its keys are numbered, and open calls take the smallest free
*slot*. What the explainer then knows after a beginning is a *memory*, of which there are few, and
each memory remembers which memory follows it after which event. Following an operation is then a
look-up in a dictionary.

The table of memories belongs to the process and is only there to save work. It is emptied when it
has grown large. A memory that is pickled takes what it knows along, and not the table.
"""

from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

import msgspec

from purgatory_model.overlapping.calls import OverlappingCalls
from purgatory_model.overlapping.interleaving import Called, Happened, HistoryEvent, Returned
from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind, completed, timed_out, tried
from purgatory_spec.profiles import CancelResult, FirstTry, PurgatoryProfile
from purgatory_traces.replay.overlapping.explainer import Explanation, LateExplainer, Moments
from purgatory_traces.replay.overlapping.purgatory.observed_rules import (
    DUE,
    LATE,
    THE_OPERATION,
    ObservedRules,
    Standing,
    is_settled,
)
from purgatory_traces.snapshots.delayed_operation import delayed_operation
from purgatory_traces.traces.lines import Begin, WaitingOperation

MOST_MEMORIES: Final = 50_000
"""The most memories that a process keeps before it begins anew."""

ANY_KEY_TAKES_TIME_OUT: Final = "time_out_taken_with_key"
"""The variant of the model in which a cancellation takes the time-out with any key."""

Seen: TypeAlias = tuple[str | int | bool | tuple[int, ...] | None, ...]
"""An observation of an operation: a word, the slot of the call, and a detail.

``watch`` with keys, ``check`` and ``cancel`` with a key, ``force``, ``satisfy``: a call begins.
``tried``, ``completed``, ``timed_out``; the latter two also in the slot ``run``. ``returned`` with
a result, ``cancelled`` with a count. Without a slot: ``due`` (from now on it may be handed over and
run), ``late`` (it should have timed out by now), ``shutting`` and ``shut`` (its time-out may be
dropped, is dropped).
"""

RUN: Final = "run"
"""The slot of the run of its time-out."""

_DUE_SLOT, _SHUTDOWN_SLOT, _LATE_SLOT = "due", "shutdown", "late"
_PERMISSIONS = frozenset({_DUE_SLOT, RUN})
_EVENTS = {
    "tried": tried(THE_OPERATION),
    "completed": completed(THE_OPERATION),
    "timed_out": timed_out(THE_OPERATION),
}
_ALIKE: Final[dict[str, op.Operation]] = {
    "force": op.Force(THE_OPERATION),
    "satisfy": op.Satisfy(THE_OPERATION),
}


class System(NamedTuple):
    """The properties of a purgatory that decide how its operations are explained."""

    any_key_takes_time_out: bool
    """True if this is declared: an answer that nothing else explains is a deviation."""
    tries_first: bool
    """True if a watch tries before it enters the lists."""
    cancels_live: bool
    """True if a cancellation leaves completed operations out of its result."""
    unseen: frozenset[EventKind]

    @classmethod
    def of(cls, begin: Begin, profile: PurgatoryProfile) -> "System":
        """Return the properties in the first line of a run."""
        return cls(
            any(each.variant == ANY_KEY_TAKES_TIME_OUT for each in begin.deviations),
            profile.first_try is FirstTry.BEFORE_WATCHING,
            profile.cancel_result is CancelResult.LIVE,
            frozenset({EventKind.EXPIRED, *begin.omitted}),
        )

    def rules(self, name: str) -> tuple[OverlappingCalls, ...]:
        """Return all rules that may explain an operation: the strict ones, then the deviation's.

        When its watches arm the time-out is free, whatever the accounting; all of them do it at
        the same place. Rules: PURGATORY-TIME-OUT, PURGATORY-OVERLAPPING-CALLS.
        """
        return tuple(
            OverlappingCalls(name, arms_first, any_key, self.tries_first, self.cancels_live)
            for any_key in (False, True)[: 1 + self.any_key_takes_time_out]
            for arms_first in (True, False)
        )


class Memory:
    """The knowledge about one operation; equal memories are mostly the same object.

    Attributes:
        system: The operation's purgatory.
        moments: The explanations under each set of rules; empty if these rules no longer
            explain the operation.
    """

    __slots__ = ("_next", "_settled", "is_strict", "moments", "system")

    def __init__(self, system: System, moments: tuple[Moments[Standing], ...]) -> None:
        """Make a memory; use ``_known`` instead."""
        self.system = system
        self.moments = moments
        self._next: dict[Seen, Memory | None] = {}
        both = zip(system.rules(THE_OPERATION), moments, strict=True)
        self.is_strict: Final = any(
            left for rules, left in both if not rules.any_key_takes_time_out
        )
        """True if the operation is explained without a declared deviation."""
        self._settled = all(
            is_settled(moment.state)
            and _PERMISSIONS.issuperset(moment.calls)
            and not _has_run_unseen(moment)
            for alternative in moments
            for moment in alternative
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Return the knowledge of the monitor, without the shared table."""
        return _known, (self.system, self.moments)

    @property
    def is_settled(self) -> bool:
        """Decide whether the operation can have no further events."""
        return self._settled

    def may_stand(self, keys: tuple[int, ...], *, completed: bool, owed: bool | None) -> bool:
        """Decide whether the operation may have an entry for each of these keys, and a time-out.

        Where ``owed`` is None, an owed time-out is not asked for.
        """
        entries = sorted(map(_key, keys))
        return any(
            sorted(moment.state.entries) == entries
            and moment.state.completed == completed
            and owed in (None, moment.state.armed or moment.state.queued > 0)
            for alternative in self.moments
            for moment in alternative
        )

    def after(self, seen: Seen) -> "Memory | None":
        """Return the memory after a further event; None where no explanation is left.

        Raises:
            Undecided: too much explains it.
        """
        try:
            return self._next[seen]
        except KeyError:
            after = self._next[seen] = self._computed(seen)
            return after

    def amid_check(self, slot: int, key: int) -> "Memory":
        """Return the memory amid a check of a key whose beginning was not seen."""
        check, after = op.Check(_key(key)), list[Moments[Standing]]()
        for rules, moments in zip(_rules(self.system), self.moments, strict=True):
            with_ways = LateExplainer(rules).with_ways
            amid = (
                with_ways(each, str(slot), rules.ways_so_far(each.state, check)) for each in moments
            )
            after.append(frozenset(amid))
        return _known(self.system, tuple(after))

    def _computed(self, seen: Seen) -> "Memory | None":
        events = _events_of(seen)
        after: list[Moments[Standing]] = []
        for rules, moments in zip(_rules(self.system), self.moments, strict=True):
            left: Moments[Standing] | None = moments
            for event in events:
                left = LateExplainer(rules).after(left, event) if left else None
            if left and seen == ("late",):
                left = frozenset(each for each in left if not _has_run_unseen(each))
            after.append(left or frozenset())
        return _known(self.system, tuple(after)) if any(after) else None


_MEMORIES: dict[tuple[System, tuple[Moments[Standing], ...]], Memory] = {}


def _known(system: System, moments: tuple[Moments[Standing], ...]) -> Memory:
    """Return the memory with this content; an equal one if it exists."""
    key = system, moments
    memory = _MEMORIES.get(key)
    if memory is None:
        if len(_MEMORIES) >= MOST_MEMORIES:
            _forget_all()
        memory = _MEMORIES[key] = Memory(system, moments)
    return memory


def _forget_all() -> None:
    for memory in _MEMORIES.values():
        memory._next.clear()
    _MEMORIES.clear()
    _rules.cache_clear()


def memories() -> int:
    """Return the number of memories that this process keeps."""
    return len(_MEMORIES)


@lru_cache(maxsize=16)
def _rules(system: System) -> tuple[ObservedRules, ...]:
    return tuple(ObservedRules(each, system.unseen) for each in system.rules(THE_OPERATION))


@lru_cache(maxsize=16)
def fresh(system: System) -> Memory:
    """Return the memory of an operation that was never named."""
    return _known(system, tuple(LateExplainer(each).begin() for each in _rules(system)))


def resumed(system: System, told: WaitingOperation, keys: tuple[int, ...]) -> Memory:
    """Return the memory of a waiting operation of a snapshot; its keys by their numbers."""
    numbered = msgspec.structs.replace(told, entries=tuple(map(_key, keys)))
    moments = frozenset({Explanation(delayed_operation(numbered))})
    return _known(system, (moments,) * len(_rules(system)))


def _has_run_unseen(moment: Explanation[Standing]) -> bool:
    """Decide whether an unseen time-out has completed the operation."""
    return any(way.owed for way in moment.calls.get(RUN, ()))


def _key(number: int) -> str:
    return f"k{number}"


def _events_of(seen: Seen) -> tuple[HistoryEvent, ...]:
    """Return an event in the words of histories."""
    match seen:
        case ("watch", slot, tuple(keys)):
            watch = op.Watch(THE_OPERATION, tuple(map(_key, keys)), 0)
            return (Called(str(slot), watch),)
        case ("check", slot, int(key)):
            return (Called(str(slot), op.Check(_key(key))),)
        case ("cancel", slot, int(key)):
            return (Called(str(slot), op.CancelForKey(_key(key))),)
        case (str(word), slot) if word in _ALIKE:
            return (Called(str(slot), _ALIKE[word]),)
        case ("timed_out", slot):
            return Happened(str(slot), _EVENTS["timed_out"]), Returned(str(slot))
        case (str(word), slot) if word in _EVENTS:
            return (Happened(str(slot), _EVENTS[word]),)
        case ("cancelled", slot, int(count)):
            return (Returned(str(slot), (THE_OPERATION,) * count),)
        case ("returned", slot, bool() | int() | None as result):
            return (Returned(str(slot), result),)
        case ("due",):
            return Called(_DUE_SLOT, DUE), Called(RUN, op.RunOne())
        case ("late",):
            return (Called(_LATE_SLOT, LATE), Returned(_LATE_SLOT))
        case ("shutting",):
            return (Called(_SHUTDOWN_SLOT, op.Shutdown()),)
        case ("shut",):
            return (Returned(_SHUTDOWN_SLOT),)
        case _:
            raise ValueError(f"{seen!r} is nothing that is seen of an operation")
