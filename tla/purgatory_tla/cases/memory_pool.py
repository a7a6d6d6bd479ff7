"""``MemoryPool`` as cases of a memory pool.

A call of a thread is one operation. It takes effect at one step, and the cases' order is that of
these steps, whatever interleaves: what a thread has read before a swap that failed has no effect.

======================  ============================================================================
call                    operation, and the step at which it takes effect
======================  ============================================================================
``Ask`` … ``Swap``      ``allocate``, granted: at the swap (``Subtract``, ``Store`` with a defect)
``Ask`` … ``Refuse``    ``allocate``, refused: at the last look at the count before ``Refuse``
``Ask``, ``Reject``     ``allocate`` of an illegal size, an error: at ``Reject``
``Release``             ``release`` of the thread's buffer
``ReleaseAgain``        ``release`` of the buffer that it has released before
``ReleaseForeign``      ``release_foreign`` of that size
======================  ============================================================================

The observables follow from ``available``, of which ``PoolSize`` is the first value. Buffers are
named b1, b2, … in the order in which their calls are over. Not driven: ``LoseBuffer``, an
implementation's failure to create the buffer that it has granted.
"""

from dataclasses import dataclass, field

from purgatory_spec import profiles
from purgatory_spec.operations import Allocate, MemoryPoolOperation, Release, ReleaseForeign
from purgatory_spec.outcomes import Outcome, Value
from purgatory_spec.reasons import Reason
from purgatory_tla.cases.behaviours import Behaviour, Constants, Move
from purgatory_tla.cases.predictions import CannotDrive, Driven, NotDrivable, Prediction

_GRANTS = frozenset({"Swap", "Subtract", "Store"})
_LOOKS = frozenset({"Read", "FailToSwap"})
_RELEASES = frozenset({"Release", "ReleaseAgain", "ReleaseForeign"})
_PREDICTED = frozenset(profiles.MemoryPoolObservable) - {
    profiles.MemoryPoolObservable.DEPLETED_SPELLS,
    profiles.MemoryPoolObservable.DEPLETED_TIME,
}
_USES = {
    "ReleaseAgain": profiles.MemoryPoolFeature.RELEASE_AGAIN,
    "ReleaseForeign": profiles.MemoryPoolFeature.RELEASE_FOREIGN,
}


def drive(behaviour: Behaviour, constants: Constants) -> Driven:
    """Return a behaviour of ``MemoryPoolHistory`` as far as it can be driven."""
    features = constants.read("Features", frozenset[str])
    size_bytes = behaviour.first.read("available", int)
    strict = "strict" in features
    identity = "identity" in features
    kind = profiles.MemoryPoolFeature.STRICT if strict else profiles.MemoryPoolFeature.NON_STRICT
    found = _Found(size_bytes, identity, kind)
    stopped = None
    for move in behaviour.moves:
        try:
            found.add(move)
        except CannotDrive as problem:
            stopped = NotDrivable(problem.step, problem.reason)
            break
    found.end()
    profile = profiles.MemoryPoolProfile(
        release_validation=profiles.ReleaseValidation.IDENTITY
        if identity
        else profiles.ReleaseValidation.NONE,
        observables=_PREDICTED,
    )
    configuration = profiles.MemoryPoolConfiguration(
        size_bytes, constants.read("MaxSingle", int), strict=strict
    )
    return Driven(configuration, profile, found.in_order(), len(behaviour.moves), stopped)


@dataclass
class _Found:
    """The calls that are over, each with the step at which it took effect.

    A call is over for all the others when its thread has nothing left to do but to return.
    """

    size_bytes: int
    identity: bool
    kind: profiles.MemoryPoolFeature
    _begun: dict[str, list[Move]] = field(default_factory=dict)
    _buffers: dict[str, str] = field(default_factory=dict)
    _asked: int = 0
    _predictions: list[tuple[int, Prediction]] = field(default_factory=list)

    def in_order(self) -> tuple[Prediction, ...]:
        """Return the predictions in the order in which they take effect."""
        ordered = sorted(self._predictions, key=lambda each: each[0])
        return tuple(prediction for _, prediction in ordered)

    def add(self, move: Move) -> None:
        """Go on with one step."""
        action = move.step.action
        if action == "LoseBuffer":
            raise CannotDrive(move.number, "a buffer that was granted cannot be created")
        moves = self._begun.setdefault(move.thread, [])
        moves.append(move)
        if action in _GRANTS:
            self._grant(moves, move)
        elif action in _RELEASES and not self._is_left(move, "disown"):
            self._tell(self._release(move), moves, move)
        elif action in ("Refuse", "Reject", "Disown"):
            self._return(moves)
        if self._is_left(move, "idle") or action in _GRANTS:
            del self._begun[move.thread]

    def end(self) -> None:
        """End the behaviour, with the calls whose answers are decided."""
        for moves in self._begun.values():
            if any(self._is_left(moves[-1], label) for label in ("refuse", "reject", "disown")):
                self._return(moves)

    def _is_left(self, move: Move, label: str) -> bool:
        """Decide whether a step leaves its thread at a label."""
        return move.after.read("pc", dict[str, str])[move.thread] == label

    def _return(self, moves: list[Move]) -> None:
        """Return from a call without a buffer: it was refused, or an error."""
        looks = [each for each in moves if each.step.action in _LOOKS]
        if looks:
            self._tell(self._allocation(moves), moves, looks[-1], result=False)
            return
        asks = moves[0].step.action == "Ask"
        operation = self._allocation(moves) if asks else self._release(moves[0])
        self._tell(operation, moves, moves[-1], rejected=Reason.INVALID_ARGUMENT)

    def _grant(self, moves: list[Move], move: Move) -> None:
        allocation = self._allocation(moves)
        self._buffers[move.thread] = allocation.buffer
        self._tell(allocation, moves, move, result=True, granted=allocation.size_bytes)

    def _allocation(self, moves: list[Move]) -> Allocate:
        self._asked += 1
        return Allocate(f"b{self._asked}", moves[0].integer(1))

    def _release(self, move: Move) -> MemoryPoolOperation:
        if move.step.action == "ReleaseForeign":
            return ReleaseForeign(move.integer(1))
        return Release(self._buffers[move.thread])

    def _tell(
        self,
        operation: MemoryPoolOperation,
        moves: list[Move],
        effect: Move,
        *,
        result: bool | None = None,
        rejected: Reason | None = None,
        granted: int | None = None,
    ) -> None:
        outcome = Outcome(result, rejected, observed=self._observed(effect, granted))
        numbers = tuple(move.number for move in moves)
        used = [_USES[each.step.action] for each in moves if each.step.action in _USES]
        needs = frozenset[str]({self.kind, *used})
        prediction = Prediction(operation, outcome, numbers, needs=needs)
        self._predictions.append((effect.number, prediction))

    def _observed(self, move: Move, granted: int | None) -> dict[str, Value]:
        available = move.after.read("available", int)
        return {
            "available_bytes": available,
            "buffer_bytes": granted,
            "out_of_memory": available <= 0,
            "size_bytes": self.size_bytes,
            "used_bytes": self.size_bytes - available,
        }
