"""The table of situations for the purgatory: what to do next, and what rules it is good for.

Each row makes the operations of one situation. A generator takes rows by weight; where a rule has
not been put to the test often enough, its rows weigh more.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from purgatory_conformance.generation.asks import Introduced, introduced_by, purgatory_asks
from purgatory_conformance.generation.draft import drawn_rows
from purgatory_conformance.generation.fields import all_changed, in_both_sorts, of_numbers
from purgatory_conformance.generation.looks import last_looks, names_of
from purgatory_conformance.generation.purgatory import histories, situations, tries
from purgatory_conformance.generation.purgatory.callbacks import (
    cancels_inside,
    checks_in_a_ring,
    checks_inside,
    forces_inside,
    throws_in_callback,
    throws_in_expiry,
    watches_inside,
)
from purgatory_conformance.generation.purgatory.crowds import (
    crowd,
    far_time_out,
    many_keys,
    watched_often,
)
from purgatory_conformance.generation.purgatory.world import PurgatoryWorld
from purgatory_conformance.generation.source import Source
from purgatory_model.step import TooManyBranches
from purgatory_spec.operations import Operation
from purgatory_spec.profiles import (
    PurgatoryConfiguration,
    PurgatoryFeature,
    PurgatoryProfile,
    Rounding,
)

Make = Callable[[PurgatoryWorld, Source], Sequence[Operation]]


@dataclass(frozen=True)
class Row:
    """A situation: name, weight, rules put to the test, features needed, and its generator.

    ``make`` may return nothing where the situation cannot arise at present.
    """

    name: str
    weight: int
    rules: frozenset[str]
    needs: frozenset[PurgatoryFeature]
    make: Make
    stepped_only: bool = False

    def is_offered(self, profile: PurgatoryProfile, *, stepped: bool) -> bool:
        """Decide whether a subject of this profile can be brought into the situation."""
        return (stepped or not self.stepped_only) and profile.features.issuperset(self.needs)


def _row(
    name: str,
    weight: int,
    rules: str,
    make: Make,
    *needs: PurgatoryFeature,
    stepped_only: bool = False,
) -> Row:
    return Row(name, weight, frozenset(rules.split()), frozenset(needs), make, stepped_only)


_F = PurgatoryFeature

PURGATORY_TABLE: tuple[Row, ...] = (
    _row(
        "watch",
        10,
        "PURGATORY-WATCH-WAITS PURGATORY-ENTRIES PURGATORY-TIMER-SIZE PURGATORY-WATCH-SECOND-TRY",
        situations.watch_waiting,
    ),
    _row("check a key", 6, "PURGATORY-CHECK-ORDER PURGATORY-CHECK-COUNT", situations.check_a_key),
    _row(
        "satisfy and check",
        7,
        "PURGATORY-NOT-LOST PURGATORY-CHECK-DROPS PURGATORY-CHECK-COUNT "
        "PURGATORY-TIMER-LEFT PURGATORY-EXACTLY-ONCE PURGATORY-EMPTY-LISTS",
        situations.satisfy_and_check,
    ),
    _row(
        "advance to the next time-out",
        6,
        "PURGATORY-TIME-OUT PURGATORY-PENDING PURGATORY-TIMER-SIZE",
        situations.advance_to_next,
    ),
    _row(
        "advance by a little", 3, "PURGATORY-TIME-OUT PURGATORY-PURGE-START", situations.advance_by
    ),
    _row("run one", 4, "PURGATORY-CALLBACK-ORDER", situations.run_one, stepped_only=True),
    _row(
        "run all",
        3,
        "PURGATORY-CALLBACK-ORDER PURGATORY-LOST-EXPIRY",
        situations.run_all,
        stepped_only=True,
    ),
    _row("watch what can be completed", 2, "PURGATORY-WATCH-FIRST-TRY", situations.watch_first_try),
    _row(
        "watch what the second try completes",
        3,
        "PURGATORY-WATCH-SECOND-TRY PURGATORY-STALE-OPERATIONS PURGATORY-ESTIMATE-EXACT "
        "PURGATORY-ESTIMATE-PROPOSAL",
        situations.watch_second_try,
    ),
    _row(
        "watch what a later try completes",
        3,
        "PURGATORY-NOT-LOST PURGATORY-CHECK-COUNT",
        situations.watch_later_try,
    ),
    _row(
        "make stale entries",
        3,
        "PURGATORY-PURGE-START PURGATORY-PURGE-REMOVES PURGATORY-STALE-ENTRIES "
        "PURGATORY-STALE-OPERATIONS PURGATORY-COMPLETED-NOT-TRIED "
        "PURGATORY-ESTIMATE-EXACT PURGATORY-ESTIMATE-PROPOSAL",
        situations.make_stale,
    ),
    _row(
        "stale entries at the interval",
        3,
        "PURGATORY-PURGE-START PURGATORY-PURGE-REMOVES PURGATORY-STALE-ENTRIES "
        "PURGATORY-STALE-OPERATIONS PURGATORY-ESTIMATE-EXACT",
        situations.stale_at_the_interval,
    ),
    _row(
        "check a key with stale entries",
        3,
        "PURGATORY-COMPLETED-NOT-TRIED PURGATORY-CHECK-DROPS",
        situations.check_stale,
    ),
    _row(
        "mass expiry",
        2,
        "PURGATORY-STALE-OPERATIONS PURGATORY-STALE-ENTRIES PURGATORY-PURGE-REMOVES "
        "PURGATORY-PENDING PURGATORY-ESTIMATE-EXACT",
        situations.mass_expiry,
    ),
    _row(
        "completed before it runs",
        3,
        "PURGATORY-LOST-EXPIRY PURGATORY-PENDING",
        situations.lost_expiry,
        stepped_only=True,
    ),
    _row(
        "check a key that nobody waits under",
        1,
        "PURGATORY-CHECK-UNKNOWN",
        situations.check_unknown,
    ),
    _row("watch under no key", 1, "PURGATORY-NO-KEYS", situations.watch_no_keys),
    _row("force", 3, "PURGATORY-FORCE PURGATORY-TIMER-LEFT", situations.force_waiting, _F.FORCE),
    _row(
        "force what is completed", 1, "PURGATORY-FORCE-AGAIN", situations.force_completed, _F.FORCE
    ),
    _row("force what was never watched", 1, "PURGATORY-FORCE", situations.force_unknown, _F.FORCE),
    _row(
        "watch under a key twice",
        2,
        "PURGATORY-DUPLICATE-KEYS PURGATORY-CHECK-ORDER PURGATORY-CHECK-DROPS",
        situations.watch_twice_under_a_key,
        _F.DUPLICATE_KEYS,
    ),
    _row("watch again", 4, "PURGATORY-REWATCH", situations.watch_again, _F.REWATCH),
    _row(
        "watch what is completed",
        2,
        "PURGATORY-WATCH-COMPLETED",
        situations.watch_completed,
        _F.REWATCH,
    ),
    _row(
        "cancel for a key",
        3,
        "PURGATORY-CANCEL-RESULT PURGATORY-CANCEL-LEAVES PURGATORY-CANCEL-LAST-KEY "
        "PURGATORY-CANCEL-KEEPS-TIME-OUT",
        situations.cancel_a_key,
        _F.CANCEL_FOR_KEY,
    ),
    _row(
        "cancel some keys and wait",
        2,
        "PURGATORY-CANCEL-LAST-KEY PURGATORY-CANCEL-KEEPS-TIME-OUT PURGATORY-CANCEL-LEAVES",
        situations.cancel_and_wait,
        _F.CANCEL_FOR_KEY,
    ),
    _row(
        "cancel a key that nobody waits under",
        1,
        "PURGATORY-CANCEL-UNKNOWN",
        situations.cancel_unknown,
        _F.CANCEL_FOR_KEY,
    ),
    _row(
        "let time pass",
        2,
        "PURGATORY-TIME-OUT PURGATORY-REWATCH",
        situations.let_time_pass,
        _F.ELAPSE,
    ),
    _row(
        "a first try that throws",
        2,
        "PURGATORY-FIRST-TRY-THROWS",
        situations.watch_first_throws,
        _F.SCRIPT_THROW,
    ),
    _row(
        "a second try that throws",
        2,
        "PURGATORY-SECOND-TRY-THROWS",
        situations.watch_second_throws,
        _F.SCRIPT_THROW,
    ),
    _row(
        "a check that throws", 2, "PURGATORY-CHECK-THROWS", situations.check_throws, _F.SCRIPT_THROW
    ),
    _row(
        "a callback that throws",
        3,
        "PURGATORY-CALLBACK-THROWS PURGATORY-EXPIRY-THROWS PURGATORY-CHECK-THROWS",
        throws_in_callback,
        _F.SCRIPT_THROW,
    ),
    _row("an expiry that throws", 2, "PURGATORY-EXPIRY-THROWS", throws_in_expiry, _F.SCRIPT_THROW),
    _row("a callback that watches", 2, "PURGATORY-WATCH-INSIDE", watches_inside, _F.SCRIPT_WATCH),
    _row(
        "a callback that checks",
        2,
        "PURGATORY-CHECK-INSIDE PURGATORY-LOST-EXPIRY",
        checks_inside,
        _F.SCRIPT_CHECK,
    ),
    _row(
        "callbacks that check in a ring",
        2,
        "PURGATORY-CHECK-INSIDE",
        checks_in_a_ring,
        _F.SCRIPT_CHECK,
        _F.SCRIPT_TRY,
    ),
    _row(
        "a callback that cancels",
        2,
        "PURGATORY-CANCEL-INSIDE",
        cancels_inside,
        _F.SCRIPT_CANCEL_FOR_KEY,
    ),
    _row(
        "a callback that forces",
        2,
        "PURGATORY-FORCE-INSIDE PURGATORY-LOST-EXPIRY",
        forces_inside,
        _F.SCRIPT_FORCE,
    ),
    _row(
        "a try that acts",
        3,
        "PURGATORY-TRY-INSIDE PURGATORY-NOT-LOST",
        tries.acts_in_try,
        _F.SCRIPT_TRY,
    ),
    _row(
        "a try that changes the list",
        2,
        "PURGATORY-TRY-INSIDE PURGATORY-CHECK-ORDER PURGATORY-CHECK-DROPS",
        tries.changes_its_list,
        _F.SCRIPT_TRY,
    ),
    _row(
        "another thread meanwhile",
        4,
        "PURGATORY-MEANWHILE PURGATORY-NOT-LOST",
        tries.meanwhile,
        _F.SCRIPT_MEANWHILE,
    ),
    _row(
        "two threads that call crosswise",
        2,
        "PURGATORY-NO-CIRCLE PURGATORY-MEANWHILE",
        tries.crosswise,
        _F.SCRIPT_CHECK,
        _F.SCRIPT_MEANWHILE,
        _F.SCRIPT_CROSSWISE,
    ),
    _row(
        "a callback before others",
        2,
        "PURGATORY-CHECK-COUNT PURGATORY-CHECK-ORDER",
        histories.owner_before_others,
    ),
    _row(
        "a first try with a callback",
        2,
        "PURGATORY-WATCH-FIRST-TRY PURGATORY-CALLBACK-THROWS",
        histories.first_try_with_callback,
    ),
    _row(
        "watch again what left the lists",
        2,
        "PURGATORY-REWATCH",
        histories.watch_again_unlisted,
        _F.REWATCH,
    ),
    _row(
        "watch again, and it throws or completes",
        3,
        "PURGATORY-REWATCH",
        histories.watch_again_with_script,
        _F.REWATCH,
    ),
    _row("satisfy alone", 2, "PURGATORY-WATCH-FIRST-TRY", histories.satisfy_alone),
    _row(
        "callbacks within callbacks",
        2,
        "PURGATORY-FORCE-INSIDE",
        histories.nested_callbacks,
        _F.SCRIPT_FORCE,
    ),
    _row(
        "an executor that refuses",
        2,
        "PURGATORY-EXECUTOR-REFUSES",
        histories.refused_time_outs,
        _F.REFUSE,
        stepped_only=True,
    ),
    _row("a far time-out", 1, "PURGATORY-TIME-OUT", far_time_out),
    _row(
        "watch under many keys",
        1,
        "PURGATORY-WATCH-WAITS PURGATORY-PURGE-REMOVES PURGATORY-EMPTY-LISTS",
        many_keys,
    ),
    _row("look at what is let go", 2, "PURGATORY-RELEASES", histories.let_go, _F.REACHABLE),
)
"""The rows for the purgatory, the simplest first: shrinking goes towards the top."""

SHUTDOWN_ROW = _row(
    "shut down",
    1,
    "PURGATORY-SHUTDOWN-CLOSED PURGATORY-SHUTDOWN-DROPS "
    "PURGATORY-SHUTDOWN-COMPLETES PURGATORY-SHUTDOWN-AGAIN",
    situations.shut_down,
    _F.SHUTDOWN,
)
"""The end of some cases."""

_ONE_CROWD_IN = 14
_STEPS_AFTER_SHUTDOWN = 10

_ROWS = {row.name: row for row in PURGATORY_TABLE}


@dataclass(slots=True)
class PurgatoryDraft:
    """A case of a purgatory while it is drawn; see ``Draft``."""

    configuration: PurgatoryConfiguration
    profile: PurgatoryProfile
    world: PurgatoryWorld = field(init=False)
    introduced: Introduced = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with a fresh purgatory."""
        self.world = PurgatoryWorld(self.configuration, self.profile)

    def opening(self, source: Source) -> tuple[Operation, ...]:
        """Draw many operations or entries at once in some cases; half of them under a key."""
        if source.integer(0, _ONE_CROWD_IN - 1) < _ONE_CROWD_IN - 1:
            return ()
        makes: list[Make] = [crowd, crowd, crowd]
        if self.world.has(_F.REWATCH):
            makes += [watched_often]
        if self.world.has(_F.SCRIPT_TRY, _F.DUPLICATE_KEYS):
            makes += [tries.changes_a_long_list]
        return self._in_sorts(source.item(makes)(self.world, source), source)

    def offers(self, situation: str) -> bool:
        """Decide whether a subject of this profile can be brought into the situation."""
        return _ROWS[situation].is_offered(self.profile, stepped=self.world.is_stepped)

    def draw(self, situation: str, source: Source) -> tuple[Operation, ...]:
        """Return the operations of a situation."""
        return self._in_sorts(_ROWS[situation].make(self.world, source), source)

    def shutdown(self, source: Source, share: int = 9) -> tuple[Operation, ...]:
        """Return the operations of a shutdown, in one of ``share + 1`` cases."""
        if not self.world.has(PurgatoryFeature.SHUTDOWN) or source.integer(0, share) < share:
            return ()
        return self._in_sorts(SHUTDOWN_ROW.make(self.world, source), source)

    def _in_sorts(self, operations: Iterable[Operation], source: Source) -> tuple[Operation, ...]:
        """Follow the operations with exceptions of both sorts, where the subject throws both."""
        if self.world.has(PurgatoryFeature.SCRIPT_THROW_SEVERE):
            operations = [in_both_sorts(operation, source) for operation in operations]
        return self.followed(operations)

    def asks(self) -> Iterable[Operation]:
        """Return the operations worth asking next, of two operations or so."""
        world, tick_ms = self.world, self.configuration.tick_ms
        waiting = [name for name in self.introduced if name in world.state.live]
        fresh = [f"o{len(self.introduced) + 1}"] if len(waiting) < 2 else []
        names = dict.fromkeys([*waiting[:2], *list(self.introduced)[-1:], *fresh])
        return purgatory_asks(
            world.state,
            self.profile,
            self.introduced,
            names=list(names),
            tick_ms=tick_ms,
            last_ms=world.now + 2 * tick_ms,
        )

    def followed(self, operations: Iterable[Operation]) -> tuple[Operation, ...]:
        """Follow the operations, and return them as they can be asked.

        A check that may go in too many ways to follow is left out, with what would come behind it.
        """
        asked = tuple(operations)
        if self.world.dropped and names_of(asked) & self.world.dropped:
            return ()
        followed: list[Operation] = []
        for operation in asked:
            try:
                followed.append(self.world.apply(operation))
            except TooManyBranches:
                break
            self.introduced = introduced_by(self.introduced, followed[-1])
        return tuple(followed)

    def last_looks(self, drawn: tuple[Operation, ...], source: Source) -> tuple[Operation, ...]:
        """Return looks at what is finished at the end of a case."""
        if not self.world.has(PurgatoryFeature.REACHABLE):
            return ()
        return last_looks(drawn, self.world.may_hold, source)


_ORIGINS_MS = (2**15, 2**16, 2**24, 2**31, 2**32, 2**36)
"""Readings about which a clock may begin, ms."""

_LONG_TICKS_MS = (10**3, 2**16, 10**6, 10**8)
"""Ticks that make a case's times minutes, hours and days, ms."""


def draw_purgatory_configuration(
    profile: PurgatoryProfile, source: Source, wanted: frozenset[str]
) -> PurgatoryConfiguration:
    """Draw a configuration: small intervals make purges, small wheels and ticks late ticks.

    Some clocks are old, and some ticks so long that everything in the case takes days.
    """
    time_outs = True
    if PurgatoryFeature.NO_TIME_OUTS in profile.features:
        share = 3 if "PURGATORY-NO-TIME-OUTS" in wanted else 9
        time_outs = source.integer(0, share) < share
    tick_ms, wheel_size = source.item((1, 1, 1, 2, 3, 10)), source.item((2, 3, 5, 20))
    start_ms = source.item((0, 0, 1, 7, 1003))
    scale = source.integer(0, 7)
    if scale == 7:
        start_ms = max(source.item(_ORIGINS_MS) - source.integer(-10, 3 * tick_ms * wheel_size), 0)
    # Where due times are exact the ticks are the timer's own, of which there would be too many.
    if scale == 6 and profile.rounding is not Rounding.EXACT:
        tick_ms = source.item(_LONG_TICKS_MS)
        start_ms = source.integer(0, 3) * tick_ms
    return PurgatoryConfiguration(
        purge_interval=source.item((0, 1, 2, 2, 5, 20)),
        time_outs=time_outs,
        tick_ms=tick_ms,
        wheel_size=wheel_size,
        start_ms=start_ms,
    )


def draw_purgatory_operations(
    configuration: PurgatoryConfiguration,
    profile: PurgatoryProfile,
    source: Source,
    most: int,
    wanted: frozenset[str] = frozenset(),
) -> tuple[Operation, ...]:
    """Return the operations of one case, at most about ``most``.

    ``wanted`` are the rules that have not been put to the test often enough. Where the tick is
    long, times are drawn in ticks, and so followed as far as short ones.
    """
    unit_ms = configuration.tick_ms if configuration.tick_ms in _LONG_TICKS_MS else 1
    in_units = msgspec.structs.replace(
        configuration,
        tick_ms=configuration.tick_ms // unit_ms,
        start_ms=configuration.start_ms // unit_ms,
    )
    draft = PurgatoryDraft(in_units, profile)
    draft.world.unit_ms = unit_ms
    rows = [row for row in PURGATORY_TABLE if draft.offers(row.name)]
    operations = list(draft.opening(source))
    for row in drawn_rows(rows, wanted, source, operations, most):
        operations.extend(draft.draw(row.name, source))
    ended = list(draft.shutdown(source, 2 if SHUTDOWN_ROW.rules & wanted else 6))
    most_ended = len(ended) + _STEPS_AFTER_SHUTDOWN
    for row in drawn_rows(rows, wanted, source, ended, most_ended) if ended else ():
        ended.extend(draft.draw(row.name, source))
    operations.extend(ended)
    operations.extend(draft.last_looks(tuple(operations), source))
    longer = of_numbers(lambda number: number * unit_ms, "delay_ms", "to_ms")
    return tuple(operations) if unit_ms == 1 else all_changed(tuple(operations), longer)
