"""Scenes of a server's channels: several steps that asks meet too seldom.

A line of channels that wait, a head of the line that leaves, a crowd that one poll serves, one
connection with very many requests.
"""

from collections.abc import Callable, Generator, Iterator
from itertools import pairwise

from purgatory_conformance.generation.channel_muting.world import (
    MOST_UNREAD_BYTES,
    ChannelMutingWorld,
)
from purgatory_conformance.generation.source import Source
from purgatory_model.channel_muting import SIZE_BYTES, Coming, channel_of
from purgatory_spec import operations as op

Scene = Callable[[ChannelMutingWorld, Source], Iterator[op.Operation]]

LARGE_SIZES = ((2**25, 2**24 + 9), (2**31 + 3, 10), (2**32 + 1, 10), (2**53 - 2**32 + 5, 40))
"""Limits and largest requests that are seldom drawn: a server may really take the memory, bytes."""

FAR_MS = (2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1)
"""Spans of time, and readings of an old clock, about the limits of integers, ms."""

_LINES = (1, 1, 1, 2, 2, 3)
"""The numbers of channels that come to wait, one after the other."""

_LEFT_LINES = (3, 3, 4, 6, 9, 17, 33)
"""The numbers of channels that wait where some leave the line, or none does."""

_CROWDS = (9, 17, 33, 65)
"""The numbers of channels whose requests one poll finds."""

_MOST_ROUNDS = 20
"""The most rounds in which requests are answered until none waits."""

_PART_ENDS_BYTES = tuple(2**power for power in range(3, 17))
"""The ends of parts of a request: those of blocks, pages and records, bytes."""

_PARTS = (1, 4, 14)
"""The most bytes of a body that come byte by byte."""

_SIZES_OF_BYTES = (128, 255, 256, 300, 2**16 + 1)
"""Sizes of which one of the four bytes is not 0, or has a highest bit."""

_RECORDS_BYTES = (2**12, 2**13, 2**14)
"""The sizes of pages, and the largest one of a TLS record, bytes."""

_TURNS = (9, 129, 129, 257)
"""The numbers of requests of one connection, one after the other."""


def _sends(
    world: ChannelMutingWorld, source: Source, size: int, sent: int
) -> Iterator[op.Operation]:
    """Draw a client, new or idle, that sends a request, and the poll."""
    name = world.last = source.item([world.fresh_name(), *world.idle])
    yield op.Connect(name)
    yield op.Announce(name, size, SIZE_BYTES + min(sent, MOST_UNREAD_BYTES - SIZE_BYTES))
    yield op.Poll()


def line(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a line of channels that wait: all memory is taken, and a few ask."""
    return _waits_in_line(world, source, source.item(_LINES))


def _waits_in_line(
    world: ChannelMutingWorld, source: Source, count: int, most_bytes: int | None = None
) -> Iterator[op.Operation]:
    """Draw requests until one waits, and so many more; these of a size up to the given one."""
    if not world.model.is_first_come and most_bytes is None:
        count = min(count, 5)
    for _ in range(8):
        if world.state.available_bytes <= 0 or world.state.waiting:
            break
        yield from _sends(world, source, world.most, world.most)
    part = source.integer(0, 3)
    for _ in range(count):
        size = min(world.size(source), most_bytes or world.most)
        record_bytes = source.item(_RECORDS_BYTES) - source.item((0, SIZE_BYTES))
        parts = (size, 0, size // 2, min(record_bytes, size))
        yield from _sends(world, source, size, parts[part])


def leave_a_line(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a line of which some leave, from any place, or have something else happen to them.

    One more comes behind it, or not; then all are served. Many whose requests are small may be
    served at once.
    """
    yield from _waits_in_line(world, source, source.item(_LEFT_LINES), source.item((None, 1)))
    for _ in range(source.integer(0, 2)):
        waiting = list(world.state.waiting)
        if not waiting:
            break
        name = source.item(waiting)
        leaves: list[op.Operation] = [op.Close(name)]
        leaves.append(op.HangUp(name, source.item(tuple(op.Ending))))
        yield from source.item((leaves[:1], leaves[1:], *_stays(world, source, name)))
        yield from [op.Poll()] * source.integer(0, 1)
    if source.integer(0, 1):
        size = world.size(source)
        yield from _sends(world, source, size, size)
    yield from all_are_answered(world, source)


def _stays(world: ChannelMutingWorld, source: Source, name: str) -> tuple[list[op.Operation], ...]:
    """Return what does not move a channel that waits: a response, a throttle, another's end."""
    others = [each for each, channel in world.channels() if not channel.waits] or [name]
    throttled: list[op.Operation] = [op.Throttle(name), op.Unthrottle(name)]
    return [op.Respond(name)], throttled, [op.Close(source.item(others))]


def order_and_memory(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a channel that waits beside ordered ones with more bytes; then memory comes back."""
    yield from _waits_in_line(world, source, source.item((1, 2)))
    for name in world.ordered:
        yield op.Announce(name, 1, SIZE_BYTES + 1)
    releases = source.item((op.Release, op.PollWhile))
    yield from [releases(request) for request in world.handled[:1]]
    yield op.Poll()


def waits_long(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a channel that waits for longer than the limit of time, or goes on only after a part."""
    yield from _waits_in_line(world, source, 1)
    limit_ms = world.configuration.idle_limit_ms or world.configuration.receive_limit_ms
    part_ms = limit_ms // 2 + 1
    if source.integer(0, 1):
        yield op.Elapse(world.state.now_ms + limit_ms + source.integer(1, 9))
    else:
        yield op.Elapse(world.state.now_ms + part_ms)
        yield from [op.Release(request) for request in world.handled[:1]]
        yield op.Elapse(world.state.now_ms + part_ms)
    yield op.Poll()


def throttled_meanwhile(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a channel that is throttled in the middle of a request, and what happens meanwhile.

    It may wait for memory. Its client goes on or ends, time passes, or memory comes back; then the
    throttling ends, and memory comes back or not.
    """
    size = max(2, world.size(source))
    if source.integer(0, 1):
        yield from _waits_in_line(world, source, 1)
        name = world.last
    else:
        found = yield from _idle_channel(world, source)
        if found is None:
            return
        name = found
        sent_bytes = source.item((1, SIZE_BYTES, SIZE_BYTES + size // 2, SIZE_BYTES + size))
        yield op.Announce(name, size, min(sent_bytes, MOST_UNREAD_BYTES))
        yield from [op.Poll()] * source.integer(0, 1)
    yield op.Throttle(name)
    for _ in range(source.integer(1, 2)):
        begun = [_left_bytes(last) for each, last in world.begun if each == name]
        meanwhile: list[op.Operation] = [op.Send(name, left) for left in begun]
        meanwhile += [op.HangUp(name, source.item((*op.Ending, op.Ending.HALF_CLOSE)))]
        meanwhile += [op.Announce(name, size, SIZE_BYTES), op.Elapse(world.state.now_ms + 1)]
        meanwhile += [op.Release(request) for request in world.handled[:1]]
        yield source.item(meanwhile)
        yield from [op.Poll()] * source.integer(0, 1)
    yield op.Unthrottle(name)
    yield op.Poll()
    yield from [op.Release(request) for request in world.handled[:1]]
    yield op.Poll()


def head_leaves(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a line whose head wants more than there is; the next wants less, and is next or fits.

    The head leaves, or some memory comes back.
    """
    if not world.configuration.strict or world.state.waiting or world.most < 3:
        return
    for _ in range(8):
        left = world.state.available_bytes
        if left <= world.most - 1:
            break
        size = min(world.most, left - 1)
        yield from _sends(world, source, size, size)
    left = world.state.available_bytes
    if not 0 < left < world.most:
        return
    yield from _sends(world, source, world.most, world.most)
    head = world.last
    size = source.integer(1, left)
    yield from _sends(world, source, size, size)
    leaves: list[op.Operation] = [op.Close(head), op.HangUp(head, source.item(tuple(op.Ending)))]
    yield source.item([*leaves, *(op.Release(request) for request in world.handled[:1])])
    yield op.Poll()


def _idle_channel(
    world: ChannelMutingWorld, source: Source
) -> Generator[op.Operation, None, str | None]:
    """Draw an idle channel, which is connected if there is none; None if it cannot be."""
    if not world.idle:
        yield op.Connect(world.fresh_name())
    if not world.idle:
        return None
    world.last = source.item(world.idle)
    return world.last


def in_turn(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw one connection's requests one after another, few or many."""
    name = yield from _idle_channel(world, source)
    if name is None:
        return
    size = source.item((1, min(world.size(source), 2**14)))
    for _ in range(source.item(_TURNS)):
        yield op.Announce(name, size, SIZE_BYTES + size)
        yield op.Poll()
        yield from (op.Release(each) for each in world.handled if channel_of(each) == name)
        yield op.Respond(name)


def several_at_once(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw several requests of a client before a poll; each is answered before the next poll.

    Perhaps the channel is throttled while it is answered, or the client sends no more behind them.
    """
    name = yield from _idle_channel(world, source)
    if name is None:
        return
    count = source.item((2, 2, 3))
    for _ in range(count):
        record_bytes = min(world.most, source.item(_RECORDS_BYTES) - SIZE_BYTES)
        size = source.item((0, 1, world.size(source), record_bytes))
        yield op.Announce(name, size, min(SIZE_BYTES + size, MOST_UNREAD_BYTES))
    if source.integer(0, 3) == 0:
        yield op.HangUp(name, op.Ending.HALF_CLOSE)
    is_throttled = source.integer(0, 2) == 0
    for _ in range(count):
        yield op.Poll()
        yield from [op.Throttle(name)] * is_throttled
        yield from [op.Release(each) for each in world.handled if channel_of(each) == name]
        yield op.Respond(name)
        yield from [op.Unthrottle(name)] * is_throttled
    yield op.Poll()


def crowd(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a request of each of many clients before one poll; all are answered.

    There is memory for all of them. The server closes their channels, or not.
    """
    count = source.item(_CROWDS)
    size = source.item((0, 1, 1, max(0, min(world.most, world.state.available_bytes // count - 1))))
    names = []
    for _ in range(count if size < world.state.available_bytes // count else 0):
        names.append(world.fresh_name())
        yield op.Connect(names[-1])
        yield op.Announce(names[-1], size, min(SIZE_BYTES + size, MOST_UNREAD_BYTES))
    yield op.Poll()
    yield from all_are_answered(world, source)
    if source.integer(0, 2):
        yield from map(op.Close, names)


def in_parts(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a request that comes in parts, each read before the next, whose ends are boundaries."""
    name = yield from _idle_channel(world, source)
    if name is None:
        return
    size = source.item((world.most, world.size(source)))
    more = source.item((0, SIZE_BYTES, 0, SIZE_BYTES, 1, -1))
    ends = [end + more for end in _PART_ENDS_BYTES if end + more < SIZE_BYTES + size]
    first, *others = [*ends, SIZE_BYTES + size]
    yield op.Announce(name, size, first)
    yield op.Poll()
    for sent_bytes, end in pairwise((first, *others)):
        yield op.Send(name, end - sent_bytes)
        yield op.Poll()


def without_end(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a client that sends without end in a poll which finds a request of another one, or not.

    Both older and younger clients send it.
    """
    name = yield from _idle_channel(world, source)
    if name is None:
        return
    if source.integer(0, 2):
        other = source.item([world.fresh_name(), *(each for each in world.idle if each != name)])
        size = world.size(source)
        yield op.Connect(other)
        yield op.Announce(other, size, SIZE_BYTES + min(size, MOST_UNREAD_BYTES - SIZE_BYTES))
    yield op.PollBeside(name)


def bit_by_bit(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a request that begins byte by byte; each is read before the next one, or all at once.

    The channel is throttled behind one of the bytes, or not. The rest comes in one piece.
    """
    name = yield from _idle_channel(world, source)
    if name is None:
        return
    sizes = (world.size(source), world.most, min(world.most, source.item(_SIZES_OF_BYTES)))
    size = source.item(sizes)
    single = SIZE_BYTES + min(size, source.item(_PARTS))
    throttled_at = source.integer(1, 2 * single)
    are_read, step = source.integer(0, 2) > 0, source.item((1, 2))
    yield op.Announce(name, size, step)
    for sent_bytes in range(step, single + 1, step):
        if are_read:
            yield op.Poll()
        if sent_bytes == throttled_at:
            yield op.Throttle(name)
            yield op.Unthrottle(name)
        yield op.Send(name, step)
    yield from [op.Send(each, _left_bytes(last)) for each, last in world.begun if each == name]
    yield op.Poll()


def slowly(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw requests of one client, each of which takes a part of the limit of time, or longer.

    The response may take as long.
    """
    name = yield from _idle_channel(world, source)
    if name is None:
        return
    configuration = world.configuration
    limit_ms = configuration.receive_limit_ms or configuration.idle_limit_ms
    for _ in range(2):
        size = max(world.size(source), min(3, world.most))
        yield op.Announce(name, size, SIZE_BYTES)
        yield op.Poll()
        for _ in range(source.integer(1, 2)):
            kind = source.integer(0, 2)
            if kind == 1:
                yield op.Send(name, 1)
            elif kind:
                yield op.Throttle(name)
            yield op.Elapse(world.state.now_ms + limit_ms // 2 + 1)
            yield op.Unthrottle(name)
            yield op.Poll()
        yield from [op.Send(each, _left_bytes(last)) for each, last in world.begun if each == name]
        yield op.Poll()
        is_slow = source.integer(0, 2) == 2
        if is_slow:
            yield op.Elapse(world.state.now_ms + limit_ms // 2 + 1)
        yield from [op.Release(each) for each in world.handled if channel_of(each) == name]
        yield op.Respond(name)
        if is_slow:
            yield op.Elapse(world.state.now_ms + limit_ms // 2 + 1)
            yield op.Poll()


def falls_silent(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a client that stops at some stage of a request, until its time or itself ends.

    It has waited for memory before, or has sent nothing at all yet; it may be throttled meanwhile.
    """
    limit_ms = world.configuration.receive_limit_ms or world.configuration.idle_limit_ms
    if source.integer(0, 2) == 0:
        yield from _waits_in_line(world, source, 1)
        yield from [op.Release(each) for each in world.handled]
        name = world.last
    else:
        name = world.last = world.fresh_name()
        yield op.Connect(name)
        size = max(2, world.size(source))
        sent_bytes = source.item((0, 1, SIZE_BYTES - 1, SIZE_BYTES, SIZE_BYTES + size // 2))
        yield op.Announce(name, size, min(sent_bytes, MOST_UNREAD_BYTES))
    yield op.Poll()
    parts = source.integer(1, 2)
    if parts > 1:
        yield from (op.Throttle(name), op.Elapse(world.state.now_ms + limit_ms // parts + 1))
        yield op.Unthrottle(name)
    if source.integer(0, 2) == 0:
        yield op.HangUp(name, source.item(tuple(op.Ending)))
    yield op.Elapse(world.state.now_ms + limit_ms // parts + 1)
    yield op.Poll()


def _left_bytes(coming: Coming) -> int:
    return min(SIZE_BYTES + coming.size_bytes - coming.sent_bytes, MOST_UNREAD_BYTES)


def completed(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a request that is released and answered, in either order, perhaps with one behind it."""
    if world.handled:
        request = source.item(world.handled)
        name = channel_of(request)
        both = (op.Release(request), op.Respond(name))
        yield from both if source.integer(0, 2) else both[1:]
        if source.integer(0, 1):
            # Where it was answered first, its next request comes beside the memory of this one.
            size = world.size(source)
            yield op.Announce(name, size, SIZE_BYTES + min(size, MOST_UNREAD_BYTES - SIZE_BYTES))
            yield op.Poll()
        yield op.Release(request)
        yield op.Poll()


def all_are_answered(world: ChannelMutingWorld, _: Source) -> Iterator[op.Operation]:
    """Draw steps in which all requests are received, released and answered; the clients stay."""
    for _round in range(_MOST_ROUNDS):
        for name, coming in world.begun:
            if coming.is_announced:
                yield op.Send(name, SIZE_BYTES + coming.size_bytes - coming.sent_bytes)
        yield from [op.Release(each) for each in world.handled]
        yield from [op.Respond(name) for name in world.ordered]
        yield op.Poll()
        if not world.handled and not world.state.waiting:
            break


def all_leave(world: ChannelMutingWorld, _: Source) -> Iterator[op.Operation]:
    """Draw steps in which all clients end, and all memory comes back."""
    yield from [op.HangUp(name) for name, _ in world.channels()]
    yield op.Poll()
    yield from [op.Release(each) for each in world.handled]
    yield from [op.Respond(name) for name in world.ordered]
    yield op.Poll()


def constructs(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw some servers beside this one, of limits about their largest requests and far beyond."""
    for _ in range(4):
        most = source.item((10, 1, 0, -1, world.most + 1, 2, 2**31 - 1))
        near = (most, most - 1, most + 1, 0, -1, 2 * most)
        yield op.Construct(source.item((*near, *(large for large, _ in LARGE_SIZES))), most)


def far(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a far step of the clock, and a poll."""
    yield op.Elapse(world.state.now_ms + source.item(FAR_MS))
    yield op.Poll()
