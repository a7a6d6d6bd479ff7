"""The kind of purgatory that is simulated, and the faults that it may have."""

import random
from dataclasses import dataclass
from enum import Enum

from purgatory_spec.profiles import Accounting, PurgatoryConfiguration, PurgatoryProfile, Rounding


class PurgatoryFault(Enum):
    """The faults of a purgatory with one operation, or in one call."""

    LOST_WAKE_UP = "a check does not try what waits under its key"
    TRIED_IN_VAIN = "a check tries what is satisfied, and does not complete it"
    NOT_TRIED_AGAIN = "a watch does not try a second time"
    COMPLETED_TWICE = "is completed by a check, and by another one"
    COMPLETED_UNTRIED = "a check completes what it has not tried"
    NEVER_EXPIRES = "is neither completed nor times out"
    EXPIRES_EARLY = "times out early"
    EXPIRES_LATE = "times out late, beyond the declared lateness"
    EXPIRES_TWICE = "times out twice"
    EXPIRES_THOUGH_COMPLETED = "times out though it was completed"
    EXPIRES_BEFORE_COMPLETION = "its expiration is told before its completion"
    EXPIRES_WHEN_CLOSED = "times out after shutdown"
    COUNTS_TOO_MANY = "a check counts one too many"
    COUNTS_TOO_FEW = "a check counts one too few"
    CANCEL_LEAVES_OUT = "a cancellation does not return what it took"
    CANCEL_REPEATS = "a cancellation returns an operation twice"
    CANCELLED_YET_TRIED = "is cancelled, and tried by a check"
    CANCELLED_YET_EXPIRES = "is cancelled under its last key, and times out"
    CANCEL_TAKES_TIME_OUT = "is cancelled under one of two keys, and does not time out"
    FORCE_LIES = "a force that completes says no"
    FORCED_AGAIN = "a second force completes it again"
    WATCH_LIES = "a watch says that it has completed what it has not"
    TAKEN_WHEN_CLOSED = "is taken after shutdown"
    TAKEN_WITHOUT_KEYS = "is taken under no key"
    REFUSED_WHEN_OPEN = "is refused before shutdown"
    SNAPSHOT_NOT_WATCHED = "a snapshot tells of no entry of what is watched"
    SNAPSHOT_NOT_DELAYED = "a snapshot tells of no time-out of what owes one"


@dataclass(frozen=True)
class PurgatoryPlan:
    """The kind of purgatory, and the users of it."""

    threads: int = 3
    calls: int = 20
    """Of each thread."""
    keys: int = 3
    accounting: Accounting = Accounting.EXACT
    arms_first: bool = False
    """True if, under the accounting ``proposal``, a watch arms before it enters the lists."""
    time_outs: bool = True
    tick_ms: int = 1
    rounding: Rounding = Rounding.DOWN
    lateness_ms: int = 20
    lag_ns: int = 40_000
    """The longest time that a thread may hold a reading before it writes its line, ns."""
    has_reaper: bool = True
    """True if a thread of the purgatory's own advances it; otherwise a user's does, by calls."""
    tells_tries: bool = True
    tells_satisfied: bool = True
    shuts_down: bool = False
    ends_abruptly: bool = False
    """True if the run ends with operations that wait."""

    @property
    def configuration(self) -> PurgatoryConfiguration:
        """Return what the first line says of its arguments."""
        return PurgatoryConfiguration(time_outs=self.time_outs, tick_ms=self.tick_ms)

    @property
    def profile(self) -> PurgatoryProfile:
        """Return what the first line says of its choices."""
        return PurgatoryProfile(accounting=self.accounting, rounding=self.rounding)


def drawn_plan(seed: int) -> PurgatoryPlan:
    """A plan that a seed stands for."""
    source = random.Random(seed)
    lateness_ms = source.choice((3, 5, 20, 50))
    return PurgatoryPlan(
        threads=source.randint(2, 8),
        calls=source.randint(5, 20),
        keys=source.randint(1, 5),
        accounting=source.choice(list(Accounting)),
        arms_first=source.random() < 0.5,
        time_outs=source.random() < 0.8,
        tick_ms=source.choice((1, 1, 3, 10, 50)),
        rounding=source.choice((Rounding.DOWN, Rounding.UP)),
        lateness_ms=lateness_ms,
        lag_ns=source.choice((0, 40_000, lateness_ms * 50_000)),
        has_reaper=source.random() < 0.7,
        tells_tries=source.random() < 0.8,
        tells_satisfied=source.random() < 0.7,
        shuts_down=source.random() < 0.3,
        ends_abruptly=source.random() < 0.3,
    )
