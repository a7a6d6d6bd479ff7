"""The examination of an adapter: the questions in their order, and the summary of the answers."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from purgatory_conformance.describing.words import instance_noun, joined, noun
from purgatory_conformance.doctor.channel_muting_questions import (
    PLAIN_CONNECT,
    ChannelMutingQuestions,
    plain_server,
)
from purgatory_conformance.doctor.conversation import Conversation
from purgatory_conformance.doctor.finding import Finding, Severity
from purgatory_conformance.doctor.interview import Interview
from purgatory_conformance.doctor.memory_pool_questions import (
    PLAIN_ALLOCATE,
    MemoryPoolQuestions,
    plain_pool,
)
from purgatory_conformance.doctor.purgatory_questions import PLAIN_WATCH, PurgatoryQuestions
from purgatory_conformance.doctor.timer_questions import PLAIN_ADD, TimerQuestions
from purgatory_conformance.subjects.adapter_client import AdapterClient
from purgatory_conformance.subjects.adapter_replies import Greeting
from purgatory_spec.choices import Choice
from purgatory_spec.messages import PROTOCOL_VERSION, End, Stop
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import (
    Clock,
    Component,
    Configuration,
    MemoryPoolProfile,
    Profile,
    PurgatoryConfiguration,
    PurgatoryProfile,
    TimerConfiguration,
    TimerProfile,
    component_of,
    offers_of,
)

_MOST_RESTARTS = 3

_IDENTITY = re.compile(r'"id":[0-9]+,?')

_WITHOUT_FEATURES: Mapping[Component, str] = {
    Component.TIMER: "tasks are added and run",
    Component.PURGATORY: "operations are watched, checked and time out",
    Component.MEMORY_POOL: "there is no instance that the suite may ask for",
    Component.CHANNEL_MUTING: "there is no instance that the suite may ask for",
}

_Part = Callable[[], Iterator[Finding]]


def examine(
    command: Sequence[str],
    *,
    working_folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    time_limit_seconds: float = 10.0,
) -> Iterator[Finding]:
    """Examine an adapter; ends with a finding that sums up. Never raises for the adapter's faults.

    Args:
        command: the program and its arguments; must not be empty.
        working_folder: where the program starts; here when absent.
        environment: variables to add to those of this process.
        time_limit_seconds: how long any single reply, and leaving, may take.
    """
    client = AdapterClient(command, working_folder, environment, seconds=time_limit_seconds)
    count = 0
    try:
        for finding in _each_complaint_once(_Examination(Conversation(client)).findings()):
            count += finding.verdict is Severity.WRONG
            yield finding
    finally:
        client.end()
    if count:
        problems = "one thing" if count == 1 else f"{count} things"
        yield Finding(Severity.WRONG, f"{problems} to mend")
    else:
        yield Finding(Severity.OK, "the adapter speaks the protocol; the suite can judge it now")


def _each_complaint_once(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Leave out repeated complaints and notes; without a reply, once for each request."""
    said: set[tuple[str, str]] = set()
    for finding in findings:
        if finding.verdict in (Severity.WRONG, Severity.NOTE):
            request = "" if finding.received else _IDENTITY.sub("", finding.sent)
            complaint = (finding.explanation, request)
            if complaint in said:
                continue
            said.add(complaint)
        yield finding


class _Examination:
    """The questions of the examination, in their order."""

    def __init__(self, conversation: Conversation) -> None:
        self._talk = conversation

    def findings(self) -> Iterator[Finding]:
        """Yield all findings, from ``hello`` to ``stop``."""
        greeting = yield from self._talk.greet()
        if greeting is None:
            return
        yield greeting.finding(Severity.OK, f"it is {_described(greeting.reply)}")
        profiles = greeting.reply.profiles
        for profile in profiles.values():
            yield from declaration(profile)
        restarts = 0
        for part in self._parts(profiles):
            if not self._talk.client.runs:
                restarts += 1
                if restarts > _MOST_RESTARTS:
                    yield Finding(Severity.WRONG, "it fails repeatedly; mend that first")
                    return
                yield Finding(Severity.NOTE, "the adapter is started again")
                if (yield from self._talk.greet()) is None:
                    return
            yield from part()
        yield from self._leave()

    def _parts(self, profiles: Mapping[Component, Profile]) -> Iterator[_Part]:
        """Yield the questions about each component, then those about the protocol itself."""
        interviews = [Interview(self._talk, profile) for profile in profiles.values()]
        first_steps: list[_Part] = []
        for ask in interviews:
            parts = list(_parts_of(ask))
            first_steps.append(parts[0])
            yield from parts
        yield lambda: self._unknown_things(interviews[0])
        yield lambda: self._end(first_steps[0])

    def _unknown_things(self, ask: Interview) -> Iterator[Finding]:
        configuration, operation = _plain(ask.profile)
        if (yield from ask.new(configuration)):
            yield from ask.unknown_things(operation)

    def _end(self, first_steps: _Part) -> Iterator[Finding]:
        answer = yield from self._talk.ask(self._talk.client.asked(End))
        if answer is None:
            return
        if answer.reply.unsupported:
            yield answer.finding(
                Severity.WRONG, "'end' must be supported; answer with the id alone"
            )
            return
        yield answer.finding(Severity.OK, "the instance is gone")
        yield from first_steps()

    def _leave(self) -> Iterator[Finding]:
        if not self._talk.client.runs and (yield from self._talk.greet()) is None:
            return
        yield from self._talk.leave(self._talk.client.asked(Stop).line)
        if (yield from self._talk.greet()) is not None:
            yield from self._talk.leave(b"")


def _parts_of(ask: Interview) -> Iterator[_Part]:
    """Yield the questions about one component, the simplest first."""
    profile = ask.profile
    if isinstance(profile, TimerProfile):
        yield from TimerQuestions(ask, profile).parts()
    elif isinstance(profile, PurgatoryProfile):
        yield from PurgatoryQuestions(ask, profile).parts()
    elif isinstance(profile, MemoryPoolProfile):
        yield from MemoryPoolQuestions(ask, profile).parts()
    else:
        yield from ChannelMutingQuestions(ask, profile).parts()


def _plain(profile: Profile) -> tuple[Configuration, Operation]:
    """Return a configuration and an operation that every subject of this profile supports."""
    if isinstance(profile, TimerProfile):
        return TimerConfiguration(), PLAIN_ADD
    if isinstance(profile, PurgatoryProfile):
        return PurgatoryConfiguration(), PLAIN_WATCH
    if isinstance(profile, MemoryPoolProfile):
        return plain_pool(profile), PLAIN_ALLOCATE
    return plain_server(profile), PLAIN_CONNECT


def _described(greeting: Greeting) -> str:
    who = greeting.implementation
    words = " ".join(part for part in (who.name, who.version) if part)
    about = ", ".join(part for part in (who.language, who.runtime) if part)
    where = f" ({about})" if about else ""
    offered = joined([f"a {instance_noun(component)}" for component in greeting.profiles])
    return f"{words}{where}, speaks version {PROTOCOL_VERSION} and offers {offered}"


def declaration(profile: Profile) -> Iterator[Finding]:
    """Yield each declared choice in a sentence."""
    name = noun(component_of(profile))
    for sentence in _sentences(profile):
        yield Finding(Severity.DECLARED, f"{name}, {sentence}")


def _sentences(profile: Profile) -> Iterator[str]:
    component = component_of(profile)
    for field in profile.__struct_fields__:
        choice = getattr(profile, field)
        if isinstance(choice, Choice):
            yield f"{field} is {choice.value}: {choice.says}"
    if isinstance(profile, TimerProfile):
        for field, sentence in profile.says.items():
            if field != "lateness_ms" or profile.clock is Clock.WALL:
                yield f"{field} is {getattr(profile, field)}: {sentence}"
    if not profile.features:
        yield f"no feature: {_WITHOUT_FEATURES[component]}, no more"
    yield from _offered(profile, "features", "feature")
    if not profile.observables:
        yield "no observable: only events and results are compared"
    yield from _offered(profile, "observables", "observable")


def _offered(profile: Profile, field: str, word: str) -> Iterator[str]:
    """Yield the declared features or observables in the order of their type."""
    declared = getattr(profile, field)
    yield from (
        f"{word} {each.value}: {each.says}"
        for each in offers_of(type(profile), field)
        if each in declared
    )
