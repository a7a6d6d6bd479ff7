"""Follows a memory pool that threads share: one number, and whose buffers are out.

Theory of operation. Which buffers are outstanding, and how large they are, is known from the calls
that have returned. What is not known is when each open call takes effect: that is for the explainer
beside this module, which follows all that is possible.

A buffer that is given back twice, a copy, a stranger's: a pool without validation may credit it.
Such a moment is marked. Where nothing else explains the run, POOL-CONSERVATION is broken.
"""

from dataclasses import dataclass, field

from purgatory_judge.components import narrowed
from purgatory_model.memory_pool import MemoryPoolModel, rule_of_admission, rule_of_illegal
from purgatory_model.memory_pool_arithmetic import is_granted
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Event, Value
from purgatory_spec.profiles import ReleaseValidation, ZeroRequest
from purgatory_spec.reasons import Reason
from purgatory_traces.errors import Unusable
from purgatory_traces.replay.judge import Finding
from purgatory_traces.replay.overlapping.follower import Follower
from purgatory_traces.replay.overlapping.memory_pool import blame
from purgatory_traces.replay.overlapping.memory_pool.explainer import (
    Moments,
    PoolExplainer,
    answers_in,
    credited_rightly,
    has_credited_wrongly,
    ways_of,
)
from purgatory_traces.replay.overlapping.memory_pool.rules import (
    BEGUN,
    WAY_OF,
    Answer,
    PoolCall,
    Ways,
    gives_back_itself,
    ways_that_give,
)
from purgatory_traces.replay.overlapping.recent_names import RecentNames
from purgatory_traces.traces.lines import MemoryPoolInstance, Snapshot

_CREDITS = "credits_anything"
_REJECTIONS = (Reason.INVALID_ARGUMENT, Reason.UNKNOWN_NAME)


@dataclass(slots=True)
class MemoryPoolFollower(Follower[PoolCall]):
    """Follows a memory pool; see ``Follower``. Nothing of a pool is ever due."""

    instance: MemoryPoolInstance = field(init=False)
    _explainer: PoolExplainer = field(init=False)
    _moments: Moments = field(init=False)
    _held: dict[str, int] = field(default_factory=dict)
    _outstanding_bytes: int = 0
    _returned: RecentNames[int] = field(default_factory=RecentNames)

    def __post_init__(self) -> None:
        Follower.__post_init__(self)
        self.instance = narrowed(self.begin.instance, MemoryPoolInstance)
        declared = frozenset({_CREDITS} & self.variants.keys())
        configuration, profile = self.instance.configuration, self.instance.profile
        model = MemoryPoolModel(configuration, profile, declared)
        self._explainer = PoolExplainer.of(model)
        self._moments = self._explainer.begin(configuration.size_bytes)

    def called(self, operation: op.Operation, at_ms: int) -> PoolCall:
        """Follow a call that begins; see ``Follower``."""
        return self._called(operation, BEGUN)

    def _called(self, operation: op.Operation, ways: Ways) -> PoolCall:
        """Follow a call that is open, and may stand in these ways."""
        call = PoolCall(operation)
        if isinstance(operation, op.Release | op.Lose):
            call.size_bytes = self._size_of(operation.buffer)
            if gives_back_itself(operation):
                self._give_back(call, operation.buffer)
        elif not isinstance(
            operation, op.Allocate | op.ReleaseForeign | op.ReleaseNothing | op.Construct
        ):
            raise Unusable(f"a pool on a wall clock has no {op.operation_name(operation)}")
        self._moments = self._explainer.opened(self._moments, call, ways)
        return call

    def happened(
        self, thread: str, call: PoolCall | None, event: Event, first_ms: int, last_ms: int
    ) -> Finding | None:
        """Refuse a callback: a pool makes none."""
        raise Unusable("a memory pool has no callbacks")

    def returned(
        self, call: PoolCall, result: Value, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        """Follow a return. Rules: POOL-STRICT, POOL-NON-STRICT, POOL-BOUND, POOL-RELEASE."""
        self._reject_second_buffer(call, result)
        seen = ways_that_give(result, rejected)
        left = self._explainer.after(self._moments, call, seen)
        answer = Answer(result, rejected)
        if left is None:
            right = answers_in(self._explainer.all_moments(self._moments), call)
            configuration = self.instance.configuration
            return blame.of_outcome(configuration, call, answer, right, self._outstanding_bytes)
        if all(map(has_credited_wrongly, left)):
            if not self.deviates(_CREDITS):
                return blame.of_credit(call)
            left = frozenset(map(credited_rightly, left))
        self._visit(call, answer, seen)
        self._explainer.closed(call)
        self._moments = left
        if isinstance(call.operation, op.Allocate) and result is True:
            self._hold(call.operation.buffer, call.operation.size_bytes)
        return None

    def _reject_second_buffer(self, call: PoolCall, result: Value) -> None:
        """See that a name stands for one buffer."""
        if not isinstance(call.operation, op.Allocate) or result is not True:
            return
        if call.operation.buffer in self._held:
            name = call.operation.buffer
            raise Unusable(f"{name!r} is the name of a buffer that is outstanding already")

    def resume(self, snapshot: Snapshot, now_ms: int) -> list[tuple[str, op.Operation, PoolCall]]:
        """Begin with what a snapshot says; calls that were open may have taken effect before."""
        for buffer in snapshot.buffers:
            self._hold(buffer.buffer, buffer.size_bytes)
        size_bytes = self.instance.configuration.size_bytes
        available = snapshot.available_bytes
        if available is None:
            available = size_bytes - self._outstanding_bytes
        self._moments = self._explainer.begin(available)
        self._returned.has_forgotten = True
        told = set(self._held)
        for each in snapshot.calls:
            if isinstance(each.operation, op.Allocate):
                self._held_by_nobody(each.operation.buffer)
        calls = []
        for each in snapshot.calls:
            is_told = getattr(each.operation, "buffer", "") in told
            call = self._called(each.operation, _ways_by_snapshot(each.operation, is_told=is_told))
            calls.append((each.thread, each.operation, call))
        return calls

    def compare(self, snapshot: Snapshot, now_ms: int) -> Finding | None:
        """Compare a snapshot with the outstanding buffers and the possibly available bytes.

        Of buffers that an open call asks for or gives back it may tell either.
        """
        told = {each.buffer: each.size_bytes for each in snapshot.buffers}
        available = snapshot.available_bytes
        if available is None:
            available = self.instance.configuration.size_bytes - sum(told.values())
        moments = self._explainer.all_moments(self._moments)
        possible = {available_bytes for available_bytes, _ in moments}
        open_names = {getattr(each.operation, "buffer", "") for each in self._explainer.open}
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
        """Return the size of a buffer that is given back; None of one that was never granted.

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
        """Note that a buffer is outstanding."""
        self._outstanding_bytes += size_bytes
        self._held[buffer] = size_bytes

    def _held_by_nobody(self, buffer: str) -> None:
        """Note that a buffer is not outstanding, or that its request has not returned yet."""
        self._outstanding_bytes -= self._held.pop(buffer, 0)

    def _give_back(self, call: PoolCall, buffer: str) -> None:
        """Begin to give a buffer back; another open call may do so, too."""
        if buffer in self._held:
            call.is_held = True
            size_bytes = self._held.pop(buffer)
            self._outstanding_bytes -= size_bytes
            self._returned.put(buffer, size_bytes)
            return
        for other in self._explainer.open:
            if other.is_held and other.gives_back(buffer):
                call.is_contested = other.is_contested = True
                self._moments = self._explainer.changed(self._moments, other)

    def _visit(self, call: PoolCall, answer: Answer, seen: Ways) -> None:
        """Count the rules that a call has put to the test."""
        if not isinstance(call.operation, op.Allocate):
            self.visits[blame.rule_of_release(call)] += 1
            return
        configuration = self.instance.configuration
        size_bytes = call.operation.size_bytes
        if not configuration.unbounded and (answer.raised is not None or size_bytes == 0):
            self.visits[rule_of_illegal(size_bytes)] += 1
            return
        if self._may_answer_otherwise(call, size_bytes, seen):
            return  # whatever it answers keeps the rules
        self.visits[rule_of_admission(configuration)] += 1
        if not configuration.unbounded:
            self.visits["POOL-BOUND"] += 1
            if answer.result is False:
                self.visits["POOL-REFUSAL"] += 1

    def _may_answer_otherwise(self, call: PoolCall, size_bytes: int, seen: Ways) -> bool:
        """Decide whether other calls may first make the other answer of a request possible.

        It looks at the most and the least that may be available, not at each order of the calls;
        so it says yes a little too often.
        """
        configuration = self.instance.configuration
        if configuration.unbounded:
            return False
        is_refused = bool(seen & WAY_OF[Answer(False)])
        for moment in self._moments:
            ways = ways_of(moment, call)
            if ways & ~seen & ~BEGUN:
                return True
            if not ways & BEGUN:
                continue
            others = [
                each
                for each in self._explainer.open
                if each is not call and ways_of(moment, each) & BEGUN
            ]
            available, _ = moment
            if is_refused:
                available += sum(each.size_bytes or 0 for each in others)
            else:
                wanted = (each.operation for each in others)
                available -= sum(
                    max(0, each.size_bytes) for each in wanted if isinstance(each, op.Allocate)
                )
            if is_granted(available, size_bytes, configuration.strict) == is_refused:
                return True
        return False


def _ways_by_snapshot(operation: op.Operation, *, is_told: bool) -> Ways:
    """Return the ways of a call that is open at a snapshot: it may have taken effect before.

    Args:
        operation: What is asked for.
        is_told: Whether the buffer that it asks for, or gives back, is told to be outstanding.
            So it has been granted, or has not been given back.
    """
    if isinstance(operation, op.Allocate):
        return WAY_OF[Answer(True)] if is_told else BEGUN | WAY_OF[Answer(False)]
    if is_told and gives_back_itself(operation):
        return BEGUN
    rejected = sum(WAY_OF[Answer(raised=reason)] for reason in _REJECTIONS)
    return BEGUN | WAY_OF[Answer()] | rejected
