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

from purgatory_model.course import (
    Course,
    Courses,
    Waiting,
    and_then,
    distinct,
    itself,
    likely,
)
from purgatory_model.pending_tasks import Kept
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

Attempt = Callable[[Course[Kept], str], Courses[Kept]]

_MOST_WALKS = 256
"""The courses of one walk without order that are followed at a time."""


@dataclass(frozen=True, slots=True)
class Walk(Generic[Kept]):
    """A walk under way: the numbers passed, the count of completions, whether a try threw.

    ``found`` are the entries that were in the list at first. ``at_end`` says that entries of
    completed operations are dropped when the walk is through, and ``inside`` that a callback
    checks; ``owner`` is the operation whose callback stands still, where another thread checks
    meanwhile.
    """

    course: Course[Kept]
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
        operation = self.course.operation(entry.operation)
        if self.owner is None and not operation.script.on_try:
            return False
        return not operation.completed and tried(entry.operation) in self.course.events

    def waiting(self) -> Course[Kept]:
        """The walk waits until the operation that it has come to is no longer being tried."""
        assert self.owner is not None
        call = CheckInside(self.key)
        rest = Waiting(self.owner, call, self.found, self.at_end, self.passed, self.thrown)
        return replace(self.course, waiting=(*self.course.waiting, rest))

    @property
    def left(self) -> tuple[Entry, ...]:
        """The entries that the walk has not passed, the oldest first."""
        entries = {*self.found, *self.course.moment.lists.of(self.key)}
        left = (entry for entry in entries if entry.number not in self.passed)
        return tuple(sorted(left, key=lambda entry: entry.number))

    def past(self, entry: Entry) -> "Walk[Kept]":
        """The walk behind an entry."""
        return replace(self, passed=self.passed | {entry.number})

    def dropped(self, entry: Entry) -> "Walk[Kept]":
        """The walk behind an entry of a completed operation."""
        if self.at_end:
            return self.past(entry)
        lists = self.course.moment.lists.drop(self.key, entry)
        return replace(self.past(entry), course=self.course.with_lists(lists))

    def may_miss(self, entry: Entry) -> bool:
        """Whether a callback added the entry or took it away. Rules: PURGATORY-CHECK-ORDER."""
        return entry not in self.found or entry not in self.course.moment.lists.of(self.key)

    def ended(self) -> Course[Kept]:
        """The end of the walk. Rules: PURGATORY-CHECK-COUNT, PURGATORY-CHECK-UNKNOWN."""
        if self.course.raised is not None:
            return self.course
        if self.thrown:
            return self.course.raises(Reason.THROWN)
        return self.course.returns(self.completed)

    def ends(self) -> Iterator[Course[Kept]]:
        """The end of the walk, or ends that drop: of all entries, or of those that were found.

        A walk that an exception cuts short need not drop anything. Rules: PURGATORY-CHECK-DROPS.
        """
        if not self.at_end:
            yield self.ended()
            return
        if self.course.raised is not None:
            yield self.course
        present = self.course.moment.lists.of(self.key)
        completed = [each for each in present if self.course.operation(each.operation).completed]
        found = [entry for entry in completed if entry in self.found]
        for entries in (completed, found):
            lists = self.course.moment.lists
            for entry in entries:
                lists = lists.drop(self.key, entry)
            yield replace(self, course=self.course.with_lists(lists)).ended()


def walks(
    course: Course[Kept],
    key: str,
    profile: PurgatoryProfile,
    *,
    inside: bool = False,
    owner: str | None = None,
) -> tuple[Walk[Kept], ...]:
    """The beginnings of a check: it drops as it passes, or at its end."""
    found = course.moment.lists.of(key)
    return tuple(
        Walk(course, key, found, at_end, inside=inside, owner=owner)
        for at_end, drops in ((False, CheckDrops.AT_END), (True, CheckDrops.AS_PASSED))
        if profile.check_drops is not drops
        and not (at_end and profile.check_drops is CheckDrops.EVERYWHERE)
    )


class TooManyCourses(Exception):
    """A walk without order has more courses than can be followed."""


def walk_on(
    walks: tuple[Walk[Kept], ...], attempt: Attempt[Kept], profile: PurgatoryProfile
) -> Courses[Kept]:
    """Meet the entries one by one, and try uncompleted operations by ``attempt``.

    Raises:
        TooManyCourses: the lists have no order, and too many orders agree with the events seen.
    """
    ended: list[Course[Kept]] = []
    while walks:
        going: list[Walk[Kept]] = []
        for each in walks:
            if each.course.raised is not None:
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
                    later = replace(each, course=each.course.left_to_try_again(entry.operation))
                    going.append(later.past(entry))
                if is_ordered and each.may_miss(entry):
                    going.append(each.past(entry))
                going += _pass(each, entry, attempt, profile.throwing_try)
        walks = likely(going, lambda each: each.course)
        if len(walks) > _MOST_WALKS and profile.check_order is CheckOrder.FREE:
            raise TooManyCourses
    return likely(ended, itself)


def _in_any_order(
    walk: Walk[Kept], left: tuple[Entry, ...], profile: PurgatoryProfile
) -> tuple[Entry, ...]:
    """The entries that a walk without order may meet next, as far as the events seen agree.

    Entries of completed operations are passed without a sign. Where no exception can cut the walk
    short it passes all of these entries, and they come first here: their order decides nothing.

    Rules: PURGATORY-CHECK-ORDER.
    """
    stale = [entry for entry in left if walk.course.operation(entry.operation).completed]
    throws = PurgatoryFeature.SCRIPT_THROW in profile.features
    if not throws or profile.throwing_try is ThrowingTry.GO_ON:
        passed = [entry for entry in stale if not walk.may_miss(entry)]
        if passed:
            return tuple(passed[:1])
    course = walk.course
    if course.seen is None:
        return left
    if not course.is_likely:
        return left[:1]
    following = course.seen[len(course.events) :][:1]
    silent = {entry for entry in left if entry in stale or walk.meets_a_try(entry)}
    agreeing = [each for each in left if each in silent or (tried(each.operation),) == following]
    return tuple(agreeing) or left[:1]


def _pass(
    walk: Walk[Kept], entry: Entry, attempt: Attempt[Kept], throwing_try: ThrowingTry
) -> Iterator[Walk[Kept]]:
    """Pass one entry.

    Rules: PURGATORY-CHECK-DROPS, PURGATORY-COMPLETED-NOT-TRIED, PURGATORY-NOT-LOST.
    """
    if walk.course.operation(entry.operation).completed:
        yield walk.dropped(entry)
        return
    for attempted in attempt(walk.course, entry.operation):
        after = replace(walk, course=attempted)
        if attempted.raised is not None:
            yield _behind_exception(after, entry, throwing_try)
        elif attempted.result is True:
            yield replace(after.dropped(entry), completed=walk.completed + 1)
        else:
            yield after.past(entry)
            if after.course.operation(entry.operation).completed:  # inside this try
                yield after.dropped(entry)


def _behind_exception(walk: Walk[Kept], entry: Entry, throwing_try: ThrowingTry) -> Walk[Kept]:
    """End here, or go on as though nothing had been. Rules: PURGATORY-CHECK-THROWS."""
    if throwing_try is ThrowingTry.STOP:
        return walk
    after = replace(walk, course=walk.course.returns(None), thrown=True)
    if walk.course.operation(entry.operation).completed:
        return after.dropped(entry)
    return after.past(entry)


@dataclass(frozen=True, slots=True)
class Calls(Generic[Kept]):
    """The calls of a purgatory of a configuration and a profile, over its timer.

    ``variants`` names known faults that are followed instead of the rules.
    """

    configuration: PurgatoryConfiguration
    profile: PurgatoryProfile
    timer: TimerModel[Kept]
    variants: frozenset[str] = frozenset()

    def attempt(self, course: Course[Kept], name: str) -> Courses[Kept]:
        """Try an operation: take the script's next answer, or complete a satisfied operation.

        Rules: PURGATORY-TRY-INSIDE, PURGATORY-MEANWHILE.
        """
        operation = course.operation(name)
        answers, acts = operation.script.tries, operation.script.on_try
        number = operation.tries
        used = min(number + 1, operation.script.different_tries)
        called = course.with_operation(name, replace(operation, tries=used)).tell(tried(name))
        answer = answers[min(number, len(answers) - 1)] if answers else Answer.WAIT
        if operation.satisfied:
            answer = Answer.COMPLETE
        acted = self._run_script(called, name, acts[number]) if number < len(acts) else (called,)
        answered = and_then(acted, lambda course: self._answered(course, name, answer))
        if number >= len(acts) and not course.waiting:
            return answered
        return likely((each for ended in answered for each in self._let_go(ended, name)), itself)

    def _answered(self, course: Course[Kept], name: str, answer: Answer) -> Courses[Kept]:
        """A try gives its answer, or forces the operation and gives the answer of that."""
        if answer is Answer.COMPLETE:
            return self.force(course, name)
        if answer is Answer.THROW:
            return (course.raises(Reason.THROWN),)
        return (course.returns(False),)

    def _let_go(self, course: Course[Kept], name: str) -> Iterator[Course[Kept]]:
        """What has waited for a try to end goes on now or later; what was left to it is tried.

        Rules: PURGATORY-NOT-LOST, PURGATORY-MEANWHILE, PURGATORY-NO-CIRCLE.
        """
        if name in course.again:
            again = replace(course, again=course.again - {name})
            if course.result is False and not course.operation(name).completed:
                yield from self.attempt(again, name)
                return
            if course.raised is not None and not course.operation(name).completed:
                # The exception reaches the caller all the same; the try after it may have come
                # before the check, where nothing was left.
                tried_again = self.attempt(again.returns(None), name)
                yield from (each.raises(course.raised) for each in tried_again)
            course = again
        yield course
        if course.waiting:
            yield from self.go_on(course)

    def go_on(self, course: Course[Kept]) -> Courses[Kept]:
        """What another thread's calls have waited with is done; result and exception stay."""
        ended: Courses[Kept] = (course,)
        while any(each.waiting for each in ended):
            ended = likely((then for each in ended for then in self._go_on_once(each)), itself)
        return distinct(replace(e, result=course.result, raised=course.raised) for e in ended)

    def _go_on_once(self, course: Course[Kept]) -> Iterator[Course[Kept]]:
        """The other thread finishes the call in which it waited."""
        if not course.waiting:
            yield course
            return
        first = course.waiting[0]
        free = replace(course, waiting=course.waiting[1:]).returns(None)
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

    def force(self, course: Course[Kept], name: str) -> Courses[Kept]:
        """Complete an operation, once.

        Rules: PURGATORY-EXACTLY-ONCE, PURGATORY-CALLBACK-ORDER, PURGATORY-TIMER-LEFT,
        PURGATORY-FORCE, PURGATORY-FORCE-AGAIN, PURGATORY-CALLBACK-THROWS.
        """
        operation = course.operation(name)
        if operation.completed:
            return (course.returns(False),)
        done = course.with_operation(name, replace(operation, completed=True))
        called = self._disarm(done, name).tell(completed(name))
        if PurgatoryObservable.CALLBACK_TIMER_SIZE in self.profile.observables:
            size = len(called.moment.timer.store.due_ticks)
            called = replace(called, callback_timer_size=size)
        ran = self._run_script(called, name, operation.script.on_complete)
        return and_then(ran, lambda course: (course.returns(True),))

    def watch(self, course: Course[Kept], name: str, keys: tuple[str, ...]) -> Courses[Kept]:
        """Try to complete an operation, else watch it; or watch it before any try.

        Rules: PURGATORY-WATCH-FIRST-TRY, PURGATORY-FIRST-TRY-THROWS, PURGATORY-NO-KEYS,
        PURGATORY-SHUTDOWN-CLOSED.
        """
        if course.moment.closed and "open_after_shutdown" not in self.variants:
            return (course.raises(Reason.CLOSED),)
        if not keys:
            unplanned = "no_keys_internal" in self.variants
            return (course.raises(Reason.INTERNAL if unplanned else Reason.INVALID_ARGUMENT),)
        operation = course.operation(name)
        if operation.completed and "completed_watched" not in self.variants:
            return self._watch_completed(course, name)
        rejects = self.profile.negative_delay is NegativeDelay.REJECT and operation.delay_ms < 0
        if self.profile.first_try is FirstTry.NONE:
            if rejects:
                return (course.raises(Reason.INVALID_ARGUMENT),)
            return self._add(course, name, keys)
        ended = and_then(
            self.attempt(course, name),
            lambda tried: (
                (tried,)
                if tried.result is True
                else (tried.raises(Reason.INVALID_ARGUMENT),)
                if rejects
                else self._add(tried, name, keys)
            ),
        )
        if rejects:
            return likely((course.raises(Reason.INVALID_ARGUMENT), *ended), itself)
        return ended

    def check(self, course: Course[Kept], key: str, *, inside: bool = False) -> Courses[Kept]:
        """Try what is watched under a key."""
        begun = walks(course, key, self.profile, inside=inside)
        return walk_on(begun, self.attempt, self.profile)

    def cancel_for_key(self, course: Course[Kept], key: str) -> Courses[Kept]:
        """Take a key's list away.

        Rules: PURGATORY-CANCEL-RESULT, PURGATORY-CANCEL-LEAVES, PURGATORY-CANCEL-LAST-KEY,
        PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-CANCEL-UNKNOWN.
        """
        names = tuple(entry.operation for entry in course.moment.lists.of(key))
        result = names
        if self.profile.cancel_result is CancelResult.LIVE:
            result = tuple(name for name in names if not course.operation(name).completed)
        if self.profile.check_order is CheckOrder.FREE:
            result = InAnyOrder.of(result)
        afters = [course.with_lists(course.moment.lists.detach(key)).returns(result)]
        for name in distinct(names):
            kept = afters[0].moment.lists.watches(name)
            if not kept or "time_out_taken_with_key" in self.variants:
                afters = [
                    self._disarm(before, name)
                    for after in afters
                    for before in self._perhaps_withdrawn(after, name)
                ]
        return tuple(afters)

    def run_one(self, course: Course[Kept]) -> Courses[Kept]:
        """The executor runs the head of its queue, if there is one."""
        timer = course.moment.timer
        if not timer.queue:
            return (course,)
        begun = course.with_timer(replace(timer, queue=timer.queue[1:]))
        return self.run(begun, timer.queue[0])

    def run(self, course: Course[Kept], name: str) -> Courses[Kept]:
        """The executor runs the time-out of an operation.

        Rules: PURGATORY-LOST-EXPIRY, PURGATORY-EXPIRY-THROWS, PURGATORY-CALLBACK-ORDER.
        """
        ran = and_then(self.force(course, name), lambda forced: self._expire(forced, name))
        return distinct(course.returns(None) for course in ran)

    def _expire(self, course: Course[Kept], name: str) -> Courses[Kept]:
        """Call ``on_expiration``, if it was the time-out that completed the operation."""
        if course.result is not True:
            return (course,)
        script = course.operation(name).script.on_expiration
        return self._run_script(course.tell(timed_out(name)), name, script)

    def _watch_completed(self, course: Course[Kept], name: str) -> Courses[Kept]:
        """Never, once or twice tried, and that is all. Rules: PURGATORY-WATCH-COMPLETED."""
        if "completed_uncounted" in self.variants:
            return self.attempt(course, name)
        tries_twice = self.profile.first_try is FirstTry.BEFORE_WATCHING
        courses = [self._counted(course).returns(False)]
        for first in self.attempt(course, name):
            if first.raised is not None:
                courses.append(first)
                continue
            courses.append(self._counted(first))
            if tries_twice:
                courses += self.attempt(self._counted(first), name)
        return likely(courses, itself)

    def _add(self, course: Course[Kept], name: str, keys: tuple[str, ...]) -> Courses[Kept]:
        """Append to the lists and try again; arm before that, in between or after it.

        Rules: PURGATORY-WATCH-SECOND-TRY, PURGATORY-WATCH-WAITS, PURGATORY-SECOND-TRY-THROWS,
        PURGATORY-REWATCH.
        """
        if course.operation(name).completed and "completed_uncounted" in self.variants:
            return (course.returns(False),)
        counted = self._counted(course)
        added = _appended(counted, name, keys)
        if course.operation(name).completed and "completed_watched" not in self.variants:
            untried = (counted.returns(False), added.returns(False))
            return likely(
                (*untried, *self.attempt(counted, name), *self.attempt(added, name)), itself
            )
        tried = self.attempt(added, name)
        if "second_try_unarmed" in self.variants:
            return and_then(tried, lambda returned: self._arm(returned, name))
        armed_after = distinct(armed for each in tried for armed in self._arm(each, name))
        if course.operation(name).completed:
            return armed_after
        armed_before = [*self._arm(added, name)]
        for armed in self._arm(counted, name):
            armed_before.append(_appended(armed, name, keys))
            if armed.operation(name).completed:
                armed_before.append(armed)
        tried_after = and_then(armed_before, lambda armed: self._try_again(armed, name))
        return likely((*armed_after, *tried_after), itself)

    def _try_again(self, course: Course[Kept], name: str) -> Courses[Kept]:
        """The second try, which is free where a time-out that ran at once was faster."""
        tried = self.attempt(course, name)
        return (course.returns(False), *tried) if course.operation(name).completed else tried

    def _arm(self, course: Course[Kept], name: str) -> Iterator[Course[Kept]]:
        """Arm the time-out of an operation that is not completed, or move it.

        Where the timer refuses, the time-out is lost or the refusal reaches the caller; that only
        happens to those who watch after shutdown.

        Rules: PURGATORY-TIME-OUT, PURGATORY-REWATCH, PURGATORY-NO-TIME-OUTS.
        """
        operation = course.operation(name)
        if operation.completed or not self.configuration.time_outs:
            yield course
            return
        for before in self._perhaps_withdrawn(course, name):
            yield from self._armed(before, name, operation.delay_ms)

    def _armed(self, course: Course[Kept], name: str, delay_ms: int) -> Iterator[Course[Kept]]:
        """The time-out of an operation is added to the timer."""
        for expectation in self.timer.expectations(course.moment.timer, Add(name, delay_ms)):
            events = tuple(event for group in expectation.groups for event in group)
            armed = course.with_timer(expectation.complete(events))
            if expectation.rejected is not None:
                yield from (course, course.raises(expectation.rejected))
            elif self.profile.executor is Executor.STEPPED:
                yield armed.tell(*events)
            else:
                yield armed
                if events:
                    yield from self._run_at_once(course.with_timer(expectation.complete(())), name)

    def _run_at_once(self, course: Course[Kept], name: str) -> Iterator[Course[Kept]]:
        """An inline executor may run what is due in the middle of the call that arms it."""
        for ran in self.run(course, name):
            yield replace(ran, result=course.result, raised=course.raised)

    def _perhaps_withdrawn(self, course: Course[Kept], name: str) -> Iterator[Course[Kept]]:
        """What an inline executor is still to run may have been handed over, or be withdrawn."""
        yield course
        if any(name in group for group in course.due):
            yield course.without_due(name)

    def _disarm(self, course: Course[Kept], name: str) -> Course[Kept]:
        """Take the time-out out of the timer. Rules: PURGATORY-TIMER-LEFT."""
        (expectation,) = self.timer.expectations(course.moment.timer, Cancel(name))
        return course.with_timer(expectation.complete(()))

    def _counted(self, course: Course[Kept]) -> Course[Kept]:
        """One more by the proposal's estimate. Rules: PURGATORY-ESTIMATE-PROPOSAL."""
        if self.profile.accounting is not Accounting.PROPOSAL:
            return course
        moment = replace(course.moment, estimate=course.moment.estimate + 1)
        return replace(course, moment=moment)

    def _run_script(
        self, course: Course[Kept], name: str, script: tuple[CallbackAction, ...]
    ) -> Courses[Kept]:
        """Run a callback of an operation to its end, or to its exception."""
        if not script:
            return (course.returns(None),)
        action, rest = script[0], script[1:]
        if isinstance(action, Throw):
            return (course.raises(Reason.THROWN),)
        found = (
            then
            for acted in self._act(course, name, action)
            for then in self._run_script(acted.caught(name), name, rest)
        )
        return likely(found, itself)

    def _act(self, course: Course[Kept], owner: str, action: CallbackAction) -> Courses[Kept]:
        """One action of a callback of an operation.

        Rules: PURGATORY-WATCH-INSIDE, PURGATORY-CHECK-INSIDE, PURGATORY-CANCEL-INSIDE,
        PURGATORY-FORCE-INSIDE, PURGATORY-MEANWHILE.
        """
        match action:
            case WatchInside(name, keys, delay_ms):
                return self.watch(course.introduce(name, delay_ms), name, keys)
            case CheckInside(key):
                return self.check(course, key, inside=True)
            case CancelForKeyInside(key):
                return self.cancel_for_key(course, key)
            case ForceInside(name):
                return self.force(course.introduce(name), name)
            case SatisfyInside(name):
                return (course.introduce(name).satisfied(name),)
            case Meanwhile(call):
                return self._meanwhile(course, owner, call)
            case Throw():
                return (course.raises(Reason.THROWN),)

    def _meanwhile(self, course: Course[Kept], owner: str, call: CallInside) -> Courses[Kept]:
        """Another thread calls: at once, or as far as it comes before it must wait."""
        later = replace(course, waiting=(*course.waiting, Waiting(owner, call)))
        if course.waiting:
            return (later,)
        if isinstance(call, CheckInside):
            begun = walks(course, call.key, self.profile, inside=True, owner=owner)
            at_once = walk_on(begun, self.attempt, self.profile)
        else:
            at_once = self._act(course, owner, call)
        return likely((*at_once, later), itself)


def _appended(course: Course[Kept], name: str, keys: tuple[str, ...]) -> Course[Kept]:
    """With an entry at the end of each key's list. Rules: PURGATORY-DUPLICATE-KEYS."""
    lists = course.moment.lists
    for key in keys:
        lists = lists.append(key, name)
    return course.with_lists(lists)
