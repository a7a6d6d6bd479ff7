"""The old design behind the step vocabulary: virtual clock, time-outs in the step that is due."""

from collections.abc import Callable, Mapping
from functools import partial

from purgatory_conformance.subjects.in_process import InProcessSubject
from purgatory_impl import PurgatoryError, VirtualClock
from purgatory_judge.components import narrowed
from purgatory_lab.benchmarks.baselines import DelayedOperation, Purgatory
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.messages import Implementation
from purgatory_spec.outcomes import Event, EventKind, Outcome, Value, completed, timed_out, tried
from purgatory_spec.reasons import Reason

FEATURES = frozenset(
    {
        profiles.PurgatoryFeature.FORCE,
        profiles.PurgatoryFeature.DUPLICATE_KEYS,
        profiles.PurgatoryFeature.ELAPSE,
        profiles.PurgatoryFeature.SHUTDOWN,
        profiles.PurgatoryFeature.SCRIPT_THROW,
        profiles.PurgatoryFeature.SCRIPT_WATCH,
        profiles.PurgatoryFeature.SCRIPT_CHECK,
        profiles.PurgatoryFeature.SCRIPT_FORCE,
    }
)
"""All that the old design has; it has no ``cancel_for_key``, no watching twice, and time-outs."""

LISTS = frozenset(
    {
        profiles.PurgatoryObservable.ENTRIES,
        profiles.PurgatoryObservable.KEYS,
        profiles.PurgatoryObservable.STALE_ENTRIES,
        profiles.PurgatoryObservable.STALE_OPERATIONS,
    }
)
"""The counts of lists; ``pending`` and ``estimate`` the old design never had."""

NEVER_HAD: Mapping[str, str] = {
    "PURGATORY-TIMER-LEFT": "a completed operation stays in the delay queue until it is due",
    "PURGATORY-PURGE-START": "a purge goes by the size of lists and queue, not by what is stale",
}
"""The rules that the old design breaks, each with the reason; no other is excused."""


class ScriptFailure(Exception):
    """The exception that a script throws."""


class _ScriptedOperation(DelayedOperation):
    def __init__(self, name: str, delay_ms: int, script: op.Script, owner: "_Instance") -> None:
        super().__init__(delay_ms)
        self.name = name
        self.script = script
        self.satisfied = False
        self._tries = 0
        self._owner = owner

    def try_complete(self) -> bool:
        self._owner.events.append(tried(self.name))
        answer = op.Answer.WAIT
        if self.script.tries:
            self._tries = min(self._tries + 1, len(self.script.tries))
            answer = self.script.tries[self._tries - 1]
        if self.satisfied or answer is op.Answer.COMPLETE:
            return self.force_complete()
        if answer is op.Answer.THROW:
            raise ScriptFailure
        return False

    def on_complete(self) -> None:
        self._owner.events.append(completed(self.name))
        self._act(self.script.on_complete)

    def on_expiration(self) -> None:
        self._owner.events.append(timed_out(self.name))
        self._act(self.script.on_expiration)

    def _act(self, actions: tuple[op.CallbackAction, ...]) -> None:
        for action in actions:
            if isinstance(action, op.Throw):
                raise ScriptFailure
            rejected = _reason_of(partial(self._owner.act, action))
            if rejected is not None:
                self._owner.events.append(Event(EventKind.REJECTED, self.name, reason=rejected))


class _Instance:
    """One purgatory; with ``by_stale`` its purges are made from here, when the exact rule says."""

    def __init__(self, configuration: profiles.Configuration, *, by_stale: bool = False) -> None:
        given = narrowed(configuration, profiles.PurgatoryConfiguration)
        self.events: list[Event] = []
        self._tick_ms = given.tick_ms
        self._clock = VirtualClock(given.start_ms)
        self._most_stale = given.purge_interval if by_stale else None
        interval = 10**9 if by_stale else given.purge_interval
        self._purgatory: Purgatory[str] = Purgatory(purge_interval=interval, clock=self._clock)
        self._operations: dict[str, _ScriptedOperation] = {}

    def do(self, operation: op.Operation) -> Outcome:
        self.events.clear()
        results: list[Value] = []
        rejected = _reason_of(lambda: results.append(self._perform(operation)))
        result = results[0] if results else None
        return Outcome(result, rejected, tuple(self.events), self._observe())

    def close(self) -> None:
        self._purgatory.close()

    def act(self, action: op.CallbackAction) -> None:
        match action:
            case op.WatchInside(name, keys, delay_ms):
                operation = self._introduce(name, delay_ms)
                self._purgatory.try_complete_else_watch(operation, keys)
            case op.CheckInside(key):
                self._purgatory.check_and_complete(key)
            case op.ForceInside(name):
                self._introduce(name).force_complete()
            case _:
                raise ValueError(f"the old design has no such action: {action}")

    def _introduce(
        self, name: str, delay_ms: int = 0, script: op.Script | None = None
    ) -> _ScriptedOperation:
        """The operation of this name; its time-out ends with the tick that the suite asks for."""
        if name not in self._operations:
            now_ms = self._clock.now_ms()
            expiry_ms = (now_ms + delay_ms) // self._tick_ms * self._tick_ms
            made = _ScriptedOperation(name, expiry_ms - now_ms, script or op.Script(), self)
            self._operations[name] = made
        return self._operations[name]

    def _perform(self, operation: op.Operation) -> Value:
        match operation:
            case op.Watch(name, keys, delay_ms, script):
                watched = self._introduce(name, delay_ms, script)
                return self._purgatory.try_complete_else_watch(watched, keys)
            case op.Check(key):
                return self._purgatory.check_and_complete(key)
            case op.Force(name):
                return self._introduce(name).force_complete()
            case op.Satisfy(name):
                self._introduce(name).satisfied = True
            case op.Elapse(to_ms):
                self._clock.set_ms(to_ms)
            case op.Advance(to_ms):
                self._clock.set_ms(to_ms)
                self._purgatory.advance()
                self._purge_if_stale()
            case op.Shutdown():
                self._purgatory.close()
            case _:
                raise ValueError(f"the old design has no such operation: {operation}")
        return None

    def _purge_if_stale(self) -> None:
        if self._most_stale is not None and len(self._stale()) > self._most_stale:
            self._purgatory.purge()

    def _stale(self) -> list[DelayedOperation]:
        lists = self._purgatory.watched().values()
        return [each for operations in lists for each in operations if each.is_completed]

    def _observe(self) -> dict[str, Value]:
        stale = self._stale()
        return {
            "entries": self._purgatory.entries,
            "keys": self._purgatory.keys,
            "stale_entries": len(stale),
            "stale_operations": len(set(map(id, stale))),
            "timer_size": self._purgatory.delayed,
        }


def old_design_subject(
    observables: frozenset[profiles.PurgatoryObservable] = frozenset(), *, by_stale: bool = False
) -> InProcessSubject:
    profile = profiles.PurgatoryProfile(
        check_drops=profiles.CheckDrops.AS_PASSED,
        accounting=profiles.Accounting.EXACT,
        throwing_try=profiles.ThrowingTry.STOP,
        executor=profiles.Executor.INLINE,
        features=FEATURES,
        observables=observables,
    )
    return InProcessSubject(
        Implementation(name="old design", version="0.8", language="Python"),
        {profiles.Component.PURGATORY: profile},
        partial(_Instance, by_stale=by_stale),
    )


def _reason_of(call: Callable[[], object]) -> Reason | None:
    try:
        call()
    except PurgatoryError as error:
        return error.reason
    except ScriptFailure:
        return Reason.THROWN
    return None
