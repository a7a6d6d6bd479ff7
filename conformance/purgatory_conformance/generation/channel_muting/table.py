"""The situations of a server's channels: sorts of asks with their weights, and a few scenes.

An ask is one operation whose arguments lie at the boundaries of the server's state, with a poll
behind it or not. A scene has several steps that asks meet too seldom: a line of channels that wait,
a head of the line that leaves, one connection with very many requests.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from purgatory_conformance.generation.asks import channel_muting_asks
from purgatory_conformance.generation.channel_muting.world import (
    MOST_UNREAD_BYTES,
    ChannelMutingWorld,
)
from purgatory_conformance.generation.draft import drawn_rows
from purgatory_conformance.generation.fields import name_of
from purgatory_conformance.generation.source import Source
from purgatory_model.channel_muting import SIZE_BYTES, Channel, Coming, channel_of
from purgatory_model.step import TooManyBranches
from purgatory_spec import operations as op
from purgatory_spec.profiles import (
    ChannelMutingConfiguration,
    ChannelMutingFeature,
    ChannelMutingProfile,
)

_SIZES = (
    *((10, 10), (10, 10), (10, 4), (20, 10), (3, 1), (100, 40)),
    *((20_000, 10_000), (40_000, 20_000), (100_000, 70_000)),
)
"""Limits with their largest requests, bytes; the last ones go beyond pages and TLS records."""

_LARGE_SIZES = ((2**25, 2**24 + 9), (2**31 + 3, 10), (2**32 + 1, 10), (2**53 - 2**32 + 5, 40))
"""Limits and largest requests that are seldom drawn: a server may really take the memory, bytes."""

_BOUNDARIES_BYTES = tuple(
    power + more - head
    for power in (2**8, 2**12, 2**13, 2**14, 2**15, 2**16, 2**24)
    for head in (0, SIZE_BYTES)
    for more in (0, 1, -1)
)
"""Sizes about those of pages, of records, and of integers, without and with the four bytes."""

_BAD_BYTES = (-1, -(2**31), 2**31 - 1, 2**16 + 1, 2**24 + 1, 2**31 - 4)
"""Sizes that cannot be, some of which are legal in their lower bits alone, bytes."""

_LIMITS_MS = (100, 100, 100, 100, 60, 1, 2**31 + 3, 2**32 + 3)
"""The limits of time in generated cases, ms."""

_FAR_MS = (2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1)
"""Spans of time, and readings of an old clock, about the limits of integers, ms."""

_LINES = (1, 1, 1, 2, 2, 3)
_LONG_LINES = (9, 9, 17, 33)
"""The numbers of channels that come to wait, one after the other."""

_LEFT_LINES = (3, 3, 4, 6, 17)
"""The numbers of channels that wait where some leave the line."""

_MOST_ROUNDS = 20
"""The most rounds in which requests are answered until none waits."""

_PARTS = (1, 4, 14)
"""The most bytes of a body that comes byte by byte."""

_TURNS = (3, 33, 129, 257)
"""The numbers of requests of one connection, one after the other."""


_MOST_COUNTED = 4
"""The most operations of a situation that count for the length of a case, in which polls do not."""


@dataclass(frozen=True)
class ChannelMutingRow:
    """A situation: name, weight, rules put to the test, features needed, and its operations.

    ``make`` may yield nothing where the situation cannot arise at present.
    """

    name: str
    weight: int
    rules: frozenset[str]
    needs: frozenset[ChannelMutingFeature]
    make: Callable[["ChannelMutingDraft", Source], Iterator[op.Operation]]

    def is_offered(self, profile: ChannelMutingProfile) -> bool:
        """Decide whether a subject of this profile can be brought into the situation."""
        return profile.features.issuperset(self.needs)


@dataclass(slots=True)
class ChannelMutingDraft:
    """A case of a server while it is drawn; see ``Draft``."""

    configuration: ChannelMutingConfiguration
    profile: ChannelMutingProfile
    world: ChannelMutingWorld = field(init=False)
    polls: int = 4
    """The number of four asks that have a poll behind them."""
    most_channels: int = 5
    """The number of channels that asks connect."""
    ticks: bool = False
    """True if a short time passes before every second ask."""
    last: str = ""
    """The channel that was asked last: half of the asks go on with it."""

    def __post_init__(self) -> None:
        """Begin with a fresh server."""
        self.world = ChannelMutingWorld(self.configuration, self.profile)

    def opening(self, source: Source) -> tuple[op.Operation, ...]:
        """Draw the manner of the case; return a step of the clock for an old one."""
        self.polls = source.item((4, 3, 2, 1))
        self.most_channels = source.item((5, 3, 2))
        has_limits = self.configuration.idle_limit_ms or self.configuration.receive_limit_ms
        self.ticks = source.integer(0, 2 if has_limits else 7) == 0
        is_old = source.integer(0, 7) == 7
        return self.followed((op.Elapse(source.item(_FAR_MS)),) if is_old else ())

    @property
    def rows(self) -> list[ChannelMutingRow]:
        """Return the situations that a subject of this profile can be brought into."""
        left_out = () if self.configuration.tls else (_Has.TLS,)
        return [
            row
            for row in CHANNEL_MUTING_TABLE
            if row.is_offered(self.profile) and row.needs.isdisjoint(left_out)
        ]

    def offers(self, situation: str) -> bool:
        """Decide whether a subject of this profile can be brought into the situation now."""
        return any(row.name == situation for row in self.rows)

    def draw(self, situation: str, source: Source) -> tuple[op.Operation, ...]:
        """Return the operations of a situation, as far as names mean what they should."""
        return self.followed(CHANNEL_MUTING_ROWS[situation].make(self, source))

    def asks(self) -> Iterator[op.Operation]:
        """Return the operations worth asking next."""
        most = self.world.most
        sizes = {0, 1, most, max(1, most // 2), most + 1, -1, _BAD_BYTES[-1]}
        return self.asks_of(_KINDS, sorted(sizes))

    def asks_of(
        self, kinds: Sequence[type[op.Operation]], sizes_bytes: Iterable[int]
    ) -> Iterator[op.Operation]:
        """Yield the operations of some kinds that are worth asking next, and can be asked."""
        world = self.world
        asks = channel_muting_asks(
            world.state,
            self.profile,
            kinds=kinds,
            fresh=world.fresh_name() if len(world.channels()) < self.most_channels else None,
            sizes_bytes=list(sizes_bytes),
            readings_ms=world.readings_ms() if op.Elapse in kinds else (),
        )
        return filter(world.can_be_asked, asks)

    def size(self, source: Source) -> int:
        """Draw the size of a request: any, the largest, what is just available, or a boundary."""
        most, available = self.world.most, self.world.state.available_bytes
        kind = source.integer(0, 3)
        if kind == 1:
            return most
        sizes = (available, available + 1, available - 1) if kind == 2 else _BOUNDARIES_BYTES
        possible = [size for size in sizes if 0 < size <= most] if kind else []
        return source.item(possible) if possible else source.integer(1, most)

    def followed(self, operations: Iterable[op.Operation]) -> tuple[op.Operation, ...]:
        """Follow the operations that can be asked, and return them.

        A poll that may go in too many ways to follow is left out, with what would come behind it.
        """
        followed: list[op.Operation] = []
        for operation in operations:
            if not self.world.can_be_asked(operation):
                continue
            try:
                self.world.apply(operation)
            except TooManyBranches:
                break
            followed.append(operation)
        return tuple(followed)

    def shutdown(self, source: Source, share: int = 9) -> tuple[op.Operation, ...]:
        """Return no operations: the end of a case ends its server."""
        del source, share
        return ()


Make = Callable[[ChannelMutingDraft, Source], Iterator[op.Operation]]
Is = Callable[[ChannelMutingWorld, Channel, op.Operation], bool]


# Asks


def _asked(kind: type[op.Operation], is_so: Is = lambda *_: True) -> Make:
    """Return the maker of an ask of a kind, of a channel that is in some state."""

    def make(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
        world = draft.world
        if draft.ticks and source.integer(0, 1):
            yield op.Elapse(world.state.now_ms + source.item(world.short_spans_ms()))
        if world.unseen and source.integer(0, 1):
            yield op.Poll()
        if kind is op.Announce and not world.idle:
            yield from draft.asks_of((op.Connect,), ())
        sorts: dict[object, list[op.Operation]] = {}
        for each in draft.asks_of((kind,), _sizes(draft, source)):
            channel = world.state.channels.get(channel_of(name_of(each)), _NO_CHANNEL)
            if is_so(world, channel, each):
                sorts.setdefault(_sort_of(channel), []).append(each)
        if not sorts:
            return
        asks = source.item(list(sorts.values()))
        again = [each for each in chain(*sorts.values()) if channel_of(name_of(each)) == draft.last]
        ask = source.item(again if again and source.integer(0, 1) else asks)
        draft.last = channel_of(name_of(ask)) or draft.last
        yield ask
        if isinstance(ask, op.Announce) and source.integer(0, 3) == 0:
            # The client sends ahead, so that one poll finds more than one request.
            size = source.item((draft.size(source), 0))
            sent = SIZE_BYTES + source.item((size, size // 2))
            yield op.Announce(ask.channel, size, min(sent, MOST_UNREAD_BYTES))
        needs_none = isinstance(ask, op.Poll | op.PollWhile | op.Connect)
        if not needs_none and source.integer(1, 4) <= draft.polls:
            yield op.Poll()

    return make


_NO_CHANNEL = Channel(is_open=False)


def _sort_of(channel: Channel) -> object:
    """Return how far a channel is with its request, and the reasons not to read it."""
    is_begun = channel.taken_bytes > 0
    return channel.receive, is_begun, channel.is_ordered, channel.is_throttled, channel.peer


def _sizes(draft: ChannelMutingDraft, source: Source) -> tuple[int, ...]:
    """Draw a size that can be, beside none and one that cannot be."""
    return (draft.size(source), 0, source.item((*_BAD_BYTES, draft.world.most + 1)))


def _is_announced(least: int, is_whole: bool) -> Is:
    """Return the decision on a request of an idle channel: how much of it is sent at once."""

    def is_so(world: ChannelMutingWorld, channel: Channel, each: op.Operation) -> bool:
        if not isinstance(each, op.Announce) or not _is_idle(channel):
            return False
        whole_bytes = SIZE_BYTES + each.size_bytes
        is_some = least <= each.sent_bytes and (each.sent_bytes == whole_bytes) is is_whole
        return is_some and 0 < each.size_bytes <= world.most

    return is_so


def _is_idle(channel: Channel) -> bool:
    return channel.may_be_read and not channel.coming


def _is_of_a_channel(is_so: Callable[[Channel], bool]) -> Is:
    """Return the decision on an ask by its channel."""
    return lambda _world, channel, _each: is_so(channel)


def _is_of_a_size(is_so: Callable[[int, int], bool]) -> Is:
    """Return the decision on a request by its size and the largest one, bytes."""
    return lambda world, _, each: (
        isinstance(each, op.Announce) and is_so(each.size_bytes, world.most)
    )


def _is_rest(_: ChannelMutingWorld, channel: Channel, each: op.Operation) -> bool:
    last = channel.coming[-1]
    whole_bytes = SIZE_BYTES + max(0, last.size_bytes)
    return isinstance(each, op.Send) and last.sent_bytes + each.sent_bytes == whole_bytes


def _is_half_close(_: ChannelMutingWorld, _channel: Channel, each: op.Operation) -> bool:
    return isinstance(each, op.HangUp) and each.ending is op.Ending.HALF_CLOSE


# Scenes


def _sends(
    draft: ChannelMutingDraft, source: Source, size: int, sent: int
) -> Iterator[op.Operation]:
    """Draw a client, new or idle, that sends a request, and the poll."""
    name = draft.last = source.item([draft.world.fresh_name(), *draft.world.idle])
    yield op.Connect(name)
    yield op.Announce(name, size, SIZE_BYTES + min(sent, MOST_UNREAD_BYTES - SIZE_BYTES))
    yield op.Poll()


def _line(counts: Sequence[int]) -> Make:
    """Return the maker of a line of channels that wait: all memory is taken, and so many ask."""
    return lambda draft, source: _waits_in_line(draft, source, source.item(counts))


def _waits_in_line(
    draft: ChannelMutingDraft, source: Source, count: int, most_bytes: int | None = None
) -> Iterator[op.Operation]:
    """Draw requests until one waits, and so many more; these of a size up to the given one."""
    world = draft.world
    if not world.model.is_first_come:
        count = min(count, 5)
    for _ in range(8):
        if world.state.available_bytes <= 0 or world.state.waiting:
            break
        yield from _sends(draft, source, world.most, world.most)
    part = source.integer(0, 2)
    for _ in range(count):
        size = min(draft.size(source), most_bytes or world.most)
        yield from _sends(draft, source, size, (size, 0, size // 2)[part])


def _leave_a_line(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw a line of which some leave, from any place; then all others are served.

    Many whose requests are small may be served at once.
    """
    world = draft.world
    yield from _waits_in_line(draft, source, source.item(_LEFT_LINES), source.item((None, 1)))
    for _ in range(source.integer(0, 2)):
        waiting = list(world.state.waiting)
        if not waiting:
            break
        name = source.item(waiting)
        leaves: list[op.Operation] = [op.Close(name)]
        leaves.append(op.HangUp(name, source.item(tuple(op.Ending))))
        yield source.item(leaves)
        yield from [op.Poll()] * source.integer(0, 1)
    yield from _all_are_answered(draft, source)


def _order_and_memory(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw a channel that waits beside ordered ones with more bytes; then memory comes back."""
    yield from _waits_in_line(draft, source, source.item((1, 2)))
    for name in draft.world.ordered:
        yield op.Announce(name, 1, SIZE_BYTES + 1)
    releases = source.item((op.Release, op.PollWhile))
    yield from [releases(request) for request in draft.world.handled[:1]]
    yield op.Poll()


def _waits_long(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw a channel that waits for longer than the limit of time, or goes on only after a part."""
    world = draft.world
    yield from _waits_in_line(draft, source, 1)
    limit_ms = draft.configuration.idle_limit_ms or draft.configuration.receive_limit_ms
    part_ms = limit_ms // 2 + 1
    if source.integer(0, 1):
        yield op.Elapse(world.state.now_ms + limit_ms + source.integer(1, 9))
    else:
        yield op.Elapse(world.state.now_ms + part_ms)
        yield from [op.Release(request) for request in world.handled[:1]]
        yield op.Elapse(world.state.now_ms + part_ms)
    yield op.Poll()


def _throttled_meanwhile(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw a channel that is throttled in the middle of a request, and what happens meanwhile.

    It may wait for memory. Its client goes on or ends, time passes, or memory comes back; then the
    throttling ends, and memory comes back or not.
    """
    world = draft.world
    size = max(2, draft.size(source))
    if source.integer(0, 1):
        yield from _waits_in_line(draft, source, 1)
        name = draft.last
    else:
        found = yield from _idle_channel(draft, source)
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


def _head_leaves(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw a line whose head wants more than there is; the next wants less, and is next or fits.

    The head leaves, or some memory comes back.
    """
    world = draft.world
    if not draft.configuration.strict or world.state.waiting or world.most < 3:
        return
    for _ in range(8):
        left = world.state.available_bytes
        if left <= world.most - 1:
            break
        size = min(world.most, left - 1)
        yield from _sends(draft, source, size, size)
    left = world.state.available_bytes
    if not 0 < left < world.most:
        return
    yield from _sends(draft, source, world.most, world.most)
    head = draft.last
    size = source.integer(1, left)
    yield from _sends(draft, source, size, size)
    draft.last = head
    yield from source.item((_release, _close, _hang_up))(draft, source)
    yield op.Poll()


def _idle_channel(
    draft: ChannelMutingDraft, source: Source
) -> Generator[op.Operation, None, str | None]:
    """Draw an idle channel, which is connected if there is none; None if it cannot be."""
    world = draft.world
    if not world.idle:
        yield op.Connect(world.fresh_name())
    if not world.idle:
        return None
    draft.last = source.item(world.idle)
    return draft.last


def _in_turn(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw one connection's requests one after another, few or many."""
    world = draft.world
    name = yield from _idle_channel(draft, source)
    if name is None:
        return
    size = source.item((1, min(draft.size(source), 2**14)))
    for _ in range(source.item(_TURNS)):
        yield op.Announce(name, size, SIZE_BYTES + size)
        yield op.Poll()
        yield from (op.Release(each) for each in world.handled if channel_of(each) == name)
        yield op.Respond(name)


def _several_at_once(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw several requests of a client before a poll; each is answered before the next poll.

    Perhaps the client sends no more behind them.
    """
    world = draft.world
    name = yield from _idle_channel(draft, source)
    if name is None:
        return
    count = source.item((2, 2, 3))
    for _ in range(count):
        size = source.item((0, 1, draft.size(source)))
        yield op.Announce(name, size, min(SIZE_BYTES + size, MOST_UNREAD_BYTES))
    if source.integer(0, 3) == 0:
        yield op.HangUp(name, op.Ending.HALF_CLOSE)
    for _ in range(count):
        yield op.Poll()
        yield from [op.Release(each) for each in world.handled if channel_of(each) == name]
        yield op.Respond(name)
    yield op.Poll()


def _without_end(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw a client that sends without end in a poll which finds a request of another one, or not.

    Both older and younger clients send it.
    """
    name = yield from _idle_channel(draft, source)
    if name is None:
        return
    if source.integer(0, 2):
        world = draft.world
        other = source.item([world.fresh_name(), *(each for each in world.idle if each != name)])
        size = draft.size(source)
        yield op.Connect(other)
        yield op.Announce(other, size, SIZE_BYTES + min(size, MOST_UNREAD_BYTES - SIZE_BYTES))
    yield op.PollBeside(name)


def _bit_by_bit(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw a request that comes byte by byte; each is read before the next one, or all at once.

    The channel is throttled behind one of the bytes, or not.
    """
    name = yield from _idle_channel(draft, source)
    if name is None:
        return
    size = min(draft.size(source), source.item(_PARTS))
    throttled_at = source.integer(1, 2 * (SIZE_BYTES + size))
    are_read = source.integer(0, 2) > 0
    yield op.Announce(name, size, 1)
    for sent_bytes in range(1, SIZE_BYTES + size + 1):
        if are_read:
            yield op.Poll()
        if sent_bytes == throttled_at:
            yield op.Throttle(name)
            yield op.Unthrottle(name)
        yield op.Send(name, 1)
    yield op.Poll()


def _slowly(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw requests of one client, each of which takes a part of the limit of time, or longer.

    The response may take as long.
    """
    world = draft.world
    name = yield from _idle_channel(draft, source)
    if name is None:
        return
    configuration = draft.configuration
    limit_ms = configuration.receive_limit_ms or configuration.idle_limit_ms
    for _ in range(2):
        size = max(draft.size(source), min(3, world.most))
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


def _left_bytes(coming: Coming) -> int:
    return min(SIZE_BYTES + coming.size_bytes - coming.sent_bytes, MOST_UNREAD_BYTES)


def _completed(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw a request that is released and answered, in either order, and a poll."""
    if draft.world.handled:
        request = source.item(draft.world.handled)
        both = (op.Release(request), op.Respond(channel_of(request)))
        yield from both if source.integer(0, 2) else both[::-1]
        yield op.Poll()


def _all_are_answered(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which all requests are received, released and answered; the clients stay."""
    world = draft.world
    for _ in range(_MOST_ROUNDS):
        for name, coming in world.begun:
            if coming.is_announced:
                yield op.Send(name, SIZE_BYTES + coming.size_bytes - coming.sent_bytes)
        yield from [op.Release(each) for each in world.handled]
        yield from [op.Respond(name) for name in world.ordered]
        yield op.Poll()
        if not world.handled and not world.state.waiting:
            break


def _all_leave(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which all clients end, and all memory comes back."""
    world = draft.world
    yield from [op.HangUp(name) for name, _ in world.channels()]
    yield op.Poll()
    yield from [op.Release(each) for each in world.handled]
    yield from [op.Respond(name) for name in world.ordered]
    yield op.Poll()


def _constructs(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw some servers beside this one, of limits about their largest requests and far beyond."""
    for _ in range(4):
        most = source.item((10, 1, 0, -1, draft.world.most + 1, 2, 2**31 - 1))
        near = (most, most - 1, most + 1, 0, -1, 2 * most)
        yield op.Construct(source.item((*near, *(large for large, _ in _LARGE_SIZES))), most)


def _far(draft: ChannelMutingDraft, source: Source) -> Iterator[op.Operation]:
    """Draw a far step of the clock, and a poll."""
    yield op.Elapse(draft.world.state.now_ms + source.item(_FAR_MS))
    yield op.Poll()


_WHOLE, _SIZE, _PART = (
    _is_announced(SIZE_BYTES, True),
    _is_announced(SIZE_BYTES, False),
    _is_announced(1, False),
)
_AHEAD = _is_of_a_channel(lambda channel: not _is_idle(channel))
_EMPTY = _is_of_a_size(lambda size, _: size == 0)
_BAD = _is_of_a_size(lambda size, most: not 0 <= size <= most)
_DUE = _is_of_a_channel(lambda channel: channel.is_ordered)
_UNASKED = _is_of_a_channel(lambda channel: not channel.is_ordered)
_release, _close, _hang_up = _asked(op.Release), _asked(op.Close), _asked(op.HangUp)


def _row(
    name: str, weight: int, rules: str, make: Make, *needs: ChannelMutingFeature
) -> ChannelMutingRow:
    return ChannelMutingRow(name, weight, frozenset(rules.split()), frozenset(needs), make)


_Has = ChannelMutingFeature
_REFUSALS = "MUTING-WAIT MUTING-BOUND MUTING-READ-AFTER-GRANT MUTING-NOT-WITH-MEMORY"
_ENDS = "MUTING-END-MID-REQUEST MUTING-END-WHILE-HANDLED MUTING-END-WHILE-WAITING"
_LIMITS = "MUTING-IDLE MUTING-NOT-IDLE MUTING-SLOW-SENDER MUTING-DEPLETED"
_RELEASE = "MUTING-RELEASE MUTING-RECOVER MUTING-CONSERVATION MUTING-GRANTED-FINISHES"

CHANNEL_MUTING_TABLE: tuple[ChannelMutingRow, ...] = (
    _row("connect", 10, "MUTING-OTHERS-GO-ON MUTING-HANDSHAKE", _asked(op.Connect)),
    _row("send a whole request", 45, f"{_REFUSALS} MUTING-ASK", _asked(op.Announce, _WHOLE)),
    _row("announce a request", 45, f"{_REFUSALS} MUTING-ASK", _asked(op.Announce, _SIZE)),
    _row("announce a part of one", 35, "MUTING-ONLY-REFUSED", _asked(op.Announce, _PART)),
    _row("send ahead", 45, "MUTING-ONE-AT-A-TIME MUTING-BUFFERED", _asked(op.Announce, _AHEAD)),
    _row("send several at once", 20, "MUTING-BUFFERED MUTING-ORDER", _several_at_once),
    _row("send bit by bit", 4, "MUTING-ORDER MUTING-ONLY-REFUSED", _bit_by_bit),
    _row("send an empty request", 12, "MUTING-EMPTY MUTING-ORDER", _asked(op.Announce, _EMPTY)),
    _row("send a size that cannot be", 24, "MUTING-BAD-SIZE", _asked(op.Announce, _BAD)),
    _row("send a further part", 45, "MUTING-ONLY-REFUSED", _asked(op.Send)),
    _row("send the rest", 30, "MUTING-GRANTED-FINISHES MUTING-ORDER", _asked(op.Send, _is_rest)),
    _row("poll", 16, "MUTING-WAIT", _asked(op.Poll)),
    _row("release", 40, _RELEASE, _release),
    _row("respond", 40, "MUTING-ONE-AT-A-TIME", _asked(op.Respond, _DUE)),
    _row("respond unasked", 4, "MUTING-ONE-AT-A-TIME", _asked(op.Respond, _UNASKED)),
    _row("complete a request", 40, _RELEASE, _completed),
    _row("answer all", 8, f"{_RELEASE} MUTING-ORDER", _all_are_answered),
    _row("release within a poll", 16, _RELEASE, _asked(op.PollWhile), _Has.POLL_WHILE),
    _row("send without end", 10, "MUTING-TURNS", _without_end, _Has.POLL_BESIDE, _Has.TLS),
    _row("end", 40, _ENDS, _hang_up, _Has.HANG_UP),
    _row("half-close", 35, "MUTING-HALF-CLOSE", _asked(op.HangUp, _is_half_close), _Has.HALF_CLOSE),
    _row("close", 30, "MUTING-CLOSE", _close, _Has.CLOSE),
    _row("throttle", 45, "MUTING-THROTTLE", _asked(op.Throttle), _Has.THROTTLE),
    _row("end a throttle", 140, "MUTING-THROTTLE", _asked(op.Unthrottle), _Has.THROTTLE),
    _row("throttle meanwhile", 16, "MUTING-THROTTLE", _throttled_meanwhile, _Has.THROTTLE),
    _row("let time pass", 45, _LIMITS, _asked(op.Elapse), _Has.ELAPSE),
    _row("let much time pass", 3, _LIMITS, _far, _Has.ELAPSE),
    _row("make another server", 3, "MUTING-CONFIG", _constructs, _Has.CONSTRUCT),
    _row("wait in line", 16, f"{_REFUSALS} MUTING-FIRST-COME", _line(_LINES)),
    _row("wait and be ordered", 8, "MUTING-TWO-REASONS", _order_and_memory),
    _row("wait long", 8, "MUTING-NOT-IDLE MUTING-DEPLETED", _waits_long, _Has.ELAPSE),
    _row("go on slowly", 8, "MUTING-SLOW-SENDER MUTING-IDLE", _slowly, _Has.ELAPSE),
    _row("leave the head of the line", 10, "MUTING-RECOVER MUTING-FIRST-COME", _head_leaves),
    _row("leave a line", 8, "MUTING-RECOVER MUTING-FIRST-COME", _leave_a_line),
    _row("wait in a long line", 1, "MUTING-FIRST-COME MUTING-RECOVER", _line(_LONG_LINES)),
    _row("send many in turn", 1, "MUTING-ORDER MUTING-RELEASE", _in_turn),
    _row("leave one and all", 2, "MUTING-IDLE-RETURNS", _all_leave, _Has.HANG_UP),
)
"""The situations of a server's channels, the simplest first: shrinking goes towards the top."""

CHANNEL_MUTING_ROWS = {row.name: row for row in CHANNEL_MUTING_TABLE}
"""Every situation by its name."""

_KINDS: Sequence[type[op.Operation]] = (
    *(op.Poll, op.Connect, op.Announce, op.Send, op.Release, op.Respond, op.Close, op.HangUp),
    *(op.PollWhile, op.PollBeside, op.Throttle, op.Unthrottle, op.Elapse),
)

_TIMED_RULES = frozenset({"MUTING-IDLE", "MUTING-NOT-IDLE", "MUTING-SLOW-SENDER"})
_TLS_RULES = frozenset({"MUTING-HANDSHAKE", "MUTING-BUFFERED", "MUTING-TURNS"})


def draw_configuration(
    profile: ChannelMutingProfile, source: Source, wanted: frozenset[str]
) -> ChannelMutingConfiguration:
    """Draw a configuration of an offered sort, preferably one that the wanted rules need.

    A part of the configurations is drawn as if no rules were wanted: some take long to be tested
    often enough, and until then the other sorts would be left out.
    """
    wanted = wanted if source.integer(0, 2) else frozenset()
    features = profile.features
    limit, most = source.item(_LARGE_SIZES if source.integer(0, 19) == 19 else _SIZES)
    is_timed = bool(wanted & _TIMED_RULES) or source.integer(0, 2) > 0
    idles = is_timed and _Has.IDLE_LIMIT in features
    is_slow = is_timed and _Has.RECEIVE_LIMIT in features
    if idles and is_slow:
        idles, is_slow = source.item(((True, False), (False, True), (True, True)))
    tls = _Has.TLS in features and (
        _Has.PLAIN not in features or bool(wanted & _TLS_RULES) or source.integer(0, 1) == 1
    )
    strict = _Has.STRICT in features and (
        _Has.NON_STRICT not in features or source.integer(0, 2) == 0
    )
    return ChannelMutingConfiguration(
        limit,
        most,
        strict=strict,
        tls=tls,
        idle_limit_ms=source.item(_LIMITS_MS) if idles else 0,
        receive_limit_ms=source.item(_LIMITS_MS) if is_slow else 0,
    )


def draw_operations(
    configuration: ChannelMutingConfiguration,
    profile: ChannelMutingProfile,
    source: Source,
    most: int,
    wanted: frozenset[str] = frozenset(),
) -> tuple[op.Operation, ...]:
    """Return the operations of one case, at most about ``most``.

    ``wanted`` are the rules that have not been put to the test often enough.
    """
    draft = ChannelMutingDraft(configuration, profile)
    operations = list(draft.opening(source))
    counted: list[op.Operation] = []
    for row in drawn_rows(draft.rows, wanted, source, counted, most):
        drawn = draft.draw(row.name, source)
        operations += drawn
        counted += [each for each in drawn if not isinstance(each, op.Poll)][:_MOST_COUNTED]
    return tuple(operations)
