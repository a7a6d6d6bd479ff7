"""A thread's turn: the state that it finds, itself in it, and the ways on that all calls share.

A call *goes on* where a walk has more to look at, and *ends* otherwise; what is owed is posted
before it returns. Whoever wins the word of an operation goes *towards the callback*, and posts
before that.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

from immutables import Map

from purgatory_model.concurrent.exact.instance import ExactInstance
from purgatory_model.concurrent.exact.state import (
    NO_OPERATION,
    Bag,
    Delayed,
    ExactState,
    Stage,
    Thread,
)

Choice: TypeAlias = tuple[tuple[str | int, ...], ExactState]
"""The choices of a step, and the state after it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A thread and the state in which it takes its next step.

    Attributes:
        instance: The instance that the thread belongs to.
        state: The state before the step.
        name: The thread's name.
        me: The thread.
    """

    instance: ExactInstance
    state: ExactState
    name: str
    me: Thread

    @property
    def walks(self) -> bool:
        """Decide whether the thread is in a check."""
        return self.me.key is not None

    def as_if(self, me: Thread) -> "Turn":
        """Return the turn with another state of the thread."""
        return Turn(self.instance, self.state, self.name, me)

    def after(self, me: Thread) -> ExactState:
        """Return the state with this thread, and shared memory unchanged."""
        return replace(self.state, threads=self.state.threads.set(self.name, me))

    def operation(self, number: int) -> Delayed:
        """Return an operation of the state."""
        return self.state.operations[number]

    def with_operation(self, number: int, operation: Delayed) -> Map[int, Delayed]:
        """Return the operations of the state with one operation changed."""
        return self.state.operations.set(number, operation)

    def has(self, feature: str) -> bool:
        """Decide whether the instance has a feature."""
        return feature in self.instance.features

    def is_variant(self, variant: str) -> bool:
        """Decide whether the instance follows a variant."""
        return variant in self.instance.variants

    def bag(self, operations: Bag) -> Bag:
        """Return the bag in normal form: unchanged where lists are ordered, otherwise sorted."""
        return operations if self.instance.ordered else tuple(sorted(operations))

    def noted(self, operations: Bag) -> Thread:
        """Return the thread with further notes about its call's result."""
        if not self.instance.programs:
            return self.me
        return replace(self.me, about=self.me.about + operations)

    def noted_failure(self) -> Thread:
        """Return the thread with a failure that its call will raise in the end."""
        return replace(self.me, failed=True) if self.instance.programs else self.me


def returned(me: Thread) -> Thread:
    """Return a thread whose call is over."""
    return replace(me, stage="idle", operation=NO_OPERATION, key=None, about=(), failed=False)


def ended(me: Thread) -> Thread:
    """Return a thread at the end of its call, which posts its balance first."""
    if me.balance == 0:
        return returned(me)
    return replace(me, stage="settle", operation=NO_OPERATION)


def gone_on(me: Thread) -> Thread:
    """Return a thread that has dealt with an operation; a walk goes on with the next entry."""
    if me.key is not None and me.batch:
        return replace(me, stage="walk", operation=NO_OPERATION)
    return ended(me)


def towards_callback(balance: int) -> Stage:
    """Return the winner's next stage: it posts its balance before it runs the callback."""
    return "call-back" if balance == 0 else "post"


def won(turn: Turn, number: int) -> ExactState:
    """Return the state after a thread has won a word: completed, with its entries taken out.

    Rules: PURGATORY-EXACTLY-ONCE, PURGATORY-STALE-ENTRIES.
    """
    operation = turn.operation(number)
    me = turn.noted((number,))
    balance = me.balance + operation.entries
    drops = turn.walks and not turn.is_variant("own-entry-stays")
    stage: Stage = "drop-own" if drops else towards_callback(balance)
    return replace(
        turn.after(replace(me, stage=stage, operation=number, balance=balance)),
        operations=turn.with_operation(number, replace(operation, completed=True, entries=0)),
    )


def tried_and_won(turn: Turn, number: int) -> ExactState | None:
    """Return the state after a successful try, or after its first half, or None."""
    if turn.operation(number).completed or not turn.instance.condition(turn.state, number):
        return None
    if turn.has("evaluate-then-win") or turn.is_variant("test-then-set"):
        return turn.after(replace(turn.me, stage="win", operation=number))
    return won(turn, number)


def may_raise(turn: Turn, number: int) -> bool:
    """Decide whether a try of an operation may raise."""
    operation = turn.operation(number)
    return turn.has("throwing-try") and not operation.raised and not operation.completed


def raising(turn: Turn, number: int) -> Map[int, Delayed]:
    """Return all operations, once a try of one of them, or its appending, has raised."""
    return turn.with_operation(number, replace(turn.operation(number), raised=True))
