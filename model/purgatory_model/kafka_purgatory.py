"""Kafka's purgatory: delayed operations wait under keys for an event or for their time-out.

Theory of operation. An operation that is watched is an entry in the list of each of its keys, and a
task of the purgatory's timer, which is the timer's model. To *try* an operation is to call its
script's next answer; to *force* it is to complete it, once, which disarms its time-out and runs its
``on_complete``. All else is made of these two. Callbacks are scripts; their actions are calls like
any other, made in the middle of the one under way, and a callback catches what those raise. Each
action is carried out at most once for each operation, so that all of this ends.

A watch tries the operation, appends it to the lists of its keys, counts it, tries it again and arms
its time-out. A check walks through one list from the oldest entry, tries what is not completed, and
drops the entries of what is. An advance is the timer's: what is due joins the executor's queue, and
running the head of that queue is a step of its own. After an advance comes a purge, if the estimate
has outgrown the timer's size by more than the purge interval.

The rules allow more than Kafka does. Each module of ``choices`` extends the class of this one, and
is named after what it allows; ``purgatory`` is all of them together.
"""

from collections.abc import Iterator
from functools import partial

from purgatory_model.call import Branch, Branches, and_then, distinct, pruned, pruned_by
from purgatory_model.kafka_timer import TimerState
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory_faces import PurgatoryFaces
from purgatory_model.purgatory_state import PurgatoryState
from purgatory_model.replacing import replace
from purgatory_model.step import Expectation, TooManyBranches
from purgatory_model.walk import Walk
from purgatory_model.watcher_lists import Entry, swept
from purgatory_spec import operations as op
from purgatory_spec.operations import Answer, CallbackAction, Operation
from purgatory_spec.outcomes import Event, completed, timed_out, tried
from purgatory_spec.profiles import PurgatoryObservable
from purgatory_spec.reasons import Reason

_MOST_WALKS = 1024
"""The walks of one check that are followed at a time."""


class KafkaPurgatory(PurgatoryFaces):
    """A purgatory that makes the choices of Kafka."""

    def _branches(self, begun: Branch, operation: Operation) -> Branches:
        """Carry out a call; all but a watch are open after shutdown as before.

        Rules: PURGATORY-SHUTDOWN-COMPLETES.
        """
        match operation:
            case op.Watch(name, keys, delay_ms, script):
                return self.watch(begun.introduce(name, delay_ms, script), name, keys)
            case op.Check(key):
                return self.check(begun, key)
            case op.CancelForKey(key):
                return self.cancel_for_key(begun, key)
            case op.Force(name):
                return self.force(begun.introduce(name), name)
            case op.Satisfy(name):
                return (begun.introduce(name).satisfied(name),)
            case op.RunOne():
                return self.run_one(begun)
            case _:
                raise ValueError(f"a purgatory has no operation {op.operation_name(operation)}")

    # Trying and forcing.

    def attempt(self, branch: Branch, name: str) -> Branches:
        """Try an operation: take the script's next answer, or complete a satisfied operation.

        Rules: PURGATORY-TRY-INSIDE.
        """
        operation = branch.operation(name)
        answers, acts = operation.script.tries, operation.script.on_try
        number = operation.tries
        used = min(number + 1, operation.script.different_tries)
        called = branch.with_operation(name, replace(operation, tries=used)).tell(tried(name))
        answer = answers[min(number, len(answers) - 1)] if answers else Answer.WAIT
        if operation.satisfied:
            answer = Answer.COMPLETE
        acted = self._run_script(called, name, acts[number]) if number < len(acts) else (called,)
        return and_then(acted, lambda branch: self._answered(branch, name, answer))

    def _answered(self, branch: Branch, name: str, answer: Answer) -> Branches:
        """Give the answer of a try, and complete the operation if the answer says so."""
        if answer is Answer.COMPLETE:
            return self.force(branch, name)
        if answer.throws:
            return (branch.raises(Reason.THROWN, answer.sort),)
        return (branch.returns(False),)

    def force(self, branch: Branch, name: str) -> Branches:
        """Complete an operation, once.

        Rules: PURGATORY-EXACTLY-ONCE, PURGATORY-CALLBACK-ORDER, PURGATORY-TIMER-LEFT,
        PURGATORY-FORCE, PURGATORY-FORCE-AGAIN, PURGATORY-CALLBACK-THROWS.
        """
        operation = branch.operation(name)
        if operation.completed:
            return (branch.returns(False),)
        done = branch.with_operation(name, replace(operation, completed=True))
        called = self._disarm(done, name).tell(completed(name))
        if PurgatoryObservable.CALLBACK_TIMER_SIZE in self.profile.observables:
            size = len(called.state.timer.store.due_ticks)
            called = replace(called, callback_timer_size=size)
        ran = self._run_script(called, name, operation.script.on_complete)
        return and_then(ran, lambda branch: (branch.returns(True),))

    def _run_script(
        self, branch: Branch, name: str, script: tuple[CallbackAction, ...]
    ) -> Branches:
        """Run a callback of an operation to its end, or to its exception."""
        if not script:
            return (branch.returns(None),)
        action, rest = script[0], script[1:]
        if isinstance(action, op.Throw):
            return (branch.raises(Reason.THROWN, action.sort),)
        return pruned(
            then
            for acted in self._act(branch, name, action)
            for then in self._run_script(acted.caught(name), name, rest)
        )

    def _act(self, branch: Branch, owner: str, action: CallbackAction) -> Branches:
        """Carry out one action of a callback of an operation.

        Rules: PURGATORY-WATCH-INSIDE, PURGATORY-CHECK-INSIDE, PURGATORY-CANCEL-INSIDE,
        PURGATORY-FORCE-INSIDE.
        """
        match action:
            case op.WatchInside(name, keys, delay_ms):
                return self.watch(branch.introduce(name, delay_ms), name, keys)
            case op.CheckInside(key):
                return self.check(branch, key)
            case op.CancelForKeyInside(key):
                return self.cancel_for_key(branch, key)
            case op.ForceInside(name):
                return self.force(branch.introduce(name), name)
            case op.SatisfyInside(name):
                return (branch.introduce(name).satisfied(name),)
            case op.Throw(sort):
                return (branch.raises(Reason.THROWN, sort),)
            case op.Meanwhile():
                raise ValueError("calls of another thread are those of choices.meanwhile")

    # Watching.

    def watch(self, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        """Try to complete an operation, else watch it.

        Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-FIRST-TRY-THROWS.
        """
        reason = self._refusal(branch, keys)
        if reason is not None:
            return (branch.raises(reason),)
        first = self.attempt(branch, name)
        return and_then(
            first, lambda tried: (tried,) if tried.result is True else self._add(tried, name, keys)
        )

    def _refusal(self, branch: Branch, keys: tuple[str, ...]) -> Reason | None:
        """Refuse to watch, or None. Rules: PURGATORY-NO-KEYS, PURGATORY-SHUTDOWN-CLOSED."""
        if branch.state.closed:
            return Reason.CLOSED
        return None if keys else Reason.INVALID_ARGUMENT

    def _add(self, branch: Branch, name: str, keys: tuple[str, ...]) -> Branches:
        """Append an operation to the lists unless it is completed, try it again, then arm it.

        Rules: PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS, PURGATORY-SECOND-TRY-THROWS,
        PURGATORY-REWATCH, PURGATORY-WATCH-COMPLETED.
        """
        added = self._counted(branch)
        if not branch.operation(name).completed:
            added = appended(added, name, keys)
        return distinct(
            armed for each in self.attempt(added, name) for armed in self._arm(each, name)
        )

    def _arm(self, branch: Branch, name: str) -> Iterator[Branch]:
        """Arm the time-out of an operation that is not completed, or move it.

        Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH, PURGATORY-NO-TIME-OUTS.
        """
        operation = branch.operation(name)
        if operation.completed or not self.configuration.time_outs:
            yield branch
            return
        yield from self._add_time_out(branch, op.Add(name, operation.delay_ms))

    def _add_time_out(self, branch: Branch, add: op.Add) -> Iterator[Branch]:
        """Add a time-out to the timer."""
        for expectation in self.timer.expectations(branch.state.timer, add):
            yield from self._armed(branch, add.task, expectation)

    def _armed(
        self, branch: Branch, name: str, expectation: Expectation[TimerState[Store]]
    ) -> Iterator[Branch]:
        """Follow the timer; what is due already is handed to the executor at once."""
        events = tuple(event for group in expectation.groups for event in group)
        yield branch.with_timer(expectation.complete(events)).tell(*events)

    def _disarm(self, branch: Branch, name: str) -> Branch:
        """Take the time-out out of the timer. Rules: PURGATORY-TIMER-LEFT."""
        (expectation,) = self.timer.expectations(branch.state.timer, op.Cancel(name))
        return branch.with_timer(expectation.complete(()))

    # Checking and cancelling.

    def check(self, branch: Branch, key: str) -> Branches:
        """Try what is watched under a key."""
        return self._walk_on(self._walks(branch, key))

    def _walks(self, branch: Branch, key: str) -> tuple[Walk, ...]:
        """Begin the walk of a check."""
        return (Walk(branch, key, branch.state.lists.of(key)),)

    def _walk_on(self, walks: tuple[Walk, ...]) -> Branches:
        """Meet the entries one by one, until the walks have come to their ends.

        Raises:
            TooManyBranches: there are too many ways to miss what callbacks have touched.
        """
        ended: list[Branch] = []
        while walks:
            going: list[Walk] = []
            for walk in walks:
                left = walk.left
                if walk.may_end(left):
                    ended += walk.ends()
                for entry in walk.next_entries(left):
                    going += self._meet(walk, entry)
            walks = pruned_by(going, lambda walk: walk.branch)
            if len(walks) > _MOST_WALKS:
                raise TooManyBranches
        return pruned(ended)

    def _meet(self, walk: Walk, entry: Entry) -> Iterator[Walk]:
        """Miss an entry that a callback has touched, or pass it."""
        if walk.may_miss(entry):
            yield walk.past(entry)
        yield from self._pass(walk, entry)

    def _pass(self, walk: Walk, entry: Entry) -> Iterator[Walk]:
        """Pass one entry, and try its operation if that is not completed.

        Rules: PURGATORY-CHECK-DROPS, PURGATORY-COMPLETED-NOT-TRIED, PURGATORY-NOT-LOST.
        """
        if walk.branch.operation(entry.operation).completed:
            yield walk.dropped(entry)
            return
        for attempted in self.attempt(walk.branch, entry.operation):
            after = replace(walk, branch=attempted)
            if attempted.raised is not None:
                yield from after.behind_exception(entry)
            elif attempted.result is True:
                yield replace(after.dropped(entry), completed=walk.completed + 1)
            else:
                # An operation that was completed inside its own try is dropped, or not seen to be.
                yield after.past(entry)
                if attempted.operation(entry.operation).completed:
                    yield after.dropped(entry)

    def cancel_for_key(self, branch: Branch, key: str) -> Branches:
        """Take a key's list away, and the time-outs of what is watched under no other key.

        Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-LAST-KEY,
        PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-CANCEL-UNKNOWN.
        """
        names = tuple(entry.operation for entry in branch.state.lists.of(key))
        detached = branch.with_lists(branch.state.lists.detach(key))
        cancelled: Branches = (detached.returns(self._cancel_result(branch, names)),)
        for name in distinct(names):
            if not self._keeps_time_out(detached, name):
                cancelled = tuple(left for each in cancelled for left in self._taken(each, name))
        return cancelled

    def _cancel_result(self, branch: Branch, names: tuple[str, ...]) -> tuple[str, ...]:
        """Answer the operations of the list, the completed ones among them."""
        return names

    def _keeps_time_out(self, branch: Branch, name: str) -> bool:
        """Decide whether an operation that was cancelled for a key is watched under another."""
        return branch.state.lists.watches(name)

    def _taken(self, branch: Branch, name: str) -> Iterator[Branch]:
        """Disarm an operation that was cancelled for its last key."""
        yield self._disarm(branch, name)

    # Time-outs and purges.

    def run_one(self, branch: Branch) -> Branches:
        """Run the head of the executor's queue, if there is one."""
        timer = branch.state.timer
        if not timer.queue:
            return (branch,)
        begun = branch.with_timer(replace(timer, queue=timer.queue[1:]))
        return self.run(begun, timer.queue[0])

    def run(self, branch: Branch, name: str) -> Branches:
        """Run the time-out of an operation.

        Rules: PURGATORY-LOST-EXPIRY, PURGATORY-EXPIRY-THROWS, PURGATORY-CALLBACK-ORDER.
        """
        ran = and_then(self.force(branch, name), lambda forced: self._expire(forced, name))
        return distinct(branch.returns(None) for branch in ran)

    def _expire(self, branch: Branch, name: str) -> Branches:
        """Call ``on_expiration``, if it was the time-out that completed the operation."""
        if branch.result is not True:
            return (branch,)
        script = branch.operation(name).script.on_expiration
        return self._run_script(branch.tell(timed_out(name)), name, script)

    def _timer_expectations(
        self,
        state: PurgatoryState,
        operation: op.Advance | op.Elapse | op.Shutdown,
        seen: tuple[Event, ...] | None,
    ) -> Iterator[Expectation[PurgatoryState]]:
        """Let the timer hand over what is due, and purge after an advance.

        Rules: PURGATORY-TIME-OUT, PURGATORY-SHUTDOWN-DROPS, PURGATORY-SHUTDOWN-AGAIN.
        """
        for expectation in self.timer.expectations(state.timer, operation):
            yield Expectation(
                expectation.groups,
                partial(self._handed_over, state, operation, expectation),
                partial(self._observe_step, None),
                rejected=expectation.rejected,
            )

    def _handed_over(
        self,
        state: PurgatoryState,
        operation: Operation,
        expectation: Expectation[TimerState[Store]],
        events: tuple[Event, ...],
    ) -> PurgatoryState:
        """Put what is due into the executor's queue, in the order of the events."""
        return self._after(operation, replace(state, timer=expectation.complete(events)))

    def _after(self, operation: Operation, state: PurgatoryState) -> PurgatoryState:
        """Close after a shutdown; purge after an advance, where a purge is due.

        Rules: PURGATORY-SHUTDOWN-DROPS, PURGATORY-PURGE-START.
        """
        if isinstance(operation, op.Shutdown):
            return replace(state, closed=True)
        purges = isinstance(operation, op.Advance) and not state.closed
        return self.purged(state) if purges and self.purge_is_due(state) else state

    def purge_is_due(self, state: PurgatoryState) -> bool:
        """Decide whether the estimate has outgrown the timer. Rules: PURGATORY-PURGE-START."""
        return self.estimate(state) - state.timer_size > self.interval(state.timer_size)

    def interval(self, live: int) -> int:
        """Return how much may be stale beside so much that lives. Rules: PURGATORY-PURGE-START."""
        return self.configuration.purge_interval

    def estimate(self, state: PurgatoryState) -> int:
        """Return the estimated total of operations. Rules: PURGATORY-ESTIMATE-PROPOSAL."""
        return state.estimate

    def _counted(self, branch: Branch) -> Branch:
        """Add one to the estimate. Rules: PURGATORY-ESTIMATE-PROPOSAL."""
        counted = replace(branch.state, estimate=branch.state.estimate + 1)
        return replace(branch, state=counted)

    def purged(self, state: PurgatoryState) -> PurgatoryState:
        """Drop the entries of completed operations; the timer's size is the new estimate.

        Rules: PURGATORY-PURGE-REMOVES, PURGATORY-ESTIMATE-PROPOSAL, PURGATORY-STALE-ENTRIES,
        PURGATORY-STALE-OPERATIONS.
        """
        left = swept(state.lists, state.completed)
        return replace(state, lists=left, estimate=state.timer_size)


def appended(branch: Branch, name: str, keys: tuple[str, ...]) -> Branch:
    """Append an entry to the list of each key. Rules: PURGATORY-DUPLICATE-KEYS."""
    lists = branch.state.lists
    for key in keys:
        lists = lists.append(key, name)
    return branch.with_lists(lists)
