"""The common part of concurrent models: threads, labelled steps, and histories of runs.

A concurrent model is a labelled transition system like any other, but its steps are smaller: one
access to shared memory each, by one thread. A *history* is what can be seen from outside: calls,
returns and callbacks, in the order in which they happen.

What is done with such a model: run given calls over it (``programs``), list the histories that
come of them (``histories``), and ask whether the sequential rules explain them
(``linearizability``; of one delayed operation ``projection``).
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

from purgatory_spec.operations import Operation
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.reasons import Reason


@dataclass(frozen=True, slots=True)
class Step:
    """The label of a step: the action by its name in TLA+, then its arguments, the thread first.

    What the action chooses (a key, a size) is an argument as well, so that two steps that differ
    in their choice alone differ in their label.
    """

    action: str
    arguments: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Called:
    """A thread begins a call, in the words of the step vocabulary."""

    thread: str
    operation: Operation


@dataclass(frozen=True, slots=True)
class Happened:
    """A callback or another event, in the thread in which it happens."""

    thread: str
    event: Event


@dataclass(frozen=True, slots=True)
class Returned:
    """A thread's call is over, with a result or with a reason why not."""

    thread: str
    result: Value = None
    raised: Reason | None = None


HistoryEvent: TypeAlias = Called | Happened | Returned

History: TypeAlias = tuple[HistoryEvent, ...]
"""The visible events of a run, in the order in which they happened."""

State = TypeVar("State", bound=Hashable)


class LabelledSteps(Protocol[State]):
    """States, and the labelled steps between them."""

    def initial(self) -> State:
        """Return the state in which every run begins."""

    def steps(self, state: State) -> Iterator[tuple[Step, State]]:
        """Yield the labelled steps that leave a state."""


class ConcurrentModel(LabelledSteps[State], Protocol[State]):
    """A model whose steps are single accesses to shared memory."""

    def history(self, before: State, step: Step, after: State) -> tuple[HistoryEvent, ...]:
        """Return the visible events of a step; mostly none."""


def thread_of(step: Step) -> str:
    """Return the thread that takes a step: the label's first argument.

    Raises:
        ValueError: the label does not begin with the name of a thread.
    """
    thread = step.arguments[0] if step.arguments else None
    if not isinstance(thread, str):
        raise ValueError(
            f"the label {step.action}{step.arguments} names no thread: "
            "the first argument of a step has to be the thread that takes it"
        )
    return thread
