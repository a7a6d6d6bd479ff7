"""The operations worth asking in a state, on a small scale: few names, short times, few sizes.

For each operation its *ask* says when it may be asked, and with which arguments. Walks of a case
draw from them, comparisons and explorations of small instances try all of them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from purgatory_model.channel_muting import SIZE_BYTES, ChannelMutingState, Coming, Peer
from purgatory_model.memory_pool import MemoryPoolState
from purgatory_model.pending_tasks import Store
from purgatory_model.purgatory import PurgatoryState
from purgatory_model.timer import TimerState
from purgatory_spec import operations as op
from purgatory_spec import profiles
from purgatory_spec.profiles import ChannelMutingFeature as _Server
from purgatory_spec.profiles import Feature as _Timer
from purgatory_spec.profiles import MemoryPoolFeature as _Pool
from purgatory_spec.profiles import PurgatoryFeature as _Purgatory

_OF_THE_SERVER: Mapping[
    type[op.Respond | op.Close | op.Throttle | op.Unthrottle], _Server | None
] = {
    op.Respond: None,
    op.Unthrottle: None,
    op.Throttle: _Server.THROTTLE,
    op.Close: _Server.CLOSE,
}
"""Calls of a server with a channel, each with the feature that a subject must have."""

Introduced: TypeAlias = Mapping[str, int]
"""The names that steps have introduced so far, each with its delay, ms."""

_KEYS = (("k",), ("k", "j"))
"""The keys of delayed operations: under one, or under two."""

_ENDINGS = {
    _Server.HANG_UP: op.Ending.CLOSE,
    _Server.HALF_CLOSE: op.Ending.HALF_CLOSE,
    _Server.RESET: op.Ending.RESET,
}


def introduced_by(introduced: Introduced, operation: op.Operation) -> Introduced:
    """Return the names that are known after an operation."""
    if not isinstance(operation, op.Add | op.Watch):
        return introduced
    name = operation.task if isinstance(operation, op.Add) else operation.operation
    return introduced if name in introduced else {**introduced, name: operation.delay_ms}


def timer_asks(
    state: TimerState[Store],
    profile: profiles.TimerProfile,
    introduced: Introduced,
    *,
    tasks: Sequence[str] = ("a", "b"),
    tick_ms: int,
    last_ms: int,
) -> Iterator[op.Operation]:
    """Yield what a timer can be asked of some tasks while the clock goes on to ``last_ms``."""
    features = profile.features
    for task in tasks:
        # A delay of zero comes last: it is a rule of its own, and says less about others.
        delays = [*sorted({tick_ms, 2 * tick_ms - 1, 3 * tick_ms}), 0]
        is_known = task in introduced
        if is_known and _Timer.CHANGE_DELAY not in features:
            delays = [introduced[task]]
        if not is_known or (_Timer.READD in features and task not in state.queue):
            yield from (op.Add(task, delay_ms) for delay_ms in delays)
        if is_known and _Timer.CANCEL in features:
            yield op.Cancel(task)
    yield from _moves(state.now_ms, last_ms, _Timer.ELAPSE in features)
    if profile.executor is profiles.Executor.STEPPED:
        yield op.RunOne()
    if _Timer.SHUTDOWN in features:
        yield op.Shutdown()


def purgatory_asks(
    state: PurgatoryState,
    profile: profiles.PurgatoryProfile,
    introduced: Introduced,
    *,
    names: Sequence[str] = ("a", "b"),
    tick_ms: int,
    last_ms: int,
) -> Iterator[op.Operation]:
    """Yield what a purgatory can be asked of some operations, every second under two keys."""
    features = profile.features
    for number, name in enumerate(names):
        if name not in introduced or _Purgatory.REWATCH in features:
            yield op.Watch(name, _KEYS[number % 2], (number % 2 + 1) * tick_ms)
        if name not in introduced:
            continue
        yield op.Satisfy(name)
        if _Purgatory.FORCE in features:
            yield op.Force(name)
    for key in ("k", "j"):
        yield op.Check(key)
        if _Purgatory.CANCEL_FOR_KEY in features:
            yield op.CancelForKey(key)
    yield from _moves(state.timer.now_ms, last_ms, _Purgatory.ELAPSE in features)
    if profile.executor is profiles.Executor.STEPPED:
        yield op.RunOne()
    if _Purgatory.SHUTDOWN in features:
        yield op.Shutdown()


def memory_pool_asks(
    state: MemoryPoolState,
    profile: profiles.MemoryPoolProfile,
    *,
    fresh: str | None,
    sizes_bytes: Collection[int],
    foreign_bytes: Collection[int] = (1,),
    readings_ms: Collection[int] = (1,),
    buffers: Collection[str] | None = None,
) -> Iterator[op.Operation]:
    """Yield requests for a fresh buffer of these sizes, and releases of known buffers.

    Where ``buffers`` are given, no others are released or lost.
    """
    features = profile.features
    other_forms = [op.ReleaseForm.SLICE] if _Pool.RELEASE_SLICE in features else []
    other_forms += [op.ReleaseForm.COPY] if _Pool.RELEASE_COPY in features else []
    forms = [op.ReleaseForm.ITSELF, *other_forms]
    if fresh is not None:
        yield from (op.Allocate(fresh, size_bytes) for size_bytes in sizes_bytes)
    known = [*state.held, *state.returned]
    some = sorted(known if buffers is None else buffers)
    for name in (name for name in some if name in state.held):
        yield from (op.Release(name, form) for form in forms)
        if _Pool.LEAK_DETECTION in features:
            yield op.Lose(name)
    if _Pool.RELEASE_AGAIN in features:
        for name in (name for name in some if name in state.returned):
            yield from (op.Release(name, form) for form in forms)
    if _Pool.RELEASE_FOREIGN in features:
        yield from (op.ReleaseForeign(size_bytes) for size_bytes in foreign_bytes)
    if _Pool.RELEASE_NOTHING in features:
        yield op.ReleaseNothing()
    if _Pool.ELAPSE in features:
        yield from (op.Elapse(to_ms) for to_ms in readings_ms if to_ms > state.now_ms)


def channel_muting_asks(
    state: ChannelMutingState,
    profile: profiles.ChannelMutingProfile,
    *,
    kinds: Collection[type[op.Operation]],
    fresh: str | None,
    sizes_bytes: Collection[int],
    readings_ms: Collection[int],
) -> Iterator[op.Operation]:
    """Yield what a server can be asked of some kinds: a fresh channel, or one that is open."""
    features = profile.features
    if op.Poll in kinds:
        yield op.Poll()
    if op.Connect in kinds and fresh is not None:
        yield op.Connect(fresh)
    for name, channel in sorted(state.channels.items()):
        if not channel.is_open:
            continue
        if channel.peer is Peer.THERE:
            if op.Announce in kinds:
                yield from _announces(name, channel.coming, sizes_bytes)
            if op.Send in kinds:
                yield from _sends(name, channel.coming)
            if op.HangUp in kinds:
                yield from (
                    op.HangUp(name, each) for has, each in _ENDINGS.items() if has in features
                )
            if op.PollBeside in kinds and _Server.POLL_BESIDE in features:
                yield op.PollBeside(name)
        yield from (
            kind(name)
            for kind, needed in _OF_THE_SERVER.items()
            if kind in kinds and (needed is None or needed in features)
        )
    for request in sorted(state.handled):
        if op.Release in kinds:
            yield op.Release(request)
        if op.PollWhile in kinds and _Server.POLL_WHILE in features:
            yield op.PollWhile(request)
    if op.Elapse in kinds and _Server.ELAPSE in features:
        yield from (op.Elapse(to_ms) for to_ms in readings_ms if to_ms > state.now_ms)


def _announces(
    name: str, coming: Sequence[Coming], sizes_bytes: Collection[int]
) -> Iterator[op.Operation]:
    """Yield the next request of a client, in part or whole, if the one before is whole."""
    if coming and coming[-1].sent_bytes < _whole_bytes(coming[-1].size_bytes):
        return
    for size_bytes in sizes_bytes:
        for sent_bytes in _parts(_whole_bytes(size_bytes)):
            yield op.Announce(name, size_bytes, sent_bytes)


def _sends(name: str, coming: Sequence[Coming]) -> Iterator[op.Operation]:
    """Yield more of the request that a client has begun: to a boundary, or to its end."""
    for last in coming[-1:]:
        for part_bytes in _parts(_whole_bytes(last.size_bytes)):
            if part_bytes > last.sent_bytes:
                yield op.Send(name, part_bytes - last.sent_bytes)


def _whole_bytes(size_bytes: int) -> int:
    return SIZE_BYTES + max(size_bytes, 0)


def _parts(whole_bytes: int) -> list[int]:
    """Return how much of a request may have been sent, the bytes of its size included.

    A part may end where a page or a TLS record does, or its body.
    """
    parts = {1, 2, 3, SIZE_BYTES, SIZE_BYTES + 1, (SIZE_BYTES + whole_bytes) // 2, whole_bytes - 1}
    parts |= {page + more for page in (2**12, 2**13, 2**14) for more in (0, SIZE_BYTES)}
    return sorted({each for each in parts if 0 < each < whole_bytes} | {whole_bytes})


def _moves(now_ms: int, last_ms: int, elapses: bool) -> Iterator[op.Operation]:
    """Yield advances of the clock: none, by a millisecond, or to the last reading of interest."""
    for to_ms in sorted({now_ms, min(now_ms + 1, last_ms), last_ms}):
        yield op.Advance(to_ms)
    if elapses and now_ms < last_ms:
        yield op.Elapse(now_ms + 1)


def small_instances(profile: profiles.Profile) -> Iterator[profiles.Configuration]:
    """Yield the smallest instances of a profile in which its rules show."""
    match profile:
        case profiles.TimerProfile():
            yield profiles.TimerConfiguration(1, 2)
            yield profiles.TimerConfiguration(2, 2)
        case profiles.PurgatoryProfile(features=features):
            # One purges at once, one leaves an operation, one is perhaps without time-outs.
            yield profiles.PurgatoryConfiguration(0)
            yield profiles.PurgatoryConfiguration(1)
            if _Purgatory.NO_TIME_OUTS in features:
                yield profiles.PurgatoryConfiguration(0, time_outs=False)
        case profiles.MemoryPoolProfile(features=features):
            if _Pool.NON_STRICT in features:
                yield profiles.MemoryPoolConfiguration(3, 2)
            if _Pool.STRICT in features:
                yield profiles.MemoryPoolConfiguration(3, 2, strict=True)
            if _Pool.UNBOUNDED in features:
                yield profiles.MemoryPoolConfiguration(3, 2, unbounded=True)
        case profiles.ChannelMutingProfile(features=features):
            strict, tls = _Server.NON_STRICT not in features, _Server.PLAIN not in features
            yield profiles.ChannelMutingConfiguration(2, 2, strict=strict, tls=tls)
