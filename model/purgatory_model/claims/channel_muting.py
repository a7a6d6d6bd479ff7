"""Channels that wait for memory: invariants, small instances, claims about them.

The invariants are stated apart from what a poll does. An instance has a few channels whose clients
send a few requests each, so that its states are finitely many; every right end of every poll is
looked at. The false claims are what one would believe of such a server.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from purgatory_model.channel_muting import (
    SIZE_BYTES,
    ChannelMutingModel,
    ChannelMutingState,
    Peer,
    channel_of,
)
from purgatory_spec import operations as op
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import ChannelMutingConfiguration, ChannelMutingProfile, Recovery

ChannelStep = tuple[op.Operation, Outcome]

ONE_FITS = ChannelMutingConfiguration(2, 2)
"""One request takes all memory, so that the next one waits."""


@dataclass(frozen=True, slots=True)
class ChannelInstance:
    """A server whose clients each send ``requests`` of the largest size.

    Attributes:
        recovery: Who reads on when memory comes back.
        channels: How many clients there are.
        requests: How many requests each of them sends.
        hang_up: Whether they may hang up.
        configuration: What the server is made with.
        variants: Faults of the model that are followed.
    """

    recovery: Recovery = Recovery.FIRST_COME
    channels: int = 2
    requests: int = 2
    hang_up: bool = False
    configuration: ChannelMutingConfiguration = ONE_FITS
    variants: frozenset[str] = frozenset()

    def model(self) -> ChannelMutingModel:
        """Return the model of the instance, which shows no observables."""
        return ChannelMutingModel(
            self.configuration, ChannelMutingProfile(recovery=self.recovery), self.variants
        )

    def initial(self) -> ChannelMutingState:
        """Return the state in which all clients are connected."""
        model = self.model()
        state = model.initial()
        for number in range(1, self.channels + 1):
            ((_, state),) = model.successors(state, op.Connect(f"c{number}"))
        return state

    def operations(self, state: ChannelMutingState) -> Iterator[op.Operation]:
        """Yield the operations that are possible in a state."""
        yield op.Poll()
        size = self.configuration.max_request_bytes
        for name, channel in sorted(state.channels.items()):
            last = channel.coming[-1] if channel.coming else None
            if not channel.is_open or channel.peer is not Peer.THERE:
                continue
            if last is not None and not last.is_whole:
                yield op.Send(name, SIZE_BYTES + size - last.sent_bytes)
            elif channel.announced < self.requests:
                yield op.Announce(name, size, SIZE_BYTES + 1)
                if size > 1:
                    yield op.Announce(name, size, SIZE_BYTES + size)
            if self.hang_up:
                yield op.HangUp(name)
        for request in sorted(state.handled):
            yield from (op.Release(request), op.PollWhile(request))
        answered = frozenset(map(channel_of, state.handled))
        for name, channel in sorted(state.channels.items()):
            if channel.is_open and channel.is_ordered and name not in answered:
                yield op.Respond(name)

    def steps(self, state: ChannelMutingState) -> Iterator[tuple[ChannelStep, ChannelMutingState]]:
        """Yield the labelled steps that leave a state."""
        model = self.model()
        for operation in self.operations(state):
            for outcome, after in model.successors(state, operation):
                yield (operation, outcome), after


ChannelClaim = Callable[[ChannelInstance, ChannelStep, ChannelMutingState], bool]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A sentence about every step of an instance, and the rule that it follows from."""

    rule: str
    sentence: str
    holds: ChannelClaim


def _is_conserved(given: ChannelInstance, _: ChannelStep, state: ChannelMutingState) -> bool:
    return state.available_bytes + state.outstanding_bytes == given.configuration.limit_bytes


def _is_within_bound(given: ChannelInstance, _: ChannelStep, state: ChannelMutingState) -> bool:
    return state.outstanding_bytes <= given.model().bound_bytes


def _holders_go_on(_: ChannelInstance, __: ChannelStep, state: ChannelMutingState) -> bool:
    return not any(each.waits and each.holds for each in state.channels.values())


def _is_one_at_a_time(_: ChannelInstance, __: ChannelStep, state: ChannelMutingState) -> bool:
    return not any(
        each.is_ordered and (each.waits or each.holds) for each in state.channels.values()
    )


def _line_is_who_waits(given: ChannelInstance, _: ChannelStep, state: ChannelMutingState) -> bool:
    is_line = given.recovery is Recovery.FIRST_COME
    return sorted(state.line) == (state.waiting if is_line else [])


def _nobody_waits_for_nothing(
    _: ChannelInstance, step: ChannelStep, state: ChannelMutingState
) -> bool:
    polled = isinstance(step[0], op.Poll | op.PollWhile)
    return not (polled and state.waiting and state.available_bytes > 0)


def _all_comes_back(given: ChannelInstance, _: ChannelStep, state: ChannelMutingState) -> bool:
    is_empty = not state.handled and not any(each.is_open for each in state.channels.values())
    return not is_empty or state.available_bytes == given.configuration.limit_bytes


def _nobody_waits(_: ChannelInstance, __: ChannelStep, state: ChannelMutingState) -> bool:
    return not state.waiting


def _never_beyond(_: ChannelInstance, __: ChannelStep, state: ChannelMutingState) -> bool:
    return state.available_bytes >= 0


INVARIANTS: Mapping[str, Invariant] = {
    "conservation": Invariant(
        "MUTING-CONSERVATION",
        "available, held and handled bytes are the limit, together",
        _is_conserved,
    ),
    "bound": Invariant(
        "MUTING-BOUND", "no more is held and handled than the bound", _is_within_bound
    ),
    "holders-go-on": Invariant(
        "MUTING-NOT-WITH-MEMORY", "a channel that holds memory does not wait", _holders_go_on
    ),
    "one-at-a-time": Invariant(
        "MUTING-ONE-AT-A-TIME",
        "a channel whose request is not answered neither holds nor waits",
        _is_one_at_a_time,
    ),
    "line-is-who-waits": Invariant(
        "MUTING-FIRST-COME", "the line has the channels that wait, each once", _line_is_who_waits
    ),
    "recovery": Invariant(
        "MUTING-RECOVER",
        "after a poll no channel waits while something is available",
        _nobody_waits_for_nothing,
    ),
    "all-comes-back": Invariant(
        "MUTING-IDLE-RETURNS",
        "when no channel is open and no request is handled the whole limit is available",
        _all_comes_back,
    ),
}
"""The invariants of every instance without a fault, after every step, by id."""

FALSE_CLAIMS: Mapping[str, tuple[str, ChannelClaim]] = {
    "nobody-waits": ("no channel waits", _nobody_waits),
    "never-beyond": ("the pool never lends more than it has", _never_beyond),
}
"""Plausible claims that some step breaks, by id: the sentence and the check of each."""


def breaks(
    instance: ChannelInstance, *claims: str
) -> Callable[[ChannelMutingState, ChannelStep, ChannelMutingState], str | None]:
    """Return a check of steps for the explorer: the sentence of the first claim that a step breaks.

    Raises:
        KeyError: there is no such claim.
    """
    known = {
        **{name: (each.sentence, each.holds) for name, each in INVARIANTS.items()},
        **FALSE_CLAIMS,
    }
    asked = [known[claim] for claim in claims]

    def broken(_: ChannelMutingState, step: ChannelStep, after: ChannelMutingState) -> str | None:
        return next((words for words, holds in asked if not holds(instance, step, after)), None)

    return broken
