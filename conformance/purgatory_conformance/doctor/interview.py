"""Questions about one component and what a right answer to each of them looks like."""

from collections.abc import Generator, Iterator, Mapping

import msgspec

from purgatory_conformance.describing.words import noun
from purgatory_conformance.doctor.conversation import Conversation, ReadReply
from purgatory_conformance.doctor.finding import Finding, Severity
from purgatory_conformance.subjects.adapter_replies import encode_request
from purgatory_conformance.subjects.fault import Fault
from purgatory_conformance.subjects.outcome_rules import OutcomeRules
from purgatory_spec.messages import Do, Reply, new
from purgatory_spec.operations import Operation, RunOne, Shutdown, Wait, operation_name
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_spec.profiles import (
    Component,
    Configuration,
    Executor,
    MemoryPoolProfile,
    Profile,
    TimerConfiguration,
    component_of,
)
from purgatory_spec.reasons import Reason

_RUNS = frozenset({EventKind.RAN, EventKind.TIMED_OUT})
"""The events that an executor brings about by running something."""

_EVENTS: Mapping[Component, frozenset[EventKind]] = {
    Component.TIMER: frozenset({EventKind.EXPIRED, EventKind.RAN, EventKind.REJECTED}),
    Component.PURGATORY: frozenset(EventKind) - {EventKind.RAN},
    Component.MEMORY_POOL: frozenset(),
}
"""The events that a component has."""


class Interview:
    """Asks for instances and operations of one component; whoever answers ill is told so."""

    def __init__(self, talk: Conversation, profile: Profile) -> None:
        """Nothing is asked yet."""
        self.talk = talk
        self.profile = profile
        self.component = component_of(profile)
        self.now_ms = 0
        self.happened: set[tuple[EventKind, str]] = set()
        """The events of the present instance, each with its task."""
        self.has_unread = False
        """Whether some reply of the present instance could not be read: what it told is unknown."""
        self._rules = OutcomeRules(profile)
        self._is_shut_down = False

    @property
    def is_stepped(self) -> bool:
        """Whether running a task is a step of its own."""
        if isinstance(self.profile, MemoryPoolProfile):
            return False
        return self.profile.executor is Executor.STEPPED

    def new(self, configuration: Configuration) -> Generator[Finding, None, bool]:
        """Ask for a fresh instance; whether the adapter has made one."""
        identity = self.talk.next_id()
        request = new(identity, "doctor", configuration)
        answer = yield from self.talk.ask(encode_request(request), identity)
        if answer is None:
            return False
        if answer.reply.unsupported:
            sentence = f"no such instance is offered: {answer.reply.unsupported}"
            yield answer.finding(Severity.NOTE, sentence)
            return False
        self.now_ms = configuration.start_ms if isinstance(configuration, TimerConfiguration) else 0
        self.happened = set()
        self.has_unread = False
        self._is_shut_down = False
        yield answer.finding(Severity.OK, "there is a fresh instance")
        return True

    def do(self, operation: Operation, about: str = "") -> Generator[Finding, None, Outcome | None]:
        """Ask for one operation; its outcome where the form of the reply is right."""
        identity = self.talk.next_id()
        line = encode_request(Do(identity, operation))
        wait_seconds = operation.for_ms / 1000 if isinstance(operation, Wait) else 0.0
        answer = yield from self.talk.ask(line, identity, wait_seconds)
        if answer is None:
            self.has_unread = True
            return None
        self.happened.update((event.kind, event.task) for event in answer.reply.events)
        closed = self._is_shut_down or (
            isinstance(operation, Shutdown) and answer.reply.rejected is None
        )
        try:
            outcome = self._rules.outcome(answer.reply, operation, closed=closed)
        except Fault as fault:
            self.has_unread = True
            yield answer.finding(Severity.WRONG, fault.explanation)
            return None
        self._is_shut_down = closed
        words = operation_name(operation) + (f" ({about})" if about else "")
        yield self._judged(answer, operation, outcome, words)
        return outcome

    def _judged(
        self, answer: ReadReply[Reply], operation: Operation, outcome: Outcome, words: str
    ) -> Finding:
        problem = self._problem(operation, outcome)
        if problem:
            return answer.finding(Severity.WRONG, f"{words} {problem}")
        if outcome.rejected is Reason.INTERNAL:
            return answer.finding(
                Severity.NOTE,
                f"{words} is rejected as 'internal', which no rule plans: the suite will fail it",
            )
        extra = sorted(answer.reply.observed.keys() - outcome.observed.keys())
        if extra:
            names = ", ".join(map(repr, extra))
            sentence = f"{words}: {names} is shown but not declared, so nobody looks at it"
            return answer.finding(Severity.NOTE, sentence)
        if answer.reply.result is not None and outcome.result is None:
            sentence = f"{words}: there is a 'result' that is not declared; nobody looks at it"
            return answer.finding(Severity.NOTE, sentence)
        if outcome.rejected is not None:
            return answer.finding(Severity.OK, f"{words} is rejected: {outcome.rejected.value}")
        return answer.finding(Severity.OK, f"{words} is answered as it should be")

    def _problem(self, operation: Operation, outcome: Outcome) -> str:
        """What is wrong with an outcome of right form; empty where nothing is."""
        kinds = {event.kind for event in outcome.events}
        if outcome.rejected is Reason.UNSUPPORTED:
            return (
                "is rejected as 'unsupported', though it is declared; "
                "offer it, or do not declare it"
            )
        foreign = sorted(kind.value for kind in kinds - _EVENTS[self.component])
        if foreign:
            return f"reports {foreign[0]!r} in 'events', which a {noun(self.component)} has not"
        if EventKind.EXPIRED in kinds and not self.is_stepped:
            return (
                "reports 'expired', which only an executor that is 'stepped' has; "
                "report that tasks ran, or declare it"
            )
        if kinds & _RUNS and self.is_stepped and not isinstance(operation, RunOne):
            return (
                "ran a task, though the executor is declared to be 'stepped'; "
                "let tasks run at 'run_one' alone, or declare 'inline'"
            )
        return ""

    def unknown_things(self, plain: Operation) -> Iterator[Finding]:
        """What a later version of the suite may say must not upset the adapter."""
        yield from self._unknown("request", {"request": "wobble"})
        yield from self._unknown("operation", {"request": "do", "operation": {"op": "wobble"}})
        fields: dict[str, object] = msgspec.to_builtins(plain)
        yield from self._tolerated("an unknown field", {**fields, "wobble": 1})
        yield from self._tolerated("a blank line before a request", fields, before=b"\n")
        yield from self.talk.ask_nonsense()

    def _unknown(self, what: str, fields: dict[str, object]) -> Iterator[Finding]:
        identity = self.talk.next_id()
        line = msgspec.json.encode({**fields, "id": identity}) + b"\n"
        answer = yield from self.talk.ask(line, identity)
        if answer is None:
            return
        if answer.reply.unsupported:
            sentence = f"an unknown {what} is answered with 'unsupported'"
            yield answer.finding(Severity.OK, sentence)
        else:
            yield answer.finding(
                Severity.WRONG,
                f"an unknown {what} must be answered with the field 'unsupported', a sentence: "
                "so a later suite learns what this adapter cannot do",
            )

    def _tolerated(
        self, what: str, operation: dict[str, object], before: bytes = b""
    ) -> Iterator[Finding]:
        identity = self.talk.next_id()
        request = {"request": "do", "id": identity, "operation": operation}
        line = before + msgspec.json.encode(request) + b"\n"
        answer = yield from self.talk.ask(line, identity)
        if answer is None:
            return
        if answer.reply.unsupported:
            yield answer.finding(Severity.WRONG, f"{what} must be passed over")
        else:
            yield answer.finding(Severity.OK, f"{what} is passed over")
