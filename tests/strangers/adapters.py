"""Adapters that a stranger would write between an own design and the suite: calls become steps."""

# Nothing of a design is known here but the few methods that each component has in any language, and
# what a design raises when it refuses.

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from typing import Protocol
from unittest.mock import patch

from purgatory_conformance.subjects.other_thread import OtherThread
from purgatory_spec import operations as op
from purgatory_spec import outcomes
from purgatory_spec.reasons import Reason


class ScriptFailure(Exception):
    """The user's own code fails."""


REASONS: tuple[tuple[type[Exception], Reason], ...] = (
    (ScriptFailure, Reason.THROWN),
    (NotImplementedError, Reason.UNSUPPORTED),
    (OverflowError, Reason.TOO_LARGE),
    (KeyError, Reason.UNKNOWN_NAME),
    (MemoryError, Reason.NO_MEMORY),
    (ValueError, Reason.INVALID_ARGUMENT),
)
"""The exceptions of a design that refuses, with the reason that stands for each."""


class Instance(ABC):
    """One instance of a design: the events of a step are gathered while the design is called."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.events: list[outcomes.Event] = []
        self.other_thread = OtherThread(grace_s=0.02)

    def do(self, operation: op.Operation) -> outcomes.Outcome:
        """Carry out an operation; what the design refuses is rejected."""
        self.events = []
        try:
            result = self.called(operation)
        except Exception as error:
            return outcomes.Outcome(
                rejected=reason_of(error),
                events=tuple(self.events),
                observed=self.shown(),
                detail=repr(error),
            )
        return outcomes.Outcome(result, events=tuple(self.events), observed=self.shown())

    def called(self, operation: op.Operation) -> outcomes.Value:
        """Call the design, and let another thread finish what it calls meanwhile."""
        try:
            return self.call(operation)
        finally:
            self.other_thread.end_step()

    @abstractmethod
    def call(self, operation: op.Operation) -> outcomes.Value:
        """Call the design."""

    def shown(self) -> dict[str, outcomes.Value]:
        """The observables."""
        return {}

    def act_all(self, name: str, actions: Iterable[object]) -> None:
        """Act as a script says; what is refused is an event, and the script goes on."""
        for action in actions:
            if isinstance(action, op.Throw):
                raise ScriptFailure
            if isinstance(action, op.Meanwhile):
                self.other_thread.call(partial(self.act_once, name, action.call))
            else:
                self.act_once(name, action)

    def act_once(self, name: str, action: object) -> None:
        """One action; what is refused is an event."""
        try:
            self.act(action)
        except Exception as error:
            self.events.append(
                outcomes.Event(outcomes.EventKind.REJECTED, name, reason=reason_of(error))
            )

    def act(self, action: object) -> None:
        """One action of a script; a design that runs no scripts refuses it."""
        raise NotImplementedError(repr(action))

    def close(self) -> None:
        """Let go of what was gathered."""
        self.events = []


def reason_of(error: Exception) -> Reason:
    """Return the reason of a refusal; an exception that is raised by mistake is ``internal``."""
    return next((r for kind, r in REASONS if isinstance(error, kind)), Reason.INTERNAL)


class Timer(Protocol):
    """A timer of any design: it runs what is due when it is advanced."""

    run: Callable[[str], None]
    """Called with each task that expires."""

    def add(self, task: str, delay_ms: int) -> None:
        """Arm a task, or move its arming."""

    def cancel(self, task: str) -> None:
        """Disarm a task."""

    def elapse(self, now_ms: int) -> None:
        """Set the clock."""

    def advance(self) -> None:
        """Expire what is due."""

    def size(self) -> int:
        """The number of pending tasks."""


class TimerInstance(Instance):
    """A timer behind the steps; callbacks may add and cancel."""

    def __init__(self, timer: Timer) -> None:
        """Every task that runs is told to this adapter."""
        super().__init__()
        self.timer = timer
        self.timer.run = self.run
        self.scripts: dict[str, tuple[object, ...]] = {}

    def run(self, task: str) -> None:
        """Run a task: what its script throws stays here."""
        self.events.append(outcomes.ran(task))
        try:
            self.act_all(task, self.scripts.get(task, ()))
        except ScriptFailure:
            return

    def call(self, operation: op.Operation) -> outcomes.Value:
        """Call the timer."""
        match operation:
            case op.Add(task, delay_ms, script):
                before = self.scripts.get(task, ())
                self.scripts[task] = script
                try:
                    self.timer.add(task, delay_ms)
                except Exception:
                    self.scripts[task] = before
                    raise
            case op.Cancel(task):
                self.timer.cancel(task)
            case op.Elapse(to_ms):
                self.timer.elapse(to_ms)
            case op.Advance(to_ms):
                self.timer.elapse(to_ms)
                self.timer.advance()
            case _:
                raise NotImplementedError(op.operation_name(operation))
        return None

    def act(self, action: object) -> None:
        """A running task adds and cancels."""
        match action:
            case op.AddInside(task, delay_ms):
                self.timer.add(task, delay_ms)
            case op.CancelInside(task):
                self.timer.cancel(task)
            case _:
                raise NotImplementedError(repr(action))

    def shown(self) -> dict[str, outcomes.Value]:
        """The size."""
        return {"size": self.timer.size()}


class Delayed:
    """A delayed operation as a user of a purgatory writes one: three methods and a delay."""

    def __init__(self, purgatory: "PurgatoryInstance", name: str, delay_ms: int, script: op.Script):
        """It waits until it is satisfied, or until its script completes it."""
        self.purgatory, self.name, self.delay_ms, self.script = purgatory, name, delay_ms, script
        self.answers, self.acts = list(script.tries), list(script.on_try)
        self.satisfied = False

    def can_complete(self) -> bool:
        """Decide whether the operation can be completed now."""
        self.purgatory.events.append(outcomes.tried(self.name))
        answer = op.Answer.WAIT
        if self.answers:
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        completes = self.satisfied or answer is op.Answer.COMPLETE
        if self.acts:
            self.purgatory.act_all(self.name, self.acts.pop(0))
        if completes:
            return True
        if answer is op.Answer.THROW:
            raise ScriptFailure
        return False

    def on_complete(self) -> None:
        """The operation was completed."""
        self.purgatory.events.append(outcomes.completed(self.name))
        self.purgatory.act_all(self.name, self.script.on_complete)

    def on_expiration(self) -> None:
        """The operation was completed by its time-out."""
        self.purgatory.events.append(outcomes.timed_out(self.name))
        self.purgatory.act_all(self.name, self.script.on_expiration)


class Purgatory(Protocol):
    """A purgatory of any design."""

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        """Complete an operation, or watch it."""

    def check(self, key: str) -> int:
        """Complete what can be completed under a key."""

    def force(self, operation: Delayed) -> bool:
        """Complete an operation."""

    def cancel(self, key: str) -> list[str]:
        """Watch nothing under a key any longer."""

    def elapse(self, now_ms: int) -> None:
        """Set the clock."""

    def advance(self) -> None:
        """Complete what is due."""

    def entries(self) -> int:
        """The lengths of all lists, together."""


class PurgatoryInstance(Instance):
    """A purgatory behind the steps."""

    def __init__(self, purgatory: Purgatory) -> None:
        """Operations are made when they are first named."""
        super().__init__()
        self.purgatory = purgatory
        self.operations: dict[str, Delayed] = {}

    def named(self, name: str, delay_ms: int = 0, script: op.Script | None = None) -> Delayed:
        """The operation of a name."""
        if name not in self.operations:
            self.operations[name] = Delayed(self, name, delay_ms, script or op.Script())
        return self.operations[name]

    def watch(self, operation: Delayed, keys: tuple[str, ...]) -> bool:
        """Hand a design an operation with a key at least; none is refused for all of them."""
        if not keys:
            raise ValueError("at least one key")
        return self.purgatory.watch(operation, keys)

    def call(self, operation: op.Operation) -> outcomes.Value:
        """Call the purgatory."""
        match operation:
            case op.Watch(name, keys, delay_ms, script):
                return self.watch(self.named(name, delay_ms, script), keys)
            case op.Check(key):
                return self.purgatory.check(key)
            case op.Force(name):
                return self.purgatory.force(self.named(name))
            case op.CancelForKey(key):
                return tuple(self.purgatory.cancel(key))
            case op.Satisfy(name):
                self.named(name).satisfied = True
            case op.Elapse(to_ms):
                self.purgatory.elapse(to_ms)
            case op.Advance(to_ms):
                self.purgatory.elapse(to_ms)
                self.purgatory.advance()
            case _:
                raise NotImplementedError(op.operation_name(operation))
        return None

    def act(self, action: object) -> None:
        """A callback watches, checks, cancels and forces."""
        match action:
            case op.WatchInside(name, keys, delay_ms):
                self.watch(self.named(name, delay_ms), keys)
            case op.CheckInside(key):
                self.purgatory.check(key)
            case op.ForceInside(name):
                self.purgatory.force(self.named(name))
            case op.CancelForKeyInside(key):
                self.purgatory.cancel(key)
            case op.SatisfyInside(name):
                self.named(name).satisfied = True
            case _:
                raise NotImplementedError(repr(action))

    def shown(self) -> dict[str, outcomes.Value]:
        """The entries."""
        return {"entries": self.purgatory.entries()}


class MemoryPool(Protocol):
    """A memory pool of any design."""

    def ask(self, size_bytes: int) -> bytearray | None:
        """A buffer, or None."""

    def give_back(self, buffer: bytearray) -> None:
        """Release a buffer."""

    def free_bytes(self) -> int:
        """The bytes that are left."""


def no_memory(size_bytes: int) -> bytearray:
    """Raise the error of a failed allocation: a design calls this in place of ``bytearray``."""
    raise MemoryError(f"no memory for {size_bytes} bytes")


class MemoryPoolInstance(Instance):
    """A memory pool behind the steps."""

    def __init__(self, pool: MemoryPool) -> None:
        """Buffers go by their names."""
        super().__init__()
        self.pool = pool
        self.buffers: dict[str, bytearray] = {}

    def call(self, operation: op.Operation) -> outcomes.Value:
        """Call the pool."""
        match operation:
            case op.Allocate(name, size_bytes, fail):
                with patch.object(self.pool, "memory", no_memory) if fail else nullcontext():
                    buffer = self.pool.ask(size_bytes)
                if buffer is None:
                    return False
                self.buffers[name] = buffer
                return True
            case op.Release(name):
                self.pool.give_back(self.buffers[name])
            case op.Fill(name, value):
                self.buffers[name][:] = bytes([value]) * len(self.buffers[name])
            case op.Read(name):
                seen = set(self.buffers[name])
                return seen.pop() if len(seen) == 1 else -1
            case op.ReleaseForeign(size_bytes):
                self.pool.give_back(bytearray(size_bytes))
            case _:
                raise NotImplementedError(op.operation_name(operation))
        return None

    def shown(self) -> dict[str, outcomes.Value]:
        """Return the bytes that are left."""
        return {"available_bytes": self.pool.free_bytes()}
