"""The table of situations for the purgatory: what to do next, and what rules it is good for.

Each row makes the operations of one situation. A generator takes rows by weight; where a rule has
not been put to the test often enough, its rows weigh more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from purgatory_conformance.generation.purgatory_callbacks import (
    cancels_inside,
    checks_inside,
    forces_inside,
    throws_in_callback,
    throws_in_expiry,
    watches_inside,
)
from purgatory_conformance.generation.purgatory_world import MOST_OPERATIONS, PurgatoryWorld
from purgatory_conformance.generation.source import Source
from purgatory_spec.operations import (
    Advance,
    Answer,
    CancelForKey,
    Check,
    Elapse,
    Force,
    Operation,
    RunOne,
    Satisfy,
    Script,
    Shutdown,
    Watch,
)
from purgatory_spec.profiles import PurgatoryConfiguration, PurgatoryFeature, PurgatoryProfile

Make = Callable[[PurgatoryWorld, Source], Sequence[Operation]]

WAIT, COMPLETE, THROW = Answer.WAIT, Answer.COMPLETE, Answer.THROW


@dataclass(frozen=True)
class Row:
    """A situation: its name, its weight, the rules it is for, what it needs, how it is made.

    ``make`` may return nothing where the situation cannot arise at present.
    """

    name: str
    weight: int
    rules: frozenset[str]
    needs: frozenset[PurgatoryFeature]
    make: Make
    stepped_only: bool = False

    def is_offered(self, profile: PurgatoryProfile, *, stepped: bool) -> bool:
        """Whether a subject of this profile can be brought into the situation."""
        return (stepped or not self.stepped_only) and profile.features.issuperset(self.needs)


def _watch(world: PurgatoryWorld, source: Source, *tries: Answer) -> list[Operation]:
    if world.names >= MOST_OPERATIONS and world.used_keys:
        return _check(world, source)
    keys, delay_ms = world.keys(source), world.delay(source)
    return [Watch(world.fresh_name(), keys, delay_ms, Script(tries=tries))]


def _watch_waiting(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return _watch(world, source)


def _watch_first_try(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return _watch(world, source, COMPLETE)


def _watch_second_try(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return _watch(world, source, WAIT, COMPLETE)


def _watch_later_try(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """An operation that becomes completable by itself, and checks until it is."""
    waits = source.integer(2, 4)
    watched = _watch(world, source, *([WAIT] * waits), COMPLETE)
    keys = watched[0].keys if isinstance(watched[0], Watch) else world.used_keys
    checks = [Check(source.item(keys)) for _ in range(source.integer(1, waits))] if keys else []
    return [*watched, *checks]


def _watch_first_throws(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return _watch(world, source, THROW, source.item((WAIT, COMPLETE)))


def _watch_second_throws(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """An operation whose second try throws, and that its time-out or an event completes."""
    watched = _watch(world, source, WAIT, THROW, WAIT)
    first = watched[0]
    if not isinstance(first, Watch) or source.integer(0, 2) == 0:
        return watched
    if source.integer(0, 1):
        return [first, Advance(world.due_tick(first.delay_ms))]
    return [first, Satisfy(first.operation), Check(source.item(first.keys))]


def _check_throws(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """One that throws in a check, others before it and behind it under the same key."""
    key = world.keys(source, most=1)[0]
    tries = ((), (WAIT, WAIT, THROW, WAIT), (), (WAIT, WAIT, COMPLETE), (WAIT, WAIT, THROW))
    operations: list[Operation] = []
    for _ in range(source.integer(1, 4)):
        script = Script(tries=source.item(tries))
        operations.append(Watch(world.fresh_name(), (key,), world.delay(source), script))
    thrower = Script(tries=(WAIT, WAIT, THROW, source.item((WAIT, COMPLETE))))
    at = source.integer(0, len(operations))
    operations.insert(at, Watch(world.fresh_name(), (key,), world.delay(source), thrower))
    return [*operations, Check(key), Check(key)]


def _watch_twice_under_a_key(world: PurgatoryWorld, source: Source) -> list[Operation]:
    keys = world.keys(source, most=2)
    doubled = (*keys, source.item(keys))
    name, delay_ms = world.fresh_name(), world.delay(source)
    rest: list[Operation] = [Check(doubled[-1])]
    if source.integer(0, 1):
        rest = [Satisfy(name), *rest]
    return [Watch(name, doubled, delay_ms), *rest]


def _watch_no_keys(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [Watch(world.fresh_name(), (), world.delay(source))]


def _rewatch(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Watch again what waits, after some time, and see when it expires."""
    live = world.live
    if not live:
        return []
    name = source.item(live)
    delay_ms = world.state.operations[name].delay_ms
    operations: list[Operation] = []
    if world.has(PurgatoryFeature.ELAPSE) and source.integer(0, 1):
        operations.append(Elapse(world.now + source.integer(1, 5)))
    old = world.keys_of(name) or ["a"]
    keys = (source.item(old),) if source.integer(0, 1) else world.keys(source)
    given = delay_ms if source.integer(0, 3) else delay_ms + 3
    operations.append(Watch(name, keys, given))
    if source.integer(0, 1):
        operations.append(Advance(world.due_tick(delay_ms)))
    return operations


def _watch_completed(world: PurgatoryWorld, source: Source) -> list[Operation]:
    if not world.completed:
        return []
    name = source.item(world.completed)
    return [Watch(name, world.keys(source), world.state.operations[name].delay_ms)]


def _check(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [Check(source.item(world.used_keys))] if world.used_keys else []


def _satisfy_and_check(world: PurgatoryWorld, source: Source) -> list[Operation]:
    if not world.live:
        return []
    name = source.item(world.live)
    return [Satisfy(name), Check(source.item(world.keys_of(name)))]


def _check_stale(world: PurgatoryWorld, source: Source) -> list[Operation]:
    completed = world.state.completed
    keys = [key for key in world.used_keys if completed & set(world.state.lists[key])]
    return [Check(source.item(keys))] if keys else []


def _check_unknown(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [Check(source.item(("z", *world.keys(source, most=1))))]


def _force(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [Force(source.item(world.live))] if world.live else []


def _force_completed(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [Force(source.item(world.completed))] if world.completed else []


def _force_unknown(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [Force(world.fresh_name())]


def _cancel(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [CancelForKey(source.item(world.used_keys))] if world.used_keys else []


def _cancel_and_wait(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Cancel some keys of an operation, then advance to its time-out and check what is left."""
    if not world.live or not world.due_ticks:
        return []
    keys = world.keys_of(source.item(world.live))
    kept = source.integer(0, len(keys) - 1)
    left = keys[:kept] or keys[:1]
    cancels = [CancelForKey(key) for key in keys[kept:]]
    return [*cancels, Advance(max(world.now, world.due_ticks[-1])), Check(left[0])]


def _cancel_unknown(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [CancelForKey("z")]


def _advance_to_next(world: PurgatoryWorld, source: Source) -> list[Operation]:
    if not world.due_ticks:
        return []
    return [Advance(max(world.now, world.due_ticks[0] + source.item((0, 0, 0, -1, 1))))]


def _advance_by(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [Advance(world.now + source.integer(0, 6))]


def _elapse(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [Elapse(world.now + source.integer(0, 6))]


def _run_one(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [RunOne()]


def _run_all(world: PurgatoryWorld, source: Source) -> list[Operation]:
    return [RunOne() for _ in world.queue]


def _mass_expiry(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Many operations expire together; what they leave behind is seen by a later advance."""
    delay_ms = source.integer(1, 5)
    keys = world.keys(source, most=2)
    most = world.configuration.purge_interval + 3
    count = source.integer(2, max(2, min(most, MOST_OPERATIONS)))
    watches = [Watch(world.fresh_name(), keys, delay_ms) for _ in range(count)]
    due_tick = world.due_tick(delay_ms)
    runs: list[Operation] = []
    if world.is_stepped:
        due = [tick for tick in world.state.timer.store.due_ticks.values() if tick <= due_tick]
        runs = [RunOne() for _ in range(len(world.queue) + len(due) + count)]
    later = [Advance(due_tick + source.integer(0, 2)) for _ in range(source.integer(1, 2))]
    return [*watches, Advance(due_tick), *runs, *later]


def _lost_expiry(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """An operation is handed over and completed by somebody else before it runs."""
    waiting = [name for name in world.queue if name in world.live]
    operations: list[Operation] = []
    if waiting:
        name, keys = source.item(waiting), world.keys_of(source.item(waiting))
    else:
        name, delay_ms = world.fresh_name(), source.integer(1, 5)
        keys = list(world.keys(source))
        operations = [
            Watch(name, tuple(keys), delay_ms),
            Advance(world.due_tick(delay_ms)),
        ]
    if world.has(PurgatoryFeature.FORCE) and source.integer(0, 1):
        operations.append(Force(name))
    elif keys:
        operations += [Satisfy(name), Check(source.item(keys))]
    return operations + [RunOne() for _ in range(len(world.queue) + 1)]


def _make_stale(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """Operations under several keys are completed through one; then comes an advance."""
    count = source.integer(1, max(1, min(world.configuration.purge_interval + 1, 6)))
    operations: list[Operation] = []
    for _ in range(count):
        name, keys = world.fresh_name(), world.keys(source, most=4)
        operations += [Watch(name, keys, world.delay(source)), Satisfy(name), Check(keys[0])]
    return [*operations, Advance(world.now)]


def _stale_at_the_interval(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """As many stale entries as the interval allows, or one more, under one key or several."""
    wanted = world.configuration.purge_interval - world.state.stale_entries
    count = max(0, min(wanted, 7)) + source.integer(0, 1)
    script, delay_ms = Script(tries=(WAIT, COMPLETE)), source.integer(1, 3)
    operations: list[Operation] = []
    while count > 0:
        keys = world.keys(source, most=min(3, count))
        count -= len(keys)
        operations.append(Watch(world.fresh_name(), keys, delay_ms, script))
    return [*operations, Advance(world.now)]


def _shutdown(world: PurgatoryWorld, source: Source) -> list[Operation]:
    """The end of a case: what is refused, what is dropped and what can still be done."""
    waiting, delay_ms = world.fresh_name(), source.integer(2, 6)
    key = source.item(("a", "b"))
    begun: list[Operation] = [
        Watch(waiting, (key, "c"), delay_ms),
        Watch(world.fresh_name(), (key,), 1),
        Advance(world.due_tick(1)),
        Shutdown(),
    ]
    refused = Watch(world.fresh_name(), (key,), 1)
    rest: list[Sequence[Operation]] = [
        [Shutdown()],
        [refused],
        [Advance(world.due_tick(max(delay_ms, 1)))],
        [Satisfy(waiting), Check("c"), Check(key)],
    ]
    if world.has(PurgatoryFeature.FORCE):
        rest.append([Force(waiting), Force(waiting)])
    if world.has(PurgatoryFeature.CANCEL_FOR_KEY):
        rest.append([CancelForKey(key), CancelForKey("z")])
    if world.is_stepped:
        rest.append([RunOne() for _ in range(len(world.queue) + 2)])
    operations = begun
    while rest:
        operations += rest.pop(source.integer(0, len(rest) - 1))
    return [*operations, Check(key)]


def _row(
    name: str,
    weight: int,
    rules: str,
    make: Make,
    *needs: PurgatoryFeature,
    stepped_only: bool = False,
) -> Row:
    ids = frozenset(f"PURGATORY-{word}" for word in rules.split())
    return Row(name, weight, ids, frozenset(needs), make, stepped_only)


_F = PurgatoryFeature

PURGATORY_TABLE: tuple[Row, ...] = (
    _row("watch", 10, "WATCH-WAITS ENTRIES TIMER-SIZE WATCH-SECOND-TRY", _watch_waiting),
    _row("check a key", 6, "CHECK-ORDER CHECK-COUNT", _check),
    _row(
        "satisfy and check",
        7,
        "NOT-LOST CHECK-DROPS CHECK-COUNT TIMER-LEFT EXACTLY-ONCE EMPTY-LISTS",
        _satisfy_and_check,
    ),
    _row("advance to the next time-out", 6, "TIME-OUT PENDING TIMER-SIZE", _advance_to_next),
    _row("advance by a little", 3, "TIME-OUT PURGE-START", _advance_by),
    _row("run one", 4, "CALLBACK-ORDER", _run_one, stepped_only=True),
    _row("run all", 3, "CALLBACK-ORDER LOST-EXPIRY", _run_all, stepped_only=True),
    _row("watch what can be completed", 2, "WATCH-FIRST-TRY", _watch_first_try),
    _row(
        "watch what the second try completes",
        3,
        "WATCH-SECOND-TRY STALE-OPERATIONS ESTIMATE-EXACT ESTIMATE-PROPOSAL",
        _watch_second_try,
    ),
    _row("watch what a later try completes", 3, "NOT-LOST CHECK-COUNT", _watch_later_try),
    _row(
        "make stale entries",
        3,
        "PURGE-START PURGE-REMOVES STALE-ENTRIES STALE-OPERATIONS COMPLETED-NOT-TRIED "
        "ESTIMATE-EXACT ESTIMATE-PROPOSAL",
        _make_stale,
    ),
    _row(
        "stale entries at the interval",
        3,
        "PURGE-START PURGE-REMOVES STALE-ENTRIES STALE-OPERATIONS ESTIMATE-EXACT",
        _stale_at_the_interval,
    ),
    _row("check a key with stale entries", 3, "COMPLETED-NOT-TRIED CHECK-DROPS", _check_stale),
    _row(
        "mass expiry",
        2,
        "STALE-OPERATIONS STALE-ENTRIES PURGE-REMOVES PENDING ESTIMATE-EXACT",
        _mass_expiry,
    ),
    _row("completed before it runs", 3, "LOST-EXPIRY PENDING", _lost_expiry, stepped_only=True),
    _row("check a key that nobody waits under", 1, "CHECK-UNKNOWN", _check_unknown),
    _row("watch under no key", 1, "NO-KEYS", _watch_no_keys),
    _row("force", 3, "FORCE TIMER-LEFT", _force, _F.FORCE),
    _row("force what is completed", 1, "FORCE-AGAIN", _force_completed, _F.FORCE),
    _row("force what was never watched", 1, "FORCE", _force_unknown, _F.FORCE),
    _row(
        "watch under a key twice",
        2,
        "DUPLICATE-KEYS CHECK-ORDER",
        _watch_twice_under_a_key,
        _F.DUPLICATE_KEYS,
    ),
    _row("watch again", 4, "REWATCH", _rewatch, _F.REWATCH),
    _row("watch what is completed", 2, "WATCH-COMPLETED", _watch_completed, _F.REWATCH),
    _row(
        "cancel for a key",
        3,
        "CANCEL-RESULT CANCEL-LEAVES CANCEL-LAST-KEY CANCEL-KEEPS-TIME-OUT",
        _cancel,
        _F.CANCEL_FOR_KEY,
    ),
    _row(
        "cancel some keys and wait",
        2,
        "CANCEL-LAST-KEY CANCEL-KEEPS-TIME-OUT CANCEL-LEAVES",
        _cancel_and_wait,
        _F.CANCEL_FOR_KEY,
    ),
    _row(
        "cancel a key that nobody waits under",
        1,
        "CANCEL-UNKNOWN",
        _cancel_unknown,
        _F.CANCEL_FOR_KEY,
    ),
    _row("let time pass", 2, "TIME-OUT REWATCH", _elapse, _F.ELAPSE),
    _row("a first try that throws", 2, "FIRST-TRY-THROWS", _watch_first_throws, _F.SCRIPT_THROW),
    _row("a second try that throws", 2, "SECOND-TRY-THROWS", _watch_second_throws, _F.SCRIPT_THROW),
    _row("a check that throws", 2, "CHECK-THROWS", _check_throws, _F.SCRIPT_THROW),
    _row(
        "a callback that throws",
        3,
        "CALLBACK-THROWS EXPIRY-THROWS CHECK-THROWS",
        throws_in_callback,
        _F.SCRIPT_THROW,
    ),
    _row("an expiry that throws", 2, "EXPIRY-THROWS", throws_in_expiry, _F.SCRIPT_THROW),
    _row("a callback that watches", 2, "WATCH-INSIDE", watches_inside, _F.SCRIPT_WATCH),
    _row("a callback that checks", 2, "CHECK-INSIDE", checks_inside, _F.SCRIPT_CHECK),
    _row(
        "a callback that cancels",
        2,
        "CANCEL-INSIDE",
        cancels_inside,
        _F.SCRIPT_CANCEL_FOR_KEY,
    ),
    _row("a callback that forces", 2, "FORCE-INSIDE", forces_inside, _F.SCRIPT_FORCE),
)
"""The rows for the purgatory, the simplest first: shrinking goes towards the top."""

SHUTDOWN_ROW = _row(
    "shut down",
    1,
    "SHUTDOWN-CLOSED SHUTDOWN-DROPS SHUTDOWN-COMPLETES SHUTDOWN-AGAIN",
    _shutdown,
    _F.SHUTDOWN,
)
"""The end of some cases."""


def draw_purgatory_configuration(
    profile: PurgatoryProfile, source: Source, wanted: frozenset[str]
) -> PurgatoryConfiguration:
    """A configuration: small intervals make purges, small wheels and ticks late due ticks."""
    time_outs = True
    if PurgatoryFeature.NO_TIME_OUTS in profile.features:
        share = 3 if "PURGATORY-NO-TIME-OUTS" in wanted else 9
        time_outs = source.integer(0, share) < share
    return PurgatoryConfiguration(
        purge_interval=source.item((0, 1, 2, 2, 5, 20)),
        time_outs=time_outs,
        tick_ms=source.item((1, 1, 1, 2, 3, 10)),
        wheel_size=source.item((2, 3, 5, 20)),
        start_ms=source.item((0, 0, 1, 7, 1003)),
    )


def draw_purgatory_operations(
    configuration: PurgatoryConfiguration,
    profile: PurgatoryProfile,
    source: Source,
    *,
    most: int,
    wanted: frozenset[str] = frozenset(),
) -> tuple[Operation, ...]:
    """The operations of one case, at most about ``most``.

    ``wanted`` are the rules that have not been put to the test often enough.
    """
    world = PurgatoryWorld(configuration, profile)
    rows = [row for row in PURGATORY_TABLE if row.is_offered(profile, stepped=world.is_stepped)]
    weights = [row.weight * (6 if row.rules & wanted else 1) for row in rows]
    operations: list[Operation] = []
    while source.more(len(operations), most):
        made = rows[source.weighted(weights)].make(world, source)
        operations.extend(world.apply(operation) for operation in made)
    if PurgatoryFeature.SHUTDOWN in profile.features:
        share = 2 if SHUTDOWN_ROW.rules & wanted else 9
        if source.integer(0, share) == share:
            operations.extend(world.apply(op) for op in SHUTDOWN_ROW.make(world, source))
    return tuple(operations)
