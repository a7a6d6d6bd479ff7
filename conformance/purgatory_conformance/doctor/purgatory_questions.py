"""The doctor's questions about a purgatory."""

from collections.abc import Callable, Iterator

from purgatory_conformance.doctor.finding import Finding
from purgatory_conformance.doctor.interview import (
    Interview,
    handed_over_all_the_same,
    is_held,
    no_doubt,
)
from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_spec.profiles import (
    FirstTry,
    PurgatoryConfiguration,
    PurgatoryFeature,
    PurgatoryProfile,
)
from purgatory_spec.reasons import Reason

_DELAY_MS = 10
_MOST_RUNS = 10
_SCRIPTED = (EventKind.COMPLETED, "scripted")
_COMPLETES = "the try of a check completes it"

PLAIN_WATCH = op.Watch("k", ("key",), _DELAY_MS)
"""An operation that every purgatory knows."""


class PurgatoryQuestions:
    """The questions about a purgatory, in their order."""

    def __init__(self, interview: Interview, profile: PurgatoryProfile) -> None:
        """Prepare the questions that the profile allows, for an interview."""
        self._ask = interview
        self._profile = profile
        self._tries_twice = profile.first_try is FirstTry.BEFORE_WATCHING
        self._waits = (op.Answer.WAIT,) * (1 + self._tries_twice)
        """The answers of an operation in its watch; the next answer is that of a check."""

    def parts(self) -> Iterator[Callable[[], Iterator[Finding]]]:
        """Yield the parts of the interview; each part begins with an instance of its own."""
        yield self.first_steps
        if self._ask.claims_kafkas_wheel():
            yield self._structure
        parts: dict[PurgatoryFeature, Callable[[], Iterator[Finding]]] = {
            PurgatoryFeature.FORCE: self._force,
            PurgatoryFeature.CANCEL_FOR_KEY: self._cancel_for_key,
            PurgatoryFeature.REWATCH: self._rewatch,
            PurgatoryFeature.DUPLICATE_KEYS: self._duplicate_keys,
            PurgatoryFeature.ELAPSE: self._elapse,
            PurgatoryFeature.NO_TIME_OUTS: self._no_time_outs,
            PurgatoryFeature.SCRIPT_THROW: lambda: self._throw(op.Answer.THROW),
            PurgatoryFeature.SCRIPT_THROW_SEVERE: lambda: self._throw(op.Answer.THROW_SEVERE),
            PurgatoryFeature.SCRIPT_WATCH: lambda: self._inside(
                op.WatchInside("inner", ("in",), 5),
                PurgatoryFeature.SCRIPT_WATCH,
                lambda: (EventKind.TRIED, "inner") in self._ask.happened,
            ),
            PurgatoryFeature.SCRIPT_CHECK: lambda: self._inside(
                op.CheckInside("other"), PurgatoryFeature.SCRIPT_CHECK, self._was_tried_inside
            ),
            PurgatoryFeature.SCRIPT_CANCEL_FOR_KEY: self._cancel_inside,
            PurgatoryFeature.SCRIPT_FORCE: lambda: self._inside(
                op.ForceInside("other"),
                PurgatoryFeature.SCRIPT_FORCE,
                lambda: (EventKind.COMPLETED, "other") in self._ask.happened,
            ),
            PurgatoryFeature.SCRIPT_TRY: self._try,
            PurgatoryFeature.SCRIPT_MEANWHILE: lambda: self._inside(
                op.Meanwhile(op.CheckInside("other")),
                PurgatoryFeature.SCRIPT_MEANWHILE,
                self._was_tried_inside,
            ),
            PurgatoryFeature.SCRIPT_CROSSWISE: self._crosswise,
            PurgatoryFeature.SHUTDOWN: self._shutdown,
            PurgatoryFeature.REACHABLE: self._reachable,
        }
        if self._ask.is_stepped:
            parts[PurgatoryFeature.REFUSE] = self._refuse
        yield from (part for feature, part in parts.items() if feature in self._profile.features)

    def first_steps(self) -> Iterator[Finding]:
        """Ask for an operation completed by a check, and another by its time-out."""
        if not (yield from self._ask.new(PurgatoryConfiguration())):
            return
        script = op.Script(tries=(*self._waits, op.Answer.COMPLETE))
        watch = op.Watch("a", ("key",), 10 * _DELAY_MS, script)
        yield from self._ask.do(watch, "", self._other_tries)
        yield from self._ask.do(op.Check("key"))
        yield from self._missing(EventKind.TRIED, "a", "'watch' tries once it has watched")
        yield from self._ask.do(op.Check("key"))
        yield from self._ask.do(op.Check("key"), "nothing is left to complete")
        yield from self._missing(EventKind.COMPLETED, "a", _COMPLETES)
        yield from self._ask.do(op.Watch("b", ("key", "other"), _DELAY_MS))
        for further_ms in (_DELAY_MS, 10, 100, 1000):
            yield from self._advance(further_ms)
            if (EventKind.TIMED_OUT, "b") in self._ask.happened or not self._ask.talk.client.runs:
                return
        yield from self._missing(EventKind.TIMED_OUT, "b", f"its delay was {_DELAY_MS} ms")

    def _other_tries(self, outcome: Outcome) -> str:
        """Return the doubt about a watch of a waiting operation with the other number of tries.

        Rules: PURGATORY-WATCH-FIRST-TRY.
        """
        tries = sum(event.kind is EventKind.TRIED for event in outcome.events)
        if tries == 1 and self._tries_twice:
            return (
                "tries once; try before the lists are entered and again in the lists, or declare "
                "'first_try' 'none' where that one try comes in the lists"
            )
        if tries == 2 and not self._tries_twice:
            return "tries twice, though 'first_try' is declared as 'none'; leave that out"
        return ""

    def _structure(self) -> Iterator[Finding]:
        """Ask whether the clock of the timer's wheel lags while it is idle, if that is declared."""
        if (yield from self._ask.new(PurgatoryConfiguration())):
            self._ask.now_ms = 100 * _DELAY_MS
            idle = op.Advance(self._ask.now_ms)
            yield from self._ask.idle_then_due(idle, op.Watch("idle", ("key",), 0))

    def _force(self) -> Iterator[Finding]:
        if (yield from self._ask.new(PurgatoryConfiguration())):
            yield from self._ask.do(PLAIN_WATCH)
            yield from self._ask.do(op.Force("k"))
            yield from self._missing(EventKind.COMPLETED, "k", "it was forced")
            yield from self._ask.do(op.Force("k"), "a second time")

    def _cancel_for_key(self) -> Iterator[Finding]:
        if (yield from self._ask.new(PurgatoryConfiguration())):
            yield from self._ask.do(PLAIN_WATCH)
            yield from self._ask.do(op.CancelForKey("key"))
            yield from self._ask.do(op.CancelForKey("key"), "nothing is left there")

    def _rewatch(self) -> Iterator[Finding]:
        if (yield from self._ask.new(PurgatoryConfiguration())):
            yield from self._ask.do(PLAIN_WATCH)
            yield from self._ask.do(PLAIN_WATCH, "a second time")

    def _duplicate_keys(self) -> Iterator[Finding]:
        if (yield from self._ask.new(PurgatoryConfiguration())):
            yield from self._ask.do(
                op.Watch("k", ("key", "key"), _DELAY_MS), "a key is given twice"
            )
            yield from self._ask.do(op.Check("key"))

    def _elapse(self) -> Iterator[Finding]:
        if (yield from self._ask.new(PurgatoryConfiguration())):
            yield from self._ask.do(PLAIN_WATCH)
            self._ask.now_ms += 2 * _DELAY_MS
            yield from self._ask.do(op.Elapse(self._ask.now_ms))
            yield from self._advance(0)

    def _no_time_outs(self) -> Iterator[Finding]:
        if (yield from self._ask.new(PurgatoryConfiguration(time_outs=False))):
            yield from self._ask.do(PLAIN_WATCH, "it never times out")
            yield from self._advance(2 * _DELAY_MS)

    def _throw(self, answer: op.Answer) -> Iterator[Finding]:
        """Ask for a try that throws, then for a callback that throws; the purgatory serves on."""
        if not (yield from self._ask.new(PurgatoryConfiguration())):
            return
        tries = op.Script(tries=(*self._waits, answer))
        yield from self._ask.do(op.Watch("throws", ("key",), 10 * _DELAY_MS, tries))
        yield from self._ask.do(op.Check("key"), "its try throws", _nothing_thrown)
        throw = op.Throw(answer.sort)
        yield from self._inside(throw, PurgatoryFeature.SCRIPT_THROW, lambda: True)
        yield from self._ask.do(op.Check("key"), "afterwards")

    def _cancel_inside(self) -> Iterator[Finding]:
        """Ask for a callback that cancels a key, under which a check finds nothing afterwards."""
        action = op.CancelForKeyInside("other")
        yield from self._inside(action, PurgatoryFeature.SCRIPT_CANCEL_FOR_KEY, lambda: True)
        self._ask.happened.pop((EventKind.TRIED, "other"), None)
        yield from self._ask.do(op.Check("other"), "nothing is left there")
        if (EventKind.TRIED, "other") in self._ask.happened:
            feature = PurgatoryFeature.SCRIPT_CANCEL_FOR_KEY.value
            yield from self._ask.ignored_script(feature, (action,), _SCRIPTED)

    def _try(self) -> Iterator[Finding]:
        """Ask for a try that makes another operation possible, which a check then completes."""
        if not (yield from self._ask.new(PurgatoryConfiguration())):
            return
        actions = (op.SatisfyInside("other"),)
        yield from self._ask.do(op.Watch("other", ("other",), 10 * _DELAY_MS))
        script = op.Script(on_try=(*((),) * len(self._waits), actions))
        yield from self._ask.do(op.Watch("scripted", ("key",), 10 * _DELAY_MS, script))
        yield from self._ask.do(op.Check("key"), "its try acts")
        yield from self._ask.do(op.Check("other"), "it was satisfied meanwhile")
        if (EventKind.COMPLETED, "other") not in self._ask.happened:
            feature = PurgatoryFeature.SCRIPT_TRY.value
            yield from self._ask.ignored_script(feature, actions, (EventKind.TRIED, "scripted"))

    def _crosswise(self) -> Iterator[Finding]:
        """Ask for two callbacks, in two threads, of which each checks the other operation's key."""
        if not (yield from self._ask.new(PurgatoryConfiguration())):
            return
        tries = (*self._waits, op.Answer.COMPLETE)
        back = op.Script(tries, on_complete=(op.CheckInside("key"),))
        yield from self._ask.do(op.Watch("other", ("other",), 10 * _DELAY_MS, back))
        actions = (op.Meanwhile(op.CheckInside("other")), op.CheckInside("other"))
        script = op.Script(tries, on_complete=actions)
        yield from self._ask.do(op.Watch("scripted", ("key",), 10 * _DELAY_MS, script))
        yield from self._ask.do(op.Check("key"), "its callback acts, and another thread's as well")
        if not self._was_tried_inside():
            feature = PurgatoryFeature.SCRIPT_CROSSWISE.value
            yield from self._ask.ignored_script(feature, actions, _SCRIPTED)

    def _was_tried_inside(self) -> bool:
        tried = self._ask.happened.get((EventKind.TRIED, "other"))
        return tried is self._ask.happened.get(_SCRIPTED)

    def _inside(
        self, action: op.CallbackAction, feature: PurgatoryFeature, has_effect: Callable[[], bool]
    ) -> Iterator[Finding]:
        """Ask for a callback that performs an action, by a check that completes its operation."""
        if not (yield from self._ask.new(PurgatoryConfiguration())):
            return
        doubt = _nothing_thrown if isinstance(action, op.Throw) else no_doubt
        script = op.Script((*self._waits, op.Answer.COMPLETE), on_complete=(action,))
        yield from self._ask.do(op.Watch("other", ("other",), 10 * _DELAY_MS))
        yield from self._ask.do(op.Watch("scripted", ("key",), 10 * _DELAY_MS, script))
        yield from self._ask.do(op.Check("key"), "its callback acts", doubt)
        yield from self._missing(EventKind.COMPLETED, "scripted", _COMPLETES)
        if not has_effect():
            yield from self._ask.ignored_script(feature.value, (action,), _SCRIPTED)

    def _refuse(self) -> Iterator[Finding]:
        """Ask for an operation whose time-out the executor refuses."""
        if (yield from self._ask.new(PurgatoryConfiguration())):
            yield from self._ask.do(op.Watch("r", ("key",), _DELAY_MS))
            self._ask.now_ms += _DELAY_MS
            refused = op.Advance(self._ask.now_ms, refuse=True)
            yield from self._ask.do(refused, "the executor refuses", handed_over_all_the_same)
            yield from self._advance(0)
            yield from self._missing(EventKind.TIMED_OUT, "r", f"its delay was {_DELAY_MS} ms")

    def _shutdown(self) -> Iterator[Finding]:
        if (yield from self._ask.new(PurgatoryConfiguration())):
            yield from self._ask.do(PLAIN_WATCH)
            yield from self._ask.do(op.Shutdown())
            yield from self._ask.do(
                op.Watch("late", ("key",), _DELAY_MS), "after shutdown, so it may be 'closed'"
            )
            yield from self._ask.do(op.Shutdown(), "a second time")

    def _reachable(self) -> Iterator[Finding]:
        """Ask for an operation to be dropped while it waits, and whether it exists after that."""
        if (yield from self._ask.new(PurgatoryConfiguration())):
            yield from self._ask.do(op.Watch("l", ("key",), _DELAY_MS))
            yield from self._ask.do(op.Reachable("l"), "it waits, and times out all the same")
            yield from self._advance(_DELAY_MS)
            yield from self._ask.do(op.Check("key"), "nothing is left to complete")
            yield from self._ask.do(op.Reachable("l"), "it has timed out", is_held)

    def _advance(self, further_ms: int) -> Iterator[Finding]:
        """Let time pass; where the executor is stepped, run what waits."""
        self._ask.now_ms += further_ms
        yield from self._ask.do(op.Advance(self._ask.now_ms))
        if not self._ask.is_stepped:
            return
        for _ in range(_MOST_RUNS):
            outcome = yield from self._ask.do(op.RunOne())
            if outcome is None or not outcome.events:
                return

    def _missing(self, kind: EventKind, operation: str, why: str) -> Iterator[Finding]:
        """Yield the complaint that an event was never reported, if every reply could be read."""
        if (kind, operation) in self._ask.happened or self._ask.has_unread:
            return
        yield self._ask.about_the_last_reply(
            f"no event '{kind.value}' of operation '{operation}' was reported, though {why}; "
            f'report it in \'events\' as {{"kind":"{kind.value}","task":"{operation}"}}'
        )


def _nothing_thrown(outcome: Outcome) -> str:
    """Return the doubt about a check in which a script throws, and its caller gets no exception."""
    if outcome.rejected is Reason.THROWN:
        return ""
    return (
        "is not rejected as 'thrown', though a script throws in it; carry out 'throw' and report "
        "the exception that reaches the caller, of either sort, or do not declare 'script_throw'"
    )
