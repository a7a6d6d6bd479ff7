"""A divergent step beside what was expected of it: the facts by which a rule is named."""

from dataclasses import dataclass

from purgatory_judge.timer.history import History, State
from purgatory_model.step import Expectation
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Event, Outcome
from purgatory_spec.profiles import Executor

_RULES_OF_ACTIONS = (
    (op.Throw, "TIMER-THROWING-TASK"),
    (op.AdvanceInside, "TIMER-ADVANCE-INSIDE"),
    (op.AddInside, "TIMER-ADD-INSIDE"),
    (op.CancelInside, "TIMER-CANCEL-INSIDE"),
)


def throws(script: tuple[op.Action, ...]) -> bool:
    """Decide whether a task of this script throws."""
    return any(isinstance(action, op.Throw) for action in script)


def rule_of_sign(delay_ms: int) -> str | None:
    """Return the rule about a delay that is no span of time, if it is none."""
    if delay_ms < 0:
        return "TIMER-NEGATIVE-DELAY"
    return "TIMER-ZERO-DELAY" if delay_ms == 0 else None


@dataclass(frozen=True, slots=True)
class DivergentStep:
    """A divergent step beside the nearest expectation: its events, one after another, its state."""

    history: History
    before: State
    operation: op.Operation
    outcome: Outcome
    nearest: Expectation[State]
    events: tuple[Event, ...]
    after: State

    @property
    def now_ms(self) -> int:
        """Return the clock's reading during the step."""
        return self.after.now_ms

    @property
    def is_stepped(self) -> bool:
        """Decide whether running a task is a step of its own."""
        return self.history.model.profile.executor is Executor.STEPPED

    @property
    def has_thrown(self) -> bool:
        """Decide whether a task has thrown, or may have in this step."""
        running = () if self.is_stepped else (event.task for event in self.events)
        scripts = (self.before.scripts.get(task, ()) for task in running)
        return self.history.thrown or any(map(throws, scripts))

    @property
    def script_rule(self) -> str | None:
        """Return the rule about what the running task does, if its script does anything."""
        return self.action_rule if isinstance(self.operation, op.RunOne) else None

    @property
    def action_rule(self) -> str | None:
        """Return the rule about what the tasks do that run in this step, if they do anything."""
        for kind, rule in _RULES_OF_ACTIONS:
            if any(isinstance(action, kind) for action in self._actions):
                return rule
        return None

    @property
    def added_inside(self) -> dict[str, int]:
        """Return the tasks added by the tasks that run in this step, with their delays in ms."""
        return {
            action.task: action.delay_ms
            for action in self._actions
            if isinstance(action, op.AddInside)
        }

    def is_added_by_a_task(self, task: str) -> bool:
        """Decide whether the script of some task adds a task of this name."""
        actions = (action for script in self.before.scripts.values() for action in script)
        return any(isinstance(each, op.AddInside) and each.task == task for each in actions)

    @property
    def is_size_too_large(self) -> bool:
        """Decide whether more tasks are counted as pending than are."""
        size = self.outcome.observed.get("size")
        return isinstance(size, int) and size > len(self.after.store.due_ticks)

    @property
    def cancels_inside(self) -> bool:
        """Decide whether a task that runs in this step cancels a task."""
        return any(isinstance(action, op.CancelInside) for action in self._actions)

    @property
    def _actions(self) -> tuple[op.Action, ...]:
        """Return the actions of the running tasks: of expired ones, where no step runs them."""
        running: tuple[str, ...] = ()
        if isinstance(self.operation, op.RunOne):
            running = self.before.queue[:1]
        elif not self.is_stepped:
            running = tuple(event.task for event in self.outcome.events)
        return tuple(a for task in running for a in self.before.scripts.get(task, ()))

    def rule_of_lost(self) -> str | None:
        """Return the rule of a delay whose tasks, and no others, are pending and not counted."""
        armings = self.history.armings
        due = [armings[task].delay_ms for task in self.after.store.due_ticks if task in armings]
        lost = [delay_ms for delay_ms in due if delay_ms <= 0]
        if not lost or self.outcome.observed.get("size") != len(due) - len(lost):
            return None
        return rule_of_sign(min(lost))

    def rule_of_overwritten(self) -> str | None:
        """Return the rule of a task that was added again, where its run is seen to disarm it."""
        pending, (task, *_) = self.after.store.due_ticks, (*self.before.queue, "")
        if task not in pending or self.outcome.observed.get("size") != len(pending) - 1:
            return None
        arming = self.history.armings.get(task)
        return "TIMER-READD-FIRED" if arming and "TIMER-READD-FIRED" in arming.rules else None

    def rule_of_readd(self, task: str) -> str | None:
        """Return the rule about adding a task again, where it was added before."""
        history = self.history
        if task in history.armings:
            return "TIMER-READD-PENDING"
        if task in history.cancelled:
            return "TIMER-READD-CANCELLED"
        return "TIMER-READD-FIRED" if task in history.expired else None

    def rule_of_cancel(self, task: str) -> str:
        """Return the rule about cancelling a task in the state in which it was."""
        history = self.history
        if task in history.armings:
            return "TIMER-CANCEL"
        if task in self.before.queue:
            return "TIMER-CANCEL-TOO-LATE"
        if task in history.cancelled:
            return "TIMER-CANCEL-AGAIN"
        return "TIMER-CANCEL-FIRED" if task in history.expired else "TIMER-CANCEL-UNKNOWN"
