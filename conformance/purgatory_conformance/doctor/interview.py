"""Questions about one component and what a right answer to each of them looks like."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from purgatory_conformance.describing.words import instance_noun
from purgatory_conformance.doctor.conversation import Conversation, ReadReply
from purgatory_conformance.doctor.finding import Finding, Severity
from purgatory_conformance.subjects.fault import Fault
from purgatory_spec import profiles
from purgatory_spec.messages import Do, Reply, new
from purgatory_spec.operations import Advance, Operation, RunOne, operation_name
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_spec.reasons import Reason

_RUNS = frozenset({EventKind.RAN, EventKind.TIMED_OUT})
"""The events that an executor brings about by running something."""

_EVENTS: Mapping[profiles.Component, frozenset[EventKind]] = {
    profiles.Component.TIMER: frozenset({EventKind.EXPIRED, EventKind.RAN, EventKind.REJECTED}),
    profiles.Component.PURGATORY: frozenset(EventKind) - {EventKind.RAN, EventKind.RECEIVED},
    profiles.Component.MEMORY_POOL: frozenset(),
    profiles.Component.CHANNEL_MUTING: frozenset({EventKind.RECEIVED}),
}
"""The events that a component has."""

Doubt = Callable[[Outcome], str]
"""Returns a doubt about an outcome of right form, in words; an empty text without a doubt."""


def handed_over_all_the_same(outcome: Outcome) -> str:
    """Return the doubt about an advance that hands tasks to an executor that refuses them."""
    if all(event.kind is not EventKind.EXPIRED for event in outcome.events):
        return ""
    return (
        "shows an expiry, so that the executor has refused nothing; have it refuse what it is "
        "handed in this step, or do not declare 'refuse' (TIMER-EXECUTOR-REFUSES)"
    )


def no_doubt(_: Outcome) -> str:
    """Return an empty doubt, about any outcome."""
    return ""


def is_held(outcome: Outcome) -> str:
    """Return the doubt about an object that should not exist any longer."""
    if outcome.result is not True:
        return ""
    return "it is still held; the adapter must not hold it either, nor an exception or a closure"


class Interview:
    """Asks for instances and operations of one component; whoever answers ill is told so."""

    def __init__(self, talk: Conversation, profile: profiles.Profile) -> None:
        """Begin an interview in which no question has been asked."""
        self.talk = talk
        self.profile = profile
        self.component = profiles.component_of(profile)
        self.now_ms = 0
        self.happened: dict[tuple[EventKind, str], ReadReply[Reply]] = {}
        """The events of the present instance by task, each with the last reply that told it."""
        self.has_unread = False
        """True once a reply of the present instance could not be read: its events are unknown."""
        self._client = talk.client
        self._last: ReadReply[Reply] | None = None

    @property
    def is_stepped(self) -> bool:
        """Decide whether running a task is a step of its own."""
        if isinstance(self.profile, profiles.MemoryPoolProfile | profiles.ChannelMutingProfile):
            return False
        return self.profile.executor is profiles.Executor.STEPPED

    def new(self, configuration: profiles.Configuration) -> Generator[Finding, None, bool]:
        """Ask for a fresh instance; whether the adapter has made one."""
        asked = self._client.asked(lambda i: new(i, "doctor", configuration))
        answer = yield from self.talk.ask(asked)
        if answer is None:
            return False
        if answer.reply.unsupported:
            sentence = f"no such instance is offered: {answer.reply.unsupported}"
            yield answer.finding(Severity.NOTE, sentence)
            return False
        self.now_ms = (
            configuration.start_ms if isinstance(configuration, profiles.TimerConfiguration) else 0
        )
        self.happened = {}
        self.has_unread = False
        self._client.begin(self.profile)
        self._last = None
        yield answer.finding(Severity.OK, "there is a fresh instance")
        return True

    def do(
        self, operation: Operation, about: str = "", doubt: Doubt = no_doubt
    ) -> Generator[Finding, None, Outcome | None]:
        """Ask for one operation; its outcome where the form of the reply is right.

        What is doubtful about that outcome becomes a note.
        """
        asked = self._client.asked(lambda i: Do(i, operation), operation)
        answer = yield from self.talk.ask(asked)
        if answer is None:
            self.has_unread = True
            return None
        self._last = answer
        if answer.reply.unsupported:
            self.has_unread = True
            yield answer.finding(
                Severity.WRONG,
                f"{answer.reply.unsupported} (declare only the features that the adapter offers)",
            )
            return None
        self.happened.update(((event.kind, event.task), answer) for event in answer.reply.events)
        try:
            outcome = self._client.outcome(answer.reply, operation)
        except Fault as fault:
            self.has_unread = True
            yield answer.finding(Severity.WRONG, fault.explanation)
            return None
        words = operation_name(operation) + (f" ({about})" if about else "")
        yield self._judged(answer, operation, outcome, words, doubt)
        return outcome

    def about_the_last_reply(self, sentence: str) -> Finding:
        """Return a complaint that shows the last reply of the present instance."""
        if self._last is None:
            return Finding(Severity.WRONG, sentence)
        return self._last.finding(Severity.WRONG, sentence)

    def ignored_script(
        self, feature: str, actions: Sequence[object], ran: tuple[EventKind, str]
    ) -> Iterator[Finding]:
        """Complain of a script without effect, and show the reply of the step that ran the script.

        An action that was rejected is no reason to complain, nor is a script that never ran.
        """
        rejected = any(kind is EventKind.REJECTED for kind, _ in self.happened)
        if ran not in self.happened or rejected or self.has_unread:
            return
        script = msgspec.json.encode(actions).decode()
        yield self.happened[ran].finding(
            Severity.WRONG,
            f"'{ran[1]}' did not do what its script {script} says; "
            f"carry out scripts, or do not declare '{feature}'",
        )

    def claims_kafkas_wheel(self) -> bool:
        """Decide whether Kafka's wheel with its lagging clock is declared, on a manual clock."""
        if isinstance(self.profile, profiles.MemoryPoolProfile | profiles.ChannelMutingProfile):
            return False
        manual = (
            not isinstance(self.profile, profiles.TimerProfile)
            or self.profile.clock is profiles.Clock.MANUAL
        )
        return manual and self.profile.structure is profiles.Structure.DELAY_QUEUE_WHEEL

    def idle_then_due(self, idle: Operation, added: Operation) -> Iterator[Finding]:
        """Ask whether after idleness a task that is due as it is added waits in Kafka's wheel.

        Rules: TIMER-OWN-CLOCK.
        """
        yield from self.do(idle, "nothing is pending", _moved_clock)
        yield from self.do(added, "due by the clock, after idleness", _expired_at_once)

    def _judged(
        self,
        answer: ReadReply[Reply],
        operation: Operation,
        outcome: Outcome,
        words: str,
        doubt: Doubt,
    ) -> Finding:
        problem = self._problem(operation, outcome)
        if problem:
            return answer.finding(Severity.WRONG, f"{words} {problem}")
        if outcome.rejected is Reason.INTERNAL:
            return answer.finding(
                Severity.NOTE,
                f"{words} is rejected as 'internal', which no rule allows: the suite will fail it",
            )
        doubtful = doubt(outcome)
        if doubtful:
            return answer.finding(Severity.NOTE, f"{words} {doubtful}")
        extra = sorted(answer.reply.observed.keys() - outcome.observed.keys())
        if extra:
            names = ", ".join(map(repr, extra))
            sentence = f"{words}: {names} is shown but not declared, so the suite ignores it"
            return answer.finding(Severity.NOTE, sentence)
        if answer.reply.result is not None and outcome.result is None:
            sentence = f"{words}: 'result' is given but not declared, so the suite ignores it"
            if isinstance(operation, Advance) and isinstance(self.profile, profiles.TimerProfile):
                sentence += "; declare the observable 'advance_result', or leave it out"
            return answer.finding(Severity.NOTE, sentence)
        if outcome.rejected is not None:
            return answer.finding(Severity.OK, f"{words} is rejected: {outcome.rejected.value}")
        return answer.finding(Severity.OK, f"{words} is answered as it should be")

    def _problem(self, operation: Operation, outcome: Outcome) -> str:
        """Return the problem of an outcome of right form; empty where there is none."""
        kinds = {event.kind for event in outcome.events}
        if outcome.rejected is Reason.UNSUPPORTED:
            return (
                "is rejected as 'unsupported', though it is declared; "
                "offer it, or do not declare it"
            )
        foreign = sorted(kind.value for kind in kinds - _EVENTS[self.component])
        if foreign:
            what = instance_noun(self.component)
            return f"reports {foreign[0]!r} in 'events', which a {what} has not"
        if EventKind.EXPIRED in kinds and not self.is_stepped:
            return (
                "reports 'expired', which only an executor that is 'stepped' has; "
                "report that tasks ran, or declare it"
            )
        refused = isinstance(operation, Advance) and operation.refuse
        runs = refused or isinstance(operation, RunOne)
        if kinds & _RUNS and self.is_stepped and not runs:
            return (
                "ran a task, though the executor is declared to be 'stepped'; "
                "let tasks run at 'run_one' alone, or declare 'inline'"
            )
        return ""

    def unknown_things(self, plain: Operation) -> Iterator[Finding]:
        """Ask in words of a later version of the suite, which must not upset the adapter."""
        yield from self._unknown("request", {"request": "wobble"})
        yield from self._unknown("operation", {"request": "do", "operation": {"op": "wobble"}})
        fields: dict[str, object] = msgspec.to_builtins(plain)
        yield from self._tolerated(
            "an unknown request or operation", fields, "must change nothing: the instance goes on"
        )
        yield from self._tolerated("an unknown field", {**fields, "wobble": 1})
        yield from self._tolerated("a blank line before a request", fields, before=b"\n")
        yield from self.talk.ask_nonsense()

    def _unknown(self, what: str, fields: dict[str, object]) -> Iterator[Finding]:
        answer = yield from self.talk.ask(self._client.asked(lambda i: {**fields, "id": i}))
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
        self,
        what: str,
        operation: dict[str, object],
        duty: str = "must be passed over",
        before: bytes = b"",
    ) -> Iterator[Finding]:
        asked = self._client.asked(lambda i: {"request": "do", "id": i, "operation": operation})
        answer = yield from self.talk.ask(replace(asked, line=before + asked.line))
        if answer is None:
            return
        if answer.reply.unsupported:
            yield answer.finding(Severity.WRONG, f"{what} {duty}")
        else:
            yield answer.finding(Severity.OK, f"{what} is passed over")


_OTHER_STRUCTURE = (
    "'structure' is declared as 'delay_queue_wheel', whose own clock lags while idle "
    "(TIMER-OWN-CLOCK); declare 'any' where the wheel turns with the clock"
)


def _moved_clock(outcome: Outcome) -> str:
    """Return the doubt about a wheel's own clock that moved before a bucket was popped."""
    own_ms = outcome.observed.get(profiles.Observable.WHEEL_CLOCK.value, 0)
    return f"shows the wheel's own clock at {own_ms}, not 0; {_OTHER_STRUCTURE}" if own_ms else ""


def _expired_at_once(outcome: Outcome) -> str:
    """Return the doubt about a wheel that hands over at once a task for the next advance."""
    at_once = {event.kind for event in outcome.events} & {EventKind.EXPIRED, *_RUNS}
    return f"expires at once; {_OTHER_STRUCTURE}" if at_once else ""
