"""Simpler cases of a server: smaller requests and limits, fewer sorts of server, shorter times."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from purgatory_conformance.generation.channel_muting.world import ChannelMutingWorld, is_offered
from purgatory_conformance.reducing.times import smaller
from purgatory_model.channel_muting import SIZE_BYTES, channel_of
from purgatory_spec.operations import (
    Announce,
    Connect,
    Construct,
    Elapse,
    Ending,
    HangUp,
    Operation,
    Poll,
    PollBeside,
    PollWhile,
    Release,
    Send,
)
from purgatory_spec.profiles import ChannelMutingConfiguration, ChannelMutingProfile

_NOT_PLAIN = 1000
"""The extra cost of a size that cannot be over a legal one."""

_SMALL_SERVERS = ((1, 1), (2, 2), (3, 2), (4, 4), (10, 4), (10, 10))


@dataclass(frozen=True)
class ChannelMutingCase:
    """A configuration and the operations to carry out under it."""

    configuration: ChannelMutingConfiguration
    operations: tuple[Operation, ...]

    @property
    def size(self) -> tuple[int, int, int]:
        """Smaller is simpler: operations, the sort of server, the numbers."""
        given = self.configuration
        sort = 4 * given.tls + 2 * given.strict + bool(given.idle_limit_ms)
        sort += bool(given.receive_limit_ms)
        numbers = sum(map(_magnitude, self.operations))
        numbers += 2 * given.limit_bytes + given.max_request_bytes
        return len(self.operations), sort, numbers

    def is_usable(self, profile: ChannelMutingProfile) -> bool:
        """Whether a subject of this profile can be asked the case.

        What the world does not know is not asked about: a release or a response of a request that
        it has not received, because another end of a poll is as right, may be left out later.
        """
        if not is_offered(self.configuration, profile):
            return False
        world = ChannelMutingWorld(self.configuration, profile)
        for operation in self.operations:
            if not world.can_be_asked(operation):
                return False
            world.apply(operation)
        return True


def simpler_channel_muting_cases(case: ChannelMutingCase) -> Iterator[ChannelMutingCase]:
    """Simpler cases, beyond those with operations left out."""
    yield from _plainer_servers(case)
    yield from _smaller_servers(case)
    yield from _without_channels(case)
    yield from _shorter_times(case)
    for index, operation in enumerate(case.operations):
        for plainer in _plainer(case.configuration, operation):
            changed = (*case.operations[:index], *plainer, *case.operations[index + 1 :])
            yield replace(case, operations=changed)


def _plainer_servers(case: ChannelMutingCase) -> Iterator[ChannelMutingCase]:
    """The same without TLS, not strict, without limits of time."""
    given = case.configuration
    plain = {"tls": False, "strict": False, "idle_limit_ms": 0, "receive_limit_ms": 0}
    for name, value in plain.items():
        if getattr(given, name) != value:
            changed = msgspec.structs.replace(given, **{name: value})
            yield replace(case, configuration=changed)


def _smaller_servers(case: ChannelMutingCase) -> Iterator[ChannelMutingCase]:
    given = case.configuration
    halves = (max(1, given.limit_bytes // 2), max(1, given.max_request_bytes // 2))
    for limit, most in (*_SMALL_SERVERS, halves):
        if most <= limit < given.limit_bytes:
            changed = msgspec.structs.replace(given, limit_bytes=limit, max_request_bytes=most)
            fitted = tuple(_fitted(each, given.max_request_bytes, most) for each in case.operations)
            yield ChannelMutingCase(changed, fitted)
            yield replace(case, configuration=changed)


def _without_channels(case: ChannelMutingCase) -> Iterator[ChannelMutingCase]:
    """The same without all that a channel does, and without the memory that it takes."""
    given = case.configuration
    names = [each.channel for each in case.operations if isinstance(each, Connect)]
    for name in names:
        kept = tuple(each for each in case.operations if _channel(each) != name)
        yield replace(case, operations=kept)
        sizes = [
            each.size_bytes
            for each in case.operations
            if isinstance(each, Announce) and each.channel == name
        ]
        less = max(given.max_request_bytes, given.limit_bytes - max(sizes, default=0))
        if less < given.limit_bytes:
            yield ChannelMutingCase(msgspec.structs.replace(given, limit_bytes=less), kept)


def _channel(operation: Operation) -> str:
    """The channel that an operation is about; empty for none."""
    match operation:
        case Release(request) | PollWhile(request):
            return channel_of(request)
        case Construct() | Elapse() | Poll():
            return ""
        case _:
            return str(getattr(operation, "channel", ""))


def _fitted(operation: Operation, most: int, smaller_most: int) -> Operation:
    """A request as large for the smaller server as the original for the larger one."""
    match operation:
        case Announce(channel, size_bytes, sent_bytes) if size_bytes > most:
            return Announce(channel, smaller_most + 1, min(sent_bytes, SIZE_BYTES))
        case Announce(channel, size_bytes, sent_bytes) if size_bytes > smaller_most:
            is_whole = sent_bytes == SIZE_BYTES + size_bytes
            sent = SIZE_BYTES + smaller_most
            return Announce(channel, smaller_most, sent if is_whole else min(sent_bytes, sent))
        case _:
            return operation


def _shorter_times(case: ChannelMutingCase) -> Iterator[ChannelMutingCase]:
    """Take time out of a case: what comes later moves with it."""
    now = 0
    for index, operation in enumerate(case.operations):
        if not isinstance(operation, Elapse):
            continue
        gap = operation.to_ms - now
        now = operation.to_ms
        for rest in smaller(gap):
            later = tuple(_shifted(op, rest - gap) for op in case.operations[index:])
            yield replace(case, operations=(*case.operations[:index], *later))


def _shifted(operation: Operation, by_ms: int) -> Operation:
    return Elapse(operation.to_ms + by_ms) if isinstance(operation, Elapse) else operation


def _plainer(
    configuration: ChannelMutingConfiguration, operation: Operation
) -> Iterator[tuple[Operation, ...]]:
    """Plainer operations in place of an operation."""
    match operation:
        case Announce(channel, size_bytes, sent_bytes):
            is_whole = sent_bytes == SIZE_BYTES + size_bytes
            for size in smaller(size_bytes):
                sent = SIZE_BYTES + size if is_whole else min(sent_bytes, SIZE_BYTES + size)
                yield (Announce(channel, size, max(1, sent)),)
            if not is_whole and 0 <= size_bytes <= configuration.max_request_bytes:
                yield (Announce(channel, size_bytes, SIZE_BYTES + size_bytes),)
            yield from (
                (Announce(channel, size_bytes, sent),)
                for sent in (SIZE_BYTES, 1)
                if sent < sent_bytes
            )
        case Send(channel, sent_bytes):
            yield from ((Send(channel, sent),) for sent in smaller(sent_bytes) if sent > 0)
        case PollWhile(request):
            yield (Release(request), Poll())
        case PollBeside():
            yield (Poll(),)
        case HangUp(channel, ending) if ending is not Ending.CLOSE:
            yield (HangUp(channel),)
        case Construct(limit_bytes, most_bytes):
            plain = ((1, 1), (1, 2), (0, 1), (1, 0))
            yield from ((Construct(*each),) for each in plain if each != (limit_bytes, most_bytes))
        case _:
            return


def _magnitude(operation: Operation) -> int:
    match operation:
        case Announce(_, size_bytes, sent_bytes):
            return sent_bytes + (size_bytes if size_bytes >= 0 else _NOT_PLAIN - size_bytes)
        case Send(_, sent_bytes):
            return sent_bytes
        case PollWhile() | PollBeside():
            return 2
        case HangUp(_, ending):
            return 0 if ending is Ending.CLOSE else 1
        case Construct(limit_bytes, most_bytes):
            return abs(limit_bytes) + abs(most_bytes)
        case Elapse(to_ms):
            return to_ms
        case _:
            return 0
