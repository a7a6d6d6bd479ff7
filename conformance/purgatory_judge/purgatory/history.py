"""The history of each delayed operation: facts that tell which rules a step tests.

The model's state is all that decides whether a step is right. Which rule it is right or wrong by
depends on how the state came about: a time-out that is missing was moved when its operation was
watched again, or was kept when one of its keys was cancelled. These facts are kept here.

A *forgetful* history keeps facts only about operations that are not finished, and about keys that
have a list, so that it does not grow with the number of steps. What took a time-out from the timer
(PURGATORY-TIMER-LEFT, PURGATORY-CANCEL-LAST-KEY, PURGATORY-CANCEL-INSIDE, PURGATORY-SHUTDOWN-DROPS)
is visited then, and not when the time comes at which the operation would have expired. A rule that
would be seen only when an empty list's key is used again (PURGATORY-CANCEL-LEAVES where entries are
not shown) is not visited. An operation that is completed or expires although nothing is known of it
is put down to PURGATORY-EXACTLY-ONCE, whatever it was that had ended it.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from purgatory_judge.purgatory.step import (
    Model,
    PurgatoryStep,
    State,
)
from purgatory_judge.purgatory.visits import visits
from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_spec.reasons import Reason

__all__ = ["PurgatoryHistory", "State"]

Fact = TypeVar("Fact")


@dataclass(frozen=True, slots=True)
class Ended:
    """A time-out that ended without expiring; its due tick has not passed yet."""

    operation: str
    due_tick: int
    rule: str


@dataclass(slots=True)
class PurgatoryHistory:
    """The facts about one case so far."""

    model: Model
    forgetful: bool = False
    ended: list[Ended] = field(default_factory=list)
    marks: dict[str, set[str]] = field(default_factory=dict)
    """Rules that the time-out of an armed operation depends on."""
    unseen: dict[str, set[str]] = field(default_factory=dict)
    """Rules that the list of a key depends on, where a mistake was not to be seen at once."""
    duplicated: set[str] = field(default_factory=set)
    """Operations that were watched under a key that was given twice."""
    rewatched: set[str] = field(default_factory=set)
    completed_by: dict[str, str] = field(default_factory=dict)
    """The rule about the completion of each completed operation."""
    refused: dict[str, str] = field(default_factory=dict)
    """Operations that were not watched, or not armed, with the rule that says so."""
    cancelled: set[str] = field(default_factory=set)
    """Operations that a cancel has taken out of a list."""
    cancelled_in_queue: set[str] = field(default_factory=set)
    """Operations that lost their last key while queued in the executor."""
    thrown_in_check: set[str] = field(default_factory=set)
    thrown_in_executor: bool = False
    executor_refused: bool = False
    """True once the executor has refused a time-out."""
    purged: bool = False

    def note(
        self, before: State, operation: op.Operation, outcome: Outcome, after: State
    ) -> set[str]:
        """Take in a step that was right; returns the rules that it put to the test."""
        step = PurgatoryStep(self.model, before, operation, outcome, outcome.events, after)
        visited = set(visits(step))
        visited.update(self._expiries(step))
        visited.update(self._later(step))
        visited.update(self._refused(step))
        self._watched(step)
        self._ends(step)
        self._callbacks(step)
        if self.forgetful:
            visited.update(ended.rule for ended in self.ended if self._is_seen(step, ended))
            self.ended.clear()
        return visited

    def forget(self, after: State) -> None:
        """Drop what is known of operations that are not in the state, and of keys without list."""
        _drop_all_but(after.operations, self.marks)
        _drop_all_but(after.operations, self.completed_by)
        _drop_all_but(after.operations, self.refused)
        _drop_all_but(after.lists, self.unseen)
        for names in (self.duplicated, self.rewatched, self.cancelled, self.cancelled_in_queue):
            names.intersection_update(after.operations)
        self.thrown_in_check.intersection_update(after.lists)

    def has_forgotten(self, step: PurgatoryStep, name: str) -> bool:
        """Decide whether an operation is unknown before a step, and so may be a forgotten one."""
        return self.forgetful and name not in step.before.operations

    def _is_seen(self, step: PurgatoryStep, ended: Ended) -> bool:
        """Decide whether the expiry of an ended time-out would be visible."""
        return ended.rule != "PURGATORY-TIMER-LEFT" or step.is_stepped

    def _expiries(self, step: PurgatoryStep) -> Iterator[str]:
        """Yield rules that show when a time-out comes, or does not come any more."""
        kind = EventKind.EXPIRED if step.is_stepped else EventKind.TIMED_OUT
        for name in step.of_kind(kind):
            yield "PURGATORY-TIME-OUT"
            yield from self.marks.pop(name, ())
            if self.thrown_in_executor:
                yield "PURGATORY-EXPIRY-THROWS"
        gone = self.cancelled_in_queue & set(step.of_kind(EventKind.TIMED_OUT))
        if gone:
            self.cancelled_in_queue -= gone
            yield "PURGATORY-CANCEL-LAST-KEY"
        if isinstance(step.operation, op.Advance):
            now_ms = step.after.timer.now_ms
            for ended in self.ended:
                if ended.due_tick <= now_ms and self._is_seen(step, ended):
                    yield ended.rule
            self.ended = [ended for ended in self.ended if ended.due_tick > now_ms]

    def _refused(self, step: PurgatoryStep) -> Iterator[str]:
        """Note the time-outs that the executor refuses; yield their rule if the caller ran them."""
        if not step.is_refused:
            return
        self.executor_refused = True
        rule = "PURGATORY-EXECUTOR-REFUSES"
        if step.events:
            yield rule
        for name in step.after.timer.store.due_ticks:
            if step.after.timer.store.due_ticks[name] <= step.after.timer.now_ms:
                self.marks.setdefault(name, set()).add(rule)

    def _later(self, step: PurgatoryStep) -> Iterator[str]:
        """Yield rules that show only when a list is used again."""
        if isinstance(step.operation, op.Check | op.CancelForKey):
            yield from self.unseen.pop(step.operation.key, ())
        if isinstance(step.operation, op.Check):
            entries = step.before.lists.get(step.operation.key, ())
            live = [name for name in entries if name in step.before.live]
            if any(live.count(name) > 1 and name in self.duplicated for name in live):
                yield "PURGATORY-DUPLICATE-KEYS"
            if self.rewatched & set(live):
                yield "PURGATORY-REWATCH"

    def _watched(self, step: PurgatoryStep) -> None:
        operation = step.operation
        if not isinstance(operation, op.Watch):
            return
        name = operation.operation
        if len(set(operation.keys)) < len(operation.keys):
            self.duplicated.add(name)
        if step.outcome.rejected is Reason.CLOSED or not operation.keys:
            return
        if step.was_completed(name):
            self.refused.setdefault(name, "PURGATORY-WATCH-COMPLETED")
        elif step.is_rewatch(operation):
            self.rewatched.add(name)
            self.marks.setdefault(name, set()).add("PURGATORY-REWATCH")
        if step.outcome.rejected is Reason.THROWN and not step.is_completed(name):
            if step.is_at_first_try(name):
                self.refused[name] = "PURGATORY-FIRST-TRY-THROWS"
            else:
                self.marks.setdefault(name, set()).add("PURGATORY-SECOND-TRY-THROWS")

    def _ends(self, step: PurgatoryStep) -> None:
        """Time-outs that are gone from the timer and did not expire, and what was left unseen."""
        before, after = step.before.timer.store.due_ticks, step.after.timer.store.due_ticks
        expired = set(step.of_kind(EventKind.EXPIRED))
        for name, due_tick in () if before is after else before.items():
            if name in after or name in expired:
                continue
            from_outside = isinstance(step.operation, op.CancelForKey)
            rule = "PURGATORY-CANCEL-LAST-KEY" if from_outside else "PURGATORY-CANCEL-INSIDE"
            if isinstance(step.operation, op.Shutdown):
                rule = "PURGATORY-SHUTDOWN-DROPS"
            elif step.is_completed(name):
                rule = "PURGATORY-TIMER-LEFT"
            self.ended.append(Ended(name, due_tick, rule))
        rules = {
            act.call.key: act.rule
            for act in step.acts()
            if isinstance(act.call, op.CancelForKeyInside)
        }
        if isinstance(step.operation, op.CancelForKey):
            rules[step.operation.key] = "PURGATORY-CANCEL-LEAVES"
        for key, rule in rules.items():
            if key not in step.before.lists:
                continue
            self.cancelled.update(step.before.lists[key])
            if not step.shows_entries:
                self.unseen.setdefault(key, set()).add(rule)
            left = set(step.before.lists[key]) - step.after.distinct
            self.cancelled_in_queue |= left & set(step.before.timer.queue)
            for name in step.before.lists[key]:
                if name in after and name in step.after.distinct:
                    self.marks.setdefault(name, set()).add("PURGATORY-CANCEL-KEEPS-TIME-OUT")
        if isinstance(step.operation, op.Advance) and step.before.lists != step.after.lists:
            self.purged = True

    def _callbacks(self, step: PurgatoryStep) -> None:
        """Note the rules that completed operations, and the places where exceptions were thrown."""
        for name in step.of_kind(EventKind.COMPLETED):
            self.completed_by.setdefault(name, self._completing_rule(step, name))
        for call in (act.call for act in step.acts()):
            if isinstance(call, op.WatchInside) and len(set(call.keys)) < len(call.keys):
                self.duplicated.add(call.operation)
        if isinstance(step.operation, op.Check) and step.outcome.rejected is Reason.THROWN:
            self.thrown_in_check.add(step.operation.key)
        runs = isinstance(step.operation, op.RunOne | op.Advance)
        if runs and step.throwing_callbacks():
            self.thrown_in_executor = True

    def _completing_rule(self, step: PurgatoryStep, name: str) -> str:
        """Return the rule to blame where an operation is treated as though it was not completed."""
        if name in step.throwing_callbacks():
            return "PURGATORY-CALLBACK-THROWS"
        operation = step.operation
        if isinstance(operation, op.Watch) and operation.operation == name:
            first = step.is_at_first_try(name)
            return "PURGATORY-WATCH-FIRST-TRY" if first else "PURGATORY-WATCH-SECOND-TRY"
        for act in step.acts():
            if getattr(act.call, "operation", None) == name:
                return act.rule
        return "PURGATORY-TIMER-LEFT"


def _drop_all_but(names: Container[str], facts: dict[str, Fact]) -> None:
    for name in [name for name in facts if name not in names]:
        del facts[name]
