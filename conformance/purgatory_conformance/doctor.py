"""The doctor: talks to an adapter one request at a time and says line by line what is right.

It checks form alone: that every request has its reply, of the right types, with all that was
declared. Whether the implementation behind it does what the rules say, the suite judges. Where an
adapter fails, the doctor says so, starts it again and goes on with the next question.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from purgatory_conformance.subjects.adapter_process import AdapterProcess
from purgatory_conformance.subjects.adapter_replies import (
    COMPONENT,
    Fault,
    Greeting,
    OutcomeRules,
    decode_greeting,
    decode_reply,
    encode_request,
    hello,
    shown,
)
from purgatory_conformance.subjects.subject import FailureKind
from purgatory_spec.messages import PROTOCOL_VERSION, Do, End, New, Reply, Stop
from purgatory_spec.operations import (
    Action,
    Add,
    AddInside,
    Advance,
    AdvanceInside,
    Cancel,
    CancelInside,
    Elapse,
    Operation,
    RunOne,
    Shutdown,
    Throw,
    Wait,
    operation_name,
)
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_spec.profiles import (
    LARGEST_SAFE_INTEGER,
    Clock,
    Executor,
    Feature,
    NegativeDelay,
    Observable,
    Rounding,
    SameTickOrder,
    Structure,
    TimerConfiguration,
    TimerProfile,
)
from purgatory_spec.reasons import Reason

_MOST_STRAY_LINES = 10
_MOST_RUNS = 10
_MOST_RESTARTS = 3
_DELAY_MS = 10
_PARAMETERS = TimerConfiguration(tick_ms=10, wheel_size=5, start_ms=1003)

_UNASKED = "nobody asked for this line; write one reply to each request"

_CHOICES: Mapping[object, str] = {
    Rounding.DOWN: "an expiry is rounded down to the tick; a task may run early by less than one",
    Rounding.UP: "an expiry is rounded up to the tick; no task runs before its delay has passed",
    SameTickOrder.NONE: "tasks of one tick may run in any order",
    SameTickOrder.FIFO: "tasks of one tick run in the order in which they were added",
    Clock.MANUAL: "the requests move the clock",
    Clock.WALL: "time really passes, and the replies say when things happened",
    Executor.INLINE: "an expired task has run, in the same thread, when the reply comes",
    Executor.STEPPED: "an expired task waits until 'run_one' asks for it",
    Executor.THREAD: "an expired task has run, in another thread, when the reply comes",
    Structure.ANY: "nothing is said of the structure",
    Structure.TIMING_WHEEL: "it is a timing wheel, and the rules of timing wheels apply",
    NegativeDelay.ALREADY_DUE: "a negative delay makes a task that is due already",
    NegativeDelay.REJECT: "a negative delay is rejected as 'invalid_argument'",
}

_FEATURES: Mapping[Feature, str] = {
    Feature.CANCEL: "the suite may cancel tasks",
    Feature.READD: "the suite may add a task again",
    Feature.CHANGE_DELAY: "the suite may add a task again with another delay",
    Feature.ELAPSE: "the suite may let time pass without advancing the timer",
    Feature.SHUTDOWN: "the suite may shut the timer down",
    Feature.SCRIPT_THROW: "the suite may let tasks throw",
    Feature.SCRIPT_ADD: "the suite may let tasks add tasks",
    Feature.SCRIPT_CANCEL: "the suite may let tasks cancel tasks",
    Feature.SCRIPT_ADVANCE: "the suite may let tasks advance their timer",
    Feature.INT64: "the suite may use integers above 2^53 - 1, written as decimal strings",
    Feature.NEGATIVE_CLOCK: "the suite may start the clock below zero",
}

_OBSERVABLES: Mapping[Observable, str] = {
    Observable.ADVANCE_RESULT: "'advance' answers whether anything was due",
    Observable.SIZE: "the number of tasks that wait in the timer",
    Observable.QUEUED: "the number of tasks that wait for the executor",
    Observable.WHEEL_CLOCK: "the wheel's own clock",
    Observable.QUEUED_BUCKETS: "the number of buckets in the delay queue",
    Observable.NEXT_EXPIRY: "the expiry of the first bucket in the delay queue, or null",
    Observable.LEVELS: "the number of levels of the wheel",
}


class Verdict(StrEnum):
    """What the doctor thinks of a line."""

    OK = "ok"
    WRONG = "wrong"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """One line of the conversation and what is to be said about it.

    ``sent`` and ``received`` are lines without their newline; either may be empty.
    ``standard_error`` is given where the process failed.
    """

    verdict: Verdict
    explanation: str
    sent: str = ""
    received: str = ""
    standard_error: str = ""


def explain(finding: Finding) -> str:
    """The finding as plain text: what is to be said, and below it the lines it is about."""
    lines = [f"{finding.verdict.value:<5}  {finding.explanation}"]
    if finding.sent:
        lines.append(f"         sent      {finding.sent}")
    if finding.received:
        lines.append(f"         received  {finding.received}")
    lines += [f"         stderr    {line}" for line in finding.standard_error.splitlines()]
    return "\n".join(lines)


def examine(
    command: Sequence[str],
    *,
    working_folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    time_limit_seconds: float = 10.0,
) -> Iterator[Finding]:
    """Examine an adapter; ends with a finding that sums up. Never raises for what it does.

    Args:
        command: the program and its arguments; must not be empty.
        working_folder: where the program starts; here when absent.
        environment: variables to add to those of this process.
        time_limit_seconds: how long any single reply, and leaving, may take.
    """
    conversation = _Conversation(
        lambda: AdapterProcess(command, working_folder, environment), time_limit_seconds
    )
    counts: Counter[Verdict] = Counter()
    first_wrong = ""
    try:
        for finding in _Examination(conversation).findings():
            counts[finding.verdict] += 1
            if finding.verdict is Verdict.WRONG:
                first_wrong = first_wrong or finding.explanation
            yield finding
    finally:
        conversation.close()
    if first_wrong:
        problems = "one thing" if counts[Verdict.WRONG] == 1 else f"{counts[Verdict.WRONG]} things"
        yield Finding(Verdict.WRONG, f"{problems} to mend, the first: {first_wrong}")
    else:
        yield Finding(Verdict.OK, "the adapter speaks the protocol; the suite can judge it now")


class _HasId(Protocol):
    @property
    def id(self) -> int: ...


Decoded = TypeVar("Decoded", bound=_HasId)


@dataclass(frozen=True)
class _Answer(Generic[Decoded]):
    """A reply that could be read, with the lines that it came of."""

    sent: str
    received: str
    reply: Decoded

    def finding(self, verdict: Verdict, explanation: str) -> Finding:
        return Finding(verdict, explanation, self.sent, self.received)


class _Conversation:
    """Asks one request at a time; finds faults instead of raising them."""

    def __init__(self, start: Callable[[], AdapterProcess], seconds: float) -> None:
        self.seconds = seconds
        self._start = start
        self._process: AdapterProcess | None = None
        self._ids = 0

    @property
    def runs(self) -> bool:
        """Whether there is a process to talk to, so far as is known."""
        return self._process is not None

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def next_id(self) -> int:
        """An id for a request."""
        self._ids += 1
        return self._ids

    def greet(self) -> Generator[Finding, None, _Answer[Greeting] | None]:
        """Start a process and ask who it is."""
        self.close()
        try:
            self._process = self._start()
        except Fault as fault:
            yield Finding(Verdict.WRONG, fault.explanation)
            return None
        request = hello(self.next_id())
        answer = yield from self._exchange(encode_request(request), request.id, decode_greeting)
        if answer is not None and answer.reply.id != request.id:
            yield _wrong_id(answer, request.id)
        return answer

    def ask(
        self, line: bytes, identity: int, more_seconds: float = 0.0
    ) -> Generator[Finding, None, _Answer[Reply] | None]:
        """Ask a request; the answer, or None where it was no good or told of a failure.

        Where an earlier request ended the process, nothing is asked.
        """
        if self._process is None:
            return None
        answer = yield from self._exchange(line, identity, decode_reply, more_seconds)
        if answer is None:
            return None
        reply = answer.reply
        if reply.error:
            sentence = f"the adapter reports a failure of its own: {reply.error}"
            yield answer.finding(Verdict.WRONG, sentence)
            return None
        if reply.id != identity:
            yield _wrong_id(answer, identity)
            return None
        return answer

    def ask_nonsense(self) -> Iterator[Finding]:
        """Send what is no request; the answer must have the id 0 and an error."""
        if self._process is None:
            return
        answer = yield from self._exchange(b"wobble\n", 0, decode_reply)
        if answer is None:
            return
        if answer.reply.error and answer.reply.id == 0:
            yield answer.finding(Verdict.OK, "a line that is no request is answered with 'error'")
        else:
            yield answer.finding(
                Verdict.WRONG,
                "a line that is no request must be answered with the id 0 and the field 'error'",
            )

    def leave(self, line: bytes) -> Iterator[Finding]:
        """Say a last request, or none, and see the process leave."""
        assert self._process is not None
        sent = shown(line)
        word = "'stop'" if line else "the end of standard input"
        deadline = time.monotonic() + self.seconds
        if line:
            self._process.write(line, self.seconds)
        else:
            self._process.close_input()
        try:
            received = self._process.read_line(self.seconds)
        except Fault as fault:
            received = fault.received
        if received:
            explanation = f"{word} has no reply; leave without one"
            yield Finding(Verdict.WRONG, explanation, sent, shown(received))
        code = self._process.exit_code(max(0.0, deadline - time.monotonic()))
        if code is None:
            explanation = f"it still runs {self.seconds:g} s after {word}; it must exit"
            yield Finding(Verdict.WRONG, explanation, sent)
        elif code != 0:
            yield Finding(Verdict.NOTE, f"it exits at {word}, with the code {code}", sent)
        else:
            yield Finding(Verdict.OK, f"it exits at {word}", sent)
        self.close()

    def _exchange(
        self,
        line: bytes,
        identity: int,
        decode: Callable[[bytes], Decoded],
        more_seconds: float = 0.0,
    ) -> Generator[Finding, None, _Answer[Decoded] | None]:
        """Send a line and read its reply; pass over other lines, but not over many.

        Where the process fails it is ended.
        """
        assert self._process is not None
        sent = shown(line.strip(b"\n"))
        try:
            for _ in range(_MOST_STRAY_LINES):
                unasked = self._process.line_at_hand()
                if unasked is None:
                    break
                yield Finding(Verdict.WRONG, _UNASKED, "", shown(unasked))
            self._process.write(line, self.seconds)
            for _ in range(_MOST_STRAY_LINES):
                received = self._process.read_line(self.seconds + more_seconds)
                try:
                    answer = _Answer(sent, shown(received), decode(received))
                except Fault as fault:
                    yield Finding(Verdict.WRONG, fault.explanation, sent, shown(received))
                    if fault.kind not in (FailureKind.BANNER, FailureKind.GARBAGE):
                        return None
                    continue
                if not 0 < answer.reply.id < identity:
                    return answer
                yield Finding(Verdict.WRONG, _UNASKED, "", shown(received))
            explanation = "there are too many such lines; this process is given up"
            yield Finding(Verdict.WRONG, explanation, sent)
            self.close()
        except Fault as fault:
            process = self._process
            self.close()
            yield Finding(
                Verdict.WRONG,
                fault.explanation,
                sent,
                shown(fault.received),
                process.standard_error,
            )
        return None


def _wrong_id(answer: _Answer[Decoded], expected: int) -> Finding:
    explanation = f"the reply has the id {answer.reply.id}; copy the id of the request, {expected}"
    return answer.finding(Verdict.WRONG, explanation)


class _Examination:
    """What is asked, in which order, and what a right answer looks like."""

    def __init__(self, conversation: _Conversation) -> None:
        self._talk = conversation
        self._profile = TimerProfile()
        self._rules = OutcomeRules(self._profile)
        self._now_ms = 0
        self._ran: set[str] = set()
        self._is_shut_down = False

    def findings(self) -> Iterator[Finding]:
        """Everything, from ``hello`` to ``stop``."""
        greeting = yield from self._greet()
        if greeting is None:
            return
        yield greeting.finding(Verdict.OK, f"it is {_described(greeting.reply)}")
        yield from self._declaration()
        parts = (
            self._first_steps,
            self._parameters,
            *self._feature_parts(),
            self._unknown_things,
            self._end,
        )
        restarts = 0
        for part in parts:
            if not self._talk.runs:
                restarts += 1
                if restarts > _MOST_RESTARTS:
                    yield Finding(Verdict.WRONG, "it fails again and again; mend that first")
                    return
                yield Finding(Verdict.NOTE, "the adapter is started again")
                if (yield from self._greet()) is None:
                    return
            yield from part()
        yield from self._leave()

    def _greet(self) -> Generator[Finding, None, _Answer[Greeting] | None]:
        greeting = yield from self._talk.greet()
        if greeting is not None:
            self._profile = greeting.reply.profile
            self._rules = OutcomeRules(self._profile)
        return greeting

    def _declaration(self) -> Iterator[Finding]:
        """Each declared choice in a sentence."""
        profile = self._profile
        for field in ("rounding", "same_tick_order", "clock", "executor", "structure"):
            choice = getattr(profile, field)
            yield Finding(Verdict.NOTE, f"{field} is {choice.value}: {_CHOICES[choice]}")
        negative = profile.negative_delay
        yield Finding(Verdict.NOTE, f"negative_delay is {negative.value}: {_CHOICES[negative]}")
        largest = profile.largest_delay_ms
        yield Finding(
            Verdict.NOTE,
            f"largest_delay_ms is {largest}: a longer delay is rejected as 'too_large'",
        )
        if profile.clock is Clock.WALL:
            yield Finding(
                Verdict.NOTE,
                f"lateness_ms is {profile.lateness_ms}: a task runs at most that much late",
            )
        if not profile.features:
            yield Finding(Verdict.NOTE, "no feature is declared: tasks are added and run, no more")
        for feature, sentence in _FEATURES.items():
            if feature in profile.features:
                yield Finding(Verdict.NOTE, f"feature {feature.value}: {sentence}")
        if not profile.observables:
            yield Finding(Verdict.NOTE, "no observable is declared: only events are compared")
        for observable, sentence in _OBSERVABLES.items():
            if observable in profile.observables:
                yield Finding(Verdict.NOTE, f"observable {observable.value}: {sentence}")

    def _feature_parts(self) -> Iterator[Callable[[], Iterator[Finding]]]:
        """The questions about the declared features; on a real clock only some make sense."""
        parts: dict[Feature, Callable[[], Iterator[Finding]]] = {
            Feature.CANCEL: self._cancel,
            Feature.READD: self._readd,
            Feature.CHANGE_DELAY: self._change_delay,
        }
        if self._profile.clock is Clock.MANUAL:
            parts |= {
                Feature.ELAPSE: self._elapse,
                Feature.SCRIPT_THROW: lambda: self._script(Throw()),
                Feature.SCRIPT_ADD: lambda: self._script(AddInside("inner", 0)),
                Feature.SCRIPT_CANCEL: lambda: self._script(CancelInside("other")),
                Feature.SCRIPT_ADVANCE: lambda: self._script(AdvanceInside()),
                Feature.INT64: self._int64,
                Feature.NEGATIVE_CLOCK: self._negative_clock,
                Feature.SHUTDOWN: self._shutdown,
            }
        return (part for feature, part in parts.items() if feature in self._profile.features)

    # The parts of the examination.

    def _first_steps(self) -> Iterator[Finding]:
        if (yield from self._new(TimerConfiguration())):
            yield from self._add_and_run("a", _DELAY_MS)

    def _parameters(self) -> Iterator[Finding]:
        """An instance with parameters, which replaces one that was never ended."""
        if not (yield from self._new(TimerConfiguration())):
            return
        yield from self._do(Add("left-behind", _DELAY_MS))
        if not (yield from self._new(_PARAMETERS)):
            return
        outcome = yield from self._do(Add("b", _DELAY_MS))
        size = outcome.observed.get(Observable.SIZE.value) if outcome is not None else None
        if size not in (None, 1):
            yield Finding(
                Verdict.WRONG,
                f"the size of a fresh instance with one task is {size}; 'new' must replace the "
                "instance before it, also where 'end' was not sent",
            )
        yield from self._run("b", _DELAY_MS)
        if "left-behind" in self._ran:
            yield Finding(
                Verdict.WRONG,
                "a task of the instance before ran in this one; 'new' must replace the instance",
            )

    def _cancel(self) -> Iterator[Finding]:
        if (yield from self._new(TimerConfiguration())):
            yield from self._do(Add("c", _DELAY_MS))
            yield from self._do(Cancel("c"))
            yield from self._do(Cancel("never-added"))

    def _readd(self) -> Iterator[Finding]:
        if (yield from self._new(TimerConfiguration())):
            yield from self._do(Add("d", _DELAY_MS))
            yield from self._add_and_run("d", _DELAY_MS)
            yield from self._add_and_run("d", _DELAY_MS)

    def _change_delay(self) -> Iterator[Finding]:
        if (yield from self._new(TimerConfiguration())):
            yield from self._do(Add("e", _DELAY_MS))
            yield from self._add_and_run("e", 2 * _DELAY_MS)

    def _elapse(self) -> Iterator[Finding]:
        if (yield from self._new(TimerConfiguration())):
            yield from self._do(Add("f", _DELAY_MS))
            self._now_ms += 2 * _DELAY_MS
            yield from self._do(Elapse(self._now_ms))
            yield from self._run("f", 0)

    def _script(self, action: Action) -> Iterator[Finding]:
        if (yield from self._new(TimerConfiguration())):
            yield from self._do(Add("other", 10 * _DELAY_MS))
            yield from self._do(Add("scripted", _DELAY_MS, (action,)))
            yield from self._run("scripted", _DELAY_MS)
            yield from self._add_and_run("afterwards", _DELAY_MS)

    def _int64(self) -> Iterator[Finding]:
        large = LARGEST_SAFE_INTEGER + 1
        if (yield from self._new(TimerConfiguration())):
            yield from self._do(Add("g", large), "an integer above 2^53 - 1, as a decimal string")
            self._now_ms = large
            yield from self._do(Advance(large), "a clock reading above 2^53 - 1")

    def _negative_clock(self) -> Iterator[Finding]:
        if (yield from self._new(TimerConfiguration(start_ms=-1000))):
            yield from self._add_and_run("h", _DELAY_MS)

    def _shutdown(self) -> Iterator[Finding]:
        if (yield from self._new(TimerConfiguration())):
            yield from self._do(Add("i", _DELAY_MS))
            yield from self._do(Shutdown())
            yield from self._do(Add("j", _DELAY_MS), "after shutdown, so it may be 'closed'")
            self._now_ms += _DELAY_MS
            yield from self._do(Advance(self._now_ms), "after shutdown, so it may be 'closed'")
            yield from self._do(Shutdown(), "a second time")

    def _unknown_things(self) -> Iterator[Finding]:
        """What a later version of the suite may say must not upset the adapter."""
        if not (yield from self._new(TimerConfiguration())):
            return
        yield from self._unknown("request", {"request": "wobble"})
        yield from self._unknown("operation", {"request": "do", "operation": {"op": "wobble"}})
        operation = {"op": "add", "task": "k", "delay_ms": _DELAY_MS, "wobble": 1}
        yield from self._tolerated("an unknown field", operation)
        operation = {"op": "add", "task": "l", "delay_ms": _DELAY_MS}
        yield from self._tolerated("a blank line before a request", operation, before=b"\n")
        yield from self._talk.ask_nonsense()

    def _unknown(self, what: str, fields: dict[str, object]) -> Iterator[Finding]:
        identity = self._talk.next_id()
        line = msgspec.json.encode({**fields, "id": identity}) + b"\n"
        answer = yield from self._talk.ask(line, identity)
        if answer is None:
            return
        if answer.reply.unsupported:
            sentence = f"an unknown {what} is answered with 'unsupported'"
            yield answer.finding(Verdict.OK, sentence)
        else:
            yield answer.finding(
                Verdict.WRONG,
                f"an unknown {what} must be answered with the field 'unsupported', a sentence: "
                "so a later suite learns what this adapter cannot do",
            )

    def _tolerated(
        self, what: str, operation: dict[str, object], before: bytes = b""
    ) -> Iterator[Finding]:
        identity = self._talk.next_id()
        request = {"request": "do", "id": identity, "operation": operation}
        line = before + msgspec.json.encode(request) + b"\n"
        answer = yield from self._talk.ask(line, identity)
        if answer is None:
            return
        if answer.reply.unsupported:
            yield answer.finding(Verdict.WRONG, f"{what} must be passed over")
        else:
            yield answer.finding(Verdict.OK, f"{what} is passed over")

    def _end(self) -> Iterator[Finding]:
        identity = self._talk.next_id()
        answer = yield from self._talk.ask(encode_request(End(identity)), identity)
        if answer is None:
            return
        if answer.reply.unsupported:
            yield answer.finding(Verdict.WRONG, "'end' must be supported; answer with the id alone")
            return
        yield answer.finding(Verdict.OK, "the instance is gone")
        if (yield from self._new(TimerConfiguration())):
            yield from self._add_and_run("m", _DELAY_MS)

    def _leave(self) -> Iterator[Finding]:
        if not self._talk.runs and (yield from self._greet()) is None:
            return
        yield from self._talk.leave(encode_request(Stop(self._talk.next_id())))
        if (yield from self._greet()) is not None:
            yield from self._talk.leave(b"")

    # The questions that the parts are made of.

    def _new(self, configuration: TimerConfiguration) -> Generator[Finding, None, bool]:
        """Ask for a fresh instance; whether there is one."""
        identity = self._talk.next_id()
        request = New(identity, COMPONENT, "doctor", configuration)
        answer = yield from self._talk.ask(encode_request(request), identity)
        if answer is None:
            return False
        if answer.reply.unsupported:
            sentence = f"no such instance is offered: {answer.reply.unsupported}"
            yield answer.finding(Verdict.NOTE, sentence)
            return False
        self._now_ms = configuration.start_ms
        self._ran = set()
        self._is_shut_down = False
        yield answer.finding(Verdict.OK, "there is a fresh instance")
        return True

    def _do(
        self, operation: Operation, about: str = ""
    ) -> Generator[Finding, None, Outcome | None]:
        """Ask for one operation; its outcome where the form of the reply is right."""
        identity = self._talk.next_id()
        line = encode_request(Do(identity, operation))
        wait_seconds = operation.for_ms / 1000 if isinstance(operation, Wait) else 0.0
        answer = yield from self._talk.ask(line, identity, wait_seconds)
        if answer is None:
            return None
        closed = self._is_shut_down or (
            isinstance(operation, Shutdown) and answer.reply.rejected is None
        )
        try:
            outcome = self._rules.outcome(answer.reply, operation, closed=closed)
        except Fault as fault:
            yield answer.finding(Verdict.WRONG, fault.explanation)
            return None
        self._is_shut_down = closed
        self._ran.update(e.task for e in outcome.events if e.kind is EventKind.RAN)
        words = operation_name(operation) + (f" ({about})" if about else "")
        yield self._judged(answer, operation, outcome, words)
        return outcome

    def _judged(
        self, answer: _Answer[Reply], operation: Operation, outcome: Outcome, words: str
    ) -> Finding:
        kinds = {event.kind for event in outcome.events}
        stepped = self._profile.executor is Executor.STEPPED
        if outcome.rejected is Reason.UNSUPPORTED:
            return answer.finding(
                Verdict.WRONG,
                f"{words} is rejected as 'unsupported', though it is declared; "
                "offer it, or do not declare it",
            )
        if outcome.rejected is Reason.INTERNAL:
            return answer.finding(
                Verdict.NOTE,
                f"{words} is rejected as 'internal', which no rule plans: the suite will fail it",
            )
        if EventKind.EXPIRED in kinds and not stepped:
            return answer.finding(
                Verdict.WRONG,
                f"{words} reports 'expired', which only an executor that is 'stepped' has; "
                "report that tasks ran, or declare it",
            )
        if EventKind.RAN in kinds and stepped and not isinstance(operation, RunOne):
            return answer.finding(
                Verdict.WRONG,
                f"{words} ran a task, though the executor is declared to be 'stepped'; "
                "let tasks run at 'run_one' alone, or declare 'inline'",
            )
        extra = sorted(answer.reply.observed.keys() - outcome.observed.keys())
        if extra:
            names = ", ".join(map(repr, extra))
            sentence = f"{words}: {names} is shown but not declared, so nobody looks at it"
            return answer.finding(Verdict.NOTE, sentence)
        if answer.reply.result is not None and outcome.result is None:
            sentence = f"{words}: there is a 'result' that is not declared; nobody looks at it"
            return answer.finding(Verdict.NOTE, sentence)
        if outcome.rejected is not None:
            return answer.finding(Verdict.OK, f"{words} is rejected: {outcome.rejected.value}")
        return answer.finding(Verdict.OK, f"{words} is answered as it should be")

    def _add_and_run(self, task: str, delay_ms: int) -> Iterator[Finding]:
        outcome = yield from self._do(Add(task, delay_ms))
        if outcome is not None and outcome.rejected is None:
            yield from self._run(task, delay_ms)

    def _run(self, task: str, delay_ms: int) -> Iterator[Finding]:
        """Let time pass until the task has run, or long enough to say that it never will."""
        self._ran.discard(task)
        for further_ms in (delay_ms, 10, 100, 1000):
            yield from self._pass_time(further_ms)
            if task in self._ran or not self._talk.runs:
                return
        yield Finding(
            Verdict.WRONG,
            f"the task '{task}' did not run within {delay_ms + 1110} ms; report each run in "
            f'\'events\' as {{"kind":"ran","task":"{task}"}}',
        )

    def _pass_time(self, further_ms: int) -> Iterator[Finding]:
        if self._profile.clock is Clock.WALL:
            yield from self._do(Wait(further_ms + self._profile.lateness_ms))
            return
        self._now_ms += further_ms
        outcome = yield from self._do(Advance(self._now_ms))
        if outcome is None or self._profile.executor is not Executor.STEPPED:
            return
        for _ in range(_MOST_RUNS):
            outcome = yield from self._do(RunOne())
            if outcome is None or not outcome.events:
                return


def _described(greeting: Greeting) -> str:
    who = greeting.implementation
    words = " ".join(part for part in (who.name, who.version) if part)
    about = ", ".join(part for part in (who.language, who.runtime) if part)
    where = f" ({about})" if about else ""
    return f"{words}{where}, speaks version {PROTOCOL_VERSION} and offers a timer"
