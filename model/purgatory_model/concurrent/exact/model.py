"""The concurrent purgatory with the exact accounting: how many entries are stale is counted.

Theory of operation. A delayed operation waits in the watcher list of each of its keys until its
condition holds or its time-out is due. It has one atomic *word*: whether it is completed, and how
many list entries it has or has been promised. Whoever swaps the word has completed the operation,
takes the number out of it, and runs the callback. Its entries in the lists of other keys stay
behind: they are stale, and a purge takes them out when there are too many.

Each thread keeps a *balance*: completing adds the entries taken out of the word, taking an entry of
a completed operation out of a list subtracts one. A thread posts its balance, adds it to the shared
count, before it runs a callback and before its call returns. So at every instant the count and all
balances together are the entries of completed operations.

The calls, each step being one access to shared memory, are in ``calls``:

    watch     try; arm: into the timer, and the entries promised in the word; append to each list;
              try again
    check     the key's event; copy the list; per operation of the copy: try, and drop the entry
              of a completed one
    complete  post; leave the timer; callback
    cancel    detach the list; per operation of it: subtract, or lower the word
    purge     per list: take out what is completed
    time-out  out of the timer into the queue; taken by the executor; decided

``tla/PurgatoryExact.tla`` says the same, action for action, under the same names. What it has
beyond this is there to argue for a reduction: arming and cancelling in two steps each under a lock
of the operation, the timer last, and most of its defects.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from purgatory_model.concurrent.exact import calls
from purgatory_model.concurrent.exact.history import history
from purgatory_model.concurrent.exact.instance import (
    CALLBACK,
    EXECUTOR,
    TIMER,
    WORLD,
    ExactInstance,
)
from purgatory_model.concurrent.exact.state import ExactState, Stage, Thread
from purgatory_model.concurrent.exact.turn import Choice, Turn
from purgatory_model.overlapping.interleaving import HistoryEvent, Step

__all__ = ["ConcurrentExact", "ExactInstance", "ExactState"]

_Action: TypeAlias = Callable[[Turn], Iterator[Choice]]
_Actions: TypeAlias = Mapping[str, _Action]

_NEXT: Mapping[Stage, _Actions] = {
    "win": {"SwapWord": calls.swap_word},
    "post": {"Post": calls.post},
    "call-back": {"CallBack": calls.call_back},
    "nested": {"Resume": calls.resume},
    "settle": {"Settle": calls.settle},
    "arm": {"Arm": calls.arm},
    "insert": {
        "Insert": calls.insert,
        "StopInserting": calls.stop_inserting,
        "FailInserting": calls.fail_inserting,
    },
    "second-try": {"SecondTry": calls.second_try},
    "copy-list": {"CopyList": calls.copy_list},
    "walk": {"Walk": calls.walk, "EndWalk": calls.end_walk},
    "look-behind": {"LookBehind": calls.look_behind},
    "drop": {"Drop": calls.drop},
    "drop-own": {"Drop": calls.drop},
    "cancel": {"CancelOne": calls.cancel_one, "EndCancel": calls.end_cancel},
    "decide": {"Decide": calls.decide},
    "sweep": {"Sweep": calls.sweep},
}
"""The actions that a thread in a call may do next, by its place."""

_BEGIN: Mapping[str, _Actions] = {
    "callers": {"BeginWatch": calls.begin_watch},
    "completers": {"BeginCheck": calls.begin_check},
    "cancellers": {"BeginCancel": calls.begin_cancel},
    "forcers": {"BeginForce": calls.begin_force},
    "purgers": {"BeginPurge": calls.begin_purge},
}
"""The actions of a thread that is in no call, by the group that it belongs to."""

_NESTED: Mapping[str, tuple[str, _Action]] = {
    "re-entrant-check": ("BeginCheck", calls.begin_check),
    "re-entrant-watch": ("BeginWatch", calls.begin_watch),
    "re-entrant-cancel": ("BeginCancel", calls.begin_cancel),
}
"""The call that a callback may make, by the feature that lets it."""


@dataclass(frozen=True, slots=True)
class ConcurrentExact:
    """The concurrent purgatory of an instance."""

    instance: ExactInstance

    def initial(self) -> ExactState:
        """Return the state before any watch or event."""
        return self.instance.initial()

    def steps(self, state: ExactState) -> Iterator[tuple[Step, ExactState]]:
        """Yield the labelled steps that leave a state, of every thread and of the timer."""
        for name, me in sorted(state.threads.items()):
            turn = Turn(self.instance, state, name, me)
            for action, act in self._actions(name, me).items():
                yield from _taken(action, act, turn)
            yield from _taken("PostEarly", calls.post_early, turn)
        yield from _taken("Expire", calls.expire, Turn(self.instance, state, TIMER, Thread()))
        yield from _taken("Fall", calls.fall, Turn(self.instance, state, WORLD, Thread()))

    def history(
        self, before: ExactState, step: Step, after: ExactState
    ) -> tuple[HistoryEvent, ...]:
        """Return the visible events of a step.

        Results of calls are told where the instance is for programs; otherwise they are None.
        """
        return history(self.instance, before, step, after)

    def busy(self, state: ExactState) -> frozenset[str]:
        """Return the threads in the middle of an action; one that waits for another is not."""
        waiting = ("idle", "nested") if state.threads[CALLBACK].stage != "idle" else ("idle",)
        threads = state.threads.items()
        return frozenset(name for name, each in threads if each.stage not in waiting)

    def _actions(self, name: str, me: Thread) -> _Actions:
        """Return the next actions of a thread."""
        if me.stage == "begin":
            features = self.instance.features
            nested = dict(_NESTED[each] for each in sorted(features & _NESTED.keys()))
            return {**nested, "NestedNothing": calls.nested_nothing}
        if me.stage != "idle":
            return _NEXT[me.stage]
        if name == EXECUTOR:
            return {"Take": calls.take}
        groups = (group for group in _BEGIN if name in getattr(self.instance, group))
        return _BEGIN.get(next(groups, ""), {})


def _taken(action: str, act: _Action, turn: Turn) -> Iterator[tuple[Step, ExactState]]:
    for choice, after in act(turn):
        yield Step(action, (turn.name, *choice)), after
