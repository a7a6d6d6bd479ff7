"""The table of situations for a server's channels: what to do next, and for which rules.

Each row makes the operations of one situation, in which certain rules show. A row sees the world
as its own operations have left it. A generator takes rows by weight; where a rule has not been put
to the test often enough, its rows weigh more.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from purgatory_conformance.generation.channel_muting.world import (
    MOST_CHANNELS,
    ChannelMutingWorld,
)
from purgatory_conformance.generation.draft import drawn_rows
from purgatory_conformance.generation.source import Source
from purgatory_model.channel_muting import SIZE_BYTES, channel_of
from purgatory_model.step import TooManyBranches
from purgatory_spec import operations as op
from purgatory_spec.profiles import (
    ChannelMutingConfiguration,
    ChannelMutingFeature,
    ChannelMutingProfile,
)

Make = Callable[[ChannelMutingWorld, Source], Iterator[op.Operation]]

_LIMIT_MS = 100
"""The limits of time in generated cases, ms."""

_SIZES = ((10, 10), (10, 4), (20, 10), (3, 1), (100, 40), (20_000, 10_000), (40_000, 20_000))
"""Limits with their largest requests, bytes; the last ones go beyond pages and TLS records."""


@dataclass(frozen=True)
class ChannelMutingRow:
    """A situation: name, weight, rules put to the test, features needed, and its generator.

    ``make`` may yield nothing where the situation cannot arise at present.
    """

    name: str
    weight: int
    rules: frozenset[str]
    needs: frozenset[ChannelMutingFeature]
    make: Make

    def is_offered(self, profile: ChannelMutingProfile) -> bool:
        """Decide whether a subject of this profile can be brought into the situation."""
        return profile.features.issuperset(self.needs)


def _an_idle_channel(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which a connection is made where no channel is idle."""
    if not world.idle and len(world.channels()) < MOST_CHANNELS:
        yield op.Connect(world.fresh_name())


def _connect(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    if len(world.channels()) < MOST_CHANNELS:
        yield op.Connect(world.fresh_name())


def _whole(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which a request is sent whole, and polled."""
    yield from _an_idle_channel(world, source)
    if world.idle:
        size = source.integer(1, world.most)
        yield op.Announce(source.item(world.idle), size, SIZE_BYTES + size)
        yield op.Poll()


def _size_alone(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which a request is announced, with nothing of its body or a part of it."""
    yield from _an_idle_channel(world, source)
    if world.idle:
        size = source.integer(2, world.most) if world.most > 1 else 1
        body = source.item((0, 0, 1, size - 1))
        yield op.Announce(source.item(world.idle), size, SIZE_BYTES + min(body, size))
        yield op.Poll()


def _part_of_size(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which a part of a size is sent, whether or not there is memory."""
    if source.integer(0, 1):
        yield from _exhaust(world, source)
    yield from _an_idle_channel(world, source)
    if world.idle:
        size = source.integer(1, world.most)
        yield op.Announce(source.item(world.idle), size, source.integer(1, SIZE_BYTES - 1))
        yield op.Poll()


def _rest(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which a request that was begun is sent to its end."""
    if world.begun:
        name, coming = source.item(world.begun)
        yield op.Send(name, SIZE_BYTES + coming.size_bytes - coming.sent_bytes)
        yield op.Poll()


def _part(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    if world.begun:
        name, coming = source.item(world.begun)
        left = SIZE_BYTES + coming.size_bytes - coming.sent_bytes
        yield op.Send(name, source.integer(1, max(1, left - 1)))
        yield op.Poll()


def _exhaust(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which requests are received until no memory is left."""
    for _ in range(MOST_CHANNELS):
        if world.state.available_bytes <= 0 or world.state.waiting:
            return
        yield from _an_idle_channel(world, source)
        if not world.idle:
            return
        yield op.Announce(world.idle[0], world.most, SIZE_BYTES + world.most)
        yield op.Poll()


def _wait(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a request that is refused since no memory is left: its size, a part, or all of it."""
    yield from _exhaust(world, source)
    yield from _an_idle_channel(world, source)
    if world.idle:
        size = source.integer(1, world.most)
        sent = source.item((0, size // 2, size, size))
        yield op.Announce(source.item(world.idle), size, SIZE_BYTES + sent)
        yield op.Poll()


def _two_wait(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    yield from _wait(world, source)
    yield from _wait(world, source)


def _connected(world: ChannelMutingWorld, size: int) -> Iterator[op.Operation]:
    """Draw steps in which a new client sends a request of this size whole."""
    name = world.fresh_name()
    yield op.Connect(name)
    yield op.Announce(name, size, SIZE_BYTES + size)
    yield op.Poll()


def _head_leaves(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a line whose head wants more than there is, and leaves; the next wants less."""
    if not world.configuration.strict or world.state.waiting or world.most < 3:
        return
    for _ in range(MOST_CHANNELS):
        left = world.state.available_bytes
        if left <= world.most - 1 or len(world.channels()) > MOST_CHANNELS - 3:
            break
        yield from _connected(world, min(world.most, left - 1))
    left = world.state.available_bytes
    if not 0 < left < world.most:
        return
    head = world.fresh_name()
    yield from _connected(world, world.most)
    yield from _connected(world, source.integer(1, left))
    if world.has(ChannelMutingFeature.CLOSE) and source.integer(0, 1):
        yield op.Close(head)
    elif endings := _endings(world):
        yield op.HangUp(head, source.item(endings))
    yield op.Poll()


def _several_at_once(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a poll in which two or three channels are ready, which may want the same memory."""
    for _ in range(source.integer(2, 3)):
        if len(world.idle) < 3:
            yield from _connect(world, source)
    for name in world.idle[:3]:
        size = source.integer(max(1, world.most // 2), world.most)
        yield op.Announce(name, size, SIZE_BYTES + source.item((size, size, 0)))
    yield op.Poll()


def _newcomer(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a newcomer's request between a release, for which a channel waits, and the poll."""
    yield from _wait(world, source)
    yield from _an_idle_channel(world, source)
    if world.idle and world.handled:
        yield op.Release(source.item(world.handled))
        yield op.Announce(source.item(world.idle), 1, SIZE_BYTES + 1)
        yield op.Poll()


def _release(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    if world.handled:
        yield op.Release(source.item(world.handled))
        yield op.Poll()


def _respond(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    if world.ordered:
        yield op.Respond(source.item(world.ordered))
        yield op.Poll()


def _complete(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which a request is released and answered."""
    if world.handled:
        request = source.item(world.handled)
        yield op.Release(request)
        yield op.Respond(channel_of(request))
        yield op.Poll()


def _poll_while(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which memory comes back while the poll waits for its sockets."""
    if not world.state.waiting:
        yield from _wait(world, source)
    if world.handled:
        yield op.PollWhile(source.item(world.handled))


def _beside(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which a client sends without end, and another sends a request."""
    while len(world.idle) < 2 and len(world.channels()) < MOST_CHANNELS:
        yield op.Connect(world.fresh_name())
    if len(world.idle) >= 2:
        endless = source.item(world.idle)
        other = source.item([name for name in world.idle if name != endless])
        size = source.integer(0, world.most)
        yield op.Announce(other, size, SIZE_BYTES + size)
        yield op.PollBeside(endless)


def _ahead(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which a client sends its next request before the last one is answered."""
    if not world.ordered:
        yield from _whole(world, source)
    there = {name for name, _ in world.channels()}
    names = [name for name in world.ordered if name in there]
    if names:
        size = source.integer(0, world.most)
        yield op.Announce(source.item(names), size, SIZE_BYTES + source.item((size, size, 0)))
        yield op.Poll()


def _two_reasons(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a waiting channel beside an ordered one with more bytes; then memory comes back."""
    yield from _wait(world, source)
    yield from _ahead(world, source)
    if len(world.handled) and world.state.waiting:
        yield op.Release(source.item(world.handled))
        yield op.Poll()


def _empty(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    yield from _an_idle_channel(world, source)
    if world.idle:
        yield op.Announce(source.item(world.idle), 0, SIZE_BYTES)
        yield op.Poll()


def _empty_without_memory(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    yield from _exhaust(world, source)
    yield from _empty(world, source)


def _behind_an_empty(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw an empty request, another behind it, and an answer to the empty one."""
    yield from _an_idle_channel(world, source)
    if world.idle:
        name = source.item(world.idle)
        size = source.integer(1, world.most)
        yield op.Announce(name, 0, SIZE_BYTES)
        yield op.Announce(name, size, SIZE_BYTES + size)
        yield op.Poll()
        if name in world.ordered:
            yield op.Respond(name)
            yield op.Poll()


def _bad_size(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    yield from _an_idle_channel(world, source)
    if world.idle:
        size = source.item((-1, world.most + 1, -world.most, 2**31 - 1, -(2**31)))
        yield op.Announce(source.item(world.idle), size, SIZE_BYTES)
        yield op.Poll()


def _hang_up(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a client's end, whatever its channel is about."""
    names = [name for name, _ in world.channels()]
    if names:
        yield op.HangUp(source.item(names), source.item(_endings(world)))
        yield op.Poll()


def _endings(world: ChannelMutingWorld) -> list[op.Ending]:
    offered = {
        op.Ending.CLOSE: ChannelMutingFeature.HANG_UP,
        op.Ending.HALF_CLOSE: ChannelMutingFeature.HALF_CLOSE,
        op.Ending.RESET: ChannelMutingFeature.RESET,
    }
    return [ending for ending, feature in offered.items() if world.has(feature)]


def _end_mid_request(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a client that announces a request, gets its memory, and ends."""
    yield from _size_alone(world, source)
    holding = [name for name, channel in world.channels() if channel.holds]
    if holding:
        yield op.HangUp(source.item(holding), source.item(_endings(world)))
        yield op.Poll()


def _end_while_waiting(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw the end of a client whose request waits; later memory comes back."""
    yield from _wait(world, source)
    there = {name for name, _ in world.channels()}
    waiting = [name for name in world.state.waiting if name in there]
    if waiting:
        yield op.HangUp(source.item(waiting), source.item(_endings(world)))
        yield op.Poll()
        if world.handled:
            yield op.Release(source.item(world.handled))
            yield op.Poll()


def _end_while_handled(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw the end of a client whose request is handled; then its memory comes back."""
    yield from _whole(world, source)
    there = {name for name, _ in world.channels()}
    requests = [each for each in world.handled if channel_of(each) in there]
    if requests:
        request = source.item(requests)
        yield op.HangUp(channel_of(request), source.item(_endings(world)))
        yield op.Poll()
        yield op.Release(request)
        yield op.Respond(channel_of(request))
        yield op.Poll()


def _half_close(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a client that sends a whole request and no more; it may wait, and is answered."""
    yield from _an_idle_channel(world, source)
    if source.integer(0, 1):
        yield from _exhaust(world, source)
        yield from _an_idle_channel(world, source)
    if not world.idle:
        return
    name = source.item(world.idle)
    size = source.integer(1, world.most)
    yield op.Announce(name, size, SIZE_BYTES + size)
    if source.integer(0, 1):
        yield op.Poll()
    yield op.HangUp(name, op.Ending.HALF_CLOSE)
    yield op.Poll()
    yield from _complete(world, source)
    for request in world.handled:
        if channel_of(request) == name:
            yield op.Release(request)
            yield op.Respond(name)
            yield op.Poll()


def _close(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw the server's close of a connection, preferably one that holds or waits."""
    names = [name for name, channel in world.channels() if channel.holds or channel.waits]
    names = names or [name for name, _ in world.channels()]
    if names:
        yield op.Close(source.item(names))
        yield op.Poll()


def _throttle(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a throttled and answered channel whose client sends more; then throttling ends."""
    if not world.ordered:
        yield from _whole(world, source)
    if not world.ordered:
        return
    name = source.item(world.ordered)
    yield op.Throttle(name)
    for request in world.handled:
        if channel_of(request) == name:
            yield op.Release(request)
    if source.integer(0, 2) == 0:
        yield op.Unthrottle(name)
        yield op.Respond(name)
    else:
        yield op.Respond(name)
    size = source.integer(1, world.most)
    if name in {each for each, _ in world.channels()}:
        yield op.Announce(name, size, SIZE_BYTES + size)
    yield op.Poll()
    yield op.Unthrottle(name)
    yield op.Poll()


def _throttle_anytime(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw the throttling of any channel; what its clients do, and the others, goes on."""
    if world.throttleable:
        yield op.Throttle(source.item(world.throttleable))
        yield op.Poll()


def _throttled_meanwhile(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a new, a waiting or any channel that is throttled; its client goes on, or ends.

    A channel that waits gets its memory meanwhile.
    """
    kind = source.integer(0, 2)
    if kind == 1:
        names = [world.fresh_name()]
        yield op.Connect(names[0])
    elif kind == 2:
        if not world.state.waiting:
            yield from _wait(world, source)
        names = list(world.state.waiting)
    else:
        names = [name for name, _ in world.channels()]
    names = [name for name in names if name in world.throttleable]
    if not names:
        return
    name = source.item(names)
    yield op.Throttle(name)
    if name in world.state.waiting:
        for request in world.handled:
            yield op.Release(request)
    if kind != 1 or source.integer(0, 1):
        yield op.Poll()
    for coming in world.state.channels[name].coming[-1:]:
        if world.is_going_on(coming) and coming.is_announced:
            left = SIZE_BYTES + coming.size_bytes - coming.sent_bytes
            yield op.Send(name, source.integer(1, left))
    size = source.integer(0, world.most)
    yield op.Announce(name, size, source.integer(1, SIZE_BYTES + size))
    yield op.Poll()
    if source.integer(0, 2) == 2:
        yield op.HangUp(name, source.item(tuple(op.Ending)))
        yield op.Poll()
    yield op.Unthrottle(name)
    yield op.Poll()


def _unthrottle(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    names = [name for name, channel in world.channels() if channel.is_throttled]
    if names:
        yield op.Unthrottle(source.item(names))
        yield op.Poll()


def _elapse(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    yield op.Elapse(world.state.now_ms + source.item((1, 7, _LIMIT_MS // 2 - 1)))
    yield op.Poll()


def _past_the_limit(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    yield op.Elapse(world.state.now_ms + _LIMIT_MS + source.integer(1, 9))
    yield op.Poll()


def _wait_past_the_limit(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    yield from _wait(world, source)
    yield from _past_the_limit(world, source)


def _trickle(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw a client that holds memory and sends a byte now and then, past the limit."""
    yield from _size_alone(world, source)
    for _ in range(3):
        yield op.Elapse(world.state.now_ms + _LIMIT_MS // 2 - 1)
        for name, coming in world.begun:
            if SIZE_BYTES + coming.size_bytes - coming.sent_bytes > 1:
                yield op.Send(name, 1)
        yield op.Poll()


def _construct(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    sizes = ((10, 10), (10, 11), (10, 9), (0, 10), (-1, 10), (1, 1), (1, 2), (10, 0), (10, -1))
    limit, most = source.item(sizes)
    yield op.Construct(limit, most)


def _all_leave(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    """Draw steps in which all clients end, and all memory comes back."""
    for name, _ in world.channels():
        yield op.HangUp(name)
    yield op.Poll()
    for request in world.handled:
        yield op.Release(request)
    for name in world.ordered:
        yield op.Respond(name)
    yield op.Poll()


def _poll(world: ChannelMutingWorld, source: Source) -> Iterator[op.Operation]:
    yield op.Poll()


def _row(
    name: str, weight: int, rules: str, make: Make, *needs: ChannelMutingFeature
) -> ChannelMutingRow:
    return ChannelMutingRow(name, weight, frozenset(rules.split()), frozenset(needs), make)


CHANNEL_MUTING_TABLE: tuple[ChannelMutingRow, ...] = (
    _row("connect", 1, "MUTING-OTHERS-GO-ON MUTING-HANDSHAKE", _connect),
    _row("send a whole request", 4, "MUTING-ASK MUTING-CONSERVATION", _whole),
    _row("announce a request", 3, "MUTING-ASK MUTING-READ-AFTER-GRANT", _size_alone),
    _row("send a part of a size", 2, "MUTING-ONLY-REFUSED MUTING-ASK", _part_of_size),
    _row("send the rest", 4, "MUTING-GRANTED-FINISHES", _rest),
    _row("send a part", 2, "MUTING-ONLY-REFUSED", _part),
    _row("take all memory", 2, "MUTING-BOUND", _exhaust),
    _row(
        "wait",
        4,
        "MUTING-WAIT MUTING-BOUND MUTING-READ-AFTER-GRANT MUTING-NOT-WITH-MEMORY MUTING-DEPLETED",
        _wait,
    ),
    _row("two wait", 2, "MUTING-FIRST-COME MUTING-RECOVER", _two_wait),
    _row("the head of the line leaves", 4, "MUTING-RECOVER MUTING-FIRST-COME", _head_leaves),
    _row("several at once", 2, "MUTING-BOUND MUTING-WAIT", _several_at_once),
    _row("a newcomer", 2, "MUTING-FIRST-COME MUTING-OTHERS-GO-ON", _newcomer),
    _row("release", 4, "MUTING-RELEASE MUTING-RECOVER MUTING-CONSERVATION", _release),
    _row("respond", 2, "MUTING-ONE-AT-A-TIME MUTING-OTHERS-GO-ON MUTING-ORDER", _respond),
    _row("complete a request", 6, "MUTING-RELEASE MUTING-RECOVER MUTING-BUFFERED", _complete),
    _row(
        "release within a poll",
        4,
        "MUTING-NOT-WITH-MEMORY MUTING-GRANTED-FINISHES MUTING-BUFFERED",
        _poll_while,
        ChannelMutingFeature.POLL_WHILE,
    ),
    _row("send ahead", 3, "MUTING-ONE-AT-A-TIME MUTING-ORDER MUTING-BUFFERED", _ahead),
    _row("order and memory", 3, "MUTING-TWO-REASONS MUTING-ONE-AT-A-TIME", _two_reasons),
    _row("an empty request", 1, "MUTING-EMPTY", _empty),
    _row("an empty request without memory", 1, "MUTING-EMPTY", _empty_without_memory),
    _row(
        "a request behind an empty one",
        1,
        "MUTING-EMPTY MUTING-BUFFERED MUTING-ONE-AT-A-TIME",
        _behind_an_empty,
    ),
    _row("a size that cannot be", 2, "MUTING-BAD-SIZE", _bad_size),
    _row("poll", 1, "MUTING-WAIT", _poll),
    _row("a client ends", 1, "MUTING-END-MID-REQUEST", _hang_up, ChannelMutingFeature.HANG_UP),
    _row(
        "a client ends within a request",
        2,
        "MUTING-END-MID-REQUEST",
        _end_mid_request,
        ChannelMutingFeature.HANG_UP,
    ),
    _row(
        "a client ends that waits",
        2,
        "MUTING-END-WHILE-WAITING",
        _end_while_waiting,
        ChannelMutingFeature.HANG_UP,
    ),
    _row(
        "a client ends whose request is handled",
        2,
        "MUTING-END-WHILE-HANDLED",
        _end_while_handled,
        ChannelMutingFeature.HANG_UP,
    ),
    _row("a half-close", 3, "MUTING-HALF-CLOSE", _half_close, ChannelMutingFeature.HALF_CLOSE),
    _row("the server closes", 4, "MUTING-CLOSE", _close, ChannelMutingFeature.CLOSE),
    _row("throttle", 3, "MUTING-THROTTLE", _throttle, ChannelMutingFeature.THROTTLE),
    _row(
        "throttle at any time",
        1,
        "MUTING-THROTTLE",
        _throttle_anytime,
        ChannelMutingFeature.THROTTLE_ANYTIME,
    ),
    _row(
        "throttled meanwhile",
        4,
        "MUTING-THROTTLE MUTING-HALF-CLOSE",
        _throttled_meanwhile,
        ChannelMutingFeature.THROTTLE_ANYTIME,
    ),
    _row("end of throttling", 1, "MUTING-THROTTLE", _unthrottle, ChannelMutingFeature.THROTTLE),
    _row("make another server", 1, "MUTING-CONFIG", _construct, ChannelMutingFeature.CONSTRUCT),
    _row("time passes", 1, "MUTING-DEPLETED", _elapse, ChannelMutingFeature.ELAPSE),
    _row("all leave", 1, "MUTING-IDLE-RETURNS", _all_leave, ChannelMutingFeature.HANG_UP),
)
"""The rows for every server, the simplest first: shrinking goes towards the top."""

_TIMED_TABLE: tuple[ChannelMutingRow, ...] = (
    _row("a limit passes", 4, "MUTING-IDLE MUTING-SLOW-SENDER", _past_the_limit),
    _row("a limit passes as somebody waits", 5, "MUTING-NOT-IDLE", _wait_past_the_limit),
    _row("a request trickles", 3, "MUTING-SLOW-SENDER", _trickle),
)
"""The rows for a server that has limits of time."""

_TLS_TABLE: tuple[ChannelMutingRow, ...] = (
    _row(
        "a client sends without end",
        3,
        "MUTING-TURNS",
        _beside,
        ChannelMutingFeature.POLL_BESIDE,
    ),
)
"""The rows for a server with TLS."""

CHANNEL_MUTING_ROWS = {row.name: row for row in (*CHANNEL_MUTING_TABLE, *_TIMED_TABLE, *_TLS_TABLE)}
"""Every situation by its name."""

_TIMED_RULES = frozenset({"MUTING-IDLE", "MUTING-NOT-IDLE", "MUTING-SLOW-SENDER"})
_TLS_RULES = frozenset({"MUTING-HANDSHAKE", "MUTING-BUFFERED", "MUTING-TURNS"})


@dataclass(slots=True)
class ChannelMutingDraft:
    """A case of a server while it is drawn; see ``Draft``."""

    configuration: ChannelMutingConfiguration
    profile: ChannelMutingProfile
    world: ChannelMutingWorld = field(init=False)

    def __post_init__(self) -> None:
        """Begin with a fresh server."""
        self.world = ChannelMutingWorld(self.configuration, self.profile)

    def opening(self, source: Source) -> tuple[op.Operation, ...]:
        """Return no operations."""
        del source
        return ()

    @property
    def rows(self) -> list[ChannelMutingRow]:
        """Return the situations that a subject of this profile can be brought into."""
        configuration = self.configuration
        has_limits = configuration.idle_limit_ms or configuration.receive_limit_ms
        table = (
            *CHANNEL_MUTING_TABLE,
            *(_TIMED_TABLE if has_limits else ()),
            *(_TLS_TABLE if configuration.tls else ()),
        )
        return [row for row in table if row.is_offered(self.profile)]

    def offers(self, situation: str) -> bool:
        """Decide whether a subject of this profile can be brought into the situation now."""
        return any(row.name == situation for row in self.rows)

    def draw(self, situation: str, source: Source) -> tuple[op.Operation, ...]:
        """Return the operations of a situation, as far as names mean what they should.

        A poll that may go in too many ways to follow is left out, with what would come behind it.
        """
        operations: list[op.Operation] = []
        for operation in CHANNEL_MUTING_ROWS[situation].make(self.world, source):
            if not self.world.can_be_asked(operation):
                continue
            try:
                self.world.apply(operation)
            except TooManyBranches:
                break
            operations.append(operation)
        return tuple(operations)

    def shutdown(self, source: Source, share: int = 9) -> tuple[op.Operation, ...]:
        """Return no operations: the end of a case ends its server."""
        del source, share
        return ()


def draw_configuration(
    profile: ChannelMutingProfile, source: Source, wanted: frozenset[str]
) -> ChannelMutingConfiguration:
    """Draw a configuration of an offered sort, preferably one that the wanted rules need."""
    features = profile.features
    limit, most = source.item(_SIZES)
    offers_tls = ChannelMutingFeature.TLS in features
    offers_strict = ChannelMutingFeature.STRICT in features
    is_timed = bool(wanted & _TIMED_RULES) or source.integer(0, 3) == 0
    idles = is_timed and ChannelMutingFeature.IDLE_LIMIT in features
    is_slow = is_timed and ChannelMutingFeature.RECEIVE_LIMIT in features
    if idles and is_slow:
        idles, is_slow = source.item(((True, False), (False, True), (True, True)))
    tls = offers_tls and (
        ChannelMutingFeature.PLAIN not in features
        or bool(wanted & _TLS_RULES)
        or source.integer(0, 2) == 0
    )
    strict = offers_strict and (
        ChannelMutingFeature.NON_STRICT not in features or source.integer(0, 2) == 0
    )
    return ChannelMutingConfiguration(
        limit,
        most,
        strict=strict,
        tls=tls,
        idle_limit_ms=_LIMIT_MS if idles else 0,
        receive_limit_ms=_LIMIT_MS if is_slow else 0,
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
    for row in drawn_rows(draft.rows, wanted, source, operations, most):
        operations.extend(draft.draw(row.name, source))
    return tuple(operations)
