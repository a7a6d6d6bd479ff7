"""The calls of a purgatory's behaviour: the steps of each call, and the state's parts they touch.

============  ======================================================================================
call          its steps
============  ======================================================================================
watch         of a caller, from its first try to its return
check         of a completer, from the event to the end of its walk
cancel        of a completer or canceller, from the detached list to its last operation
force         of whoever completes an operation by force
run           of the executor, from taking an operation to the end of its callbacks
advance       expiries that follow each other, and the purge pass after them; or a pass alone
============  ======================================================================================

An ``advance`` of the step vocabulary purges where a purge is due, so expiries after which one is
due make a call only together with a pass.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from purgatory_spec.outcomes import Event, Value
from purgatory_spec.profiles import PurgatoryConfiguration, PurgatoryProfile
from purgatory_tla.cases.behaviours import Move, TlaState
from purgatory_tla.cases.calls import Call, Touched
from purgatory_tla.cases.predictions import CannotDrive
from purgatory_tla.cases.purgatory.states import Shared, differing


class Kind(Enum):
    """The kind of a call in the step vocabulary."""

    WATCH = "watch"
    CHECK = "check"
    CANCEL = "cancel"
    FORCE = "force"
    RUN = "run"
    ADVANCE = "advance"


@dataclass(frozen=True)
class PurgatoryMap:
    """The reading of one module of the purgatory.

    Attributes:
        configuration: What the purgatory is made with.
        profile: The choices of the module.
        begins: The actions with which calls begin, and the calls.
        expires: The action by which an operation leaves the timer for the executor's queue.
        cells: The cells that a step reads and changes, with ``o`` for the operation and ``k``
            for the key. What it is said to change and does not, in a given step, it reads.
        shared: The shared memory of a state.
        observe: The observables of shared memory.
        events: What the action calls of an operation: tries and callbacks.
        satisfied: Whether an operation can complete, given the events of the keys.
        key: The key of a step.
        purge_is_due: Whether an advance that ends in this state would have purged.
        refused: Why a step cannot be driven; empty where it can.
        keys: The keys that an operation is watched under, in order.
    """

    configuration: PurgatoryConfiguration
    profile: PurgatoryProfile
    begins: Mapping[str, Kind]
    expires: str
    cells: Callable[[Move], tuple[str, str]]
    shared: Callable[[TlaState], Shared]
    observe: Callable[[Shared], Mapping[str, Value]]
    events: Callable[[Move, int], tuple[Event, ...]]
    satisfied: Callable[[int, Mapping[str, int]], bool]
    key: Callable[[Move], str]
    purge_is_due: Callable[[Shared], bool]
    refused: Callable[[Move], str]
    keys: tuple[str, ...]


def operation_of(move: Move) -> int:
    """Return the operation of a step: named by the label, or held by the step's thread; else 0."""
    for argument in move.step.arguments[1:]:
        if isinstance(argument, int):
            return argument
    hands = (state.read("operation", dict[str, int]) for state in (move.before, move.after))
    return next((each[move.thread] for each in hands if each.get(move.thread)), 0)


@dataclass
class Calls:
    """Collects the calls of a behaviour, move by move."""

    map: PurgatoryMap
    calls: list[Call] = field(default_factory=list)
    _open: dict[str, Call] = field(default_factory=dict)
    _advance: Call | None = None
    """The expiries that a pass has still to follow, or that further expiries may join."""

    def add(self, move: Move) -> None:
        """Put a move into its call.

        Raises:
            CannotDrive: it belongs to none.
        """
        reason = self.map.refused(move)
        if reason:
            raise CannotDrive(move.number, reason)
        action = move.step.action
        kind = self.map.begins.get(action)
        if action == self.map.expires:
            self._expire(move)
            return
        if kind is not None and self._is_idle(move.before, move.thread):
            self._open[move.thread] = self._begun(kind)
        call = self._open.get(move.thread)
        if call is None:
            raise CannotDrive(move.number, f"{action} is part of no call")
        self._put(call, move)
        if self._is_idle(move.after, move.thread):
            call.complete = True
            del self._open[move.thread]
        if self._advance is not None and self._advance.complete:
            self._advance = None

    def _begun(self, kind: Kind) -> Call:
        if kind is Kind.ADVANCE and self._advance is not None:
            call, self._advance = self._advance, None
            call.complete = False
            return call
        call = Call(kind.value)
        self.calls.append(call)
        return call

    def _expire(self, move: Move) -> None:
        if self._advance is None:
            self._advance = Call(Kind.ADVANCE.value)
            self.calls.append(self._advance)
        self._put(self._advance, move)
        self._advance.complete = not self.map.purge_is_due(self.map.shared(move.after))

    def _put(self, call: Call, move: Move) -> None:
        call.moves.append(move)
        call.touched.append(self._touched(move))

    def _is_idle(self, state: TlaState, thread: str) -> bool:
        return state.read("pc", dict[str, str]).get(thread, "idle") == "idle"

    def _touched(self, move: Move) -> Touched:
        reads, changes = (
            frozenset(self._named(each.strip(), move) for each in cells.split(",") if each.strip())
            for cells in self.map.cells(move)
        )
        before, after = self.map.shared(move.before), self.map.shared(move.after)
        changed = differing(before, after)
        return Touched(reads | (changes - changed), changed)

    def _named(self, cell: str, move: Move) -> str:
        words = cell.split()
        if "o" in words:
            words[words.index("o")] = str(operation_of(move))
        if "k" in words:
            words[words.index("k")] = self.map.key(move)
        return " ".join(words)
