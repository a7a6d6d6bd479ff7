"""A purgatory for each value that a profile may declare, and the same one declared otherwise."""

from collections.abc import Callable

import msgspec

from purgatory_conformance.specimens.profile_subject import ProfileSubject
from purgatory_conformance.specimens.purgatory_mutants import ESTIMATE_PROFILE
from purgatory_conformance.specimens.small.purgatory import (
    PROFILE,
    DelayedOperation,
    Entry,
    SmallPurgatory,
    small_purgatory,
)
from purgatory_conformance.specimens.small.timer import SmallTimer
from purgatory_conformance.specimens.wrong.checking import CancelAnswersLive
from purgatory_conformance.subjects.subject import Subject
from purgatory_spec.profiles import (
    LARGEST_LONG,
    Accounting,
    AlreadyDue,
    CancelResult,
    CheckDrops,
    CheckOrder,
    Component,
    Executor,
    FirstTry,
    NegativeDelay,
    PurgatoryConfiguration,
    PurgatoryProfile,
    PurgeDue,
    Rounding,
    SameTickOrder,
    Structure,
    ThrowingTry,
    TimerProfile,
)


class WheelPurgatory(SmallPurgatory):
    """A purgatory whose timer is the small timing wheel."""

    def __init__(self, configuration: PurgatoryConfiguration, profile: PurgatoryProfile) -> None:
        """Begin with an empty wheel."""
        super().__init__(configuration, profile)
        self.wheel = SmallTimer(
            configuration.timer,
            TimerProfile(
                rounding=profile.rounding,
                executor=Executor.STEPPED,
                structure=Structure.DELAY_QUEUE_WHEEL,
                largest_delay_ms=LARGEST_LONG,
            ),
        )

    def arm(self, operation: DelayedOperation) -> None:
        """The wheel says whether the operation is due at once."""
        if self.time_outs:
            super().arm(operation)
            self.wheel.now_ms = self.now_ms
            self.wheel.add(self.wheel.task(operation.name), operation.delay_ms)
            self.hand_over(self.popped())

    def disarm(self, operation: DelayedOperation) -> None:
        """The wheel's bucket stays."""
        super().disarm(operation)
        self.wheel.cancel(self.wheel.task(operation.name))

    def pop_due(self) -> list[DelayedOperation]:
        """What the wheel expires."""
        self.wheel.now_ms = self.now_ms
        self.wheel.advance()
        return self.popped()

    def popped(self) -> list[DelayedOperation]:
        """What the wheel has handed over leaves the timer."""
        due = [self.operations[task.name] for task in self.wheel.queue]
        self.wheel.queue.clear()
        self.armed = [operation for operation in self.armed if operation not in due]
        return due


class BackwardsPurgatory(SmallPurgatory):
    """A purgatory in which what expires in one tick is handed over from last to first."""

    def pop_due(self) -> list[DelayedOperation]:
        """Only the order of ticks is kept."""
        due = super().pop_due()
        return sorted(due, key=lambda operation: (operation.due_tick, -operation.arming))


class AtEndPurgatory(SmallPurgatory):
    """A purgatory whose check drops what is completed when it is through."""

    def drop_completed(self, key: str, entry: Entry) -> bool:
        """Nothing is dropped yet."""
        return entry.operation.completed

    def check(self, key: str) -> int:
        """Check, then drop, also where a try threw."""
        try:
            return super().check(key)
        finally:
            self.lists[key] = self.purged(self.lists.get(key, []))
            self.forget_empty(key)


class OneTryPurgatory(SmallPurgatory):
    """A purgatory whose watch enters the lists and then tries once."""

    def first_try(self, operation: DelayedOperation, keys: tuple[str, ...]) -> bool:
        """There is none."""
        return False


class NewestFirstPurgatory(SmallPurgatory):
    """A purgatory whose check begins with the newest entry."""

    def met_by_check(self, key: str) -> list[Entry]:
        """The list, from its end."""
        return super().met_by_check(key)[::-1]


class EagerPurgatory(SmallPurgatory):
    """A purgatory in which an operation leaves all lists as it completes."""

    def complete(self, operation: DelayedOperation) -> None:
        """Leave the lists before anybody is told."""
        for key in list(self.lists):
            self.lists[key] = [each for each in self.lists[key] if each.operation is not operation]
            self.forget_empty(key)
        super().complete(operation)


class TickerPurgatory(SmallPurgatory):
    """A purgatory whose timer does each tick once."""

    def __init__(self, configuration: PurgatoryConfiguration, profile: PurgatoryProfile) -> None:
        """The tick in which it is made is done."""
        super().__init__(configuration, profile)
        self.ticked_ms = self.now_ms - self.now_ms % self.tick_ms

    def due_tick(self, expiry_ms: int) -> int:
        """No sooner than the next tick."""
        return max(super().due_tick(expiry_ms), self.ticked_ms + self.tick_ms)

    def pop_due(self) -> list[DelayedOperation]:
        """Do the ticks that have come."""
        self.ticked_ms = self.now_ms - self.now_ms % self.tick_ms
        return super().pop_due()


def _subject(
    behaves: PurgatoryProfile,
    declares: PurgatoryProfile,
    purgatory: type[SmallPurgatory],
) -> Callable[[], Subject]:
    """Makes a purgatory that behaves as under one profile and declares another."""
    return lambda: small_purgatory(
        lambda configuration, _: purgatory(configuration, behaves), declares
    )


def _profile_subject(
    value: str,
    behaves: PurgatoryProfile,
    other: PurgatoryProfile,
    sibling_rule: str = "",
    purgatory: type[SmallPurgatory] = SmallPurgatory,
) -> ProfileSubject:
    return ProfileSubject(
        name=f"purgatory-{value.replace('_', '-').replace(' ', '-')}",
        value=value,
        make=_subject(behaves, behaves, purgatory),
        sibling=_subject(behaves, other, purgatory),
        sibling_rule=sibling_rule,
        component=Component.PURGATORY,
    )


_change = msgspec.structs.replace

_PROPOSAL = _change(ESTIMATE_PROFILE, throwing_try=ThrowingTry.GO_ON)
_EXACT = _change(_PROPOSAL, accounting=Accounting.EXACT)
_AMORTISED = _change(_EXACT, purge_due=PurgeDue.AMORTISED)
_STOP = _change(PROFILE, throwing_try=ThrowingTry.STOP)
_INLINE = _change(PROFILE, executor=Executor.INLINE)
_UP = _change(PROFILE, rounding=Rounding.UP)
_NO_TICK = _change(PROFILE, rounding=Rounding.EXACT)
_FIFO = _change(PROFILE, same_tick_order=SameTickOrder.FIFO)
_WHEEL = _change(PROFILE, structure=Structure.DELAY_QUEUE_WHEEL)

_ANY_ACCOUNTING = _change(_EXACT, accounting=Accounting.ANY)
_ONE_TRY = _change(PROFILE, first_try=FirstTry.NONE)
_FREE = _change(PROFILE, check_order=CheckOrder.FREE)
_AT_END = _change(PROFILE, check_drops=CheckDrops.AT_END)
_EITHER = _change(PROFILE, check_drops=CheckDrops.EITHER)
_EVERYWHERE = _change(PROFILE, check_drops=CheckDrops.EVERYWHERE)
_LIVE = _change(PROFILE, cancel_result=CancelResult.LIVE)
_NEXT_TICK = _change(PROFILE, already_due=AlreadyDue.NEXT_TICK)
_AS_ZERO = _change(_UP, negative_delay=NegativeDelay.AS_ZERO)
_REJECT = _change(PROFILE, negative_delay=NegativeDelay.REJECT)
_NO_NEGATIVE = _change(PROFILE, negative_delay=NegativeDelay.NOT_OFFERED)

_PROFILE_SUBJECTS = (
    _profile_subject("accounting proposal", _PROPOSAL, _EXACT, "PURGATORY-ESTIMATE-EXACT"),
    _profile_subject("accounting exact", _EXACT, _PROPOSAL, "PURGATORY-ESTIMATE-PROPOSAL"),
    _profile_subject("accounting any", _ANY_ACCOUNTING, _PROPOSAL, "PURGATORY-ESTIMATE-PROPOSAL"),
    _profile_subject("purge_due fixed", _EXACT, _AMORTISED, "PURGATORY-PURGE-START"),
    _profile_subject("purge_due amortised", _AMORTISED, _EXACT, "PURGATORY-PURGE-START"),
    _profile_subject("first_try before_watching", PROFILE, _ONE_TRY, "PURGATORY-WATCH-SECOND-TRY"),
    _profile_subject(
        "first_try none", _ONE_TRY, PROFILE, "PURGATORY-WATCH-SECOND-TRY", OneTryPurgatory
    ),
    _profile_subject("check_order as_watched", PROFILE, _FREE),
    _profile_subject(
        "check_order free", _FREE, PROFILE, "PURGATORY-CHECK-ORDER", NewestFirstPurgatory
    ),
    _profile_subject("check_drops as_passed", PROFILE, _AT_END, "PURGATORY-CHECK-DROPS"),
    _profile_subject(
        "check_drops at_end", _AT_END, PROFILE, "PURGATORY-CHECK-DROPS", AtEndPurgatory
    ),
    _profile_subject(
        "check_drops either", _EITHER, PROFILE, "PURGATORY-CHECK-DROPS", AtEndPurgatory
    ),
    _profile_subject(
        "check_drops everywhere", _EVERYWHERE, PROFILE, "PURGATORY-CHECK-DROPS", EagerPurgatory
    ),
    _profile_subject("already_due free", PROFILE, _NEXT_TICK, "PURGATORY-TIME-OUT"),
    _profile_subject(
        "already_due next_tick", _NEXT_TICK, PROFILE, "PURGATORY-TIME-OUT", TickerPurgatory
    ),
    _profile_subject("negative_delay already_due", _UP, _AS_ZERO, "PURGATORY-TIME-OUT"),
    _profile_subject("negative_delay as_zero", _AS_ZERO, _UP, "PURGATORY-TIME-OUT"),
    _profile_subject("negative_delay reject", _REJECT, PROFILE, "PURGATORY-WATCH-WAITS"),
    _profile_subject("negative_delay not_offered", _NO_NEGATIVE, _REJECT, "PURGATORY-WATCH-WAITS"),
    _profile_subject("throwing_try stop", _STOP, PROFILE, "PURGATORY-CHECK-THROWS"),
    _profile_subject("throwing_try go_on", PROFILE, _STOP, "PURGATORY-CHECK-THROWS"),
    _profile_subject("cancel_result whole_list", PROFILE, _LIVE, "PURGATORY-CANCEL-RESULT"),
    _profile_subject(
        "cancel_result live", _LIVE, PROFILE, "PURGATORY-CANCEL-RESULT", CancelAnswersLive
    ),
    _profile_subject("executor stepped", PROFILE, _INLINE, "PURGATORY-TIME-OUT"),
    _profile_subject("executor inline", _INLINE, PROFILE, "PURGATORY-TIME-OUT"),
    _profile_subject("rounding down", PROFILE, _UP, "PURGATORY-TIME-OUT"),
    _profile_subject("rounding up", _UP, PROFILE, "PURGATORY-TIME-OUT"),
    _profile_subject("rounding exact", _NO_TICK, PROFILE, "PURGATORY-TIME-OUT"),
    _profile_subject(
        "same_tick_order none", PROFILE, _FIFO, "PURGATORY-TIME-OUT", BackwardsPurgatory
    ),
    _profile_subject("same_tick_order fifo", _FIFO, PROFILE),
    _profile_subject("structure any", PROFILE, _WHEEL, "PURGATORY-TIME-OUT"),
    _profile_subject("structure delay_queue_wheel", _WHEEL, PROFILE, "", WheelPurgatory),
)


def purgatory_profile_subjects() -> tuple[ProfileSubject, ...]:
    """One subject for each value of each choice that a purgatory may declare."""
    return _PROFILE_SUBJECTS
