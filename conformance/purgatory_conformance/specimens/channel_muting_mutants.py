"""The suite's own wrong servers: each breaks one rule, and the suite must say which."""

import inspect
import re
from functools import partial

import msgspec

from purgatory_conformance.specimens.mutant import Mutant
from purgatory_conformance.specimens.small.channel_muting import (
    PROFILE,
    Habits,
    SmallServer,
    small_server_subject,
)
from purgatory_conformance.specimens.wrong import asking, ending, muting, recovering
from purgatory_conformance.specimens.wrong.asyncio_server import asyncio_server_subject
from purgatory_spec.profiles import ChannelMutingProfile, Component, Recovery

EVERYONE_PROFILE = msgspec.structs.replace(PROFILE, recovery=Recovery.EVERYONE)
"""The profile of a server where all that wait ask again, and newcomers with them."""


def _mutant(
    server: type[SmallServer],
    rule: str,
    *also: str,
    profile: ChannelMutingProfile = PROFILE,
    habits: Habits | None = None,
) -> Mutant:
    """The mutant of a server, named after its class and summarised by its docstring."""
    name = "channels-" + re.sub(r"(?<!^)(?=[A-Z])", "-", server.__name__).lower()
    if profile is EVERYONE_PROFILE:
        name += "-everyone"
    make = partial(small_server_subject, server, profile, habits=habits, name=name)
    summary = inspect.cleandoc(server.__doc__ or "")
    return Mutant(name, summary, rule, also, make, Component.CHANNEL_MUTING)


_MUTANTS = (
    _mutant(asking.AsksForLargest, "MUTING-ASK"),
    _mutant(asking.AsksWithBody, "MUTING-ASK"),
    _mutant(asking.AsksForWhatCame, "MUTING-ASK"),
    _mutant(asking.AsksBeforeSize, "MUTING-ASK"),
    _mutant(asking.ReadsAhead, "MUTING-READ-AFTER-GRANT"),
    _mutant(asking.ReadsAsyncio, "MUTING-READ-AFTER-GRANT"),
    Mutant(
        "channels-asyncio-server",
        "A server on asyncio, which reads up to 256 KiB before anybody can refuse.",
        "MUTING-READ-AFTER-GRANT",
        ("MUTING-ONE-AT-A-TIME",),
        asyncio_server_subject,
        Component.CHANNEL_MUTING,
    ),
    _mutant(asking.RefusedIsClosed, "MUTING-WAIT"),
    _mutant(asking.RefusedIsDropped, "MUTING-WAIT"),
    _mutant(asking.IdleWaitsToo, "MUTING-ONLY-REFUSED"),
    _mutant(asking.HalfSizeWaits, "MUTING-ONLY-REFUSED"),
    _mutant(asking.EmptyNeedsMemory, "MUTING-EMPTY"),
    _mutant(asking.NegativeIsEmpty, "MUTING-BAD-SIZE"),
    _mutant(asking.LargestIsTooLarge, "MUTING-BAD-SIZE", "MUTING-WAIT"),
    _mutant(asking.TooLargeIsTaken, "MUTING-BAD-SIZE"),
    _mutant(asking.BadSizeIsIgnored, "MUTING-BAD-SIZE"),
    _mutant(asking.BadSizeTakesMemory, "MUTING-BAD-SIZE"),
    _mutant(asking.BadSizeClosesAll, "MUTING-BAD-SIZE"),
    _mutant(asking.AnyLimits, "MUTING-CONFIG"),
    _mutant(asking.LimitMustBeLarger, "MUTING-CONFIG"),
    _mutant(asking.LimitIsNeeded, "MUTING-CONFIG"),
    _mutant(asking.EmptyLargest, "MUTING-CONFIG"),
    _mutant(asking.MutesWithMemory, "MUTING-NOT-WITH-MEMORY"),
    _mutant(recovering.StaysMutedWithMemory, "MUTING-NOT-WITH-MEMORY", profile=EVERYONE_PROFILE),
    _mutant(asking.HoldersStarve, "MUTING-GRANTED-FINISHES"),
    _mutant(asking.OneMoreAtZero, "MUTING-BOUND"),
    _mutant(asking.StrictIgnoresSize, "MUTING-BOUND"),
    _mutant(asking.LooksOncePerPoll, "MUTING-BOUND"),
    _mutant(asking.ConnectionCosts, "MUTING-CONSERVATION"),
    _mutant(asking.RefusalCosts, "MUTING-CONSERVATION", "MUTING-ASK"),
    _mutant(asking.ResponseCosts, "MUTING-CONSERVATION", "MUTING-RELEASE"),
    _mutant(muting.ReadsNextWhileHandled, "MUTING-ONE-AT-A-TIME"),
    _mutant(muting.ReceivesWhileHandled, "MUTING-ONE-AT-A-TIME"),
    _mutant(muting.SpoiltByWaiting, "MUTING-ORDER"),
    _mutant(muting.ReceivedTwiceAfterWaiting, "MUTING-ORDER"),
    _mutant(muting.RecoveryEndsOrder, "MUTING-TWO-REASONS"),
    _mutant(muting.ReleaseEndsOrder, "MUTING-TWO-REASONS"),
    _mutant(muting.ResponseEndsWaits, "MUTING-TWO-REASONS"),
    _mutant(muting.ReleaseTwice, "MUTING-RELEASE"),
    _mutant(muting.ReleaseForgets, "MUTING-RELEASE"),
    _mutant(muting.ReleaseKeepsByte, "MUTING-RELEASE"),
    _mutant(muting.ReleaseAtResponse, "MUTING-RELEASE"),
    _mutant(muting.ThrottleEndsWithResponse, "MUTING-THROTTLE"),
    _mutant(muting.ThrottleEndsOrder, "MUTING-THROTTLE"),
    _mutant(muting.ThrottleStays, "MUTING-THROTTLE", "MUTING-ASK", "MUTING-EMPTY"),
    _mutant(muting.ThrottleKeepsMemory, "MUTING-THROTTLE", "MUTING-RELEASE"),
    _mutant(muting.ThrottleHoldsResponse, "MUTING-THROTTLE"),
    _mutant(recovering.NeverUnmutes, "MUTING-RECOVER", "MUTING-FIRST-COME"),
    _mutant(recovering.NeverUnmutes, "MUTING-RECOVER", profile=EVERYONE_PROFILE),
    _mutant(recovering.RecoversWhenWhole, "MUTING-RECOVER", profile=EVERYONE_PROFILE),
    _mutant(recovering.RecoversOne, "MUTING-RECOVER", profile=EVERYONE_PROFILE),
    _mutant(recovering.NewcomerPasses, "MUTING-FIRST-COME"),
    _mutant(recovering.LastFirst, "MUTING-FIRST-COME"),
    _mutant(recovering.SmallestFirst, "MUTING-FIRST-COME"),
    _mutant(ending.GonersStandInLine, "MUTING-FIRST-COME", "MUTING-RECOVER", "MUTING-ASK"),
    _mutant(recovering.ForgetsBuffered, "MUTING-BUFFERED", "MUTING-GRANTED-FINISHES"),
    _mutant(recovering.CountsEndedWaits, "MUTING-DEPLETED"),
    _mutant(recovering.CountsEachChannel, "MUTING-DEPLETED"),
    _mutant(recovering.EndsTimeWithRelease, "MUTING-DEPLETED"),
    _mutant(recovering.CountsDepletion, "MUTING-DEPLETED"),
    _mutant(muting.ConnectionsStopWhileWaiting, "MUTING-OTHERS-GO-ON"),
    _mutant(muting.ResponsesStopWhileWaiting, "MUTING-OTHERS-GO-ON"),
    _mutant(muting.HoldersStopWhileWaiting, "MUTING-OTHERS-GO-ON", "MUTING-GRANTED-FINISHES"),
    _mutant(muting.ReadsUntilNothingComes, "MUTING-TURNS", "MUTING-WAIT"),
    _mutant(asking.HandshakeNeedsMemory, "MUTING-HANDSHAKE"),
    _mutant(ending.EndKeepsMemory, "MUTING-END-MID-REQUEST"),
    _mutant(ending.EndReturnsWhatCame, "MUTING-END-MID-REQUEST"),
    _mutant(ending.EndFreesHandled, "MUTING-END-WHILE-HANDLED"),
    _mutant(ending.ReleaseAfterEndIsLost, "MUTING-END-WHILE-HANDLED", "MUTING-CLOSE"),
    _mutant(ending.ReleaseAfterEndCountsTwice, "MUTING-END-WHILE-HANDLED", "MUTING-CLOSE"),
    _mutant(ending.EndsWaitForEver, "MUTING-END-WHILE-WAITING", "MUTING-END-MID-REQUEST"),
    _mutant(ending.LeavingCredits, "MUTING-END-WHILE-WAITING", "MUTING-CLOSE"),
    _mutant(ending.HalfCloseDrops, "MUTING-HALF-CLOSE"),
    _mutant(ending.HalfCloseUnanswered, "MUTING-HALF-CLOSE"),
    _mutant(ending.CloseKeepsMemory, "MUTING-CLOSE"),
    _mutant(ending.CloseFreesHandled, "MUTING-CLOSE"),
    _mutant(ending.CloseWaitsForResponse, "MUTING-CLOSE"),
    _mutant(ending.IdleNever, "MUTING-IDLE"),
    _mutant(ending.IdleTooSoon, "MUTING-IDLE"),
    _mutant(ending.IdleByResponses, "MUTING-IDLE"),
    _mutant(ending.IdleKeepsMemory, "MUTING-IDLE"),
    _mutant(ending.WaitingIsIdle, "MUTING-NOT-IDLE"),
    _mutant(ending.GrantRenewsNothing, "MUTING-NOT-IDLE"),
    _mutant(ending.SlowNever, "MUTING-SLOW-SENDER"),
    _mutant(ending.TrickleRenews, "MUTING-SLOW-SENDER"),
    _mutant(ending.SlowKeepsMemory, "MUTING-SLOW-SENDER"),
    _mutant(ending.LastKeepsByte, "MUTING-IDLE-RETURNS"),
)


def channel_muting_mutants() -> tuple[Mutant, ...]:
    """All wrong servers, in the order of the rules that they break."""
    return _MUTANTS
