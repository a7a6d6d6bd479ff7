"""Follows a memory pool that threads share: one number, and whose buffers are out.

Theory of operation. Which buffers are outstanding, and how large they are, is known from the calls
that have returned. What is not known is when each open call takes effect: that is for the explainer
(``explainer``), which follows all that is possible.

A buffer that is given back twice, a copy, a stranger's: a pool without validation may credit it.
Such a moment is marked. Where nothing else explains the run, POOL-CONSERVATION is broken.
"""

from dataclasses import dataclass, field

from purgatory_conformance.components import narrowed
from purgatory_model.memory_pool import MemoryPoolModel, rule_of_admission, rule_of_illegal
from purgatory_pipeline.errors import Unusable
from purgatory_pipeline.replay.judge import Finding
from purgatory_pipeline.replay.overlapping.follower import Follower
from purgatory_pipeline.replay.overlapping.memory_pool import blame
from purgatory_pipeline.replay.overlapping.memory_pool.explainer import PoolExplainer
from purgatory_pipeline.replay.overlapping.memory_pool.moments import (
    PoolCall,
    PoolMoment,
    PoolOutcome,
    gives_back_itself,
)
from purgatory_pipeline.replay.overlapping.recent_names import RecentNames
from purgatory_pipeline.traces.lines import MemoryPoolInstance, Snapshot
from purgatory_spec.operations import (
    Allocate,
    Construct,
    Lose,
    Operation,
    Release,
    ReleaseForeign,
    ReleaseNothing,
    operation_name,
)
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.profiles import ReleaseValidation, ZeroRequest
from purgatory_spec.reasons import Reason

_CREDITS = "credits_anything"


@dataclass(slots=True)
class MemoryPoolFollower(Follower[PoolCall]):
    """Follows a memory pool; see ``Follower``. Nothing of a pool is ever due."""

    instance: MemoryPoolInstance = field(init=False)
    _explainer: PoolExplainer = field(init=False)
    _held: dict[str, int] = field(default_factory=dict)
    _outstanding_bytes: int = 0
    _returned: RecentNames[int] = field(default_factory=RecentNames)
    _number: int = 0

    def __post_init__(self) -> None:
        Follower.__post_init__(self)
        self.instance = narrowed(self.begin.instance, MemoryPoolInstance)
        declared = frozenset({_CREDITS} & self.variants.keys())
        configuration, profile = self.instance.configuration, self.instance.profile
        model = MemoryPoolModel(configuration, profile, declared)
        moments = [PoolMoment(configuration.size_bytes)]
        self._explainer = PoolExplainer(configuration, model, moments)

    def called(self, operation: Operation, at_ms: int) -> PoolCall:
        """A call begins; see ``Follower``."""
        self._number += 1
        call = PoolCall(self._number, operation, None)
        match operation:
            case Release(buffer) | Lose(buffer):
                call.size_bytes = self._size_of(buffer)
                if gives_back_itself(operation):
                    self._give_back(call, buffer)
            case Allocate() | ReleaseForeign() | ReleaseNothing() | Construct():
                pass
            case _:
                raise Unusable(f"a pool on a wall clock has no {operation_name(operation)}")
        self._explainer.begin(call)
        return call

    def happened(
        self, thread: str, call: PoolCall | None, event: Event, first_ms: int, last_ms: int
    ) -> Finding | None:
        """A pool calls nobody back."""
        raise Unusable("a memory pool has no callbacks")

    def returned(
        self, call: PoolCall, result: Value, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        """A call returns. Rules: POOL-STRICT, POOL-NON-STRICT, POOL-BOUND, POOL-RELEASE."""
        self._reject_second_buffer(call, result)
        seen = PoolOutcome(result, rejected)
        left = self._explainer.after(call, seen)
        if not left:
            right = self._explainer.right_outcomes(call)
            configuration = self.instance.configuration
            return blame.of_outcome(configuration, call, seen, right, self._outstanding_bytes)
        if all(moment.credits_wrongly for moment in left):
            if not self.deviates(_CREDITS):
                return blame.of_credit(call)
            left = [each._replace(credits_wrongly=False) for each in left]
        self._visit(call, seen)
        self._explainer.end(call, left)
        if isinstance(call.operation, Allocate) and result is True:
            self._hold(call.operation.buffer, call.operation.size_bytes)
        return None

    def _reject_second_buffer(self, call: PoolCall, result: Value) -> None:
        """See that a name stands for one buffer."""
        if not isinstance(call.operation, Allocate) or result is not True:
            return
        if call.operation.buffer in self._held:
            name = call.operation.buffer
            raise Unusable(f"{name!r} is the name of a buffer that is outstanding already")

    def resume(self, snapshot: Snapshot, now_ms: int) -> list[tuple[str, Operation, PoolCall]]:
        """Begin with what a snapshot says; calls that were open may have taken effect before."""
        for buffer in snapshot.buffers:
            self._hold(buffer.buffer, buffer.size_bytes)
        size_bytes = self.instance.configuration.size_bytes
        available = snapshot.available_bytes
        if available is None:
            available = size_bytes - self._outstanding_bytes
        self._explainer.moments = [PoolMoment(available)]
        self._returned.has_forgotten = True
        told = set(self._held)
        for each in snapshot.calls:
            if isinstance(each.operation, Allocate):
                self._held_by_nobody(each.operation.buffer)
        calls = [
            (each.thread, each.operation, self.called(each.operation, now_ms))
            for each in snapshot.calls
        ]
        for _, operation, call in calls:
            self._explainer.resume(call, is_told=getattr(operation, "buffer", "") in told)
        return calls

    def compare(self, snapshot: Snapshot, now_ms: int) -> Finding | None:
        """A snapshot must tell what is outstanding, and what may be available by now.

        Of buffers that an open call asks for or gives back it may tell either.
        """
        told = {each.buffer: each.size_bytes for each in snapshot.buffers}
        available = snapshot.available_bytes
        if available is None:
            available = self.instance.configuration.size_bytes - sum(told.values())
        possible = self._explainer.possible_bytes()
        open_names = {getattr(each.operation, "buffer", "") for each in self._explainer.open_calls}
        certain = {name: size for name, size in told.items() if name not in open_names}
        held = {name: size for name, size in self._held.items() if name not in open_names}
        if certain == held and (self.instance.configuration.unbounded or available in possible):
            return None
        return Finding(
            "POOL-CONSERVATION",
            "snapshot",
            f"{self._outstanding_bytes} bytes outstanding in {len(self._held)} buffers, "
            f"{' or '.join(map(str, sorted(possible)))} available",
            f"{sum(told.values())} bytes outstanding in {len(told)} buffers, {available} available",
        )

    def _size_of(self, buffer: str) -> int | None:
        """The size of a buffer that is given back; None of one that nobody was granted.

        A pool that identifies its buffers rejects a buffer returned long ago, whatever the size;
        it may ignore an empty one, if it grants such.
        """
        size_bytes = self._held.get(buffer, self._returned.get(buffer))
        profile = self.instance.profile
        knows = profile.release_validation is ReleaseValidation.IDENTITY
        if size_bytes is None and knows and self._returned.has_forgotten:
            return 0 if profile.zero_request is ZeroRequest.GRANT else 1
        return size_bytes

    def _hold(self, buffer: str, size_bytes: int) -> None:
        """A buffer is outstanding."""
        self._outstanding_bytes += size_bytes
        self._held[buffer] = size_bytes

    def _held_by_nobody(self, buffer: str) -> None:
        """A buffer is not outstanding, or its request has not returned yet."""
        self._outstanding_bytes -= self._held.pop(buffer, 0)

    def _give_back(self, call: PoolCall, buffer: str) -> None:
        """A call begins that gives a buffer back; another open one may do so, too."""
        if buffer in self._held:
            call.is_held = True
            size_bytes = self._held.pop(buffer)
            self._outstanding_bytes -= size_bytes
            self._returned.put(buffer, size_bytes)
            return
        for other in self._explainer.open.values():
            if other.is_held and other.gives_back(buffer):
                other.is_contested = call.is_contested = True

    def _visit(self, call: PoolCall, seen: PoolOutcome) -> None:
        """Count the rules that a call has put to the test."""
        if not isinstance(call.operation, Allocate):
            self.visits[blame.rule_of_release(call)] += 1
            return
        configuration = self.instance.configuration
        size_bytes = call.operation.size_bytes
        if not configuration.unbounded and (seen.rejected is not None or size_bytes == 0):
            self.visits[rule_of_illegal(size_bytes)] += 1
            return
        if self._explainer.may_answer_otherwise(call, call.operation, seen):
            return  # whatever it answers keeps the rules
        self.visits[rule_of_admission(configuration)] += 1
        if not configuration.unbounded:
            self.visits["POOL-BOUND"] += 1
            if seen.result is False:
                self.visits["POOL-REFUSAL"] += 1
