"""The bundled purgatory behind the step vocabulary: virtual clock, stepped or inline executor.

Delays are given in the two forms that the timer's are given in. A purgatory is shut down by the end
of a ``with`` statement, and closed at the end of a case.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal

import msgspec

from purgatory_conformance.subjects.bundled.calls import (
    NamedOperation,
    Refused,
    TellingExecutor,
    VirtualTime,
    call_purgatory,
)
from purgatory_conformance.subjects.bundled.timer import (
    ScriptFailure,
    failure_of,
    in_two_forms,
)
from purgatory_conformance.subjects.dropped import Dropped
from purgatory_conformance.subjects.other_thread import OtherThread
from purgatory_impl import (
    InlineExecutor,
    Purgatory,
    PurgatoryError,
    Task,
    Timer,
    VirtualClock,
)
from purgatory_judge.components import narrowed
from purgatory_spec import operations as op
from purgatory_spec import outcomes, profiles
from purgatory_spec.reasons import Reason

PROFILE = profiles.PurgatoryProfile(
    accounting=profiles.Accounting.EXACT,
    purge_due=profiles.PurgeDue.AMORTISED,
    check_drops=profiles.CheckDrops.AS_PASSED,
    throwing_try=profiles.ThrowingTry.GO_ON,
    severe_throw=profiles.SevereThrow.AS_ORDINARY,
    executor=profiles.Executor.STEPPED,
    structure=profiles.Structure.DELAY_QUEUE_WHEEL,
    release_cancelled=profiles.ReleaseCancelled.AT_ONCE,
    features=frozenset(profiles.PurgatoryFeature),
    observables=frozenset(profiles.PurgatoryObservable),
)
"""The profile of the bundled purgatory: everything that the suite can ask for."""

FIXED_PROFILE = msgspec.structs.replace(PROFILE, purge_due=profiles.PurgeDue.FIXED)
"""The profile of a purgatory that purges at the purge interval, whatever lives."""

PROPOSAL_PROFILE = msgspec.structs.replace(FIXED_PROFILE, accounting=profiles.Accounting.PROPOSAL)
"""The profile of a purgatory with the published accounting, and its interval."""

INLINE_PROFILE = msgspec.structs.replace(PROFILE, executor=profiles.Executor.INLINE)
"""The profile of a purgatory whose time-outs run in the thread that made them expire."""


class _ScriptedOperation(NamedOperation):
    """An operation with a name, which records its callbacks and carries out its script."""

    def __init__(
        self, name: str, delay_ms: int, script: op.Script, instance: "PurgatoryInstance"
    ) -> None:
        super().__init__(name, in_two_forms(delay_ms))
        self.script = script
        self._tries = 0
        self._instance = instance

    def try_complete(self) -> bool:
        self._instance.events.append(outcomes.tried(self.name))
        answers, acts = self.script.tries, self.script.on_try
        number = self._tries
        self._tries += 1
        answer = answers[min(number, len(answers) - 1)] if answers else op.Answer.WAIT
        completes = self.satisfied or answer is op.Answer.COMPLETE
        if number < len(acts):
            self._act(acts[number])
        if completes:
            return self.force_complete()
        if answer.throws:
            raise failure_of(answer.sort)
        return False

    def on_complete(self) -> None:
        self._instance.events.append(outcomes.completed(self.name))
        self._instance.callback_timer_size = self._instance.purgatory.timer_size
        self._act(self.script.on_complete)

    def on_expiration(self) -> None:
        self._instance.events.append(outcomes.timed_out(self.name))
        self._act(self.script.on_expiration)

    def _act(self, actions: tuple[op.CallbackAction, ...]) -> None:
        for action in actions:
            if isinstance(action, op.Throw):
                raise failure_of(action.sort)
            if isinstance(action, op.Meanwhile):
                self._instance.other_thread.call(partial(self._act_once, action.call))
            else:
                self._act_once(action)

    def _act_once(self, action: op.CallbackAction) -> None:
        rejected = _reason_of(partial(self._instance.act, action))
        if rejected is not None:
            event = outcomes.Event(outcomes.EventKind.REJECTED, self.name, reason=rejected)
            self._instance.events.append(event)


class PurgatoryInstance:
    """A purgatory with timer, clock and executor, and the operations that steps have named."""

    def __init__(
        self,
        configuration: profiles.Configuration,
        accounting: Literal["exact", "proposal"] = "exact",
        purge_due: Literal["amortised", "fixed"] = "amortised",
        *,
        inline: bool = False,
    ) -> None:
        """Make a fresh purgatory, with a stepped executor or an inline one."""
        given = narrowed(configuration, profiles.PurgatoryConfiguration)
        self.events: list[outcomes.Event] = []
        self.other_thread = OtherThread()
        self.callback_timer_size: int | None = None
        self.clock = VirtualClock(given.start_ms)
        # What goes to an inline executor has run in the same step: only the run is an event.
        self.executor = InlineExecutor() if inline else TellingExecutor(self._handed_over)
        self.timer = Timer(
            tick_ms=given.tick_ms,
            wheel_size=given.wheel_size,
            clock=self.clock,
            executor=self.executor,
        )
        self.purgatory: Purgatory[str] = Purgatory(
            purge_interval=given.purge_interval,
            timer=self.timer,
            time_outs=given.time_outs,
            accounting=accounting,
            purge_due=purge_due,
        )
        self._time = VirtualTime(self.clock, self.executor)
        self._operations: dict[str, _ScriptedOperation] = {}
        self._dropped = Dropped()

    def introduce(
        self, name: str, delay_ms: int = 0, script: op.Script | None = None
    ) -> _ScriptedOperation:
        """Return the operation of this name; a known operation keeps its delay and script."""
        if name not in self._operations:
            made = _ScriptedOperation(name, delay_ms, script or op.Script(), self)
            self._operations[name] = made
        return self._operations[name]

    def act(self, action: op.CallbackAction) -> None:
        """Carry out one action of a callback: the call that does the same from outside."""
        call = op.from_outside(action)
        if call is None:
            raise ValueError(f"no single call: {action}")
        self._perform(call)

    def do(self, operation: op.Operation) -> outcomes.Outcome:
        """Carry out one operation and return its outcome."""
        self.events.clear()
        self.callback_timer_size = None
        results: list[outcomes.Value] = []
        rejected = _reason_of(lambda: results.append(self._perform(operation)))
        self.other_thread.end_step()
        result = results[0] if results else None
        return outcomes.Outcome(result, rejected, tuple(self.events), self._observe())

    def close(self) -> None:
        """Close the purgatory and its timer."""
        self.purgatory.close()
        self.timer.close()

    def _handed_over(self, task: Task) -> None:
        assert isinstance(task, _ScriptedOperation)
        self.events.append(outcomes.expired(task.name))

    def _perform(self, operation: op.Operation) -> outcomes.Value:
        if isinstance(operation, op.Watch):
            self.introduce(operation.operation, operation.delay_ms, operation.script)
        if isinstance(operation, op.Reachable):
            return self._dropped.is_reachable(self._operations, operation.task)
        return call_purgatory(self.purgatory, self.introduce, operation, self._time)

    def _observe(self) -> dict[str, outcomes.Value]:
        purgatory = self.purgatory
        listed = [each for operations in purgatory.watched().values() for each in operations]
        stale = [each for each in listed if each.is_completed]
        return {
            "entries": purgatory.entries,
            "keys": purgatory.keys,
            "stale_entries": len(stale),
            "stale_operations": len(set(map(id, stale))),
            "timer_size": purgatory.timer_size,
            "queued": self.executor.queued,
            "pending": purgatory.pending,
            "estimate": purgatory.estimate,
            "callback_timer_size": self.callback_timer_size,
        }


def proposal_instance(configuration: profiles.Configuration) -> PurgatoryInstance:
    """Return a purgatory with the accounting as published, and its interval."""
    return PurgatoryInstance(configuration, "proposal", "fixed")


def fixed_instance(configuration: profiles.Configuration) -> PurgatoryInstance:
    """Return a purgatory that purges at the purge interval, however much is live."""
    return PurgatoryInstance(configuration, purge_due="fixed")


def _reason_of(call: Callable[[], object]) -> Reason | None:
    """Return the reason for which a call was refused, or that a script's exception left it."""
    try:
        call()
    except PurgatoryError as error:
        return error.reason
    except Refused:
        return Reason.REFUSED
    except ScriptFailure:
        return Reason.THROWN
    return None
