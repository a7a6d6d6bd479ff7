"""The possible situations of one task of a timer whose calls may overlap.

Theory of operation. A *situation* is one way in which things may stand: whether the task is armed,
which earlier armings were ended when they may already have been handed over, so that each may
still run once, and which open calls have taken effect. All situations that explain what was seen
are followed together. An open call takes effect at some instant before it returns; it is tried
at any time when something is seen of the task.

An arming has an interval, from ``early_ms``, its due tick by the reading before its add was called,
to ``late_ms``, by the reading after the add had returned, with the lateness. While the add is open
the latter is not known.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from purgatory_model.pending_tasks import PendingTasks
from purgatory_model.timer import TimerState
from purgatory_traces.errors import Undecided

MOST_SITUATIONS = 4096
"""The most situations of one task that are followed."""

AS_TIMER = {closed: TimerState(0, PendingTasks(), closed=closed) for closed in (False, True)}
"""A timer that is open, and one that was shut down: all that a refusal depends on."""


class Arming(NamedTuple):
    """The interval in which an armed task may run, ms; ``late_ms`` is None where unknown.

    ``number`` is the number of the add, ``rules`` are the rules that a run in time puts to the
    test. ``is_ahead`` says whether ``early_ms`` was still to come when the add was called: only
    then can the task run too early.
    """

    early_ms: int
    late_ms: int | None
    number: int = 0
    rules: frozenset[str] = frozenset()
    is_ahead: bool = True

    def may_come_by(self, at_ms: int) -> bool:
        """Decide whether the task may be handed over by a reading (TIMER-NOT-EARLY)."""
        return self.early_ms <= at_ms

    def is_over(self, now_ms: int) -> bool:
        """Decide whether the task should have run by now (TIMER-LATENESS)."""
        return self.late_ms is not None and self.late_ms < now_ms

    def allows(self, first_ms: int, last_ms: int) -> bool:
        """Decide whether the task may run between two readings."""
        return self.may_come_by(last_ms) and not self.is_over(first_ms)


class Situation(NamedTuple):
    """A possible situation of a task."""

    armed: Arming | None = None
    ended: tuple[Arming, ...] = ()
    taken: frozenset[int] = frozenset()

    def without_arming(self, by_ms: int | None) -> "Situation":
        """Return the situation after the arming ended; it may have been handed over before."""
        armed = self.armed
        if armed is None:
            return self
        if by_ms is not None and not armed.may_come_by(by_ms):
            return self._replace(armed=None)
        return self._replace(armed=None, ended=(*self.ended, armed))


IDLE = Situation()


class Ran(NamedTuple):
    """A run that is right, and the rules that a further run, or no run, would have broken.

    Attributes:
        arming: The present one, if that may run; None where only an ended one may.
        had_to_come: Whether its absence would have been wrong.
        is_only: Whether a second run, or a run before its time, would have been.
    """

    arming: Arming | None
    had_to_come: bool
    is_only: bool


class Fate(NamedTuple):
    """The end of a finished task: the rules that ended the arming, and whether the task ran."""

    ended_by: frozenset[str]
    ran: bool


class TimerCall(NamedTuple):
    """An open add or cancel: the number of the call, and the arming."""

    number: int
    task: str
    called_ms: int
    delay_ms: int | None
    """The delay of an add; None of a cancel."""
    early_ms: int
    rules: frozenset[str] = frozenset()


@dataclass(slots=True)
class FollowedTask:
    """A task that is armed, may still run, or is named by an open call."""

    situations: list[Situation] = field(default_factory=lambda: [IDLE])
    calls: dict[int, TimerCall] = field(default_factory=dict)
    ended_by: frozenset[str] = frozenset()
    """The rules that say that its latest arming must not run any more."""
    ran: bool = False

    @property
    def is_idle(self) -> bool:
        """Decide whether the task can have no further events."""
        return not self.calls and self.situations == [IDLE]

    @property
    def has_to_run(self) -> bool:
        """Decide whether the task is armed in every situation."""
        return all(each.armed is not None for each in self.situations)

    def is_due(self, now_ms: int) -> bool:
        """Decide whether the task has to run, and may do so by a reading."""
        return all(
            each.armed is not None and each.armed.may_come_by(now_ms) for each in self.situations
        )

    def take_effect(
        self, call: TimerCall, late_ms: int, by_ms: int, *, optional: bool = False
    ) -> None:
        """Let a returning call take effect, by now or before; its arming is now known."""
        del self.calls[call.number]
        after: dict[Situation, None] = {}
        for situation in self._possible():
            if call.number in situation.taken:
                settled = _settled(situation, call.number, late_ms)
            else:
                settled = _after(situation, call, late_ms, by_ms)
            if optional:
                settled = settled.without_arming(None)
            after[settled] = None
        self._keep(after)

    def take_no_effect(self, call: TimerCall) -> None:
        """Let a rejected call take no effect."""
        del self.calls[call.number]
        self._keep({each: None for each in self.situations if call.number not in each.taken})

    def may_have_taken_effect(self, call: TimerCall) -> None:
        """Note that a call open at a snapshot may have taken effect before."""
        self.situations += [
            each._replace(taken=each.taken | {call.number}) for each in self.situations
        ]

    def run(self, first_ms: int, last_ms: int) -> Ran | None:
        """Run the task between two readings of the clock; None where it must not run."""
        before = self._possible()
        after: dict[Situation, None] = {}
        ran: Arming | None = None
        for situation in before:
            armed = situation.armed
            if armed is not None and armed.allows(first_ms, last_ms):
                after[situation._replace(armed=None)] = None
                ran = ran or armed
            left = _one_less(situation.ended, first_ms, last_ms) if situation.ended else None
            if left is not None:
                after[situation._replace(ended=left)] = None
        if not after:
            return None
        self._keep(after)
        had_to_come = all(each.armed is not None for each in before)
        return Ran(ran, had_to_come, not any(each.ended for each in before))

    def pass_to(self, now_ms: int) -> Arming | None:
        """Leave out what is over by a reading; an arming that should have run in any case."""
        after: dict[Situation, None] = {}
        overdue: Arming | None = None
        for situation in self.situations:
            armed = situation.armed
            if armed is not None and armed.is_over(now_ms) and not self._may_have_ended(armed):
                overdue = armed
                continue
            ended = situation.ended
            if ended:
                ended = tuple(each for each in ended if not each.is_over(now_ms))
                situation = situation._replace(ended=ended)
            after[situation] = None
        if not after:
            return overdue
        self._keep(after)
        return None

    def _may_have_ended(self, armed: Arming) -> bool:
        """Decide whether an open call that began in time may have ended an arming before it ran."""
        return any(not armed.is_over(call.called_ms) for call in self.calls.values())

    def drop(self, by_ms: int | None) -> None:
        """Drop the arming, which need not run after a shutdown, or has run by a reading."""
        after: dict[Situation, None] = {}
        for situation in self.situations:
            dropped = situation.without_arming(by_ms)
            if by_ms is not None:
                ended = tuple(each for each in dropped.ended if each.may_come_by(by_ms))
                dropped = dropped._replace(ended=ended)
            after[dropped] = None
        self._keep(after)

    def armings(self) -> Iterable[Arming]:
        """Yield all armings that may still run, in any situation."""
        for situation in self.situations:
            if situation.armed is not None:
                yield situation.armed
            yield from situation.ended

    def _possible(self) -> list[Situation]:
        """Return the situations, and those after open calls that may have taken effect."""
        if not self.calls:
            return self.situations
        found = dict.fromkeys(self.situations)
        fresh = list(found)
        while fresh:
            situation = fresh.pop()
            for call in self.calls.values():
                if call.number not in situation.taken:
                    after = _after(situation, call, None, None)
                    after = after._replace(taken=situation.taken | {call.number})
                    if after not in found:
                        found[after] = None
                        fresh.append(after)
            _check_number(len(found))
        return list(found)

    def _keep(self, situations: dict[Situation, None]) -> None:
        """Follow these situations; situations that differ in ended armings alone become one."""
        if len(situations) < 2:
            self.situations = list(situations)
            return
        merged: dict[tuple[object, ...], Situation] = {}
        for situation in situations:
            open_adds = tuple(each.number for each in situation.ended if each.late_ms is None)
            key = situation.armed, situation.taken, open_adds
            other = merged.get(key)
            merged[key] = situation if other is None else _either(situation, other)
        self.situations = list(merged.values())
        _check_number(len(merged))


def _after(
    situation: Situation, call: TimerCall, late_ms: int | None, by_ms: int | None
) -> Situation:
    """Return a situation after a call took effect."""
    situation = situation.without_arming(by_ms)
    if call.delay_ms is None:
        return situation
    is_ahead = call.early_ms > call.called_ms
    armed = Arming(call.early_ms, late_ms, call.number, call.rules, is_ahead)
    return situation._replace(armed=armed)


def _settled(situation: Situation, number: int, late_ms: int) -> Situation:
    """Return a situation after a call, once the time of its effect is known."""
    armed = situation.armed
    if armed is not None and armed.number == number:
        armed = armed._replace(late_ms=late_ms)
    ended = tuple(
        each._replace(late_ms=late_ms) if each.number == number else each
        for each in situation.ended
    )
    return Situation(armed, ended, situation.taken - {number})


def _one_less(ended: tuple[Arming, ...], first_ms: int, last_ms: int) -> tuple[Arming, ...] | None:
    """Return the ended armings without one that runs: of the possible ones, the first over."""
    able = [each for each in ended if each.allows(first_ms, last_ms)]
    if not able:
        return None
    gone = min(able, key=lambda each: (each.late_ms is None, each.late_ms or 0))
    left = list(ended)
    left.remove(gone)
    return tuple(left)


def _either(one: Situation, other: Situation) -> Situation:
    """Return a situation that allows the runs of two, which differ in ended armings alone.

    One by one, in the order of their times, two ended armings become one that may run when either
    may. So a run of either is allowed, and hardly more.
    """
    pairs = zip_longest(sorted(one.ended, key=_time), sorted(other.ended, key=_time))
    return one._replace(ended=tuple(_wider(first, second) for first, second in pairs))


def _wider(first: Arming | None, second: Arming | None) -> Arming:
    """Return an arming that may run whenever either may."""
    if first is None or second is None:
        alone = first or second
        assert alone is not None
        return alone
    early_ms = min(first.early_ms, second.early_ms)
    if first.late_ms is None or second.late_ms is None:
        return (first if first.late_ms is None else second)._replace(early_ms=early_ms)
    return first._replace(early_ms=early_ms, late_ms=max(first.late_ms, second.late_ms))


def _time(arming: Arming) -> tuple[bool, int, int]:
    """Return a sort key of armings: those of open adds first, which are the same in both."""
    if arming.late_ms is None:
        return False, arming.number, 0
    return True, arming.early_ms, arming.late_ms


def _check_number(number: int) -> None:
    if number > MOST_SITUATIONS:
        raise Undecided(f"more than {MOST_SITUATIONS} situations of one task are possible")
