"""The explanations of what threads do with one memory pool, and few of them.

Theory of operation. A *moment* is an explanation of all lines so far: the bytes that are available,
and the ways in which each open call may stand. The ways of all calls are one number: each open call
has a place of ``BITS_OF_CALL`` bits in it, and the lowest bit says whether something was credited
wrongly. As in ``overlapping.explainer``, the ways of different calls go together in any manner: an
effect that changes nothing, such as a refusal, leads to a further way and not to a further moment.
Every moment is *closed*: it has all ways to which such effects lead.

Calls take effect as late as can be: when one returns that cannot be explained otherwise. There are
three kinds of calls. *Requests* take bytes, *givers* give bytes back, and *odd* calls may do
anything else: they release a buffer of which it is not known that it is outstanding. While an open
call may do something odd, all orders of the open calls are tried. Otherwise most orders are left
out. The reasons below need two properties of the model: with fewer bytes no fewer requests are
refused, and a request is granted either with a single byte (non-strict) or with all its bytes
(strict).

A moment *leads to* another one if open calls that take effect, one after the other, make of it the
other one, with the same ways or more. Then the other one is not needed: whatever explains the
future from there explains it from the first moment, too (``_leads``).

Say that a call R returns, and that it has to take effect. Compare two orders of the same calls:

1. A giver takes effect only directly before a request that would not be granted without it (or if
   it is R). Otherwise it may as well come after the next call: in between fewer bytes are available
   and no fewer requests refused, and the bytes after both are the same (``_Givers``).
2. R takes effect at once, or directly after a request, ``last``, that could not come after R with
   the same ways. If R is a request, ``last`` can come after R where both are granted in either
   order: the lowest number of bytes, which refuses most, is the same. If R is a giver, ``last`` is
   granted after R, too; the ways are the same unless something was refused for the first time
   directly after ``last`` (``_gains``).
3. Requests come before R only where something may be refused for the first time: in the worst case,
   after all other requests. Where nothing can, all orders end with the same ways, and R first leads
   to each in which the other requests are then granted, the largest one last. In a strict pool they
   always are, since there are bytes for all. In a non-strict pool R was granted with the bytes that
   the largest one left. If that one is no smaller than R, it is granted in the place of R, as well.
   So only smaller requests come before R (``_worth_trying``).

If R has to be refused, it takes no effect, and is answered as soon as another request has left too
few bytes; 1 holds for the requests before it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_spec.operations import Allocate
from purgatory_traces.errors import Undecided
from purgatory_traces.replay.overlapping.explainer import MOST_MOMENTS, explored
from purgatory_traces.replay.overlapping.memory_pool.rules import (
    ANSWERS,
    ANY_WAY,
    BEGUN,
    BITS_OF_CALL,
    WAY_OF,
    Answer,
    PoolCall,
    SharedPoolRules,
    Ways,
)

Moment: TypeAlias = tuple[int, int]
"""The bytes that are available, and the ways of all open calls, each in its slot."""

Moments: TypeAlias = frozenset[Moment]

_WRONGLY: Final = 1
"""The bit of a moment in which bytes were credited that were not outstanding."""


@dataclass(slots=True)
class PoolExplainer:
    """Follows the explanations of one pool's run."""

    rules: SharedPoolRules
    open: list[PoolCall] = field(default_factory=list)
    _begun: int = 0
    """The bits of open calls that have yet to act."""
    _idle: dict[int, int] = field(default_factory=dict)
    """The ways that all open calls have by effects that change nothing, by the bytes available."""

    @classmethod
    def of(cls, model: MemoryPoolModel) -> "PoolExplainer":
        """Return an explainer of a pool by its model."""
        return cls(SharedPoolRules(model))

    def begin(self, available_bytes: int) -> Moments:
        """Return the moment before any call."""
        return frozenset({(available_bytes, 0)})

    def opened(self, moments: Moments, call: PoolCall, ways: Ways = BEGUN) -> Moments:
        """Return the moments in which one more call is open, and may stand in these ways."""
        taken = {each.shift for each in self.open}
        # The smallest free slot keeps the numbers short.
        shift = BITS_OF_CALL
        while shift in taken:
            shift += BITS_OF_CALL
        call.shift, call.begun, call.any_way = shift, BEGUN << shift, ANY_WAY << shift
        self.open.append(call)
        self._begun |= call.begun
        bits = ways << shift
        return self.changed(frozenset((each[0], each[1] | bits) for each in moments), call)

    def changed(self, moments: Moments, call: PoolCall) -> Moments:
        """Return the moments after a call became contested, or was opened."""
        self.rules.take_up(call)
        self._idle.clear()
        return frozenset(self._closed(*each) for each in moments)

    def after(self, moments: Moments, call: PoolCall, seen: Ways) -> Moments | None:
        """Return the needed explanations after a call's return; None where none explains it.

        The call is no longer in their ways, but open until it is ``closed``.

        Raises:
            Undecided: there are too many to look at.
        """
        wanted = seen << call.shift
        may_act = 0
        for _, ways in moments:
            may_act |= ways
        if any(each.is_odd and may_act & each.begun for each in self.open):
            reached = self._reached_in_any_order(moments, call, wanted)
        else:
            reached = self._reached(moments, call, wanted)
        others = ~call.any_way
        return self._needed({(available, ways & others) for available, ways in reached}) or None

    def closed(self, call: PoolCall) -> None:
        """Forget a call that has returned."""
        self.open.remove(call)
        self._begun &= ~call.begun
        self._idle.clear()

    def all_moments(self, moments: Iterable[Moment]) -> set[Moment]:
        """Return the moments, and those after any further effects of open calls.

        Raises:
            Undecided: there are too many to look at.
        """
        return explored(moments, self._stepped)

    def _reached_in_any_order(
        self, moments: Iterable[Moment], call: PoolCall, wanted: int
    ) -> set[Moment]:
        """Return the moments in which a call may return so, after any effects of other calls."""
        reached: set[Moment] = set()

        def further(moment: Moment) -> Iterable[Moment]:
            if moment[1] & wanted:
                reached.add(moment)
                return (each for each in self._steps(moment, call) if each[1] & wanted)
            return self._stepped(moment)

        explored(moments, further)
        return reached

    def _reached(self, moments: Iterable[Moment], call: PoolCall, wanted: int) -> set[Moment]:
        """Return the needed moments in which a call may return so, where no call is odd."""
        reached: set[Moment] = set()
        acted: set[Moment] = set()
        requests = [each for each in self.open if isinstance(each.operation, Allocate)]
        givers = _Givers([each for each in self.open if each.gives_bytes and each is not call])

        def act(moment: Moment) -> None:
            if moment not in acted:
                acted.add(moment)
                for after in self._granted(moment, call, givers):
                    if after[1] & wanted:
                        reached.add(after)

        def further(moment: Moment) -> Iterable[Moment]:
            ways = moment[1]
            if ways & wanted:
                reached.add(moment)
                return ()
            left = [each for each in requests if ways & each.begun and each is not call]
            found = list[Moment]()
            for last in self._worth_trying(moment, left, call, wanted):
                after_last = self._granted(moment, last, givers)
                found += after_last
                for after in after_last:
                    if self._gains(moment, last, after, call):
                        act(after)
            return found

        for moment in moments:
            act(moment)
        explored(moments, further)
        return reached

    def _worth_trying(
        self, moment: Moment, requests: list[PoolCall], call: PoolCall, wanted: int
    ) -> list[PoolCall]:
        """Return the requests that may have to take effect before a call that returns."""
        available, ways = moment
        fewest = available
        for each in requests:
            fewest -= each.takes_bytes
        if not call.change_way << call.shift & wanted:
            is_possible = call.effects[fewest].idle << call.shift & wanted
            return requests if is_possible else []
        if call.takes_bytes:
            fewest -= call.takes_bytes
            if available >= call.needs_bytes:
                # What is refused after the call is no reason to have others before it.
                ways |= self._idle_ways(available - call.takes_bytes)
        for each in requests:
            if each.effects[fewest + each.takes_bytes].idle << each.shift & ~ways:
                return requests
        if self.rules.model.configuration.strict:
            return []
        return [each for each in requests if each.takes_bytes < call.takes_bytes]

    def _gains(self, before: Moment, last: PoolCall, after: Moment, call: PoolCall) -> bool:
        """Decide whether a call that returns may have to act after a last request, not before."""
        if call.takes_bytes:
            may_be_first = before[0] - call.takes_bytes >= last.needs_bytes
            return after[0] < call.needs_bytes or not may_be_first
        _, ways = after
        return bool(ways & ~before[1] & (ways & self._begun) * ANY_WAY)

    def _granted(self, moment: Moment, call: PoolCall, givers: "_Givers") -> Sequence[Moment]:
        """Return the moments after a call, where need be after the fewest givers before it."""
        if moment[0] >= call.needs_bytes or not call.takes_bytes:
            return self._steps(moment, call)
        steps = list[Moment]()
        if moment[1] & call.begun:
            for given in givers.enough(moment, call.needs_bytes):
                steps += self._steps(given, call)
        return steps

    def _needed(self, moments: Iterable[Moment]) -> Moments:
        """Return the moments to which no other moment leads."""
        kept: list[Moment] = []
        begun = self._begun
        for moment in sorted(
            moments, key=lambda each: (-(each[1] & begun).bit_count(), -each[1].bit_count())
        ):
            if not any(self._leads(each, moment) for each in kept):
                kept.append(moment)
        return frozenset(kept)

    def _leads(self, early: Moment, late: Moment) -> bool:
        """Decide whether open calls, none of them odd, lead from a moment to another one.

        All givers act first, and the largest request last: where it is granted so, all are.
        """
        begun = self._begun
        expected = early[1] | self._idle_ways(late[0]) & (late[1] & begun) * ANY_WAY
        acted = early[1] & ~late[1] & begun
        if late[1] & ~expected & ~(acted * ANY_WAY) or (early[1] ^ late[1]) & _WRONGLY:
            return False
        available, most_bytes, largest = early[0], 0, None
        for each in self.open:
            if acted & each.begun:
                if each.is_odd:
                    return False
                available += each.gives_bytes - each.takes_bytes
                if each.takes_bytes > most_bytes:
                    most_bytes, largest = each.takes_bytes, each
        if available != late[0]:
            return False
        return largest is None or available + most_bytes >= largest.needs_bytes

    def _stepped(self, moment: Moment) -> Iterator[Moment]:
        """Yield the moments after one more effect of some open call, one that changes something."""
        for each in self.open:
            yield from self._steps(moment, each)

    def _steps(self, moment: Moment, call: PoolCall) -> list[Moment]:
        """Return the moments after an effect of a call that changes something."""
        available, ways = moment
        if not ways & call.begun:
            return []
        others = ways & ~call.any_way
        waiting = (others & self._begun) * ANY_WAY
        # This is ``_closed``, written out: nearly all the time of a long run is spent here.
        known = self._idle
        steps = []
        for after, way, credits_wrongly in call.effects[available].changes:
            idle = known[after] if after in known else self._idle_ways(after)
            ways = others | way << call.shift | credits_wrongly | idle & waiting
            steps.append((after, ways))
        return steps

    def _closed(self, available: int, ways: int) -> Moment:
        """Return the moment with the ways to which effects lead that change nothing."""
        return available, ways | self._idle_ways(available) & (ways & self._begun) * ANY_WAY

    def _idle_ways(self, available: int) -> int:
        ways = self._idle.get(available)
        if ways is None:
            ways = 0
            for each in self.open:
                ways |= each.effects[available].idle << each.shift
            self._idle[available] = ways
        return ways


class _Givers:
    """The open calls that may give bytes back so that a request is granted."""

    def __init__(self, calls: list[PoolCall]) -> None:
        """Take the calls; those come first that give most."""
        self._calls = sorted(calls, key=lambda each: -each.gives_bytes)
        self._known: dict[tuple[Moment, int], list[Moment]] = {}

    def enough(self, moment: Moment, needs_bytes: int) -> list[Moment]:
        """Return the moments after those givers, and no other ones, that make bytes available.

        Nothing more is refused in them than in the moment itself.

        Raises:
            Undecided: there are too many sets of givers.
        """
        enough = self._known.get((moment, needs_bytes))
        if enough is None:
            enough = self._known[moment, needs_bytes] = []
            too_few = [(*moment, 0)]
            for available, ways, first in too_few:
                for place, each in enumerate(self._calls[first:], first + 1):
                    if ways & each.begun:
                        given = available + each.gives_bytes
                        after = ways ^ (BEGUN | each.change_way) << each.shift
                        # The last giver gives least, so that none of them could be left out.
                        if given >= needs_bytes:
                            enough.append((given, after))
                        else:
                            too_few.append((given, after, place))
                if len(too_few) > MOST_MOMENTS:
                    raise Undecided(f"more than {MOST_MOMENTS} sets of calls may give bytes back")
        return enough


def ways_of(moment: Moment, call: PoolCall) -> Ways:
    """Return the ways in which a call may stand in a moment."""
    return moment[1] >> call.shift & ANY_WAY


def answers_in(moments: Iterable[Moment], call: PoolCall) -> set[Answer]:
    """Return the answers that a call may give in some of the moments."""
    ways: Ways = 0
    for each in moments:
        ways |= ways_of(each, call)
    return {each for each in ANSWERS if ways & WAY_OF[each]}


def has_credited_wrongly(moment: Moment) -> bool:
    """Decide whether bytes were credited that were not outstanding."""
    return bool(moment[1] & _WRONGLY)


def credited_rightly(moment: Moment) -> Moment:
    """Return the moment where a wrong credit is a declared deviation, which was seen."""
    return moment[0], moment[1] & ~_WRONGLY
