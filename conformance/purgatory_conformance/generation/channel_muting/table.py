"""The situations of a server's channels: sorts of asks with their weights, and a few scenes.

An ask is one operation whose arguments lie at the boundaries of the server's state, with a poll
behind it or not. A scene has several steps that asks meet too seldom: a line of channels that wait,
a head of the line that leaves, one connection with very many requests.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from purgatory_conformance.generation.asks import channel_muting_asks
from purgatory_conformance.generation.channel_muting import scenes
from purgatory_conformance.generation.channel_muting.scenes import FAR_MS, LARGE_SIZES, Scene
from purgatory_conformance.generation.channel_muting.world import (
    MOST_UNREAD_BYTES,
    ChannelMutingWorld,
)
from purgatory_conformance.generation.draft import drawn_rows
from purgatory_conformance.generation.fields import name_of
from purgatory_conformance.generation.source import Source
from purgatory_model.channel_muting import SIZE_BYTES, Channel, channel_of
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

_BAD_BYTES = (-1, -(2**31), 2**31 - 1, 2**16 + 1, 2**24 + 1, 2**31 - 4)
"""Sizes that cannot be, some of which are legal in their lower bits alone, bytes."""

_LIMITS_MS = (100, 100, 100, 100, 60, 1, 2**31 + 3, 2**32 + 3)
"""The limits of time in generated cases, ms."""

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
        return self.followed((op.Elapse(source.item(FAR_MS)),) if is_old else ())

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
        for each in draft.asks_of((kind,), _sizes(world, source)):
            channel = world.state.channels.get(channel_of(name_of(each)), _NO_CHANNEL)
            if is_so(world, channel, each):
                sorts.setdefault(_sort_of(channel), []).append(each)
        if not sorts:
            return
        asks = source.item(list(sorts.values()))
        again = [each for each in chain(*sorts.values()) if channel_of(name_of(each)) == world.last]
        ask = source.item(again if again and source.integer(0, 1) else asks)
        world.last = channel_of(name_of(ask)) or world.last
        yield ask
        if isinstance(ask, op.Announce) and source.integer(0, 3) == 0:
            # The client sends ahead, so that one poll finds more than one request.
            size = source.item((world.size(source), 0))
            sent = source.item((SIZE_BYTES + size, SIZE_BYTES + size // 2, 1, 2, 3))
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


def _sizes(world: ChannelMutingWorld, source: Source) -> tuple[int, ...]:
    """Draw a size that can be, beside none and one that cannot be."""
    return (world.size(source), 0, source.item((*_BAD_BYTES, world.most + 1)))


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


def _scene(
    name: str, weight: int, rules: str, scene: Scene, *needs: ChannelMutingFeature
) -> ChannelMutingRow:
    return _row(name, weight, rules, lambda draft, source: scene(draft.world, source), *needs)


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
    _scene("send several at once", 20, "MUTING-BUFFERED MUTING-ORDER", scenes.several_at_once),
    _scene("send in parts", 8, "MUTING-GRANTED-FINISHES MUTING-ORDER", scenes.in_parts),
    _scene("send bit by bit", 8, "MUTING-ORDER MUTING-ONLY-REFUSED", scenes.bit_by_bit),
    _row("send an empty request", 12, "MUTING-EMPTY MUTING-ORDER", _asked(op.Announce, _EMPTY)),
    _row("send a size that cannot be", 24, "MUTING-BAD-SIZE", _asked(op.Announce, _BAD)),
    _row("send a further part", 45, "MUTING-ONLY-REFUSED", _asked(op.Send)),
    _row("send the rest", 30, "MUTING-GRANTED-FINISHES MUTING-ORDER", _asked(op.Send, _is_rest)),
    _row("poll", 16, "MUTING-WAIT", _asked(op.Poll)),
    _row("release", 40, _RELEASE, _release),
    _row("respond", 40, "MUTING-ONE-AT-A-TIME", _asked(op.Respond, _DUE)),
    _row("respond unasked", 4, "MUTING-ONE-AT-A-TIME", _asked(op.Respond, _UNASKED)),
    _scene("complete a request", 40, _RELEASE, scenes.completed),
    _scene("answer all", 8, f"{_RELEASE} MUTING-ORDER", scenes.all_are_answered),
    _row("release within a poll", 16, _RELEASE, _asked(op.PollWhile), _Has.POLL_WHILE),
    _scene("send without end", 10, "MUTING-TURNS", scenes.without_end, _Has.POLL_BESIDE, _Has.TLS),
    _row("end", 40, _ENDS, _hang_up, _Has.HANG_UP),
    _row("half-close", 35, "MUTING-HALF-CLOSE", _asked(op.HangUp, _is_half_close), _Has.HALF_CLOSE),
    _row("close", 30, "MUTING-CLOSE", _close, _Has.CLOSE),
    _row("throttle", 45, "MUTING-THROTTLE", _asked(op.Throttle), _Has.THROTTLE),
    _row("end a throttle", 140, "MUTING-THROTTLE", _asked(op.Unthrottle), _Has.THROTTLE),
    _scene("throttle meanwhile", 16, "MUTING-THROTTLE", scenes.throttled_meanwhile, _Has.THROTTLE),
    _row("let time pass", 45, _LIMITS, _asked(op.Elapse), _Has.ELAPSE),
    _scene("let much time pass", 3, _LIMITS, scenes.far, _Has.ELAPSE),
    _scene("make another server", 3, "MUTING-CONFIG", scenes.constructs, _Has.CONSTRUCT),
    _scene("wait in line", 16, f"{_REFUSALS} MUTING-FIRST-COME", scenes.line),
    _scene("wait and be ordered", 8, "MUTING-TWO-REASONS", scenes.order_and_memory),
    _scene("wait long", 8, "MUTING-NOT-IDLE MUTING-DEPLETED", scenes.waits_long, _Has.ELAPSE),
    _scene("fall silent", 12, f"{_LIMITS} {_ENDS}", scenes.falls_silent),
    _scene("go on slowly", 8, "MUTING-SLOW-SENDER MUTING-IDLE", scenes.slowly, _Has.ELAPSE),
    _scene(
        "leave the head of the line", 10, "MUTING-RECOVER MUTING-FIRST-COME", scenes.head_leaves
    ),
    _scene("leave a line", 8, "MUTING-RECOVER MUTING-FIRST-COME", scenes.leave_a_line),
    _scene("send in a crowd", 2, "MUTING-ORDER MUTING-ASK", scenes.crowd),
    _scene("send many in turn", 1, "MUTING-ORDER MUTING-RELEASE", scenes.in_turn),
    _scene("leave one and all", 2, "MUTING-IDLE-RETURNS", scenes.all_leave, _Has.HANG_UP),
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
    limit, most = source.item(LARGE_SIZES if source.integer(0, 19) == 19 else _SIZES)
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
