"""The suite's own wrong purgatories: each breaks one rule, and the suite must say which.

Among them are the defects that Kafka had, as far as they show in a sequence of steps.
"""

import inspect
import re
from functools import partial

import msgspec

from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.small_purgatory import (
    PROFILE,
    SmallPurgatory,
    small_purgatory,
)
from purgatory_conformance.specimens.wrong import (
    checking,
    completing,
    counting,
    histories,
    watching,
)
from purgatory_spec.profiles import (
    Accounting,
    Component,
    PurgatoryObservable,
    PurgatoryProfile,
    ThrowingTry,
)

SILENT_PROFILE = msgspec.structs.replace(PROFILE, observables=frozenset())
"""The profile of a first adapter that has everything and shows nothing but events and results."""

PROPOSAL_PROFILE = msgspec.structs.replace(
    PROFILE,
    accounting=Accounting.PROPOSAL,
    throwing_try=ThrowingTry.STOP,
    observables=PROFILE.observables - {PurgatoryObservable.PENDING},
)
"""The choices of Kafka's purgatory, but for its timer's structure."""

ESTIMATE_PROFILE = msgspec.structs.replace(
    PROPOSAL_PROFILE,
    observables=PROPOSAL_PROFILE.observables - {PurgatoryObservable.STALE_OPERATIONS},
)
"""The same without the count that shows that the published accounting does not bound it."""


class MassExpiryUncounted(SmallPurgatory):
    """The published accounting: a mass expiry is purged too early, and then forgotten."""


def _mutant(
    purgatory: type[SmallPurgatory],
    rule: str,
    *also: str,
    profile: PurgatoryProfile = PROFILE,
) -> Mutant:
    """The mutant of a purgatory, named after its class and summarised by its docstring."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "-", purgatory.__name__).lower()
    if profile is SILENT_PROFILE:
        name += "-unseen"
    make = partial(small_purgatory, purgatory, profile, name)
    summary = inspect.cleandoc(purgatory.__doc__ or "")
    rules = (f"PURGATORY-{each}" for each in also)
    return Mutant(name, summary, f"PURGATORY-{rule}", tuple(rules), make, Component.PURGATORY)


_MUTANTS = (
    _mutant(completing.CompletesTwice, "EXACTLY-ONCE"),
    _mutant(completing.OtherKeyCompletesAgain, "EXACTLY-ONCE"),
    _mutant(completing.ExpirationFirst, "CALLBACK-ORDER"),
    _mutant(completing.ExpirationWithoutTimeOut, "CALLBACK-ORDER"),
    _mutant(completing.CompletedAfterCallback, "CALLBACK-ORDER"),
    _mutant(completing.TimeOutTakenLast, "CALLBACK-ORDER", "CALLBACK-THROWS"),
    _mutant(completing.NeverArmed, "TIME-OUT", profile=SILENT_PROFILE),
    _mutant(completing.TimeOutLate, "TIME-OUT"),
    _mutant(completing.TimeOutEarly, "TIME-OUT"),
    _mutant(completing.DelayFromLastAdvance, "TIME-OUT"),
    _mutant(completing.LostExpiryExpires, "LOST-EXPIRY"),
    _mutant(completing.LostExpiryCompletes, "LOST-EXPIRY"),
    _mutant(completing.StaysInTimer, "TIMER-LEFT", "WATCH-SECOND-TRY"),
    _mutant(completing.StaysInTimer, "TIMER-LEFT", "WATCH-SECOND-TRY", profile=SILENT_PROFILE),
    _mutant(completing.ForceSaysNo, "FORCE"),
    _mutant(completing.ForceTriesFirst, "FORCE"),
    _mutant(completing.ForceOnlyWatched, "FORCE"),
    _mutant(completing.ForceAgainSaysYes, "FORCE-AGAIN"),
    _mutant(completing.ForceAgainCalls, "FORCE-AGAIN"),
    _mutant(watching.FirstTryWatches, "WATCH-FIRST-TRY"),
    _mutant(watching.FirstTryCounts, "WATCH-FIRST-TRY", profile=ESTIMATE_PROFILE),
    _mutant(watching.FirstTrySaysNo, "WATCH-FIRST-TRY"),
    _mutant(watching.NoSecondTry, "WATCH-SECOND-TRY"),
    _mutant(watching.SecondTrySaysNo, "WATCH-SECOND-TRY"),
    _mutant(watching.SecondTryTakesBack, "WATCH-SECOND-TRY"),
    _mutant(watching.SecondTryStaysArmed, "WATCH-SECOND-TRY"),
    _mutant(watching.SecondTryStaysArmed, "WATCH-SECOND-TRY", profile=SILENT_PROFILE),
    _mutant(watching.OnlyFirstKey, "WATCH-WAITS"),
    _mutant(watching.NewestAtTheHead, "WATCH-WAITS", "CHECK-ORDER", "CANCEL-RESULT"),
    _mutant(watching.WatchSaysYes, "WATCH-WAITS"),
    _mutant(watching.WatchedWithoutTimeOut, "WATCH-WAITS"),
    _mutant(watching.NoKeysTaken, "NO-KEYS"),
    _mutant(watching.NoKeysTried, "NO-KEYS"),
    _mutant(watching.KeysMadeDistinct, "DUPLICATE-KEYS"),
    _mutant(watching.KeysMadeDistinct, "DUPLICATE-KEYS", profile=SILENT_PROFILE),
    _mutant(watching.RewatchKeepsTimeOut, "REWATCH"),
    _mutant(watching.RewatchIgnored, "REWATCH"),
    _mutant(watching.RewatchKnowsKeys, "REWATCH"),
    _mutant(watching.CompletedIsWatched, "WATCH-COMPLETED"),
    _mutant(watching.CompletedIsArmed, "WATCH-COMPLETED"),
    _mutant(watching.CompletedIsArmed, "WATCH-COMPLETED", profile=SILENT_PROFILE),
    _mutant(watching.CompletedSaysYes, "WATCH-COMPLETED"),
    _mutant(watching.TimesOutAnyway, "NO-TIME-OUTS"),
    _mutant(watching.TimesOutAnyway, "NO-TIME-OUTS", profile=SILENT_PROFILE),
    _mutant(checking.NewestFirst, "CHECK-ORDER"),
    _mutant(checking.OncePerOperation, "CHECK-ORDER", "DUPLICATE-KEYS", "REWATCH"),
    _mutant(checking.FirstEntryOnly, "CHECK-ORDER", "DUPLICATE-KEYS", "REWATCH"),
    _mutant(checking.CountsStale, "CHECK-COUNT"),
    _mutant(checking.CountsTries, "CHECK-COUNT"),
    _mutant(checking.CompletedStays, "CHECK-DROPS"),
    _mutant(checking.StaleStays, "CHECK-DROPS"),
    _mutant(checking.DropsEverywhere, "CHECK-DROPS"),
    _mutant(checking.WaitingDropped, "CHECK-DROPS"),
    _mutant(checking.SweepsBehind, "CHECK-DROPS"),
    _mutant(checking.TriesCompleted, "COMPLETED-NOT-TRIED"),
    _mutant(checking.LostWakeUp, "NOT-LOST"),
    _mutant(checking.UnknownKeyFails, "CHECK-UNKNOWN"),
    _mutant(checking.EmptyListsStay, "EMPTY-LISTS"),
    _mutant(checking.PurgeLeavesEmptyLists, "EMPTY-LISTS"),
    _mutant(watching.FirstTryThrowsWatched, "FIRST-TRY-THROWS"),
    _mutant(watching.FirstTryThrowsArmed, "FIRST-TRY-THROWS"),
    _mutant(watching.FirstTryThrowsArmed, "FIRST-TRY-THROWS", profile=SILENT_PROFILE),
    _mutant(watching.FirstTryThrowSwallowed, "FIRST-TRY-THROWS"),
    _mutant(watching.SecondTryThrowsUnarmed, "SECOND-TRY-THROWS"),
    _mutant(watching.SecondTryThrowsUnarmed, "SECOND-TRY-THROWS", profile=SILENT_PROFILE),
    _mutant(watching.SecondTryThrowsUnlisted, "SECOND-TRY-THROWS"),
    _mutant(checking.ThrowingDropped, "CHECK-THROWS"),
    _mutant(checking.CheckSwallows, "CHECK-THROWS"),
    _mutant(checking.CheckThrowsBackwards, "CHECK-THROWS"),
    _mutant(completing.CallbackThrowUndoes, "CALLBACK-THROWS"),
    _mutant(completing.CallbackThrowSwallowed, "CALLBACK-THROWS"),
    _mutant(completing.ExpirationDespiteThrow, "CALLBACK-THROWS"),
    _mutant(completing.ExpiryThrowLosesQueue, "EXPIRY-THROWS"),
    _mutant(completing.ExpiryThrowLosesQueue, "EXPIRY-THROWS", profile=SILENT_PROFILE),
    _mutant(completing.ExpiryThrowEscapes, "EXPIRY-THROWS"),
    _mutant(completing.ExpiryThrowStopsTimer, "EXPIRY-THROWS"),
    _mutant(checking.WatchInsideLost, "WATCH-INSIDE"),
    _mutant(checking.CheckInsideLost, "CHECK-INSIDE"),
    _mutant(checking.CancelForKeyInsideLost, "CANCEL-INSIDE"),
    _mutant(checking.CancelForKeyInsideLost, "CANCEL-INSIDE", profile=SILENT_PROFILE),
    _mutant(checking.ForceInsideLost, "FORCE-INSIDE"),
    _mutant(checking.CancelAnswersLive, "CANCEL-RESULT"),
    _mutant(checking.CancelAnswersBackwards, "CANCEL-RESULT"),
    _mutant(checking.CancelAnswersOnce, "CANCEL-RESULT"),
    _mutant(checking.CancelKeepsList, "CANCEL-LEAVES"),
    _mutant(
        checking.CancelKeepsList,
        "CANCEL-LEAVES",
        "CANCEL-LAST-KEY",
        "CANCEL-RESULT",  # the kept list brings a purge forward, which another cancel shows
        profile=SILENT_PROFILE,
    ),
    _mutant(checking.CancelCompletes, "CANCEL-LEAVES"),
    _mutant(checking.CancelEverywhere, "CANCEL-LEAVES"),
    _mutant(checking.CancelKeepsLastTimeOut, "CANCEL-LAST-KEY"),
    _mutant(checking.CancelKeepsLastTimeOut, "CANCEL-LAST-KEY", profile=SILENT_PROFILE),
    _mutant(checking.CancelTakesQueuedExpiry, "CANCEL-LAST-KEY"),
    _mutant(checking.CancelTakesQueuedExpiry, "CANCEL-LAST-KEY", profile=SILENT_PROFILE),
    _mutant(checking.CancelTakesTimeOut, "CANCEL-KEEPS-TIME-OUT"),
    _mutant(checking.CancelTakesTimeOut, "CANCEL-KEEPS-TIME-OUT", profile=SILENT_PROFILE),
    _mutant(checking.CancelUnknownKeyFails, "CANCEL-UNKNOWN"),
    _mutant(counting.EntriesOfLive, "ENTRIES"),
    _mutant(counting.EntriesOnce, "ENTRIES"),
    _mutant(counting.TimerSizeOfPending, "TIMER-SIZE"),
    _mutant(counting.PendingIsTimerSize, "PENDING"),
    _mutant(counting.PendingUncompleted, "PENDING"),
    _mutant(counting.EstimateByKeys, "ESTIMATE-PROPOSAL", profile=ESTIMATE_PROFILE),
    _mutant(counting.EstimateFalls, "ESTIMATE-PROPOSAL", profile=ESTIMATE_PROFILE),
    _mutant(counting.EstimateNotReset, "ESTIMATE-PROPOSAL", profile=ESTIMATE_PROFILE),
    _mutant(counting.EstimateIsPending, "ESTIMATE-EXACT"),
    _mutant(counting.EstimateOfOperations, "ESTIMATE-EXACT"),
    _mutant(counting.PurgeAtInterval, "PURGE-START"),
    _mutant(counting.NeverPurges, "PURGE-START"),
    _mutant(counting.PurgesWhenExpired, "PURGE-START"),
    _mutant(counting.ChecksForgotten, "PURGE-START"),
    _mutant(counting.PurgesOneList, "PURGE-REMOVES"),
    _mutant(counting.PurgesLive, "PURGE-REMOVES"),
    _mutant(counting.PurgeReverses, "PURGE-REMOVES"),
    _mutant(MassExpiryUncounted, "STALE-OPERATIONS", profile=PROPOSAL_PROFILE),
    _mutant(counting.StaleOperationsCounted, "STALE-ENTRIES"),
    _mutant(watching.WatchedAfterShutdown, "SHUTDOWN-CLOSED"),
    _mutant(watching.TriedAfterShutdown, "SHUTDOWN-CLOSED"),
    _mutant(completing.ShutdownKeepsTimeOuts, "SHUTDOWN-DROPS"),
    _mutant(completing.ShutdownDropsQueue, "SHUTDOWN-DROPS"),
    _mutant(completing.ClosedForChecks, "SHUTDOWN-COMPLETES"),
    _mutant(completing.ShutdownEmptiesLists, "SHUTDOWN-COMPLETES"),
    _mutant(completing.ShutdownAgainFails, "SHUTDOWN-AGAIN"),
    _mutant(histories.CheckCountsOthers, "CHECK-COUNT"),
    _mutant(histories.FirstTryCallbackUnheard, "CALLBACK-THROWS"),
    _mutant(histories.CancelledNeverArmed, "WATCH-WAITS"),
    _mutant(histories.RewatchThrowKeepsTimeOut, "SECOND-TRY-THROWS"),
    _mutant(histories.RewatchCompletesUnlisted, "WATCH-FIRST-TRY"),
    _mutant(histories.InsideWatchAfterShutdown, "SHUTDOWN-CLOSED"),
    _mutant(histories.NestedThrowUnheard, "FORCE-INSIDE"),
    _mutant(histories.SatisfiedUntilChecked, "WATCH-FIRST-TRY"),
    _mutant(histories.FarTimeOutsEarly, "TIME-OUT"),
)


def purgatory_mutants() -> tuple[Mutant, ...]:
    """All wrong purgatories, in the order of the rules that they break."""
    return _MUTANTS
