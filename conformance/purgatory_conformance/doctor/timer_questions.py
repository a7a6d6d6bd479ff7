"""The doctor's questions about a timer."""

from collections.abc import Callable, Iterator

from purgatory_conformance.doctor.finding import Finding, Severity
from purgatory_conformance.doctor.interview import Interview, handed_over_all_the_same, is_held
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.outcomes import EventKind

_MOST_RUNS = 10
_DELAY_MS = 10
_LONG_DELAY_MS = 1000
_IDLE_MS = 1000
_ADD_INNER = op.AddInside("inner", 0)
_SCRIPTED = (EventKind.RAN, "scripted")
_PARAMETERS = profiles.TimerConfiguration(tick_ms=10, wheel_size=5, start_ms=1003)

PLAIN_ADD = op.Add("k", _DELAY_MS)
"""An operation that every timer knows."""


class TimerQuestions:
    """The questions about a timer, in their order."""

    def __init__(self, interview: Interview, profile: profiles.TimerProfile) -> None:
        """Prepare the questions that the profile allows, for an interview."""
        self._ask = interview
        self._profile = profile

    def parts(self) -> Iterator[Callable[[], Iterator[Finding]]]:
        """Yield the parts of the interview; each part begins with an instance of its own."""
        yield self.first_steps
        yield self._parameters
        if self._ask.claims_kafkas_wheel():
            yield self._structure
        yield from self._feature_parts()

    def _feature_parts(self) -> Iterator[Callable[[], Iterator[Finding]]]:
        """Yield the questions about the declared features; on a real clock only some make sense."""
        parts: dict[profiles.Feature, Callable[[], Iterator[Finding]]] = {
            profiles.Feature.CANCEL: self._cancel,
            profiles.Feature.READD: self._readd,
            profiles.Feature.CHANGE_DELAY: self._change_delay,
        }
        if self._profile.clock is profiles.Clock.MANUAL:
            parts |= {
                profiles.Feature.ELAPSE: self._elapse,
                profiles.Feature.SCRIPT_THROW: self._throw,
                profiles.Feature.SCRIPT_THROW_SEVERE: lambda: self._script(
                    profiles.Feature.SCRIPT_THROW_SEVERE,
                    (op.Throw(op.ThrowSort.SEVERE),),
                    lambda: True,
                ),
                profiles.Feature.SCRIPT_ADD: lambda: self._script(
                    profiles.Feature.SCRIPT_ADD, (_ADD_INNER,), lambda: self._ran("inner")
                ),
                profiles.Feature.SCRIPT_CANCEL: lambda: self._script(
                    profiles.Feature.SCRIPT_CANCEL,
                    (op.CancelInside("other"),),
                    lambda: not self._ran("other"),
                ),
                profiles.Feature.SCRIPT_ADVANCE: self._advance_inside,
                profiles.Feature.INT64: self._int64,
                profiles.Feature.NEGATIVE_CLOCK: self._negative_clock,
                profiles.Feature.SHUTDOWN: self._shutdown,
                profiles.Feature.REACHABLE: self._reachable,
            }
            if self._profile.executor is not profiles.Executor.INLINE:
                parts[profiles.Feature.REFUSE] = self._refuse
        return (part for feature, part in parts.items() if feature in self._profile.features)

    def first_steps(self) -> Iterator[Finding]:
        """Ask for a task to be added, and to run."""
        if (yield from self._ask.new(profiles.TimerConfiguration())):
            yield from self._add_and_run("a", _DELAY_MS)

    def _parameters(self) -> Iterator[Finding]:
        """Ask for a new instance with parameters, in place of an instance that was never ended."""
        if not (yield from self._ask.new(profiles.TimerConfiguration())):
            return
        yield from self._ask.do(op.Add("left-behind", _DELAY_MS))
        if not (yield from self._ask.new(_PARAMETERS)):
            return
        outcome = yield from self._ask.do(op.Add("b", _DELAY_MS))
        size = outcome.observed.get(profiles.Observable.SIZE.value) if outcome is not None else None
        if size not in (None, 1):
            yield Finding(
                Severity.WRONG,
                f"the size of a fresh instance with one task is {size}; 'new' must replace the "
                "instance before it, also where 'end' was not sent",
            )
        yield from self._run("b", _DELAY_MS)
        if self._ran("left-behind"):
            yield Finding(
                Severity.WRONG,
                "a task of the instance before ran in this one; 'new' must replace the instance",
            )

    def _structure(self) -> Iterator[Finding]:
        """Ask whether the wheel's own clock lags while it is idle, if that is declared."""
        if (yield from self._ask.new(profiles.TimerConfiguration())):
            self._ask.now_ms = _IDLE_MS
            yield from self._ask.idle_then_due(op.Advance(_IDLE_MS), op.Add("idle", 0))
            if not self._ran("idle"):
                yield from self._run("idle", 0)

    def _cancel(self) -> Iterator[Finding]:
        if (yield from self._ask.new(profiles.TimerConfiguration())):
            yield from self._ask.do(op.Add("c", _DELAY_MS))
            yield from self._ask.do(op.Cancel("c"))
            yield from self._ask.do(op.Cancel("never-added"))

    def _readd(self) -> Iterator[Finding]:
        if (yield from self._ask.new(profiles.TimerConfiguration())):
            yield from self._ask.do(op.Add("d", _DELAY_MS))
            yield from self._add_and_run("d", _DELAY_MS)
            yield from self._add_and_run("d", _DELAY_MS)

    def _change_delay(self) -> Iterator[Finding]:
        if (yield from self._ask.new(profiles.TimerConfiguration())):
            yield from self._ask.do(op.Add("e", _DELAY_MS))
            yield from self._add_and_run("e", 2 * _DELAY_MS)

    def _elapse(self) -> Iterator[Finding]:
        if (yield from self._ask.new(profiles.TimerConfiguration())):
            yield from self._ask.do(op.Add("f", _DELAY_MS))
            self._ask.now_ms += 2 * _DELAY_MS
            yield from self._ask.do(op.Elapse(self._ask.now_ms))
            yield from self._run("f", 0)

    def _throw(self) -> Iterator[Finding]:
        """Ask for a task that throws before another action of its script."""
        followed = profiles.Feature.SCRIPT_ADD in self._profile.features
        actions = (op.Throw(), _ADD_INNER) if followed else (op.Throw(),)
        yield from self._script(
            profiles.Feature.SCRIPT_THROW, actions, lambda: not self._ran("inner")
        )

    def _script(
        self,
        feature: profiles.Feature,
        actions: tuple[op.Action, ...],
        has_effect: Callable[[], bool],
    ) -> Iterator[Finding]:
        """Ask for a task that runs its script while another waits, and others run afterwards."""
        if (yield from self._ask.new(profiles.TimerConfiguration())):
            yield from self._ask.do(op.Add("other", _LONG_DELAY_MS))
            yield from self._ask.do(op.Add("scripted", _DELAY_MS, actions))
            yield from self._run("scripted", _DELAY_MS)
            yield from self._add_and_run("afterwards", _DELAY_MS)
            yield from self._pass_time(_LONG_DELAY_MS)
            if not has_effect():
                yield from self._ask.ignored_script(feature.value, actions, _SCRIPTED)

    def _advance_inside(self) -> Iterator[Finding]:
        """Ask for a task that advances its timer; steps of a clock make the effect visible."""
        action, feature = op.AdvanceInside(), profiles.Feature.SCRIPT_ADVANCE
        if not self._ask.is_stepped or profiles.Feature.ELAPSE not in self._profile.features:
            yield from self._script(feature, (action,), lambda: True)
            return
        if not (yield from self._ask.new(profiles.TimerConfiguration())):
            return
        yield from self._ask.do(op.Add("other", 2 * _DELAY_MS))
        yield from self._ask.do(op.Add("scripted", _DELAY_MS, (action,)))
        yield from self._ask.do(op.Advance(_DELAY_MS))
        self._ask.now_ms = 3 * _DELAY_MS
        yield from self._ask.do(op.Elapse(self._ask.now_ms))
        yield from self._ask.do(op.RunOne(), "it runs 'scripted', which advances the timer")
        if (EventKind.EXPIRED, "other") not in self._ask.happened:
            yield from self._ask.ignored_script(feature.value, (action,), _SCRIPTED)

    def _int64(self) -> Iterator[Finding]:
        large = profiles.LARGEST_SAFE_INTEGER + 1
        if (yield from self._ask.new(profiles.TimerConfiguration())):
            yield from self._ask.do(
                op.Add("g", large), "an integer above 2^53 - 1, as a decimal string"
            )
            self._ask.now_ms = large
            yield from self._ask.do(op.Advance(large), "a clock reading above 2^53 - 1")

    def _negative_clock(self) -> Iterator[Finding]:
        if (yield from self._ask.new(profiles.TimerConfiguration(start_ms=-1000))):
            yield from self._add_and_run("h", _DELAY_MS)

    def _refuse(self) -> Iterator[Finding]:
        """Ask for a task that the executor refuses, and that runs all the same."""
        if (yield from self._ask.new(profiles.TimerConfiguration())):
            yield from self._ask.do(op.Add("r", _DELAY_MS))
            self._ask.now_ms += _DELAY_MS
            refused = op.Advance(self._ask.now_ms, refuse=True)
            yield from self._ask.do(refused, "the executor refuses", handed_over_all_the_same)
            if not self._ran("r"):
                yield from self._run("r", 0)

    def _shutdown(self) -> Iterator[Finding]:
        if (yield from self._ask.new(profiles.TimerConfiguration())):
            yield from self._ask.do(op.Add("i", _DELAY_MS))
            yield from self._ask.do(op.Shutdown())
            yield from self._ask.do(op.Add("j", _DELAY_MS), "after shutdown, so it may be 'closed'")
            self._ask.now_ms += _DELAY_MS
            yield from self._ask.do(
                op.Advance(self._ask.now_ms), "after shutdown, so it may be 'closed'"
            )
            yield from self._ask.do(op.Shutdown(), "a second time")

    def _reachable(self) -> Iterator[Finding]:
        """Ask for a task to be dropped while it waits, and whether it exists when it has run."""
        if (yield from self._ask.new(profiles.TimerConfiguration())):
            yield from self._ask.do(op.Add("l", _DELAY_MS))
            yield from self._ask.do(op.Reachable("l"), "it is pending, and runs all the same")
            yield from self._run("l", _DELAY_MS)
            yield from self._ask.do(op.Reachable("l"), "it has run", is_held)

    def _ran(self, task: str) -> bool:
        return (EventKind.RAN, task) in self._ask.happened

    def _add_and_run(self, task: str, delay_ms: int) -> Iterator[Finding]:
        outcome = yield from self._ask.do(op.Add(task, delay_ms))
        if outcome is not None and outcome.rejected is None:
            yield from self._run(task, delay_ms)

    def _run(self, task: str, delay_ms: int) -> Iterator[Finding]:
        """Let time pass until the task has run, or long enough to say that it never will."""
        self._ask.happened.pop((EventKind.RAN, task), None)
        for further_ms in (delay_ms, 10, 100, 1000):
            yield from self._pass_time(further_ms)
            if self._ran(task) or not self._ask.talk.client.runs:
                return
        if self._ask.has_unread:
            return
        yield self._ask.about_the_last_reply(
            f"the task '{task}' did not run within {delay_ms + 1110} ms; report each run in "
            f'\'events\' as {{"kind":"ran","task":"{task}"}}'
        )

    def _pass_time(self, further_ms: int) -> Iterator[Finding]:
        if self._profile.clock is profiles.Clock.WALL:
            yield from self._ask.do(op.Wait(further_ms + self._profile.lateness_ms))
            return
        self._ask.now_ms += further_ms
        outcome = yield from self._ask.do(op.Advance(self._ask.now_ms))
        if outcome is None or not self._ask.is_stepped:
            return
        for _ in range(_MOST_RUNS):
            outcome = yield from self._ask.do(op.RunOne())
            if outcome is None or not outcome.events:
                return
