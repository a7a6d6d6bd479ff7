"""The suite's own wrong purgatories: each breaks one rule, and the suite must say which.

Among them are the defects that Kafka had, as far as they show in a sequence of steps.
"""

import inspect
import re
from functools import partial

import msgspec

from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.small.purgatory import (
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
    PurgeDue,
    ThrowingTry,
)

AMORTISED_PROFILE = msgspec.structs.replace(PROFILE, purge_due=PurgeDue.AMORTISED)
"""The choices of a purgatory whose purges cost what they remove."""

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
    return Mutant(name, summary, rule, also, make, Component.PURGATORY)


_MUTANTS = (
    _mutant(completing.CompletesTwice, "PURGATORY-EXACTLY-ONCE"),
    _mutant(completing.OtherKeyCompletesAgain, "PURGATORY-EXACTLY-ONCE"),
    _mutant(completing.ExpirationFirst, "PURGATORY-CALLBACK-ORDER"),
    _mutant(completing.ExpirationWithoutTimeOut, "PURGATORY-CALLBACK-ORDER"),
    _mutant(completing.CompletedAfterCallback, "PURGATORY-CALLBACK-ORDER"),
    _mutant(completing.TimeOutTakenLast, "PURGATORY-CALLBACK-ORDER", "PURGATORY-CALLBACK-THROWS"),
    _mutant(completing.NeverArmed, "PURGATORY-TIME-OUT", profile=SILENT_PROFILE),
    _mutant(completing.TimeOutLate, "PURGATORY-TIME-OUT"),
    _mutant(completing.TimeOutEarly, "PURGATORY-TIME-OUT"),
    _mutant(completing.DelayFromLastAdvance, "PURGATORY-TIME-OUT"),
    _mutant(completing.LostExpiryExpires, "PURGATORY-LOST-EXPIRY"),
    _mutant(completing.LostExpiryCompletes, "PURGATORY-LOST-EXPIRY"),
    _mutant(completing.StaysInTimer, "PURGATORY-TIMER-LEFT", "PURGATORY-WATCH-SECOND-TRY"),
    _mutant(
        completing.StaysInTimer,
        "PURGATORY-TIMER-LEFT",
        "PURGATORY-WATCH-SECOND-TRY",
        profile=SILENT_PROFILE,
    ),
    _mutant(completing.ForceSaysNo, "PURGATORY-FORCE"),
    _mutant(completing.ForceTriesFirst, "PURGATORY-FORCE"),
    _mutant(completing.ForceOnlyWatched, "PURGATORY-FORCE"),
    _mutant(completing.ForceAgainSaysYes, "PURGATORY-FORCE-AGAIN"),
    _mutant(completing.ForceAgainCalls, "PURGATORY-FORCE-AGAIN"),
    _mutant(watching.FirstTryWatches, "PURGATORY-WATCH-FIRST-TRY"),
    _mutant(watching.FirstTryCounts, "PURGATORY-WATCH-FIRST-TRY", profile=ESTIMATE_PROFILE),
    _mutant(watching.FirstTrySaysNo, "PURGATORY-WATCH-FIRST-TRY"),
    _mutant(watching.NoSecondTry, "PURGATORY-WATCH-SECOND-TRY"),
    _mutant(watching.SecondTrySaysNo, "PURGATORY-WATCH-SECOND-TRY"),
    _mutant(watching.SecondTryTakesBack, "PURGATORY-WATCH-SECOND-TRY"),
    _mutant(watching.SecondTryStaysArmed, "PURGATORY-WATCH-SECOND-TRY"),
    _mutant(watching.SecondTryStaysArmed, "PURGATORY-WATCH-SECOND-TRY", profile=SILENT_PROFILE),
    _mutant(watching.OnlyFirstKey, "PURGATORY-WATCH-WAITS", "PURGATORY-DUPLICATE-KEYS"),
    _mutant(
        watching.NewestAtTheHead,
        "PURGATORY-WATCH-WAITS",
        "PURGATORY-CHECK-ORDER",
        "PURGATORY-CANCEL-RESULT",
    ),
    _mutant(watching.WatchSaysYes, "PURGATORY-WATCH-WAITS"),
    _mutant(watching.WatchedWithoutTimeOut, "PURGATORY-WATCH-WAITS"),
    _mutant(watching.NoKeysTaken, "PURGATORY-NO-KEYS"),
    _mutant(watching.NoKeysTried, "PURGATORY-NO-KEYS"),
    _mutant(watching.KeysMadeDistinct, "PURGATORY-DUPLICATE-KEYS"),
    _mutant(watching.KeysMadeDistinct, "PURGATORY-DUPLICATE-KEYS", profile=SILENT_PROFILE),
    _mutant(watching.RewatchKeepsTimeOut, "PURGATORY-REWATCH"),
    _mutant(watching.RewatchIgnored, "PURGATORY-REWATCH"),
    _mutant(watching.RewatchKnowsKeys, "PURGATORY-REWATCH"),
    _mutant(watching.CompletedIsWatched, "PURGATORY-WATCH-COMPLETED"),
    _mutant(watching.CompletedIsArmed, "PURGATORY-WATCH-COMPLETED"),
    _mutant(watching.CompletedIsArmed, "PURGATORY-WATCH-COMPLETED", profile=SILENT_PROFILE),
    _mutant(watching.CompletedSaysYes, "PURGATORY-WATCH-COMPLETED"),
    _mutant(watching.TimesOutAnyway, "PURGATORY-NO-TIME-OUTS"),
    _mutant(watching.TimesOutAnyway, "PURGATORY-NO-TIME-OUTS", profile=SILENT_PROFILE),
    _mutant(checking.NewestFirst, "PURGATORY-CHECK-ORDER"),
    _mutant(
        checking.OncePerOperation,
        "PURGATORY-CHECK-ORDER",
        "PURGATORY-DUPLICATE-KEYS",
        "PURGATORY-REWATCH",
    ),
    _mutant(
        checking.FirstEntryOnly,
        "PURGATORY-CHECK-ORDER",
        "PURGATORY-DUPLICATE-KEYS",
        "PURGATORY-REWATCH",
    ),
    _mutant(checking.CountsStale, "PURGATORY-CHECK-COUNT"),
    _mutant(checking.CountsTries, "PURGATORY-CHECK-COUNT"),
    _mutant(checking.CompletedStays, "PURGATORY-CHECK-DROPS"),
    _mutant(checking.StaleStays, "PURGATORY-CHECK-DROPS"),
    _mutant(checking.DropsEverywhere, "PURGATORY-CHECK-DROPS"),
    _mutant(checking.WaitingDropped, "PURGATORY-CHECK-DROPS"),
    _mutant(checking.SweepsBehind, "PURGATORY-CHECK-DROPS"),
    _mutant(checking.TriesCompleted, "PURGATORY-COMPLETED-NOT-TRIED"),
    _mutant(checking.LostWakeUp, "PURGATORY-NOT-LOST"),
    _mutant(checking.PassedOverWhileTried, "PURGATORY-MEANWHILE"),
    _mutant(checking.PassedOverWithSharedLock, "PURGATORY-MEANWHILE"),
    _mutant(checking.ForgetsWhatTriesDo, "PURGATORY-TRY-INSIDE"),
    _mutant(checking.UnknownKeyFails, "PURGATORY-CHECK-UNKNOWN"),
    _mutant(checking.EmptyListsStay, "PURGATORY-EMPTY-LISTS"),
    _mutant(checking.PurgeLeavesEmptyLists, "PURGATORY-EMPTY-LISTS"),
    _mutant(watching.FirstTryThrowsWatched, "PURGATORY-FIRST-TRY-THROWS"),
    _mutant(watching.FirstTryThrowsArmed, "PURGATORY-FIRST-TRY-THROWS"),
    _mutant(
        watching.FirstTryThrowsArmed,
        "PURGATORY-FIRST-TRY-THROWS",
        "PURGATORY-CALLBACK-THROWS",
        profile=SILENT_PROFILE,
    ),
    _mutant(watching.FirstTryThrowSwallowed, "PURGATORY-FIRST-TRY-THROWS"),
    _mutant(watching.SecondTryThrowsUnarmed, "PURGATORY-SECOND-TRY-THROWS"),
    _mutant(watching.SecondTryThrowsUnarmed, "PURGATORY-SECOND-TRY-THROWS", profile=SILENT_PROFILE),
    _mutant(watching.SecondTryThrowsUnlisted, "PURGATORY-SECOND-TRY-THROWS"),
    _mutant(checking.ThrowingDropped, "PURGATORY-CHECK-THROWS"),
    _mutant(checking.CheckSwallows, "PURGATORY-CHECK-THROWS"),
    _mutant(checking.CheckThrowsBackwards, "PURGATORY-CHECK-THROWS"),
    _mutant(completing.CallbackThrowUndoes, "PURGATORY-CALLBACK-THROWS"),
    _mutant(completing.CallbackThrowSwallowed, "PURGATORY-CALLBACK-THROWS"),
    _mutant(completing.ExpirationDespiteThrow, "PURGATORY-CALLBACK-THROWS"),
    _mutant(completing.ExpiryThrowLosesQueue, "PURGATORY-EXPIRY-THROWS"),
    _mutant(completing.ExpiryThrowLosesQueue, "PURGATORY-EXPIRY-THROWS", profile=SILENT_PROFILE),
    _mutant(completing.ExpiryThrowEscapes, "PURGATORY-EXPIRY-THROWS"),
    _mutant(completing.ExpiryThrowStopsTimer, "PURGATORY-EXPIRY-THROWS"),
    _mutant(checking.WatchInsideLost, "PURGATORY-WATCH-INSIDE"),
    _mutant(checking.CheckInsideLost, "PURGATORY-CHECK-INSIDE"),
    _mutant(checking.CancelForKeyInsideLost, "PURGATORY-CANCEL-INSIDE", "PURGATORY-TRY-INSIDE"),
    _mutant(
        checking.CancelForKeyInsideLost,
        "PURGATORY-CANCEL-INSIDE",
        "PURGATORY-TRY-INSIDE",
        profile=SILENT_PROFILE,
    ),
    _mutant(checking.ForceInsideLost, "PURGATORY-FORCE-INSIDE"),
    _mutant(checking.CancelAnswersLive, "PURGATORY-CANCEL-RESULT"),
    _mutant(checking.CancelAnswersBackwards, "PURGATORY-CANCEL-RESULT"),
    _mutant(checking.CancelAnswersOnce, "PURGATORY-CANCEL-RESULT"),
    _mutant(checking.CancelKeepsList, "PURGATORY-CANCEL-LEAVES"),
    _mutant(
        checking.CancelKeepsList,
        "PURGATORY-CANCEL-LEAVES",
        "PURGATORY-CANCEL-LAST-KEY",
        # The kept list brings a purge forward, which another cancel shows.
        "PURGATORY-CANCEL-RESULT",
        profile=SILENT_PROFILE,
    ),
    _mutant(checking.CancelCompletes, "PURGATORY-CANCEL-LEAVES"),
    _mutant(checking.CancelEverywhere, "PURGATORY-CANCEL-LEAVES"),
    _mutant(checking.CancelKeepsLastTimeOut, "PURGATORY-CANCEL-LAST-KEY"),
    _mutant(checking.CancelKeepsLastTimeOut, "PURGATORY-CANCEL-LAST-KEY", profile=SILENT_PROFILE),
    _mutant(checking.CancelTakesQueuedExpiry, "PURGATORY-CANCEL-LAST-KEY"),
    _mutant(checking.CancelTakesQueuedExpiry, "PURGATORY-CANCEL-LAST-KEY", profile=SILENT_PROFILE),
    _mutant(checking.CancelTakesTimeOut, "PURGATORY-CANCEL-KEEPS-TIME-OUT"),
    _mutant(checking.CancelTakesTimeOut, "PURGATORY-CANCEL-KEEPS-TIME-OUT", profile=SILENT_PROFILE),
    _mutant(checking.CancelUnknownKeyFails, "PURGATORY-CANCEL-UNKNOWN"),
    _mutant(counting.EntriesOfLive, "PURGATORY-ENTRIES"),
    _mutant(counting.EntriesOnce, "PURGATORY-ENTRIES", "PURGATORY-DUPLICATE-KEYS"),
    _mutant(counting.TimerSizeOfPending, "PURGATORY-TIMER-SIZE"),
    _mutant(counting.PendingIsTimerSize, "PURGATORY-PENDING"),
    _mutant(counting.PendingUncompleted, "PURGATORY-PENDING"),
    _mutant(counting.EstimateByKeys, "PURGATORY-ESTIMATE-PROPOSAL", profile=ESTIMATE_PROFILE),
    _mutant(counting.EstimateFalls, "PURGATORY-ESTIMATE-PROPOSAL", profile=ESTIMATE_PROFILE),
    _mutant(counting.EstimateNotReset, "PURGATORY-ESTIMATE-PROPOSAL", profile=ESTIMATE_PROFILE),
    _mutant(counting.EstimateIsPending, "PURGATORY-ESTIMATE-EXACT"),
    _mutant(counting.EstimateOfOperations, "PURGATORY-ESTIMATE-EXACT"),
    _mutant(counting.PurgeAtInterval, "PURGATORY-PURGE-START"),
    _mutant(counting.NeverPurges, "PURGATORY-PURGE-START"),
    _mutant(counting.PurgesAtAllThatLives, "PURGATORY-PURGE-START", profile=AMORTISED_PROFILE),
    _mutant(counting.PurgesWhenExpired, "PURGATORY-PURGE-START"),
    _mutant(counting.ChecksForgotten, "PURGATORY-PURGE-START"),
    _mutant(counting.PurgesOneList, "PURGATORY-PURGE-REMOVES"),
    _mutant(counting.PurgesLive, "PURGATORY-PURGE-REMOVES"),
    _mutant(counting.PurgeReverses, "PURGATORY-PURGE-REMOVES"),
    _mutant(MassExpiryUncounted, "PURGATORY-STALE-OPERATIONS", profile=PROPOSAL_PROFILE),
    _mutant(counting.StaleOperationsCounted, "PURGATORY-STALE-ENTRIES"),
    _mutant(watching.WatchedAfterShutdown, "PURGATORY-SHUTDOWN-CLOSED"),
    _mutant(watching.TriedAfterShutdown, "PURGATORY-SHUTDOWN-CLOSED"),
    _mutant(completing.ShutdownKeepsTimeOuts, "PURGATORY-SHUTDOWN-DROPS"),
    _mutant(completing.ShutdownDropsQueue, "PURGATORY-SHUTDOWN-DROPS"),
    _mutant(completing.ClosedForChecks, "PURGATORY-SHUTDOWN-COMPLETES"),
    _mutant(completing.ShutdownEmptiesLists, "PURGATORY-SHUTDOWN-COMPLETES"),
    _mutant(completing.ShutdownAgainFails, "PURGATORY-SHUTDOWN-AGAIN"),
    _mutant(histories.CheckCountsOthers, "PURGATORY-CHECK-COUNT"),
    _mutant(histories.FirstTryCallbackUnheard, "PURGATORY-CALLBACK-THROWS"),
    _mutant(histories.CancelledNeverArmed, "PURGATORY-WATCH-WAITS"),
    _mutant(histories.RewatchThrowKeepsTimeOut, "PURGATORY-SECOND-TRY-THROWS"),
    _mutant(histories.RewatchCompletesUnlisted, "PURGATORY-WATCH-FIRST-TRY"),
    _mutant(histories.InsideWatchAfterShutdown, "PURGATORY-SHUTDOWN-CLOSED"),
    _mutant(histories.NestedThrowUnheard, "PURGATORY-FORCE-INSIDE"),
    _mutant(histories.SatisfiedUntilChecked, "PURGATORY-WATCH-FIRST-TRY"),
    _mutant(histories.FarTimeOutsEarly, "PURGATORY-TIME-OUT"),
)


def purgatory_mutants() -> tuple[Mutant, ...]:
    """All wrong purgatories, in the order of the rules that they break."""
    return _MUTANTS
