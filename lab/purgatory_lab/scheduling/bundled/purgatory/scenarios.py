"""Scenarios of the purgatory: what may happen to an operation, two things at a time."""

from collections.abc import Callable
from functools import partial
from typing import Final, Literal

from purgatory_lab.scheduling.bundled.purgatory.world import PurgatoryWorld
from purgatory_lab.scheduling.scenario import Call, Observe, Program, Scenario
from purgatory_spec import operations as op

Accounting = Literal["exact", "proposal"]
ACCOUNTINGS: Final[tuple[Accounting, ...]] = ("exact", "proposal")

_WATCH: Final = op.Watch("1", ("k",), 1)
_TWO_KEYS: Final = op.Watch("1", ("k", "l"), 1)
_PURGE: Final = op.Advance(0)
"""An advance that is a purge alone: nothing is due at time 0."""
_THREE: Final = (_WATCH, op.Watch("2", ("k",), 1), op.Watch("3", ("k",), 1), op.Force("1"))
"""A stale entry before two live entries, in one list: a purge makes two chunks into one."""


def _scenario(
    name: str,
    about: str,
    first: tuple[Call, ...],
    second: tuple[Call, ...],
    setup: tuple[op.Operation, ...] = (),
) -> tuple[str, str, tuple[Program, ...], tuple[op.Operation, ...]]:
    names = name.split("-and-")
    return name, about, (Program(names[0], first), Program(names[1], second)), setup


_PAIRS: Final = (
    _scenario(
        "watch-and-check",
        "an operation becomes completable and its key is checked while it is being watched",
        (_WATCH,),
        (op.Satisfy("1"), op.Check("k")),
    ),
    _scenario(
        "watch-and-check-of-two-keys",
        "the same with two keys, of which the second one is checked",
        (_TWO_KEYS,),
        (op.Satisfy("1"), op.Check("l")),
    ),
    _scenario(
        "watch-and-cancel",
        "a key is cancelled while an operation is being watched under it and another key",
        (_TWO_KEYS,),
        (op.CancelForKey("k"),),
    ),
    _scenario(
        "watch-and-expiry",
        "the time-out comes while the operation is being watched",
        (_TWO_KEYS,),
        (op.Advance(1), op.RunOne()),
    ),
    _scenario(
        "check-and-force",
        "an operation is completed by force while its key is checked",
        (op.Satisfy("1"), op.Check("k")),
        (op.Force("1"),),
        setup=(_TWO_KEYS,),
    ),
    _scenario(
        "watch-and-force",
        "an operation is completed by force while it is being watched",
        (_TWO_KEYS,),
        (op.Force("1"),),
    ),
    _scenario(
        "watch-and-observe",
        "the counts are read while an operation is watched and completed",
        (_TWO_KEYS, op.Force("1")),
        (Observe(),),
    ),
    _scenario(
        "check-and-another-check",
        "a key with two operations is checked by two threads",
        (op.Check("k"),),
        (op.Check("k"),),
        setup=(_WATCH, op.Watch("2", ("k",), 1), op.Satisfy("1"), op.Satisfy("2")),
    ),
    _scenario(
        "purge-and-watch",
        "a purge is under way while operations are watched beside a stale one",
        (_PURGE,),
        (op.Watch("2", ("k",), 1), op.Force("2")),
        setup=(_TWO_KEYS, op.Force("1")),
    ),
    _scenario(
        "purge-and-another-purge",
        "two threads purge the same lists",
        (_PURGE,),
        (_PURGE,),
        setup=(
            _TWO_KEYS,
            op.Watch("2", ("k",), 1),
            op.Watch("3", ("k",), 1),
            op.Force("1"),
            op.Force("3"),
        ),
    ),
    _scenario(
        "rewatch-and-cancel",
        "an operation is watched once more while its first key is cancelled",
        (op.Watch("1", ("l",), 1),),
        (op.CancelForKey("k"),),
        setup=(_WATCH,),
    ),
    _scenario(
        "purge-and-append",
        "the last entry leaves a list while another operation is appended to it",
        (_PURGE,),
        (op.Watch("2", ("k",), 1),),
        setup=(_WATCH, op.Force("1")),
    ),
    _scenario(
        "close-and-watch",
        "the purgatory is closed while an operation is being watched",
        (op.Shutdown(),),
        (_WATCH, op.Watch("2", ("k",), 1)),
    ),
    _scenario(
        "expiry-and-check",
        "the time-out runs while the operation is being completed by a check",
        (op.Elapse(1), op.Advance(1), op.RunOne()),
        (op.Satisfy("1"), op.Check("k")),
        setup=(_TWO_KEYS,),
    ),
    _scenario(
        "check-and-append",
        "the last entry leaves a list by a check while another operation is appended to it",
        (op.Satisfy("1"), op.Check("k")),
        (op.Watch("2", ("k",), 1),),
        setup=(_WATCH,),
    ),
    _scenario(
        "cancel-and-check",
        "a key is cancelled while it is checked",
        (op.CancelForKey("k"),),
        (op.Satisfy("1"), op.Check("k")),
        setup=(_TWO_KEYS,),
    ),
    _scenario(
        "purge-and-check-of-three",
        "a purge moves the entries of a list while a check stands on one",
        (_PURGE,),
        (op.Satisfy("2"), op.Check("k")),
        setup=_THREE,
    ),
    _scenario(
        "cancel-and-purge",
        "a key with three operations is cancelled while its list is purged",
        (op.CancelForKey("k"),),
        (_PURGE,),
        setup=_THREE,
    ),
)


_TWO_TRIES: Final = ((), ())
"""The first and the second try of a watch, which do nothing else."""


def _crossing(
    name: str,
    about: str,
    in_try: dict[str, tuple[op.CallbackAction, ...]],
    in_callback: dict[str, tuple[op.CallbackAction, ...]] | None = None,
    expires: str = "",
) -> Scenario:
    """Return a scenario in which operations call each other's keys, from checks and expiries.

    The operation ``a`` waits under the key ``a``. It acts in the tries after its watch: of two
    operations in the first three, of more in the first.
    """
    on_complete = in_callback or {}
    names = sorted({*in_try, *on_complete})
    setup = tuple(
        op.Watch(
            each,
            (each,),
            1 if each == expires else 2,
            op.Script(
                on_try=(*_TWO_TRIES, *(in_try[each],) * (3 if len(names) == 2 else 1))
                if each in in_try
                else (),
                on_complete=on_complete.get(each, ()),
            ),
        )
        for each in names
    )
    programs = tuple(
        Program(
            f"check-{each}", (op.Advance(1), op.RunOne()) if each == expires else (op.Check(each),)
        )
        for each in names
    )
    satisfied = tuple(op.Satisfy(each) for each in on_complete if each not in in_try)
    return Scenario(f"crossing-{name}", about, programs, PurgatoryWorld, (*setup, *satisfied))


def _tells(name: str) -> tuple[op.CallbackAction, ...]:
    """Return actions that make an operation completable and check its key."""
    return (op.SatisfyInside(name), op.CheckInside(name))


def _watches_again(name: str) -> tuple[op.CallbackAction, ...]:
    return (op.SatisfyInside(name), op.WatchInside(name, ("k",), 2))


CROSSING_SCENARIOS: Final = (
    _crossing(
        "tries-check",
        "the tries of two operations check each other's key",
        {"a": _tells("b"), "b": _tells("a")},
    ),
    _crossing(
        "tries-check-in-a-ring",
        "the tries of three operations check the next one's key",
        {"a": (op.CheckInside("b"),), "b": (op.CheckInside("c"),), "c": (op.CheckInside("a"),)},
    ),
    _crossing(
        "tries-force",
        "the tries of two operations force each other",
        {"a": (op.ForceInside("b"),), "b": (op.ForceInside("a"),)},
    ),
    _crossing(
        "tries-force-in-a-ring",
        "the tries of three operations force the next one",
        {"a": (op.ForceInside("b"),), "b": (op.ForceInside("c"),), "c": (op.ForceInside("a"),)},
    ),
    _crossing(
        "tries-watch",
        "the tries of two operations watch each other once more",
        {"a": _watches_again("b"), "b": _watches_again("a")},
    ),
    _crossing(
        "tries-cancel",
        "the tries of two operations cancel each other's key, and check it",
        {
            "a": (op.CancelForKeyInside("b"), op.CheckInside("b")),
            "b": (op.CancelForKeyInside("a"), op.CheckInside("a")),
        },
    ),
    _crossing(
        "try-and-callback-check",
        "a try checks the key of an operation whose callback checks the key of the first",
        {"a": _tells("b")},
        {"b": _tells("a")},
    ),
    _crossing(
        "try-checks-and-callback-forces",
        "a try checks the key of an operation whose callback forces the first",
        {"a": _tells("b")},
        {"b": (op.ForceInside("a"),)},
    ),
    _crossing(
        "callbacks-check",
        "the callbacks of two operations check each other's key",
        {},
        {"a": _tells("b"), "b": _tells("a")},
    ),
    _crossing(
        "callbacks-check-in-a-ring",
        "the callbacks of three operations check the next one's key",
        {},
        {"a": _tells("b"), "b": _tells("c"), "c": _tells("a")},
    ),
    _crossing(
        "callbacks-force",
        "the callbacks of two operations force each other",
        {},
        {"a": (op.ForceInside("b"),), "b": (op.ForceInside("a"),)},
    ),
    _crossing(
        "try-and-expiry",
        "a try checks the key of an operation that expires, and whose callback checks the other",
        {"a": _tells("b")},
        {"b": _tells("a")},
        expires="b",
    ),
)
"""Operations that would wait for each other, if a try or a callback waited."""


def purgatory_scenarios(accounting: Accounting) -> tuple[Scenario, ...]:
    """Return all scenarios, on a purgatory with this accounting."""
    make: Callable[..., PurgatoryWorld] = partial(PurgatoryWorld, accounting=accounting)
    pairs = tuple(
        Scenario(f"{accounting}-{name}", about, programs, make, setup)
        for name, about, programs, setup in _PAIRS
    )
    reaper = Scenario(
        f"{accounting}-own-reaper",
        "operations become stale while the purgatory's own thread waits for that",
        (Program("force", (op.Force("1"),)), Program("elapse", (op.Force("2"), op.Elapse(500)))),
        partial(make, reaper=True),
        setup=(_TWO_KEYS, op.Watch("2", ("k",), 1)),
    )
    return (*pairs, reaper)
