"""A step of a purgatory with the states before and after: the facts that blame is decided by."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from purgatory_model.purgatory import PurgatoryModel
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Event, EventKind, Outcome
from purgatory_spec.profiles import Accounting, Executor, FirstTry, PurgatoryObservable

State = PurgatoryState
Model = PurgatoryModel

_RULE_OF_CALL: dict[type[op.CallInside], str] = {
    op.WatchInside: "PURGATORY-WATCH-INSIDE",
    op.CheckInside: "PURGATORY-CHECK-INSIDE",
    op.CancelForKeyInside: "PURGATORY-CANCEL-INSIDE",
    op.ForceInside: "PURGATORY-FORCE-INSIDE",
}


@dataclass(frozen=True, slots=True)
class Act:
    """A call that is made inside a callback of ``owner``, and the rule about it."""

    owner: str
    call: op.CallInside
    rule: str

    @property
    def once_completed(self) -> bool:
        """Decide whether the completed owner itself makes the call."""
        return self.rule == _RULE_OF_CALL[type(self.call)]


_LISTS = frozenset(
    {
        PurgatoryObservable.ENTRIES,
        PurgatoryObservable.KEYS,
        PurgatoryObservable.STALE_ENTRIES,
        PurgatoryObservable.STALE_OPERATIONS,
    }
)
_STALE = frozenset({PurgatoryObservable.STALE_ENTRIES, PurgatoryObservable.STALE_OPERATIONS})
_TIMER = frozenset({PurgatoryObservable.TIMER_SIZE, PurgatoryObservable.PENDING})


@dataclass(frozen=True, slots=True)
class PurgatoryStep:
    """A step with its events, and the model's states before it and after it."""

    model: Model
    before: State
    operation: op.Operation
    outcome: Outcome
    events: tuple[Event, ...]
    after: State

    @property
    def is_stepped(self) -> bool:
        """Decide whether running an expired operation is a step of its own."""
        return self.model.profile.executor is Executor.STEPPED

    @property
    def is_refused(self) -> bool:
        """Decide whether the executor refuses time-outs that are due in this step."""
        operation = self.operation
        if not isinstance(operation, op.Advance) or not (operation.refuse and self.is_stepped):
            return False
        due_ticks = self.before.timer.store.due_ticks.values()
        return any(due_tick <= operation.to_ms for due_tick in due_ticks)

    @property
    def shows_entries(self) -> bool:
        """Decide whether a change of the lists would be seen at once."""
        shown = self.model.profile.observables
        return PurgatoryObservable.ENTRIES in shown or (
            PurgatoryObservable.KEYS in shown and bool(_STALE & shown)
        )

    @property
    def shows_stale(self) -> bool:
        """Decide whether entries of completed operations would be seen at once."""
        shown = self.model.profile.observables
        exact = self.model.profile.accounting is Accounting.EXACT
        estimated = exact and PurgatoryObservable.ESTIMATE in shown
        return bool((_LISTS - {PurgatoryObservable.KEYS}) & shown) or estimated

    @property
    def shows_timer(self) -> bool:
        """Decide whether a change of the timer would be seen at once."""
        return bool(_TIMER & self.model.profile.observables) and not self.before.closed

    def tries(self, name: str) -> int:
        """Return the number of tries of an operation before its completion, if it was completed."""
        count = 0
        for event in self.events:
            if event.task == name and event.kind is EventKind.COMPLETED:
                break
            count += event.task == name and event.kind is EventKind.TRIED
        return count

    def is_at_first_try(self, name: str) -> bool:
        """Decide whether a watch has come no further than a try before it enters the lists."""
        before = self.model.profile.first_try is FirstTry.BEFORE_WATCHING
        return before and self.tries(name) == 1

    def of_kind(self, kind: EventKind) -> list[str]:
        """Return the operations of the events of one kind, in their order."""
        return [event.task for event in self.events if event.kind is kind]

    def was_completed(self, name: str) -> bool:
        """Decide whether an operation was completed before the step."""
        return name in self.before.operations and self.before.operations[name].completed

    def is_completed(self, name: str) -> bool:
        """Decide whether an operation is completed after the step."""
        return name in self.after.operations and self.after.operations[name].completed

    def is_lost_expiry(self, name: str) -> bool:
        """Decide whether an inline executor finds an operation completed as it expires."""
        if self.is_stepped or not isinstance(self.operation, op.Advance):
            return False
        due_tick = self.before.timer.store.due_ticks.get(name)
        due = due_tick is not None and due_tick <= self.after.timer.now_ms
        events = {event.kind for event in self.events if event.task == name}
        return due and EventKind.COMPLETED in events and EventKind.TIMED_OUT not in events

    def is_completable(self, name: str) -> bool:
        """Decide whether the next try of an operation completes it, as far as its script says."""
        if name not in self.before.operations:
            return False
        operation = self.before.operations[name]
        answer = _answer(operation.script, operation.tries)
        return operation.satisfied or answer is op.Answer.COMPLETE

    def is_woken(self, name: str) -> bool:
        """Decide whether an operation is completed by a try that is made because of another one."""
        ordinary = 0
        if isinstance(self.operation, op.Watch) and self.operation.operation == name:
            before = self.model.profile.first_try is FirstTry.BEFORE_WATCHING
            ordinary = 2 if before else 1
        elif isinstance(self.operation, op.Check):
            ordinary = self.before.lists.get(self.operation.key, ()).count(name)
        return name in self.of_kind(EventKind.COMPLETED) and self.tries(name) > ordinary

    def is_rewatch(self, operation: op.Watch) -> bool:
        """Decide whether an operation that waits is watched again."""
        name = operation.operation
        known = name in self.before.distinct or name in self.before.timer.store.due_ticks
        return known and not self.was_completed(name)

    def acts(self) -> Iterator[Act]:
        """Yield the calls that are made inside callbacks in this step."""
        for event, actions in self._callbacks():
            for action in actions:
                if isinstance(action, op.Throw):
                    break
                if isinstance(action, op.Meanwhile):
                    yield Act(event.task, action.call, "PURGATORY-MEANWHILE")
                elif not isinstance(action, op.SatisfyInside):
                    in_try = event.kind is EventKind.TRIED
                    rule = "PURGATORY-TRY-INSIDE" if in_try else _RULE_OF_CALL[type(action)]
                    yield Act(event.task, action, rule)

    def _callbacks(self) -> Iterator[tuple[Event, tuple[op.CallbackAction, ...]]]:
        """Yield the callbacks of this step, each as its event and the actions of its script."""
        tries: dict[str, int] = {}
        for event in self.events:
            operation = self.after.operations.get(event.task)
            if operation is None:
                continue
            match event.kind:
                case EventKind.COMPLETED:
                    yield event, operation.script.on_complete
                case EventKind.TIMED_OUT:
                    yield event, operation.script.on_expiration
                case EventKind.TRIED:
                    number = tries.get(event.task, self.tries_before(event.task))
                    tries[event.task] = number + 1
                    for actions in operation.script.on_try[number : number + 1]:
                        yield event, actions

    def throwing_tries(self) -> set[str]:
        """Return the operations a try of which throws in this step, as far as their scripts say."""
        tries: Counter[str] = Counter()
        throwing: set[str] = set()
        for name in self.of_kind(EventKind.TRIED):
            operation = self.after.operations.get(name)
            number = self.tries_before(name) + tries[name]
            tries[name] += 1
            if operation is not None and _answer(operation.script, number).throws:
                throwing.add(name)
        return throwing

    def tries_before(self, name: str) -> int:
        """Return the number of answers of an operation's script given before this step."""
        known = self.before.operations.get(name)
        return 0 if known is None else known.tries

    def throwing_callbacks(self) -> set[str]:
        """Return the operations a callback of which throws in this step."""
        return {
            event.task
            for event, actions in self._callbacks()
            if event.kind is not EventKind.TRIED and any(isinstance(a, op.Throw) for a in actions)
        }


def _answer(script: op.Script, number: int) -> op.Answer:
    """Return the answer that a script gives to a try, counted from zero; its last one goes on."""
    answers = script.tries or (op.Answer.WAIT,)
    return answers[min(number, len(answers) - 1)]
