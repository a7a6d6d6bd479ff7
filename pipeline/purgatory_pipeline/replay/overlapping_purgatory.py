"""Follows a purgatory on a real clock, operation by operation.

Theory of operation. What a call does to one delayed operation has nothing to do with what it does
to another, so each is followed by itself, by what the model says of calls that overlap
(``operation_monitor``). A call is told to every operation that it concerns: a check or cancellation
of a key to those watched under it, the others to the one they name. Two things are judged here:
that a check counts what it has completed, and the time. An operation's time-out comes neither
before its due tick nor later than the lateness allows, as a timer's tasks do. When it is completed
outside of every call that concerns it, that is its time-out, which ``on_expiration`` follows.
"""

from collections import Counter
from dataclasses import dataclass, field

from purgatory_pipeline.errors import Unusable
from purgatory_pipeline.replay import overlapping_purgatory_blame as blame
from purgatory_pipeline.replay.deadlines import Deadlines
from purgatory_pipeline.replay.followed_operations import (
    FollowedOperation,
    FollowedOperations,
    PurgatoryCall,
)
from purgatory_pipeline.replay.judge import Finding
from purgatory_pipeline.replay.operation_monitor import RUN, Seen, System, fresh, resumed
from purgatory_pipeline.replay.overlapping_judge import NS_PER_MS, lateness_ms
from purgatory_pipeline.replay.passing_rules import PassingRules
from purgatory_pipeline.replay.timer_armings import Interval
from purgatory_pipeline.trace_lines import Begin, PurgatoryInstance, Snapshot, WaitingOperation
from purgatory_spec.operations import (
    Advance,
    CancelForKey,
    Check,
    Force,
    Operation,
    RunOne,
    Satisfy,
    Shutdown,
    Wait,
    Watch,
    operation_name,
)
from purgatory_spec.outcomes import Event, EventKind, Value
from purgatory_spec.profiles import Accounting
from purgatory_spec.reasons import Reason

KEEPS_TIME_OUT = "PURGATORY-CANCEL-KEEPS-TIME-OUT"
_NEVER_OMITTED = (EventKind.COMPLETED, EventKind.TIMED_OUT)


@dataclass(slots=True)
class PurgatoryFollower:
    """Follows a purgatory; see ``Follower``."""

    begin: Begin
    instance: PurgatoryInstance
    visits: Counter[str] = field(default_factory=Counter)
    deviated: set[str] = field(default_factory=set)
    _system: System = field(init=False)
    _interval: Interval = field(init=False)
    _variants: dict[str, str] = field(init=False)
    _operations: FollowedOperations = field(default_factory=FollowedOperations)
    _deadlines: Deadlines = field(default_factory=Deadlines)
    _passing: PassingRules = field(default_factory=PassingRules)
    _runs: dict[str, PurgatoryCall] = field(default_factory=dict)
    """By thread, the time-out that runs outside of every call."""
    _now_ms: int = 0
    _closing: bool = False
    _closed: bool = False

    def __post_init__(self) -> None:
        """Nothing is watched.

        Raises:
            Unusable: the trace leaves out what cannot be done without.
        """
        for kind in _NEVER_OMITTED:
            if kind in self.begin.omitted:
                raise Unusable(f"a purgatory cannot be judged without {kind.value}")
        self._variants = {each.variant: each.rule for each in self.begin.deviations}
        profile, configuration = self.instance.profile, self.instance.configuration
        self._interval = Interval(configuration.tick_ms, profile.rounding, lateness_ms(self.begin))
        self._system = System(
            profile.accounting,
            "time_out_taken_with_key" in self._variants,
            frozenset({EventKind.EXPIRED, *self.begin.omitted}),
        )

    def called(self, operation: Operation, at_ms: int) -> PurgatoryCall:
        """A call begins; see ``Follower``."""
        self._now_ms = max(self._now_ms, at_ms)
        call = PurgatoryCall(operation, at_ms, self._closed)
        match operation:
            case Watch():
                self._watch_called(call, operation)
            case Check(key):
                self._key_called(call, key, "check")
            case CancelForKey(key):
                self._key_called(call, key, "cancel")
            case Force(name):
                self._concern(call, self._named_by_force(name), ("force",))
            case Satisfy(name):
                followed = self._operations.by_name.get(name)
                if followed is not None:
                    self._concern(call, followed, ("satisfy",))
            case Shutdown():
                self._shutdown_called()
            case Advance() | RunOne() | Wait():
                pass
            case _:
                raise Unusable(f"a purgatory on a wall clock has no {operation_name(operation)}")
        return call

    def happened(
        self,
        thread: str,
        call: PurgatoryCall | None,
        event: Event,
        first_ms: int,
        last_ms: int,
    ) -> Finding | None:
        """A callback begins; see ``Follower``."""
        self._now_ms = max(self._now_ms, last_ms)
        followed = self._operations.by_name.get(event.task)
        match event.kind:
            case EventKind.TRIED:
                return self._tried(call, followed, event)
            case EventKind.COMPLETED:
                return self._completed(thread, call, followed, event, first_ms, last_ms)
            case EventKind.TIMED_OUT:
                return self._timed_out(thread, call, followed, event)
            case EventKind.EXPIRED | EventKind.REJECTED:
                return None
        raise Unusable(f"a delayed operation is never {event.kind.value}")

    def returned(
        self, call: PurgatoryCall, result: Value, rejected: Reason | None, at_ms: int
    ) -> Finding | None:
        """A call returns; see ``Follower``."""
        self._now_ms = max(self._now_ms, at_ms)
        self._operations.close(call)
        if not call.is_judged:
            return None
        if rejected is not None:
            return self._rejected(call, rejected)
        match call.operation:
            case Watch() as watch:
                return self._watched(call, watch, result, at_ms)
            case Check():
                return self._checked(call, result)
            case CancelForKey():
                return self._cancelled(call, result)
            case Force():
                return self._forced(call, result)
            case Satisfy(name):
                if not call.concerned and name not in self._operations.by_name:
                    self._operations.satisfied.put(name, True)
                self._settle_all(call)
            case Shutdown():
                self._shut()
            case _:
                pass
        return None

    def passed(self, now_ms: int) -> Finding | None:
        """What should have timed out by now, and its line should have come."""
        self._passing.pass_to(now_ms, self.visits)
        live = self._operations.by_name
        if self._deadlines.is_crowded(len(live)):
            self._deadlines.rebuild(self._waited_for())
        for name in self._deadlines.before(now_ms):
            finding = self._overdue(name, now_ms - self._interval.lateness_ms, now_ms)
            if finding is not None:
                return finding
        return None

    def ended(self, now_ms: int) -> Finding | None:
        """What should have timed out by the end: no line comes any more."""
        for _, name in sorted(self._waited_for()):
            finding = self._overdue(name, now_ms, now_ms)
            if finding is not None:
                return finding
        self._passing.pass_to(now_ms, self.visits)
        return None

    def _named(self, name: str, *, is_new: bool = False) -> FollowedOperation:
        """The operation of a name; watched anew after it was finished it may be a new one."""
        followed = self._operations.by_name.get(name)
        if followed is None:
            followed = FollowedOperation(name, fresh(self._system))
            fate = self._operations.recent.take(name)
            if fate in ("completed", "loose"):
                followed.memory = None
                followed.is_completed = fate == "completed" and not is_new
            self._operations.by_name[name] = followed
        return followed

    def _named_by_force(self, name: str) -> FollowedOperation:
        """The operation of a name; one that is unknown may have been completed long ago."""
        is_known = name in self._operations.by_name
        followed = self._named(name)
        if not is_known and self._operations.recent.has_forgotten:
            followed.memory = None
        return followed

    def _concern(self, call: PurgatoryCall, followed: FollowedOperation, seen: Seen) -> None:
        """Tell an operation of a call that begins, and is one that concerns it."""
        slot = call.concerned[followed] = followed.take_slot()
        if followed.memory is not None:
            word, *rest = seen
            followed.memory = followed.memory.after((word, slot, *rest))

    def _tell(self, followed: FollowedOperation, seen: Seen) -> bool:
        """Tell an operation of something seen; whether that is explained."""
        memory = followed.memory
        if memory is None:
            return True
        early_ms = followed.early_ms
        if not followed.is_due and early_ms is not None and self._now_ms >= early_ms:
            followed.is_due = True
            told = memory.after(("due",))
            assert told is not None
            memory = told
        after = memory.after(seen)
        if after is None:
            return False
        followed.memory = after
        if not after.is_strict and memory.is_strict:
            self.deviated.add(self._variants["time_out_taken_with_key"])
        return True

    def _watch_called(self, call: PurgatoryCall, watch: Watch) -> None:
        if not watch.keys or call.began_closed:
            return
        name = watch.operation
        again = name in self._operations.by_name
        followed = self._named(name, is_new=True)
        for key in watch.keys:
            self._operations.enter(followed, key)
        for open_call in self._operations.open_calls_of(followed):
            word = "check" if isinstance(open_call.operation, Check) else "cancel"
            assert isinstance(open_call.operation, Check | CancelForKey)
            self._concern(open_call, followed, (word, followed.keys[open_call.operation.key]))
        if self._operations.satisfied.take(name) and followed.memory is not None:
            slot = followed.take_slot()
            self._tell(followed, ("satisfy", slot))
            self._tell(followed, ("returned", slot, None))
            followed.free_slot(slot)
        if self.instance.configuration.time_outs:
            early_ms = self._interval.early(call.called_ms, watch.delay_ms)
            if followed.early_ms is None or early_ms < followed.early_ms:
                followed.early_ms = early_ms
        followed.late_ms = None
        numbers = tuple(followed.keys[key] for key in watch.keys)
        unspoken = again or len(set(numbers)) < len(numbers)
        if unspoken and self._system.accounting is Accounting.PROPOSAL:
            followed.memory = None
        self._concern(call, followed, ("watch", numbers))

    def _key_called(self, call: PurgatoryCall, key: str, word: str) -> None:
        """A call begins that concerns what is watched under a key and is not completed."""
        self._operations.open(call)
        for followed in self._operations.under(key):
            if not followed.is_completed:
                self._concern(call, followed, (word, followed.keys[key]))

    def _shutdown_called(self) -> None:
        """From now on time-outs may be dropped. Rules: PURGATORY-SHUTDOWN-DROPS."""
        if self._closing:
            return
        self._closing = True
        for followed in self._operations.by_name.values():
            self._tell(followed, ("shutting",))

    def _shut(self) -> None:
        """The time-outs are dropped. Rules: PURGATORY-SHUTDOWN-DROPS, PURGATORY-SHUTDOWN-AGAIN."""
        self.visits["PURGATORY-SHUTDOWN-AGAIN" if self._closed else "PURGATORY-SHUTDOWN-DROPS"] += 1
        if self._closed:
            return
        self._closed = True
        for followed in list(self._operations.by_name.values()):
            if not followed.slots and not self._tell(followed, ("shut",)):
                followed.memory = None
            self._forget_if_settled(followed)

    def _tried(
        self, call: PurgatoryCall | None, followed: FollowedOperation | None, event: Event
    ) -> Finding | None:
        """An operation is tried. Rules: PURGATORY-COMPLETED-NOT-TRIED, PURGATORY-CANCEL-LEAVES."""
        if EventKind.TRIED in self.begin.omitted:
            return None
        if call is not None:
            call.tries += 1
        slot = None if call is None or followed is None else call.concerned.get(followed)
        if followed is not None and slot is not None and self._tell(followed, ("tried", slot)):
            return None
        if followed is None and self._is_unknown(event.task):
            return None
        return blame.of_try(event.task, call, followed, self._operations.recent.get(event.task))

    def _completed(
        self,
        thread: str,
        call: PurgatoryCall | None,
        followed: FollowedOperation | None,
        event: Event,
        first_ms: int,
        last_ms: int,
    ) -> Finding | None:
        """An operation is completed. Rules: PURGATORY-EXACTLY-ONCE."""
        fate = self._operations.recent.get(event.task)
        if followed is None:
            if self._is_unknown(event.task):
                if call is not None:
                    call.completions += 1
                return None
            return blame.of_completion(event.task, call, None, fate)
        slot = None if call is None else call.concerned.get(followed)
        if call is not None and slot is not None:
            if followed.is_completed or not self._tell(followed, ("completed", slot)):
                return blame.of_completion(event.task, call, followed, fate)
            followed.completed_in = call
            call.completions += 1
        else:
            finding = self._run(thread, call, followed, first_ms, last_ms)
            if finding is not None:
                return finding
        followed.is_completed = True
        self.visits["PURGATORY-EXACTLY-ONCE"] += 1
        return None

    def _run(
        self,
        thread: str,
        call: PurgatoryCall | None,
        followed: FollowedOperation,
        first_ms: int,
        last_ms: int,
    ) -> Finding | None:
        """An operation is completed where nothing was called that does: by its time-out.

        Rules: PURGATORY-TIME-OUT, PURGATORY-CANCEL-LAST-KEY.
        """
        if followed.is_completed:
            return blame.of_completion(followed.name, call, followed, None)
        if followed.early_ms is None or last_ms < followed.early_ms:
            return blame.early(followed, call, last_ms)
        if followed.late_ms is not None and first_ms > followed.late_ms:
            return blame.late(followed, f"it does at {first_ms}")
        run = call if call is not None else self._runs.setdefault(thread, PurgatoryCall(None))
        if run.run is not None:
            return blame.without_expiration(run.run[0])
        slot = followed.take_slot()
        run.run = followed, slot
        if self._tell(followed, ("completed", RUN)):
            return None
        return blame.of_completion(followed.name, call, followed, None)

    def _timed_out(
        self,
        thread: str,
        call: PurgatoryCall | None,
        followed: FollowedOperation | None,
        event: Event,
    ) -> Finding | None:
        """``on_expiration`` is called. Rules: PURGATORY-CALLBACK-ORDER, PURGATORY-TIME-OUT."""
        run = call if call is not None else self._runs.get(thread)
        if run is None or run.run is None or run.run[0] is not followed:
            if followed is None and self._is_unknown(event.task):
                return None
            return blame.of_expiration(event.task, call)
        followed, slot = run.run
        run.run = None
        if call is None:
            del self._runs[thread]
        if not self._tell(followed, ("timed_out", RUN)):
            return blame.of_expiration(event.task, call)
        followed.free_slot(slot)
        self.visits.update(("PURGATORY-TIME-OUT", "PURGATORY-CALLBACK-ORDER"))
        if followed.was_cancelled:
            self.visits[KEEPS_TIME_OUT] += 1
        self._forget_if_settled(followed)
        return None

    def _rejected(self, call: PurgatoryCall, rejected: Reason) -> Finding | None:
        """A call is rejected: rightly, or by the program's own exception."""
        if rejected is Reason.THROWN:
            self._let_go(call)
            return None
        match call.operation:
            case Watch(keys=keys):
                allowed = {Reason.CLOSED} if self._closing else set()
                if not keys and not call.began_closed:
                    allowed.add(Reason.INVALID_ARGUMENT)
                if rejected in allowed and not (call.began_closed and call.tries):
                    no_keys = rejected is Reason.INVALID_ARGUMENT
                    rule = "PURGATORY-NO-KEYS" if no_keys else "PURGATORY-SHUTDOWN-CLOSED"
                    self.visits[rule] += 1
                    self._let_go(call)
                    return None
                if not keys and "no_keys_internal" in self._variants:
                    self.deviated.add(self._variants["no_keys_internal"])
                    return None
            case Advance() | RunOne() if rejected is Reason.CLOSED and self._closing:
                return None
            case _:
                pass
        return blame.of_rejection(call, rejected)

    def _let_go(self, call: PurgatoryCall) -> None:
        """How far a call came is not known: the operations it concerns are followed loosely."""
        for followed, slot in call.concerned.items():
            followed.memory = None
            followed.free_slot(slot)
            self._forget_if_settled(followed)

    def _watched(
        self, call: PurgatoryCall, watch: Watch, result: Value, at_ms: int
    ) -> Finding | None:
        """A watch returns. Rules: PURGATORY-WATCH-WAITS, PURGATORY-WATCH-SECOND-TRY."""
        if not call.concerned:
            return self._taken(call, watch)
        if not isinstance(result, bool):
            return blame.of_result(call, "true or false", result)
        followed, slot = next(iter(call.concerned.items()))
        self._visit_watch(call, followed, result=result)
        if not self._tell(followed, ("returned", slot, result)):
            return blame.of_watch(call, followed, result=result)
        followed.free_slot(slot)
        if self.instance.configuration.time_outs:
            followed.late_ms = self._interval.late(at_ms, watch.delay_ms)
            if self._closing:
                followed.memory = None
            elif not followed.is_completed:
                self._deadlines.put(followed.late_ms + self._interval.lateness_ms, followed.name)
        self._forget_if_settled(followed)
        return None

    def _taken(self, call: PurgatoryCall, watch: Watch) -> Finding | None:
        """A watch is taken that should have been rejected."""
        if call.began_closed and "open_after_shutdown" in self._variants:
            self.deviated.add(self._variants["open_after_shutdown"])
            return None
        return blame.of_taken(call, watch)

    def _visit_watch(
        self, call: PurgatoryCall, followed: FollowedOperation, *, result: bool
    ) -> None:
        if call.tries:
            self.visits["PURGATORY-WATCH-FIRST-TRY"] += 1
        if call.tries > 1:
            self.visits["PURGATORY-WATCH-SECOND-TRY"] += 1
        if not result and not followed.is_completed:
            self.visits["PURGATORY-WATCH-WAITS"] += 1

    def _checked(self, call: PurgatoryCall, result: Value) -> Finding | None:
        """A check returns. Rules: PURGATORY-CHECK-COUNT, PURGATORY-NOT-LOST."""
        if isinstance(result, bool) or result != call.completions:
            return blame.of_count(call, result)
        self.visits["PURGATORY-CHECK-COUNT"] += 1
        visited = "PURGATORY-NOT-LOST" if call.concerned else "PURGATORY-CHECK-UNKNOWN"
        self.visits[visited] += 1
        for followed, slot in call.concerned.items():
            share = int(followed.completed_in is call)
            if not self._tell(followed, ("returned", slot, share)):
                return blame.of_check(followed, result)
            self._settle(followed, slot)
        return None

    def _cancelled(self, call: PurgatoryCall, result: Value) -> Finding | None:
        """A cancellation returns. Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES."""
        if not isinstance(result, tuple):
            return blame.of_result(call, "a list of operations", result)
        counts = Counter(result)
        for name in counts:
            followed = self._operations.by_name.get(name)
            if followed is None or followed in call.concerned or followed.is_completed:
                continue
            if followed.memory is not None:
                return blame.of_cancellation(followed, counts[name])
        known = call.concerned or result
        self.visits["PURGATORY-CANCEL-RESULT" if known else "PURGATORY-CANCEL-UNKNOWN"] += 1
        if known:
            self.visits["PURGATORY-CANCEL-LEAVES"] += 1
        for followed, slot in call.concerned.items():
            if not self._tell(followed, ("cancelled", slot, counts[followed.name])):
                return blame.of_cancellation(followed, counts[followed.name])
            followed.was_cancelled = True
            self._settle(followed, slot)
        return None

    def _forced(self, call: PurgatoryCall, result: Value) -> Finding | None:
        """A force returns. Rules: PURGATORY-FORCE, PURGATORY-FORCE-AGAIN."""
        if not isinstance(result, bool):
            return blame.of_result(call, "true or false", result)
        self.visits["PURGATORY-FORCE" if result else "PURGATORY-FORCE-AGAIN"] += 1
        for followed, slot in call.concerned.items():
            if followed.memory is None and result != (followed.completed_in is call):
                return blame.of_force(call, followed, result=result)
            if not self._tell(followed, ("returned", slot, result)):
                return blame.of_force(call, followed, result=result)
            self._settle(followed, slot)
        return None

    def _settle_all(self, call: PurgatoryCall) -> None:
        """An operation is satisfied."""
        for followed, slot in call.concerned.items():
            self._tell(followed, ("returned", slot, None))
            self._settle(followed, slot)

    def _settle(self, followed: FollowedOperation, slot: int) -> None:
        """A call that concerns an operation has returned."""
        followed.free_slot(slot)
        if followed.slots:
            self.visits["PURGATORY-OVERLAPPING-CALLS"] += 1
        self._forget_if_settled(followed)

    def _forget_if_settled(self, followed: FollowedOperation) -> None:
        """Forget an operation of which nothing more can come."""
        if followed.slots or self._operations.by_name.get(followed.name) is not followed:
            return
        memory = followed.memory
        if followed.is_completed:
            self._operations.forget(followed, "completed")
        elif memory is None:
            if followed.late_ms is None or self._is_past(followed.late_ms, self._now_ms):
                self._operations.forget(followed, "loose")
        elif memory.is_settled:
            self._operations.forget(followed, "cancelled")
            if followed.was_cancelled and followed.late_ms is not None:
                self._passing.put(followed.late_ms, frozenset({"PURGATORY-CANCEL-LAST-KEY"}))

    def _is_past(self, late_ms: int, now_ms: int) -> bool:
        return late_ms + self._interval.lateness_ms < now_ms

    def _is_unknown(self, name: str) -> bool:
        """Whether what became of an operation that is forgotten cannot be said."""
        return self._operations.recent.get(name) == "loose" or (
            self._closed and "open_after_shutdown" in self._variants
        )

    def _overdue(self, name: str, over_ms: int, now_ms: int) -> Finding | None:
        """Whether an operation should have timed out. Rules: PURGATORY-TIME-OUT, TIMER-LATENESS."""
        followed = self._operations.by_name.get(name)
        if followed is None or followed.is_completed:
            return None
        if followed.late_ms is None or followed.late_ms >= over_ms:
            return None
        self._now_ms = max(self._now_ms, now_ms)
        if not self._tell(followed, ("late",)):
            return blame.late(followed, f"it has not by {now_ms}")
        self._forget_if_settled(followed)
        return None

    def _waited_for(self) -> list[tuple[int, str]]:
        """The operations whose time-outs are waited for, with their latest times."""
        return [
            (followed.late_ms + self._interval.lateness_ms, name)
            for name, followed in self._operations.by_name.items()
            if followed.late_ms is not None and not followed.is_completed
        ]

    def resume(self, snapshot: Snapshot, now_ms: int) -> list[tuple[str, Operation, PurgatoryCall]]:
        """Begin with what a snapshot says.

        A call that was open then may have done any part of what it does. So its return is not
        judged, and operations that it may have left half done are followed loosely.
        """
        self._now_ms = now_ms
        self._operations.recent.has_forgotten = True
        self._closing = self._closed = snapshot.closed
        half_done = _half_done(snapshot)
        for waiting in snapshot.operations:
            self._resume_one(waiting, now_ms, loosely=waiting.operation in half_done)
        calls = []
        for open_call in snapshot.calls:
            called_ms = open_call.at_ns // NS_PER_MS
            call = PurgatoryCall(open_call.operation, called_ms, snapshot.closed)
            call.is_judged = False
            match open_call.operation:
                case Check(key):
                    self._key_called(call, key, "check")
                case Watch(operation=name) | Force(name):
                    self._named(name).memory = None
                    self._concern(call, self._named(name), ("force",))
                case _:
                    pass
            calls.append((open_call.thread, open_call.operation, call))
        return calls

    def _resume_one(self, waiting: WaitingOperation, now_ms: int, *, loosely: bool) -> None:
        """Go on with one operation that a snapshot tells of."""
        if waiting.completed:
            fate = "loose" if loosely else "completed"
            self._operations.recent.put(waiting.operation, fate)
            return
        followed = FollowedOperation(waiting.operation, None)
        self._operations.by_name[waiting.operation] = followed
        for key in waiting.entries:
            self._operations.enter(followed, key)
        numbers = tuple(followed.keys[key] for key in waiting.entries)
        twice = len(set(numbers)) < len(numbers) and self._system.accounting is Accounting.PROPOSAL
        if not (loosely or twice):
            followed.memory = resumed(
                self._system,
                numbers,
                satisfied=waiting.satisfied,
                armed=waiting.early_ms is not None,
                queued=waiting.queued,
            )
        lateness = self._interval.lateness_ms
        if waiting.early_ms is not None:
            followed.early_ms = self._interval.early(waiting.early_ms, 0)
        if waiting.late_ms is not None:
            followed.late_ms = max(self._interval.late(waiting.late_ms, 0), now_ms + lateness)
        if waiting.queued:
            followed.early_ms = min(now_ms, followed.early_ms or now_ms)
            followed.late_ms = max(now_ms + lateness, followed.late_ms or 0)
        if followed.late_ms is not None:
            self._deadlines.put(followed.late_ms + lateness, followed.name)

    def compare(self, snapshot: Snapshot, now_ms: int) -> Finding | None:
        """A snapshot in the middle must tell what is known of every operation that nobody calls."""
        told = {waiting.operation: waiting for waiting in snapshot.operations}
        for name, followed in sorted(self._operations.by_name.items()):
            if followed.slots or followed.is_completed or followed.memory is None:
                continue
            standing = told.get(name, WaitingOperation(name))
            if self.instance.configuration.time_outs and not followed.memory.may_stand(
                frozenset(followed.keys[key] for key in standing.entries if key in followed.keys),
                completed=standing.completed,
                owed=standing.early_ms is not None or standing.queued > 0,
            ):
                return blame.of_snapshot(followed, standing)
        return None


def _half_done(snapshot: Snapshot) -> frozenset[str]:
    """The operations with which an open call may be in the middle of something."""
    names: set[str] = set()
    cancels = any(isinstance(each.operation, CancelForKey) for each in snapshot.calls)
    for waiting in snapshot.operations:
        if (waiting.completed and snapshot.calls) or (cancels and not waiting.entries):
            names.add(waiting.operation)
    for each in snapshot.calls:
        if isinstance(each.operation, Watch | Force | Satisfy):
            names.add(each.operation.operation)
        elif isinstance(each.operation, CancelForKey):
            key = each.operation.key
            names.update(w.operation for w in snapshot.operations if key in w.entries)
    return frozenset(names)
