"""The doctor's questions about a server's channels."""

from collections.abc import Callable, Iterator

from purgatory_conformance.doctor.finding import Finding, Severity
from purgatory_conformance.doctor.interview import Interview
from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind, Outcome
from purgatory_spec.profiles import (
    ChannelMutingConfiguration,
    ChannelMutingFeature,
    ChannelMutingProfile,
)

PLAIN_CONNECT = op.Connect("k")
"""An operation that every server knows."""

_ELAPSED_MS = 10

_HANDLED: dict[ChannelMutingFeature, tuple[tuple[op.Operation, str], ...]] = {
    ChannelMutingFeature.POLL_WHILE: ((op.PollWhile("a#1"), "its memory comes back in the poll"),),
    ChannelMutingFeature.RESPOND_FIRST: ((op.Respond("a"), "before the release"),),
    ChannelMutingFeature.THROTTLE: (
        (op.Throttle("a"), ""),
        (op.Release("a#1"), ""),
        (op.Respond("a"), ""),
        (op.Unthrottle("a"), ""),
    ),
    ChannelMutingFeature.THROTTLE_ANYTIME: (
        (op.Release("a#1"), ""),
        (op.Respond("a"), ""),
        (op.Throttle("a"), "while no response is due"),
        (op.Poll(), ""),
        (op.Unthrottle("a"), ""),
    ),
    ChannelMutingFeature.CLOSE: ((op.Close("a"), "as its request is handled"),),
    ChannelMutingFeature.HANG_UP: ((op.HangUp("a"), ""), (op.Poll(), "")),
    ChannelMutingFeature.HALF_CLOSE: ((op.HangUp("a", op.Ending.HALF_CLOSE), ""), (op.Poll(), "")),
    ChannelMutingFeature.RESET: ((op.HangUp("a", op.Ending.RESET), ""), (op.Poll(), "")),
    ChannelMutingFeature.CONSTRUCT: (
        (op.Construct(10, 5), ""),
        (op.Construct(5, 10), "none can be"),
    ),
    ChannelMutingFeature.ELAPSE: ((op.Elapse(_ELAPSED_MS), ""),),
}
"""The operations that each feature lets the suite ask of a server that handles ``a#1``."""


def plain_server(profile: ChannelMutingProfile) -> ChannelMutingConfiguration:
    """Return a server of 10 bytes of the simplest sort that is declared."""
    return _servers(profile)[0]


def _servers(profile: ChannelMutingProfile) -> list[ChannelMutingConfiguration]:
    features = profile.features
    strict = ChannelMutingFeature.NON_STRICT not in features
    return [
        ChannelMutingConfiguration(10, 10, strict=strict, tls=tls)
        for tls, feature in ((False, ChannelMutingFeature.PLAIN), (True, ChannelMutingFeature.TLS))
        if feature in features
    ]


class ChannelMutingQuestions:
    """The questions about a server's channels, in their order."""

    def __init__(self, interview: Interview, profile: ChannelMutingProfile) -> None:
        """Prepare the questions that the profile allows, for an interview."""
        self._ask = interview
        self._profile = profile

    def parts(self) -> Iterator[Callable[[], Iterator[Finding]]]:
        """Yield the parts of the interview; each part begins with an instance of its own."""
        for server in _servers(self._profile):
            yield self._first_steps_on(server)
        if ChannelMutingFeature.POLL_BESIDE in self._profile.features:
            yield self._beside
        for feature, asked in _HANDLED.items():
            if feature in self._profile.features:
                yield self._asked_of_a_request(asked)

    def _first_steps_on(
        self, configuration: ChannelMutingConfiguration
    ) -> Callable[[], Iterator[Finding]]:
        return lambda: self._receives_and_refuses(configuration)

    def _beside(self) -> Iterator[Finding]:
        """Ask for a request to be received beside a client that sends without end."""
        if not (yield from self._ask.new(_servers(self._profile)[-1])):  # with TLS
            return
        for name in ("a", "b"):
            yield from self._ask.do(op.Connect(name))
        yield from self._ask.do(op.Announce("b", 5, 9))
        yield from self._ask.do(op.PollBeside("a"), "it sends without end", _received("b#1"))

    def _asked_of_a_request(
        self, asked: tuple[tuple[op.Operation, str], ...]
    ) -> Callable[[], Iterator[Finding]]:
        return lambda: self._of_a_request(asked)

    def _receives_and_refuses(self, configuration: ChannelMutingConfiguration) -> Iterator[Finding]:
        """Ask for a request that takes all memory, and one that waits until the release."""
        if not (yield from self._ask.new(configuration)):
            return
        for name in ("a", "b"):
            yield from self._ask.do(op.Connect(name))
        yield from self._ask.do(op.Announce("a", 10, 9), "half of its body")
        yield from self._ask.do(op.Poll(), "it is not whole", _received("nothing"))
        yield from self._ask.do(op.Send("a", 5), "the rest")
        first = yield from self._ask.do(op.Poll(), "it is whole", _received("a#1"))
        if first is None or not first.events:
            sentence = "a fresh server did not receive the first 10 bytes; the suite will fail it"
            yield Finding(Severity.NOTE, sentence)
            return
        yield from self._ask.do(op.Announce("b", 10, 14), "nothing is left")
        yield from self._ask.do(op.Poll(), "it waits", _received("nothing"))
        yield from self._ask.do(op.Release("a#1"))
        yield from self._ask.do(op.Respond("a"))
        yield from self._ask.do(op.Poll(), "memory has come back", _received("b#1"))

    def _of_a_request(self, asked: tuple[tuple[op.Operation, str], ...]) -> Iterator[Finding]:
        if not (yield from self._ask.new(plain_server(self._profile))):
            return
        yield from self._ask.do(op.Connect("a"))
        yield from self._ask.do(op.Announce("a", 5, 9))
        received = yield from self._ask.do(op.Poll())
        if received is not None and received.events:
            for operation, about in asked:
                yield from self._ask.do(operation, about)


def _received(wanted: str) -> Callable[[Outcome], str]:
    """Return the doubt about an outcome in which other requests were received."""

    def doubt(outcome: Outcome) -> str:
        names = [each.task for each in outcome.events if each.kind is EventKind.RECEIVED]
        seen = ", ".join(names) or "nothing"
        if seen == wanted:
            return ""
        return f"receives {seen}, where {wanted} is right; the suite will fail it"

    return doubt
