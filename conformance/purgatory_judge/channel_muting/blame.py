"""Name the rule that a divergent step of a server breaks, with what was expected and seen.

The outcome is compared with the nearest end of the step: first what was refused, then the requests
that were received, then the observables, those that say most about a channel first. The first part
that differs is blamed on the rule of what its channel was about.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from purgatory_judge.differences import (
    nearest_to,
    observable_words,
    rejection_words,
    right_outcome,
)
from purgatory_judge.judgement import Divergence
from purgatory_model.channel_muting import (
    SIZE_BYTES,
    Channel,
    ChannelMutingModel,
    ChannelMutingState,
    Coming,
    Peer,
    Receive,
    channel_of,
    request_name,
)
from purgatory_model.step import Expectation, observables_match
from purgatory_spec import operations as op
from purgatory_spec.outcomes import EventKind, Outcome, Value
from purgatory_spec.profiles import ChannelMutingObservable as Observable

_ORDER = (
    Observable.OPEN,
    Observable.ORDERED,
    Observable.WAITING,
    Observable.HOLDING,
    Observable.UNREAD,
    Observable.AVAILABLE,
    Observable.DEPLETED_TIME,
)
"""The observables, those first that say most about a channel."""

_RULES_OF_REJECTIONS: Mapping[object, str] = {
    op.Construct: "MUTING-CONFIG",
    op.Connect: "MUTING-OTHERS-GO-ON",
    op.Respond: "MUTING-OTHERS-GO-ON",
    op.Release: "MUTING-RELEASE",
    op.Close: "MUTING-CLOSE",
    op.Throttle: "MUTING-THROTTLE",
    op.Unthrottle: "MUTING-THROTTLE",
}
"""The rule by which an operation is rejected, or is not."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A step that no expectation allows.

    ``ends`` are the right ends, ``after`` is the state of the nearest one; ``throttled`` are the
    channels that were throttled before.
    """

    model: ChannelMutingModel
    before: ChannelMutingState
    operation: op.Operation
    outcome: Outcome
    nearest: Expectation[ChannelMutingState]
    after: ChannelMutingState
    ends: Sequence[Expectation[ChannelMutingState]]
    throttled: frozenset[str]

    def channel(self, name: str) -> Channel:
        """Return a channel before the step; a fresh channel where the name was unknown."""
        return self.before.channels.get(name, Channel())

    def seen(self, observable: Observable) -> frozenset[str]:
        """Return the channels that an observable named."""
        value = self.outcome.observed.get(observable.value)
        return frozenset(value) if isinstance(value, tuple) else frozenset()

    @property
    def is_beside(self) -> bool:
        """Decide whether a channel that is read sends without end beside the step."""
        operation = self.operation
        return isinstance(operation, op.PollBeside) and self.channel(operation.channel).may_be_read

    @property
    def comes_back(self) -> bool:
        """Decide whether there is memory for channels that wait."""
        return bool(self.before.waiting) and self.before.available_bytes > 0

    def is_past(self, channel: Channel, limit_ms: int) -> bool:
        """Decide whether a limit of idle time has passed for a channel."""
        return bool(limit_ms) and self.before.now_ms - channel.used_ms >= limit_ms


def blame(
    model: ChannelMutingModel,
    states: Sequence[ChannelMutingState],
    operation: op.Operation,
    outcome: Outcome,
    throttled: frozenset[str],
) -> Divergence:
    """Return the divergence of a step that no state of several allows.

    ``throttled`` are the channels that were throttled before, whether they still are or not.
    """
    ends = [(each, way) for each in states for way in model.expectations(each, operation)]
    nearest = nearest_to(outcome, [way for _, way in ends])
    before = next(each for each, way in ends if way is nearest)
    after = nearest.complete(())
    here = [way for each, way in ends if each is before]
    step = _Step(model, before, operation, outcome, nearest, after, here, throttled)
    rule, kind, expected, seen = _first_difference(step)
    right = right_outcome(nearest, outcome)
    return Divergence(rule, kind, expected, seen, operation, outcome, before, after, right=right)


def _first_difference(step: _Step) -> tuple[str, str, str, str]:
    """Return rule, kind, expected and seen of the first part that differs."""
    outcome = step.outcome
    if outcome.rejected is not step.nearest.rejected:
        words = rejection_words(step.nearest.rejected, outcome)
        return _rule_of_rejection(step), "rejection", *words
    if outcome.result is not None:
        return _rule_of_effect(step), "result", "no result", f"result {outcome.result}"
    wanted = frozenset(event.task for group in step.nearest.groups for event in group)
    names = [event.task for event in outcome.events]
    if wanted != frozenset(names) or len(names) != len(wanted) or _others(outcome):
        return _of_receptions(step, wanted, names)
    shown = step.nearest.observe(step.after)
    differing = [
        each
        for each in _ORDER
        if each.value in shown
        and not observables_match({each.value: shown[each.value]}, outcome.observed)
    ]
    if not differing:
        return _rule_of_effect(step), "end", "another end of the step", _received_words(names)
    first = differing[0]
    words = observable_words(first.value, shown[first.value], outcome)
    return _rule_of_observable(step, first, shown), first.value, *words


def _others(outcome: Outcome) -> bool:
    return any(event.kind is not EventKind.RECEIVED for event in outcome.events)


def _received_words(names: Sequence[str] | frozenset[str]) -> str:
    return f"{', '.join(sorted(names))} received" if names else "nothing received"


def _rule_of_effect(step: _Step) -> str:
    return next(iter(step.nearest.rules_of("effect")), "MUTING-CONSERVATION")


def _rule_of_rejection(step: _Step) -> str:
    is_handshake = isinstance(step.operation, op.Connect) and step.model.configuration.tls
    if is_handshake and step.before.available_bytes <= 0:
        return "MUTING-HANDSHAKE"
    return _RULES_OF_REJECTIONS.get(type(step.operation)) or _rule_of_effect(step)


def _of_receptions(
    step: _Step, wanted: frozenset[str], names: Sequence[str]
) -> tuple[str, str, str, str]:
    """Return rule, kind, expected and seen of wrong receptions."""
    expected, seen = _received_words(wanted), _received_words(names)
    if _others(step.outcome):
        return _rule_of_effect(step), "event", expected, "events of another kind"
    possible = {event.task for way in step.ends for group in way.groups for event in group}
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        return "MUTING-ORDER", "received", expected, f"{twice[0]} received twice"
    for name in names:
        if name not in possible:
            return _rule_of_wrong(step, name), "received", expected, seen
    missing = sorted(wanted - frozenset(names))
    if missing and not frozenset(names) - wanted:
        return _rule_of_missing(step, missing[0]), "missing", expected, seen
    return "MUTING-BOUND", "received", expected, seen


def _rule_of_wrong(step: _Step, request: str) -> str:
    """Return the rule of a request that cannot have been received in this step."""
    name = channel_of(request)
    channel = step.channel(name)
    first = channel.first
    if first is not None and _is_impossible(step, channel):
        return "MUTING-BAD-SIZE"
    if first is None or request != request_name(name, first.number) or not first.is_whole:
        is_later = any(request == request_name(name, each.number) for each in channel.coming[1:])
        is_next = channel.is_ordered or (first is not None and first.is_whole)
        return "MUTING-ONE-AT-A-TIME" if is_later and is_next else "MUTING-ORDER"
    if channel.is_ordered:
        return "MUTING-TWO-REASONS" if step.comes_back else "MUTING-ONE-AT-A-TIME"
    if channel.is_throttled:
        return "MUTING-THROTTLE"
    return _rule_of_too_early(step, first)


def _rule_of_too_early(step: _Step, first: Coming) -> str:
    """Return the rule of memory that a channel has too early: none is left, or others waited."""
    available = step.outcome.observed.get(Observable.AVAILABLE.value)
    if isinstance(available, int):
        out_bytes = step.model.configuration.limit_bytes - available
        if out_bytes > step.model.bound_bytes:
            return "MUTING-BOUND"
    is_passed = bool(step.seen(Observable.WAITING) & frozenset(step.before.line))
    is_of_the_line = is_passed or _there_is(step, first.size_bytes) or _is_another_order(step)
    return "MUTING-FIRST-COME" if step.before.line and is_of_the_line else "MUTING-BOUND"


def _is_another_order(step: _Step) -> bool:
    """Decide whether what comes back in the step is enough for all who were seen to get memory."""
    came_back = sum(
        channel.coming[0].size_bytes
        for name, channel in step.before.channels.items()
        if channel.holds and not step.after.channels[name].is_open
    )
    granted = sorted(step.channel(name).coming[0].size_bytes for name in _with_memory(step))
    if not (came_back and granted):
        return False
    # The largest is the last then: a pool that is not strict grants it what is not there.
    left = step.before.available_bytes + came_back - sum(granted[:-1])
    return _is_enough(step, left, granted[-1])


def _is_impossible(step: _Step, channel: Channel) -> bool:
    """Decide whether a channel has been announced a size that the server refuses."""
    first = channel.first
    if first is None or not first.is_announced:
        return False
    return not 0 <= first.size_bytes <= step.model.configuration.max_request_bytes


def _there_is(step: _Step, size_bytes: int) -> bool:
    available = max(step.before.available_bytes, step.after.available_bytes)
    return _is_enough(step, available, size_bytes)


def _was_short(step: _Step, request: Coming) -> bool:
    """Decide whether a request that has its memory now may have been refused within the step.

    The memory has come back in the step: to wait was right until then.
    """
    return not _is_enough(step, step.before.available_bytes, request.size_bytes)


def _is_enough(step: _Step, available_bytes: int, size_bytes: int) -> bool:
    return available_bytes >= (size_bytes if step.model.configuration.strict else 1)


def _rule_of_missing(step: _Step, request: str) -> str:
    """Return the rule of a request that ought to have been received in this step."""
    name = channel_of(request)
    channel = step.channel(name)
    first = channel.first
    if channel.receive is Receive.WAITS and (late := _rule_of_kept(step)):
        return late
    if _may_be_closed_as_idle(step, name):
        waits = channel.receive is Receive.WAITS
        return "MUTING-NOT-IDLE" if waits else "MUTING-IDLE"
    if name in step.throttled:
        return "MUTING-THROTTLE"
    if 0 < channel.taken_bytes < SIZE_BYTES:
        return "MUTING-ORDER"  # its size has come in parts: a shrunk case needs that
    if step.is_beside:
        return "MUTING-TURNS"
    if channel.peer is Peer.HALF_CLOSED:
        return "MUTING-HALF-CLOSE"
    if first is not None and first.size_bytes == 0:
        return "MUTING-EMPTY"
    if channel.receive is Receive.HOLDS:
        is_muted = name in step.seen(Observable.WAITING)
        return "MUTING-NOT-WITH-MEMORY" if is_muted else "MUTING-GRANTED-FINISHES"
    if name in step.seen(Observable.WAITING) & step.seen(Observable.HOLDING):
        return "MUTING-NOT-WITH-MEMORY"
    if channel.receive is Receive.WAITS:
        is_closed = Observable.OPEN.value in step.outcome.observed
        is_closed = is_closed and name not in step.seen(Observable.OPEN)
        if is_closed and step.is_past(channel, step.model.configuration.idle_limit_ms):
            return "MUTING-NOT-IDLE"
        if step.before.line[:1] != (name,) and step.model.is_first_come and step.before.line:
            others = frozenset(step.before.line)
            if any(channel_of(event.task) not in others for event in step.outcome.events):
                return "MUTING-FIRST-COME"
        if step.model.configuration.tls and first is not None and first.body_bytes > 0:
            return "MUTING-BUFFERED"
        is_granted = name in step.seen(Observable.HOLDING)
        return "MUTING-GRANTED-FINISHES" if is_granted else "MUTING-RECOVER"
    if name in step.seen(Observable.WAITING):
        is_short = first is not None and _was_short(step, first)
        return "MUTING-RECOVER" if is_short else "MUTING-ONLY-REFUSED"
    if channel.is_buffered:
        return "MUTING-BUFFERED"
    if step.before.waiting:
        return "MUTING-OTHERS-GO-ON"
    return "MUTING-ASK"


def _rule_of_kept(step: _Step) -> str:
    """Return the rule of memory that time brings back in this step; empty where it brings none."""
    for name, channel in sorted(step.before.channels.items()):
        is_left = channel.holds and channel.peer is Peer.THERE
        if is_left and not step.after.channels[name].is_open:
            return _rule_of_end(step, channel)
    return ""


def _may_be_closed_as_idle(step: _Step, name: str) -> bool:
    """Decide whether time has passed for a channel with an idle limit that is not seen open.

    In a shrunk case both are there because the failure needs them.
    """
    limit_ms = step.model.configuration.idle_limit_ms
    if not limit_ms or step.before.now_ms == 0 or name in step.seen(Observable.OPEN):
        return False
    is_waiting = step.channel(name).receive is Receive.WAITS
    return not is_waiting or step.is_past(step.channel(name), limit_ms)


def _rule_of_observable(step: _Step, observable: Observable, shown: Mapping[str, Value]) -> str:
    """Return the rule of the first observable that is not as expected."""
    match observable:
        case Observable.OPEN:
            return _of_first_channel(step, observable, shown, _rule_of_closed, _rule_of_open)
        case Observable.ORDERED:
            return _of_first_channel(step, observable, shown, _rule_of_unordered, _rule_of_ordered)
        case Observable.WAITING:
            return _of_first_channel(step, observable, shown, _rule_of_read, _rule_of_waiting)
        case Observable.HOLDING:
            return _of_first_channel(step, observable, shown, _rule_of_unheld, _rule_of_held)
        case Observable.UNREAD:
            return _rule_of_unread(step, shown[observable.value])
        case Observable.AVAILABLE:
            return _rule_of_available(step)
        case Observable.DEPLETED_TIME:
            return "MUTING-DEPLETED"


@dataclass(frozen=True, slots=True)
class _Suspect:
    """A channel of which an observable says something wrong."""

    step: _Step
    name: str

    @property
    def channel(self) -> Channel:
        """Return the channel before the step."""
        return self.step.channel(self.name)

    def is_seen(self, observable: Observable) -> bool:
        """Decide whether an observable named the channel."""
        return self.name in self.step.seen(observable)


_OfChannel = Callable[[_Suspect], str]


def _of_first_channel(
    step: _Step,
    observable: Observable,
    shown: Mapping[str, Value],
    missing: _OfChannel,
    extra: _OfChannel,
) -> str:
    """Return the rule of the first channel that an observable names by mistake, or leaves out."""
    wanted, seen = frozenset(_names(shown[observable.value])), step.seen(observable)
    for name in sorted(wanted ^ seen):
        rule_of = missing if name in wanted else extra
        return rule_of(_Suspect(step, name))
    return "MUTING-CONSERVATION"


def _names(value: Value) -> Iterator[str]:
    if isinstance(value, tuple):
        yield from value


def _rule_of_closed(suspect: _Suspect) -> str:
    """Return the rule by which a closed connection ought to be open."""
    step, channel = suspect.step, suspect.channel
    configuration = step.model.configuration
    if isinstance(step.operation, op.Connect):
        return _rule_of_rejection(step)
    if channel.peer is Peer.HALF_CLOSED:
        return "MUTING-HALF-CLOSE"
    if channel.receive is Receive.WAITS:
        is_past = step.is_past(channel, configuration.idle_limit_ms)
        return "MUTING-NOT-IDLE" if is_past else "MUTING-WAIT"
    if configuration.receive_limit_ms and channel.holds:
        return "MUTING-SLOW-SENDER"
    if _has_bad_size(step):
        return "MUTING-BAD-SIZE"
    if configuration.idle_limit_ms and step.before.now_ms > channel.used_ms:
        return "MUTING-IDLE"
    if channel.first is not None and channel.first.is_announced:
        return "MUTING-WAIT"
    # Closed in the very millisecond in which it was used: idle by another count than this.
    is_idle_to_it = bool(configuration.idle_limit_ms) and not step.before.waiting
    return "MUTING-IDLE" if is_idle_to_it else "MUTING-OTHERS-GO-ON"


def _has_bad_size(step: _Step) -> bool:
    return any(_is_impossible(step, each) for each in step.before.channels.values())


def _rule_of_open(suspect: _Suspect) -> str:
    """Return the rule by which an open connection ought to be closed."""
    step, channel = suspect.step, suspect.channel
    if isinstance(step.operation, op.Close):
        return "MUTING-CLOSE"
    if _is_impossible(step, channel):
        return "MUTING-BAD-SIZE"
    if channel.peer is not Peer.THERE:
        if channel.receive is Receive.WAITS or suspect.is_seen(Observable.WAITING):
            return "MUTING-END-WHILE-WAITING"
        # In a shrunk case another channel waits because the failure needs that.
        is_beside = channel.holds and step.seen(Observable.WAITING)
        return "MUTING-OTHERS-GO-ON" if is_beside else "MUTING-END-MID-REQUEST"
    if step.model.configuration.receive_limit_ms and channel.holds:
        return "MUTING-SLOW-SENDER"
    return "MUTING-IDLE"


def _rule_of_unordered(suspect: _Suspect) -> str:
    """Return the rule by which a channel ought to be ordered."""
    step = suspect.step
    if isinstance(step.operation, op.Throttle | op.Unthrottle):
        return "MUTING-THROTTLE"
    is_release = isinstance(step.operation, op.Release | op.PollWhile)
    return "MUTING-TWO-REASONS" if is_release or step.comes_back else "MUTING-ONE-AT-A-TIME"


def _rule_of_ordered(suspect: _Suspect) -> str:
    """Return the rule by which a channel ought not to be ordered."""
    if suspect.channel.is_throttled:
        return "MUTING-THROTTLE"
    is_response = isinstance(suspect.step.operation, op.Respond)
    if is_response and suspect.step.before.waiting:
        return "MUTING-OTHERS-GO-ON"
    return "MUTING-ONE-AT-A-TIME"


def _rule_of_read(suspect: _Suspect) -> str:
    """Return the rule by which a channel ought to wait."""
    if suspect.name in suspect.step.throttled:
        return "MUTING-THROTTLE"
    step, first = suspect.step, suspect.channel.first
    if isinstance(step.operation, op.Respond):
        return "MUTING-TWO-REASONS"
    if isinstance(step.operation, op.Release | op.Close) and not step.model.is_first_come:
        return "MUTING-RECOVER"
    has_memory = suspect.is_seen(Observable.HOLDING) or suspect.is_seen(Observable.ORDERED)
    if has_memory and first is not None:
        return _rule_of_too_early(step, first)
    return "MUTING-WAIT"


def _rule_of_waiting(suspect: _Suspect) -> str:
    """Return the rule by which a channel ought not to wait."""
    step, channel = suspect.step, suspect.channel
    names = {channel_of(event.task) for event in step.outcome.events}
    has_memory = suspect.is_seen(Observable.HOLDING) or suspect.is_seen(Observable.ORDERED)
    right = step.after.channels.get(suspect.name, channel)
    if right.is_ordered and right.first is not None and right.first.is_announced:
        return "MUTING-ONE-AT-A-TIME"
    if channel.receive is Receive.HOLDS or has_memory or suspect.name in names:
        return "MUTING-NOT-WITH-MEMORY"
    if suspect.name in step.throttled:
        return "MUTING-THROTTLE"
    if channel.receive is Receive.WAITS:
        if channel.peer is not Peer.THERE:
            return "MUTING-END-WHILE-WAITING"
        line = step.before.line
        behind = line[line.index(suspect.name) + 1 :] if suspect.name in line else ()
        passed = set(behind) - step.seen(Observable.WAITING)
        if step.model.is_first_come:
            passed |= {name for name in _with_memory(step) if name not in line}
        return "MUTING-FIRST-COME" if passed else "MUTING-RECOVER"
    first = channel.first
    if first is not None and first.is_announced and not channel.is_ordered:
        if step.before.waiting or step.seen(Observable.WAITING) - {suspect.name}:
            return "MUTING-OTHERS-GO-ON" if step.before.available_bytes > 0 else "MUTING-RECOVER"
        return "MUTING-RECOVER" if _was_short(step, first) else "MUTING-ASK"
    return "MUTING-ONLY-REFUSED"


def _with_memory(step: _Step) -> Iterator[str]:
    """Yield the channels whose request was seen to get memory in the step."""
    names = {channel_of(event.task) for event in step.outcome.events}
    for name in step.seen(Observable.HOLDING) | names:
        first = step.channel(name).first
        if not step.channel(name).holds and first is not None and first.size_bytes:
            yield name


def _rule_of_unheld(suspect: _Suspect) -> str:
    """Return the rule by which a channel ought to hold."""
    if suspect.name in suspect.step.throttled:
        return "MUTING-THROTTLE"
    if suspect.step.is_beside:
        return "MUTING-TURNS"
    if suspect.channel.receive is Receive.HOLDS:
        return "MUTING-GRANTED-FINISHES"
    if suspect.channel.is_buffered:
        return "MUTING-BUFFERED"
    return "MUTING-RECOVER" if suspect.channel.receive is Receive.WAITS else "MUTING-ASK"


def _rule_of_held(suspect: _Suspect) -> str:
    """Return the rule by which a channel ought not to hold."""
    step, channel = suspect.step, suspect.channel
    first = channel.first
    if first is None or not first.is_announced:
        return "MUTING-ASK"
    if channel.is_ordered:
        return "MUTING-TWO-REASONS" if step.comes_back else "MUTING-ONE-AT-A-TIME"
    if channel.is_throttled:
        return "MUTING-THROTTLE"
    if step.model.asks_with_bytes and channel.receive is not Receive.NONE and not channel.has_news:
        return "MUTING-RECOVER"
    if step.after.channels[suspect.name].is_ordered:
        return "MUTING-ONE-AT-A-TIME"
    return "MUTING-GRANTED-FINISHES" if channel.holds else _rule_of_too_early(step, first)


def _rule_of_unread(step: _Step, wanted: Value) -> str:
    """Return the rule of bytes of a body that are read too soon, or are still in the socket."""
    seen = step.outcome.observed.get(Observable.UNREAD.value)
    if not (isinstance(seen, int) and isinstance(wanted, int) and seen < wanted):
        return "MUTING-GRANTED-FINISHES"
    channels = step.after.channels.values()
    if any(each.waits and each.unread_bytes for each in channels):
        return "MUTING-READ-AFTER-GRANT"
    is_ordered = any(each.is_ordered and each.unread_bytes for each in channels)
    return "MUTING-ONE-AT-A-TIME" if is_ordered else "MUTING-READ-AFTER-GRANT"


def _rule_of_available(step: _Step) -> str:
    """Return the rule by which the pool ought to have more or less left."""
    before, after = step.before, step.after
    granted = [
        before.channels[name]
        for name, channel in after.channels.items()
        if channel.holds and name in before.channels and not before.channels[name].holds
    ]
    if isinstance(step.operation, op.Release):
        is_open = before.channels[channel_of(step.operation.buffer)].is_open
        if granted:
            return "MUTING-RECOVER"  # the memory came back, and went on to those who wait
        return "MUTING-RELEASE" if is_open else "MUTING-END-WHILE-HANDLED"
    if isinstance(step.operation, op.Respond | op.Close):
        return "MUTING-RELEASE" if isinstance(step.operation, op.Respond) else "MUTING-CLOSE"
    if _has_bad_size(step):
        return "MUTING-BAD-SIZE"
    gone = [
        channel
        for name, channel in sorted(before.channels.items())
        if channel.is_open and not after.channels[name].is_open
    ]
    for channel in gone:
        rule = _rule_of_end(step, channel)
        if rule:
            return rule
    if gone and before.handled:
        return "MUTING-END-WHILE-HANDLED"
    if not after.handled and not any(each.is_open for each in after.channels.values()):
        return "MUTING-IDLE-RETURNS"
    seen = step.outcome.observed.get(Observable.AVAILABLE.value)
    is_more = isinstance(seen, int) and seen > after.available_bytes
    if is_more and any(channel.receive is Receive.WAITS for channel in granted):
        return "MUTING-RECOVER"
    if granted or step.outcome.events:
        return "MUTING-ASK"
    return "MUTING-RELEASE" if isinstance(step.operation, op.PollWhile) else "MUTING-CONSERVATION"


def _rule_of_end(step: _Step, channel: Channel) -> str:
    """Return the rule of the memory of a channel that ends in this step; empty without one."""
    configuration = step.model.configuration
    if channel.waits:
        return "MUTING-END-WHILE-WAITING"
    if channel.holds and channel.peer is Peer.THERE:
        return "MUTING-SLOW-SENDER" if configuration.receive_limit_ms else "MUTING-IDLE"
    if channel.holds:
        return "MUTING-END-MID-REQUEST"
    first = channel.first
    if channel.peer is Peer.THERE or first is None or not first.is_announced:
        return ""
    if min(step.before.available_bytes, step.after.available_bytes) <= 0:
        return "MUTING-END-WHILE-WAITING"
    return "MUTING-END-MID-REQUEST"
