"""All studies: the question of each, and the settings that answer it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from purgatory_lab.studies.key_layouts import Layout
from purgatory_lab.studies.setting import Case, DesignName, Expiries, Setting

CASES: Final[tuple[Case, ...]] = ("low", "high")
RATES: Final = (1_000, 10_000, 100_000)
TICKS_MS: Final = (1, 5, 20, 50, 250)
WHEEL_SIZES: Final = (2, 5, 20, 400)
LONG_TIME_OUTS_MS: Final = (200, 30_000, 600_000)
LONG_WHEEL_SIZES: Final = (2, 20)
PURGE_INTERVALS: Final = (10, 100, 1_000, 10_000)
COLLECTIONS_MS: Final = (10, 100, 1_000)
DESIGNS: Final[tuple[DesignName, ...]] = (
    "old",
    "proposal",
    "exact",
    "discontinuous",
)
LAYOUTS: Final[tuple[tuple[Layout, int, int], ...]] = (
    ("own", 1, 1),
    ("own", 1_000, 1_000),
    ("own", 10_000, 10_000),
    ("drawn", 3, 100),
    ("drawn", 3, 1_000),
    ("shared", 1, 1),
    ("shared", 1_000, 1_000),
    ("shared", 10_000, 10_000),
)


@dataclass(frozen=True, slots=True)
class Study:
    """A question and the settings that answer it.

    Attributes:
        name: What it is called on the command line.
        question: In one sentence.
        settings: In the order of the results.
    """

    name: str
    question: str
    settings: tuple[Setting, ...]


def _designs() -> Iterator[Setting]:
    for design in DESIGNS:
        for case in CASES:
            for rate in RATES:
                yield Setting("designs", design, case, rate=rate)


def _wheel() -> Iterator[Setting]:
    for case in CASES:
        for tick_ms in TICKS_MS:
            for wheel_size in WHEEL_SIZES:
                yield Setting(
                    "wheel",
                    "exact",
                    case,
                    tick_ms=tick_ms,
                    wheel_size=wheel_size,
                    layout="own",
                    keys=1,
                )
            yield Setting("wheel", "discontinuous", case, tick_ms=tick_ms, layout="own", keys=1)


def _time_outs() -> Iterator[Setting]:
    for time_out_ms in LONG_TIME_OUTS_MS:
        for wheel_size in LONG_WHEEL_SIZES:
            yield Setting(
                "time-outs",
                "exact",
                "all-expire",
                time_out_ms=time_out_ms,
                wheel_size=wheel_size,
                layout="own",
                keys=1,
            )
        yield Setting(
            "time-outs",
            "discontinuous",
            "all-expire",
            time_out_ms=time_out_ms,
            layout="own",
            keys=1,
        )


def _purge() -> Iterator[Setting]:
    designs: tuple[DesignName, ...] = ("old", "proposal", "exact")
    for design in designs:
        for interval in PURGE_INTERVALS:
            yield Setting("purge", design, "high", purge_interval=interval, key_space=1_000)


def _keys() -> Iterator[Setting]:
    designs: tuple[DesignName, ...] = ("proposal", "exact", "eager")
    for layout, keys, key_space in LAYOUTS:
        for design in designs:
            yield Setting("keys", design, "low", layout=layout, keys=keys, key_space=key_space)
        if layout == "own" and keys > 1:
            yield Setting(
                "keys",
                "exact",
                "low",
                layout=layout,
                keys=keys,
                key_space=key_space,
                purge_interval=1_000 * keys,
            )


def _weak() -> Iterator[Setting]:
    for collection_ms in COLLECTIONS_MS:
        yield Setting("weak", "weak", "high", collection_ms=collection_ms, key_space=1_000)
    yield Setting("weak", "proposal", "high", key_space=1_000)


def _expiries() -> Iterator[Setting]:
    designs: tuple[DesignName, ...] = ("proposal", "exact")
    moments: tuple[Expiries, ...] = ("before-purge-test", "after-purge-test")
    for design in designs:
        for expiries in moments:
            yield Setting("expiries", design, "high", tick_ms=50, layout="own", expiries=expiries)


def _agreement() -> Iterator[Setting]:
    pairs: tuple[tuple[DesignName, DesignName], ...] = (
        ("proposal", "bundled-proposal"),
        ("exact", "bundled-exact"),
    )
    for pair in pairs:
        for design in pair:
            yield Setting("agreement", design, "high", key_space=1_000)


STUDIES: Final = {
    study.name: study
    for study in (
        Study("designs", "What does each design cost as requests come faster?", (*_designs(),)),
        Study("wheel", "How bad is a bad tick, or a bad wheel size?", (*_wheel(),)),
        Study("time-outs", "How often is a task put again as time-outs grow?", (*_time_outs(),)),
        Study("purge", "How bad is a bad purge interval?", (*_purge(),)),
        Study("keys", "What does completing cost the caller, by the keys?", (*_keys(),)),
        Study("weak", "What do weak references cost, and what do they save?", (*_weak(),)),
        Study("expiries", "What if expired requests run after the purge test?", (*_expiries(),)),
        Study(
            "agreement",
            "Does the implementation count what the simulation counts?",
            (*_agreement(),),
        ),
    )
}
"""The studies by their names."""
