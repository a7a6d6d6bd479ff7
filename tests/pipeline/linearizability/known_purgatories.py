"""Histories of purgatories, known to be right or wrong, each with a word why."""

from purgatory_traces.traces.lines import PurgatoryInstance
from purgatory_spec.operations import (
    Advance,
    CancelForKey,
    Check,
    Elapse,
    Force,
    RunOne,
    Satisfy,
    Watch,
)
from purgatory_spec.outcomes import EventKind, completed, expired, timed_out, tried
from purgatory_spec.profiles import (
    Accounting,
    CancelResult,
    CheckDrops,
    Executor,
    FirstTry,
    PurgatoryProfile,
)

from .known_history import right, wrong
from .traces import back, call, event, step

EXACT = PurgatoryInstance(
    profile=PurgatoryProfile(accounting=Accounting.EXACT, executor=Executor.STEPPED)
)
EXACT_THREAD = PurgatoryInstance(
    profile=PurgatoryProfile(accounting=Accounting.EXACT, executor=Executor.THREAD)
)
EXACT_INLINE = PurgatoryInstance(
    profile=PurgatoryProfile(accounting=Accounting.EXACT, executor=Executor.INLINE)
)
LEAVING = PurgatoryInstance(
    profile=PurgatoryProfile(executor=Executor.STEPPED, check_drops=CheckDrops.EVERYWHERE)
)
ONE_TRY = PurgatoryInstance(
    profile=PurgatoryProfile(executor=Executor.STEPPED, first_try=FirstTry.NONE)
)
ONE_TRY_ARMED_FIRST = PurgatoryInstance(
    profile=PurgatoryProfile(
        accounting=Accounting.EXACT, executor=Executor.STEPPED, first_try=FirstTry.NONE
    )
)
CANCELS_LIVE = PurgatoryInstance(
    profile=PurgatoryProfile(executor=Executor.STEPPED, cancel_result=CancelResult.LIVE)
)

TRIED, COMPLETED, TIMED_OUT = EventKind.TRIED, EventKind.COMPLETED, EventKind.TIMED_OUT
W = Watch("a", ("k",), 10)
WAITS = (tried("a"), tried("a"))

CANCELLED_AMID_ITS_WATCH = (
    call("t", W, 1),
    event("t", TRIED, "a", 1),
    step("u", CancelForKey("k"), ("a",), at_ms=2),
    event("t", TRIED, "a", 3),
    back("t", False, 3),
)

PURGATORIES = {
    # Satisfied between the two tries: its own watch completes it.
    "a watch completes on its second try": right(
        EXACT,
        call("t", W),
        event("t", TRIED, "a"),
        step("u", Satisfy("a")),
        event("t", TRIED, "a"),
        event("t", COMPLETED, "a"),
        back("t", True),
    ),
    # The check began after it was satisfied and in its list, and must complete it.
    "a check passes what it should complete": wrong(
        EXACT, 3, step("t", W, False, *WAITS), step("u", Satisfy("a")), step("u", Check("k"), 0)
    ),
    # Two checks, one completion.
    "one of two checks completes": right(
        EXACT,
        step("t", W, False, *WAITS),
        step("t", Satisfy("a")),
        call("t", Check("k")),
        call("u", Check("k")),
        event("t", TRIED, "a"),
        event("t", COMPLETED, "a"),
        back("u", 0),
        back("t", 1),
    ),
    "both of two checks complete it": wrong(
        EXACT,
        10,
        step("t", W, False, *WAITS),
        step("t", Satisfy("a")),
        call("t", Check("k")),
        call("u", Check("k")),
        event("t", TRIED, "a"),
        event("t", COMPLETED, "a"),
        event("u", TRIED, "a"),
        event("u", COMPLETED, "a"),
        back("u", 1),
        back("t", 1),
    ),
    # It completed one and says two.
    "a check counts wrongly": wrong(
        EXACT,
        3,
        step("t", W, False, *WAITS),
        step("t", Satisfy("a")),
        step("u", Check("k"), 2, tried("a"), completed("a")),
    ),
    # Nobody named it, so that nothing but the count is wrong.
    "a check of an empty list counts one": wrong(EXACT, 1, step("u", Check("k"), 1)),
    "twice under a key, and due at once": right(
        EXACT,
        step("t", Watch("a", ("k", "k"), 0), False, tried("a"), expired("a"), tried("a")),
        step("e", RunOne(), None, completed("a"), timed_out("a")),
    ),
    "twice under a key, due at once, and armed last": right(
        EXACT,
        step("t", Watch("a", ("k", "k"), 0), False, *WAITS, expired("a")),
        step("t", Check("k"), 0, *WAITS),
        step("e", RunOne(), None, completed("a"), timed_out("a")),
    ),
    "due at once, and run in the middle of the watch": right(
        EXACT_INLINE,
        step("t", Watch("a", ("k",), 0), False, tried("a"), completed("a"), timed_out("a")),
    ),
    "due at once, and run at the end of the watch": right(
        EXACT_INLINE,
        step("t", Watch("a", ("k",), 0), False, *WAITS, completed("a"), timed_out("a")),
    ),
    "due at once, run in the middle of the watch, and run again": wrong(
        EXACT_INLINE,
        2,
        step("t", Watch("a", ("k",), 0), False, tried("a"), completed("a"), timed_out("a")),
        step("t", Advance(10), None, completed("a"), timed_out("a")),
    ),
    # The time-out and the force overlap; one of them completes.
    "forced and timed out at once": right(
        EXACT,
        step("t", W, False, *WAITS),
        step("t", Advance(10), None, expired("a")),
        call("e", RunOne()),
        call("t", Force("a")),
        back("t", False),
        event("e", COMPLETED, "a"),
        event("e", TIMED_OUT, "a"),
        back("e"),
    ),
    "forced, and timed out all the same": wrong(
        EXACT,
        7,
        step("t", W, False, *WAITS),
        step("t", Advance(10), None, expired("a")),
        step("t", Force("a"), True, completed("a")),
        call("e", RunOne()),
        event("e", COMPLETED, "a"),
        event("e", TIMED_OUT, "a"),
        back("e"),
    ),
    # In a thread of the executor, which makes no calls: completed a moment before its callback.
    "a time-out in a thread of the executor": right(
        EXACT_THREAD,
        step("t", W, False, *WAITS, at_ms=1),
        step("t", Force("a"), False, at_ms=12),
        event("e", COMPLETED, "a", 13),
        event("e", TIMED_OUT, "a", 13),
        ended_ms=100,
    ),
    "completed by nobody": wrong(
        EXACT_THREAD,
        2,
        step("t", W, False, *WAITS, at_ms=1),
        step("t", Force("a"), False, at_ms=12),
        ended_ms=100,
    ),
    # The cancellation finds no time-out yet: it is armed last.
    "cancelled amid its watch, and armed behind it": right(
        EXACT_THREAD,
        *CANCELLED_AMID_ITS_WATCH,
        event("e", COMPLETED, "a", 13),
        event("e", TIMED_OUT, "a", 13),
        ended_ms=100,
    ),
    # Armed first: its watch is still to try again. The other operation's is armed last.
    "each operation has an order of its own": right(
        EXACT_THREAD,
        *CANCELLED_AMID_ITS_WATCH,
        call("t", Watch("b", ("k",), 5), 4),
        event("t", TRIED, "b", 4),
        event("e", COMPLETED, "b", 12),
        event("e", TIMED_OUT, "b", 12),
        event("e", COMPLETED, "a", 13),
        event("e", TIMED_OUT, "a", 13),
        back("t", False, 14),
        ended_ms=100,
    ),
    "cancelled behind its watch, and timed out all the same": wrong(
        EXACT_THREAD,
        4,
        step("t", W, False, *WAITS, at_ms=1),
        step("u", CancelForKey("k"), ("a",), at_ms=2),
        event("e", COMPLETED, "a", 13),
        event("e", TIMED_OUT, "a", 13),
        ended_ms=100,
    ),
    # The purge of a real clock cannot be seen.
    "purged while nobody looks": right(
        EXACT_THREAD,
        step("t", W, False, *WAITS, at_ms=1),
        step("t", Force("a"), True, completed("a"), at_ms=2),
        step("t", CancelForKey("k"), (), at_ms=30),
        ended_ms=100,
    ),
    # On a manual clock nobody advanced, so nothing was purged.
    "gone, though nothing purged": wrong(
        EXACT,
        3,
        step("t", W, False, *WAITS),
        step("t", Force("a"), True, completed("a")),
        step("t", CancelForKey("k"), ()),
    ),
    # An advance with an inline executor runs the time-out itself.
    "an inline advance times out": right(
        EXACT_INLINE,
        step("t", W, False, *WAITS),
        call("u", Advance(10)),
        event("u", COMPLETED, "a"),
        call("t", Check("k")),
        back("t", 0),
        event("u", TIMED_OUT, "a"),
        back("u"),
    ),
    "an inline advance times out twice": wrong(
        EXACT_INLINE,
        4,
        step("t", W, False, *WAITS),
        step("u", Advance(10), None, completed("a"), timed_out("a")),
        step("u", Elapse(11)),
        step("u", Advance(12), None, completed("a"), timed_out("a")),
    ),
    # Two keys, each cancelled once; the second time nothing is left.
    "cancelled twice for one key": wrong(
        EXACT,
        3,
        step("t", W, False, *WAITS),
        step("t", CancelForKey("k"), ("a",)),
        step("u", CancelForKey("k"), ("a",)),
    ),
    # It has left all its lists as it was completed.
    "cancelled without what is completed": right(
        LEAVING,
        step("t", W, False, *WAITS),
        step("t", Force("a"), True, completed("a")),
        step("t", CancelForKey("k"), ()),
    ),
    # Its only try comes when it is in its list: a check may complete it before.
    "a check completes it before the only try of its watch": right(
        ONE_TRY,
        call("t", W),
        step("u", Satisfy("a")),
        step("u", Check("k"), 1, tried("a"), completed("a")),
        back("t", False),
        step("t", CancelForKey("k"), ()),
    ),
    "the only try of a watch": right(
        ONE_TRY_ARMED_FIRST,
        step("t", W, False, tried("a")),
        step("t", Advance(10), None, expired("a")),
        step("t", RunOne(), None, completed("a"), timed_out("a")),
    ),
    # What the only try completes is in its list, and stays there.
    "the only try completes and leaves nothing behind": wrong(
        ONE_TRY,
        3,
        step("t", Satisfy("a")),
        step("t", W, True, tried("a"), completed("a")),
        step("t", CancelForKey("k"), ()),
    ),
    "a second try where there is one": wrong(ONE_TRY, 1, step("t", W, False, *WAITS)),
    # Completed operations are left out there, and so is nothing else.
    "cancelled without what is completed, where the live are answered": right(
        CANCELS_LIVE,
        step("t", W, False, *WAITS),
        step("t", Force("a"), True, completed("a")),
        step("t", CancelForKey("k"), ()),
    ),
    "cancelled with what is completed, where the live are answered": wrong(
        CANCELS_LIVE,
        3,
        step("t", W, False, *WAITS),
        step("t", Force("a"), True, completed("a")),
        step("t", CancelForKey("k"), ("a",)),
    ),
    "cancelled without what waits, where the live are answered": wrong(
        CANCELS_LIVE, 2, step("t", W, False, *WAITS), step("t", CancelForKey("k"), ())
    ),
    # It is completed while the cancellation is under way, which may have looked before or after.
    "cancelled and answered while it is completed": right(
        CANCELS_LIVE,
        step("t", W, False, *WAITS),
        call("t", CancelForKey("k")),
        step("u", Force("a"), True, completed("a")),
        back("t", ("a",)),
    ),
    "cancelled and left out while it is completed": right(
        CANCELS_LIVE,
        step("t", W, False, *WAITS),
        call("t", CancelForKey("k")),
        step("u", Force("a"), True, completed("a")),
        back("t", ()),
    ),
    # It has not been checked, and so it stands in its list.
    "cancelled without what is completed and stays": wrong(
        EXACT,
        3,
        step("t", W, False, *WAITS),
        step("t", Force("a"), True, completed("a")),
        step("t", CancelForKey("k"), ()),
    ),
    # What waits is cancelled there, too.
    "cancelled without what waits": wrong(
        LEAVING, 2, step("t", W, False, *WAITS), step("t", CancelForKey("k"), ())
    ),
    # A callback of a check watches another operation: a call inside a call.
    "a callback watches": right(
        EXACT,
        step("t", W, False, *WAITS),
        step("t", Satisfy("a")),
        call("t", Check("k")),
        event("t", TRIED, "a"),
        event("t", COMPLETED, "a"),
        call("t", Watch("b", ("k",), 10)),
        event("t", TRIED, "b"),
        event("t", TRIED, "b"),
        back("t", False),
        back("t", 1),
    ),
}
