"""The calls of a purgatory, step by step, with what callbacks do inside them.

Theory of operation. To *try* an operation is to call its script's next answer; to *force* it is to
complete it, once, which disarms its time-out and runs its ``on_complete``. All else is made of
these two. Callbacks are scripts; their actions are calls like any other, made in the middle of the
one under way, and what those refuse or raise the callback catches. Each action is carried out at
most once for each operation, so that all of this ends.

A check walks through one watcher list. It passes the entries in the order of their numbers, or in
any order where lists have none, each at most once. It meets every entry that was in the list at the
start of the walk and is still in the list when its turn comes. Two kinds are met or not, as the
walk pleases: entries that callbacks have added meanwhile, and entries that callbacks have taken
from the list although their operations are not completed.

A callback may stand still while another thread makes a call. That call goes through at once, or
waits for what the callback's own call holds: wholly, or as a check that has come to an operation
which is being tried. What waits goes on when that try has ended, or at the end of the step. A check
need not wait there, either, and inside a try it cannot: it may leave the operation to the call that
is trying it, which then tries it again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic

from purgatory_model.call import (
    Branch,
    Branches,
    Waiting,
    and_then,
    distinct,
    pruned,
    pruned_by,
)
from purgatory_model.pending_tasks import AnyStore
from purgatory_model.replacing import replace
from purgatory_model.step import InAnyOrder
from purgatory_model.timer import TimerModel
from purgatory_model.watcher_lists import Entry
from purgatory_spec.operations import (
    Add,
    Answer,
    CallbackAction,
    CallInside,
    Cancel,
    CancelForKeyInside,
    CheckInside,
    ForceInside,
    Meanwhile,
    SatisfyInside,
    Throw,
    WatchInside,
)
from purgatory_spec.outcomes import completed, timed_out, tried
from purgatory_spec.profiles import (
    Accounting,
    CancelResult,
    CheckDrops,
    CheckOrder,
    Executor,
    FirstTry,
    NegativeDelay,
    PurgatoryConfiguration,
    PurgatoryFeature,
    PurgatoryObservable,
    PurgatoryProfile,
    ThrowingTry,
)
from purgatory_spec.reasons import Reason

Attempt = Callable[[Branch[AnyStore], str], Branches[AnyStore]]

_MOST_WALKS = 256
"""The branches of one walk without order that are followed at a time."""


@dataclass(frozen=True, slots=True)
class Walk(Generic[AnyStore]):
    """A walk under way: the numbers passed, the count of completions, whether a try threw.

    ``found`` are the entries that were in the list at first. ``at_end`` says that entries of
    completed operations are dropped when the walk is through, and ``inside`` that a callback
    checks; ``owner`` is the operation whose callback stands still, where another thread checks
    meanwhile.
    """

    branch: Branch[AnyStore]
    key: str
    found: tuple[Entry, ...]
    at_end: bool = False
    passed: frozenset[int] = frozenset()
    completed: int = 0
    thrown: bool = False
    inside: bool = False
    owner: str | None = None

    def meets_a_try(self, entry: Entry) -> bool:
        """Whether a walk inside a callback comes to an operation that may be tried just now."""
        if not self.inside:
            return False
        operation = self.branch.operation(entry.operation)
        if self.owner is None and not operation.script.on_try:
            return False
        return not operation.completed and tried(entry.operation) in self.branch.events

    def waiting(self) -> Branch[AnyStore]:
        """The walk waits until the operation that it has come to is no longer being tried."""
        assert self.owner is not None
        call = CheckInside(self.key)
        rest = Waiting(self.owner, call, self.found, self.at_end, self.passed, self.thrown)
        return replace(self.branch, waiting=(*self.branch.waiting, rest))

    @property
    def left(self) -> tuple[Entry, ...]:
        """The entries that the walk has not passed, the oldest first."""
        entries = {*self.found, *self.branch.state.lists.of(self.key)}
        left = (entry for entry in entries if entry.number not in self.passed)
        return tuple(sorted(left, key=lambda entry: entry.number))

    def past(self, entry: Entry) -> "Walk[AnyStore]":
        """The walk behind an entry."""
        return replace(self, passed=self.passed | {entry.number})

    def dropped(self, entry: Entry) -> "Walk[AnyStore]":
        """The walk behind an entry of a completed operation."""
        if self.at_end:
            return self.past(entry)
        lists = self.branch.state.lists.drop(self.key, entry)
        return replace(self.past(entry), branch=self.branch.with_lists(lists))

    def may_miss(self, entry: Entry) -> bool:
        """Whether a callback added the entry or took it away. Rules: PURGATORY-CHECK-ORDER."""
        return entry not in self.found or entry not in self.branch.state.lists.of(self.key)

    def ended(self) -> Branch[AnyStore]:
        """The end of the walk. Rules: PURGATORY-CHECK-COUNT, PURGATORY-CHECK-UNKNOWN."""
        if self.branch.raised is not None:
            return self.branch
        if self.thrown:
            return self.branch.raises(Reason.THROWN)
        return self.branch.returns(self.completed)

    def ends(self) -> Iterator[Branch[AnyStore]]:
        """The end of the walk, or ends that drop: of all entries, or of those that were found.

        A walk that an exception cuts short need not drop anything. Rules: PURGATORY-CHECK-DROPS.
        """
        if not self.at_end:
            yield self.ended()
            return
        if self.branch.raised is not None:
            yield self.branch
        present = self.branch.state.lists.of(self.key)
        completed = [each for each in present if self.branch.operation(each.operation).completed]
        found = [entry for entry in completed if entry in self.found]
        for entries in (completed, found):
            lists = self.branch.state.lists
            for entry in entries:
                lists = lists.drop(self.key, entry)
            yield replace(self, branch=self.branch.with_lists(lists)).ended()


def walks(
    branch: Branch[AnyStore],
    key: str,
    profile: PurgatoryProfile,
    *,
    inside: bool = False,
    owner: str | None = None,
) -> tuple[Walk[AnyStore], ...]:
    """The beginnings of a check: it drops as it passes, or at its end."""
    found = branch.state.lists.of(key)
    return tuple(
        Walk(branch, key, found, at_end, inside=inside, owner=owner)
        for at_end, drops in ((False, CheckDrops.AT_END), (True, CheckDrops.AS_PASSED))
        if profile.check_drops is not drops
        and not (at_end and profile.check_drops is CheckDrops.EVERYWHERE)
    )


class TooManyBranches(Exception):
    """A walk without order has more branches than can be followed."""


def walk_on(
    walks: tuple[Walk[AnyStore], ...], attempt: Attempt[AnyStore], profile: PurgatoryProfile
) -> Branches[AnyStore]:
    """Meet the entries one by one, and try uncompleted operations by ``attempt``.

    Raises:
        TooManyBranches: the lists have no order, and too many orders agree with the events seen.
    """
    ended: list[Branch[AnyStore]] = []
    while walks:
        going: list[Walk[AnyStore]] = []
        for each in walks:
            if each.branch.raised is not None:
                ended += each.ends()
                continue
            left = each.left
            is_ordered = profile.check_order is CheckOrder.AS_WATCHED
            if not left or (not is_ordered and all(map(each.may_miss, left))):
                ended += each.ends()
            for entry in left[:1] if is_ordered else _in_any_order(each, left, profile):
                if each.meets_a_try(entry):
                    if each.owner is not None:
                        ended.append(each.waiting())
                    later = replace(each, branch=each.branch.left_to_try_again(entry.operation))
                    going.append(later.past(entry))
                if is_ordered and each.may_miss(entry):
                    going.append(each.past(entry))
                going += _pass(each, entry, attempt, profile.throwing_try)
        walks = pruned_by(going, lambda each: each.branch)
        if len(walks) > _MOST_WALKS and profile.check_order is CheckOrder.FREE:
            raise TooManyBranches
    return pruned(ended)


def _in_any_order(
    walk: Walk[AnyStore], left: tuple[Entry, ...], profile: PurgatoryProfile
) -> tuple[Entry, ...]:
    """The entries that a walk without order may meet next, as far as the events seen agree.

    Entries of completed operations are passed without a sign. Where no exception can cut the walk
    short it passes all of these entries, and they come first here: their order decides nothing.

    Rules: PURGATORY-CHECK-ORDER.
    """
    stale = [entry for entry in left if walk.branch.operation(entry.operation).completed]
    throws = PurgatoryFeature.SCRIPT_THROW in profile.features
    if not throws or profile.throwing_try is ThrowingTry.GO_ON:
        passed = [entry for entry in stale if not walk.may_miss(entry)]
        if passed:
            return tuple(passed[:1])
    branch = walk.branch
    if branch.seen is None:
        return left
    if not branch.agrees:
        return left[:1]
    following = branch.seen[len(branch.events) :][:1]
    silent = {entry for entry in left if entry in stale or walk.meets_a_try(entry)}
    agreeing = [each for each in left if each in silent or (tried(each.operation),) == following]
    return tuple(agreeing) or left[:1]


def _pass(
    walk: Walk[AnyStore], entry: Entry, attempt: Attempt[AnyStore], throwing_try: ThrowingTry
) -> Iterator[Walk[AnyStore]]:
    """Pass one entry.

    Rules: PURGATORY-CHECK-DROPS, PURGATORY-COMPLETED-NOT-TRIED, PURGATORY-NOT-LOST.
    """
    if walk.branch.operation(entry.operation).completed:
        yield walk.dropped(entry)
        return
    for attempted in attempt(walk.branch, entry.operation):
        after = replace(walk, branch=attempted)
        if attempted.raised is not None:
            yield _behind_exception(after, entry, throwing_try)
        elif attempted.result is True:
            yield replace(after.dropped(entry), completed=walk.completed + 1)
        else:
            yield after.past(entry)
            if after.branch.operation(entry.operation).completed:  # inside this try
                yield after.dropped(entry)


def _behind_exception(
    walk: Walk[AnyStore], entry: Entry, throwing_try: ThrowingTry
) -> Walk[AnyStore]:
    """End here, or go on as though nothing had been. Rules: PURGATORY-CHECK-THROWS."""
    if throwing_try is ThrowingTry.STOP:
        return walk
    after = replace(walk, branch=walk.branch.returns(None), thrown=True)
    if walk.branch.operation(entry.operation).completed:
        return after.dropped(entry)
    return after.past(entry)


@dataclass(frozen=True, slots=True)
class Calls(Generic[AnyStore]):
    """The calls of a purgatory of a configuration and a profile, over its timer.

    ``variants`` names known faults that are followed instead of the rules.
    """

    configuration: PurgatoryConfiguration
    profile: PurgatoryProfile
    timer: TimerModel[AnyStore]
    variants: frozenset[str] = frozenset()

    def attempt(self, branch: Branch[AnyStore], name: str) -> Branches[AnyStore]:
        """Try an operation: take the script's next answer, or complete a satisfied operation.

        Rules: PURGATORY-TRY-INSIDE, PURGATORY-MEANWHILE.
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
        answered = and_then(acted, lambda branch: self._answered(branch, name, answer))
        if number >= len(acts) and not branch.waiting:
            return answered
        return pruned(each for ended in answered for each in self._let_go(ended, name))

    def _answered(self, branch: Branch[AnyStore], name: str, answer: Answer) -> Branches[AnyStore]:
        """A try gives its answer, or forces the operation and gives the answer of that."""
        if answer is Answer.COMPLETE:
            return self.force(branch, name)
        if answer is Answer.THROW:
            return (branch.raises(Reason.THROWN),)
        return (branch.returns(False),)

    def _let_go(self, branch: Branch[AnyStore], name: str) -> Iterator[Branch[AnyStore]]:
        """What has waited for a try to end goes on now or later; what was left to it is tried.

        Rules: PURGATORY-NOT-LOST, PURGATORY-MEANWHILE, PURGATORY-NO-CIRCLE.
        """
        if name in branch.again:
            again = replace(branch, again=branch.again - {name})
            if branch.result is False and not branch.operation(name).completed:
                yield from self.attempt(again, name)
                return
            if branch.raised is not None and not branch.operation(name).completed:
                # The exception reaches the caller all the same; the try after it may have come
                # before the check, where nothing was left.
                tried_again = self.attempt(again.returns(None), name)
                yield from (each.raises(branch.raised) for each in tried_again)
            branch = again
        yield branch
        if branch.waiting:
            yield from self.go_on(branch)

    def go_on(self, branch: Branch[AnyStore]) -> Branches[AnyStore]:
        """What another thread's calls have waited with is done; result and exception stay."""
        ended: Branches[AnyStore] = (branch,)
        while any(each.waiting for each in ended):
            ended = pruned(then for each in ended for then in self._go_on_once(each))
        return distinct(replace(e, result=branch.result, raised=branch.raised) for e in ended)

    def _go_on_once(self, branch: Branch[AnyStore]) -> Iterator[Branch[AnyStore]]:
        """The other thread finishes the call in which it waited."""
        if not branch.waiting:
            yield branch
            return
        first = branch.waiting[0]
        free = replace(branch, waiting=branch.waiting[1:]).returns(None)
        if first.found is None or not isinstance(first.call, CheckInside):
            acted = self._act(free, first.owner, first.call)
        else:
            rest = Walk(
                free,
                first.call.key,
                first.found,
                first.at_end,
                first.passed,
                thrown=first.thrown,
            )
            acted = walk_on((rest,), self.attempt, self.profile)
        yield from (each.caught(first.owner) for each in acted)

    def force(self, branch: Branch[AnyStore], name: str) -> Branches[AnyStore]:
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

    def watch(
        self, branch: Branch[AnyStore], name: str, keys: tuple[str, ...]
    ) -> Branches[AnyStore]:
        """Try to complete an operation, else watch it; or watch it before any try.

        Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-FIRST-TRY-THROWS, PURGATORY-NO-KEYS,
        PURGATORY-SHUTDOWN-CLOSED.
        """
        if branch.state.closed and "open_after_shutdown" not in self.variants:
            return (branch.raises(Reason.CLOSED),)
        if not keys:
            unplanned = "no_keys_internal" in self.variants
            return (branch.raises(Reason.INTERNAL if unplanned else Reason.INVALID_ARGUMENT),)
        operation = branch.operation(name)
        if operation.completed and "completed_watched" not in self.variants:
            return self._watch_completed(branch, name)
        rejects = self.profile.negative_delay is NegativeDelay.REJECT and operation.delay_ms < 0
        if self.profile.first_try is FirstTry.NONE:
            if rejects:
                return (branch.raises(Reason.INVALID_ARGUMENT),)
            return self._add(branch, name, keys)
        ended = and_then(
            self.attempt(branch, name),
            lambda tried: (
                (tried,)
                if tried.result is True
                else (tried.raises(Reason.INVALID_ARGUMENT),)
                if rejects
                else self._add(tried, name, keys)
            ),
        )
        if rejects:
            return pruned((branch.raises(Reason.INVALID_ARGUMENT), *ended))
        return ended

    def check(
        self, branch: Branch[AnyStore], key: str, *, inside: bool = False
    ) -> Branches[AnyStore]:
        """Try what is watched under a key."""
        begun = walks(branch, key, self.profile, inside=inside)
        return walk_on(begun, self.attempt, self.profile)

    def cancel_for_key(self, branch: Branch[AnyStore], key: str) -> Branches[AnyStore]:
        """Take a key's list away.

        Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-LAST-KEY,
        PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-CANCEL-UNKNOWN.
        """
        names = tuple(entry.operation for entry in branch.state.lists.of(key))
        result = names
        if self.profile.cancel_result is CancelResult.LIVE:
            result = tuple(name for name in names if not branch.operation(name).completed)
        if self.profile.check_order is CheckOrder.FREE:
            result = InAnyOrder.of(result)
        afters = [branch.with_lists(branch.state.lists.detach(key)).returns(result)]
        for name in distinct(names):
            kept = afters[0].state.lists.watches(name)
            if not kept or "time_out_taken_with_key" in self.variants:
                afters = [
                    self._disarm(before, name)
                    for after in afters
                    for before in self._perhaps_withdrawn(after, name)
                ]
        return tuple(afters)

    def run_one(self, branch: Branch[AnyStore]) -> Branches[AnyStore]:
        """The executor runs the head of its queue, if there is one."""
        timer = branch.state.timer
        if not timer.queue:
            return (branch,)
        begun = branch.with_timer(replace(timer, queue=timer.queue[1:]))
        return self.run(begun, timer.queue[0])

    def run(self, branch: Branch[AnyStore], name: str) -> Branches[AnyStore]:
        """The executor runs the time-out of an operation.

        Rules: PURGATORY-LOST-EXPIRY, PURGATORY-EXPIRY-THROWS, PURGATORY-CALLBACK-ORDER.
        """
        ran = and_then(self.force(branch, name), lambda forced: self._expire(forced, name))
        return distinct(branch.returns(None) for branch in ran)

    def _expire(self, branch: Branch[AnyStore], name: str) -> Branches[AnyStore]:
        """Call ``on_expiration``, if it was the time-out that completed the operation."""
        if branch.result is not True:
            return (branch,)
        script = branch.operation(name).script.on_expiration
        return self._run_script(branch.tell(timed_out(name)), name, script)

    def _watch_completed(self, branch: Branch[AnyStore], name: str) -> Branches[AnyStore]:
        """Never, once or twice tried, and that is all. Rules: PURGATORY-WATCH-COMPLETED."""
        if "completed_uncounted" in self.variants:
            return self.attempt(branch, name)
        tries_twice = self.profile.first_try is FirstTry.BEFORE_WATCHING
        branches = [self._counted(branch).returns(False)]
        for first in self.attempt(branch, name):
            if first.raised is not None:
                branches.append(first)
                continue
            branches.append(self._counted(first))
            if tries_twice:
                branches += self.attempt(self._counted(first), name)
        return pruned(branches)

    def _add(
        self, branch: Branch[AnyStore], name: str, keys: tuple[str, ...]
    ) -> Branches[AnyStore]:
        """Append to the lists and try again; arm before that, in between or after it.

        Rules: PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS, PURGATORY-SECOND-TRY-THROWS,
        PURGATORY-REWATCH.
        """
        if branch.operation(name).completed and "completed_uncounted" in self.variants:
            return (branch.returns(False),)
        counted = self._counted(branch)
        added = _appended(counted, name, keys)
        if branch.operation(name).completed and "completed_watched" not in self.variants:
            untried = (counted.returns(False), added.returns(False))
            return pruned((*untried, *self.attempt(counted, name), *self.attempt(added, name)))
        tried = self.attempt(added, name)
        if "second_try_unarmed" in self.variants:
            return and_then(tried, lambda returned: self._arm(returned, name))
        armed_after = distinct(armed for each in tried for armed in self._arm(each, name))
        if branch.operation(name).completed:
            return armed_after
        armed_before = [*self._arm(added, name)]
        for armed in self._arm(counted, name):
            armed_before.append(_appended(armed, name, keys))
            if armed.operation(name).completed:
                armed_before.append(armed)
        tried_after = and_then(armed_before, lambda armed: self._try_again(armed, name))
        return pruned((*armed_after, *tried_after))

    def _try_again(self, branch: Branch[AnyStore], name: str) -> Branches[AnyStore]:
        """The second try, which is free where a time-out that ran at once was faster."""
        tried = self.attempt(branch, name)
        return (branch.returns(False), *tried) if branch.operation(name).completed else tried

    def _arm(self, branch: Branch[AnyStore], name: str) -> Iterator[Branch[AnyStore]]:
        """Arm the time-out of an operation that is not completed, or move it.

        Where the timer refuses, the time-out is lost or the refusal reaches the caller; that only
        happens to those who watch after shutdown.

        Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH, PURGATORY-NO-TIME-OUTS.
        """
        operation = branch.operation(name)
        if operation.completed or not self.configuration.time_outs:
            yield branch
            return
        for before in self._perhaps_withdrawn(branch, name):
            yield from self._armed(before, name, operation.delay_ms)

    def _armed(
        self, branch: Branch[AnyStore], name: str, delay_ms: int
    ) -> Iterator[Branch[AnyStore]]:
        """The time-out of an operation is added to the timer."""
        for expectation in self.timer.expectations(branch.state.timer, Add(name, delay_ms)):
            events = tuple(event for group in expectation.groups for event in group)
            armed = branch.with_timer(expectation.complete(events))
            if expectation.rejected is not None:
                yield from (branch, branch.raises(expectation.rejected))
            elif self.profile.executor is Executor.STEPPED:
                yield armed.tell(*events)
            else:
                yield armed
                if events:
                    yield from self._run_at_once(branch.with_timer(expectation.complete(())), name)

    def _run_at_once(self, branch: Branch[AnyStore], name: str) -> Iterator[Branch[AnyStore]]:
        """An inline executor may run what is due in the middle of the call that arms it."""
        for ran in self.run(branch, name):
            yield replace(ran, result=branch.result, raised=branch.raised)

    def _perhaps_withdrawn(self, branch: Branch[AnyStore], name: str) -> Iterator[Branch[AnyStore]]:
        """What an inline executor is still to run may have been handed over, or be withdrawn."""
        yield branch
        if any(name in group for group in branch.due):
            yield branch.without_due(name)

    def _disarm(self, branch: Branch[AnyStore], name: str) -> Branch[AnyStore]:
        """Take the time-out out of the timer. Rules: PURGATORY-TIMER-LEFT."""
        (expectation,) = self.timer.expectations(branch.state.timer, Cancel(name))
        return branch.with_timer(expectation.complete(()))

    def _counted(self, branch: Branch[AnyStore]) -> Branch[AnyStore]:
        """One more by the proposal's estimate. Rules: PURGATORY-ESTIMATE-PROPOSAL."""
        if self.profile.accounting is not Accounting.PROPOSAL:
            return branch
        counted = replace(branch.state, estimate=branch.state.estimate + 1)
        return replace(branch, state=counted)

    def _run_script(
        self, branch: Branch[AnyStore], name: str, script: tuple[CallbackAction, ...]
    ) -> Branches[AnyStore]:
        """Run a callback of an operation to its end, or to its exception."""
        if not script:
            return (branch.returns(None),)
        action, rest = script[0], script[1:]
        if isinstance(action, Throw):
            return (branch.raises(Reason.THROWN),)
        found = (
            then
            for acted in self._act(branch, name, action)
            for then in self._run_script(acted.caught(name), name, rest)
        )
        return pruned(found)

    def _act(
        self, branch: Branch[AnyStore], owner: str, action: CallbackAction
    ) -> Branches[AnyStore]:
        """One action of a callback of an operation.

        Rules: PURGATORY-WATCH-INSIDE, PURGATORY-CHECK-INSIDE, PURGATORY-CANCEL-INSIDE,
        PURGATORY-FORCE-INSIDE, PURGATORY-MEANWHILE.
        """
        match action:
            case WatchInside(name, keys, delay_ms):
                return self.watch(branch.introduce(name, delay_ms), name, keys)
            case CheckInside(key):
                return self.check(branch, key, inside=True)
            case CancelForKeyInside(key):
                return self.cancel_for_key(branch, key)
            case ForceInside(name):
                return self.force(branch.introduce(name), name)
            case SatisfyInside(name):
                return (branch.introduce(name).satisfied(name),)
            case Meanwhile(call):
                return self._meanwhile(branch, owner, call)
            case Throw():
                return (branch.raises(Reason.THROWN),)

    def _meanwhile(
        self, branch: Branch[AnyStore], owner: str, call: CallInside
    ) -> Branches[AnyStore]:
        """Another thread calls: at once, or as far as it comes before it must wait."""
        later = replace(branch, waiting=(*branch.waiting, Waiting(owner, call)))
        if branch.waiting:
            return (later,)
        if isinstance(call, CheckInside):
            begun = walks(branch, call.key, self.profile, inside=True, owner=owner)
            at_once = walk_on(begun, self.attempt, self.profile)
        else:
            at_once = self._act(branch, owner, call)
        return pruned((*at_once, later))


def _appended(branch: Branch[AnyStore], name: str, keys: tuple[str, ...]) -> Branch[AnyStore]:
    """With an entry at the end of each key's list. Rules: PURGATORY-DUPLICATE-KEYS."""
    lists = branch.state.lists
    for key in keys:
        lists = lists.append(key, name)
    return branch.with_lists(lists)
