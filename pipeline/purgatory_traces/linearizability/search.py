"""The search for an order of overlapping calls, in the way of Wing and Gong, with Lowe's memory.

Theory of operation. The beginnings and the ends of calls stand in a doubly linked list, in the
order of the history. A call may take effect next if its beginning stands before the first end that
is left in the list: nothing has returned before it began. The search lets it, takes its beginning
and its end out of the list, and goes on; where nothing can be taken it puts the latest one back and
tries another. All calls that return have taken effect when the list has no end left. The call that
returned first is tried first: it mostly took effect first, too. Some calls may as well take effect
now as later, since they disturb none of those that could come before them (``may_go_first``): a
refused request, or a release while no request is open that is refused. Nothing else is tried then.

What can still happen depends on which calls took effect, and on the state of the rules. These two,
the calls as a set of bits, are a *configuration*. One that was met before is not followed again,
since what it leads to is known: so the work is bounded by configurations, not by orders. Where the
calls determine the state (``is_determined``), the rules are asked only for what was not met.

Rules may divide a call into parts. A call of which some parts took effect stays in the list, and
how far it is belongs to the configuration. So does how far a call is that never returns: it has no
end in the list, and none of its parts need take effect.

Which parts may follow one another, with what was seen of a call, is said by ``Call`` of
``purgatory_model.overlapping.linearizability``. The explainer there follows all explanations side
by side instead; the tests hold the two together.
"""

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeAlias

from immutables import Map

from purgatory_model.overlapping.linearizability import Call
from purgatory_model.overlapping.parts import Part
from purgatory_traces.linearizability.budget import Budget
from purgatory_traces.linearizability.calls import CallRules, RecordedCall, Rule

Calls: TypeAlias = Map[int, Call]
"""The standings, by number, of the calls that have begun to take effect and are not over."""


class Taken(NamedTuple):
    """A part of a call that took effect; ``call`` is the call's number."""

    call: int
    part: Part


class Order(NamedTuple):
    """An order of effects: an earlier one, and what took effect after it."""

    before: "Order | None"
    taken: tuple[Taken, ...]


def in_order(order: Order | None) -> list[Taken]:
    """Return the effects in order, first to last."""
    blocks: list[tuple[Taken, ...]] = []
    while order is not None:
        blocks.append(order.taken)
        order = order.before
    return [taken for block in reversed(blocks) for taken in block]


class Configuration(NamedTuple, Generic[Rule]):
    """A node of a search: calls that are over, the state, calls half done."""

    over: int
    state: Rule
    calls: Calls


class Reached(NamedTuple, Generic[Rule]):
    """A state in which a piece of a history may leave the rules, and an order that leads to it."""

    state: Rule
    calls: Calls
    order: Order | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a history that is quiet before it and behind it (``decision``).

    Attributes:
        first: The number of the first call that begins in it.
        unreturned: Calls that never return and began before it.
        calls: The calls that begin in the piece.
        order: Their beginnings, each by its number, and their ends, each by the complement of it.
    """

    first: int
    unreturned: tuple[RecordedCall, ...]
    calls: Sequence[RecordedCall]
    order: Sequence[int]


class _Move(NamedTuple, Generic[Rule]):
    """A part that may take effect, what it leads to, and whether its call is then over."""

    taken: Taken
    after: Configuration[Rule]
    is_over: bool


@dataclass(slots=True)
class PieceSearch(Generic[Rule]):
    """Looks for the states in which one piece may leave the rules; each is found once.

    Attributes:
        piece: The piece.
        rules: What is allowed.
        budget: What the search may cost.
        goes_on: Whether to look beyond such a state for further ones that differ in the calls that
            have not returned.
    """

    piece: Piece
    rules: CallRules[Rule]
    budget: Budget
    goes_on: bool = False
    starts: list[Reached[Rule]] = field(default_factory=list)
    visited: set[Hashable] = field(default_factory=set)
    is_exhausted: bool = False
    _waiting: deque[Reached[Rule]] = field(default_factory=deque)
    _ends: set[tuple[Rule, Calls]] = field(default_factory=set)
    _running: Iterator[Reached[Rule] | None] | None = None
    _next: list[int] = field(default_factory=list)
    _before: list[int] = field(default_factory=list)
    _places: list[list[int]] = field(default_factory=list)
    _left: int = 0
    _start: Reached[Rule] | None = None
    _begun: int = 0  # how many starts were followed
    _path: list[Taken] = field(default_factory=list)
    _furthest: int = 0
    _led_furthest: Order | None = None

    def __post_init__(self) -> None:
        """Link the list: 0 is its head, and its end; entry ``i`` of the piece is ``i + 1``."""
        count = len(self.piece.order) + 1
        self._next = [*range(1, count), 0]
        self._before = [count - 1, *range(count - 1)]
        self._left = sum(call.returned is not None for call in self.piece.calls)
        self._places = [[] for _ in self.piece.calls]
        for entry, number in enumerate(self.piece.order, start=1):
            self._places[(number if number >= 0 else ~number) - self.piece.first].append(entry)

    def start_from(self, starts: Sequence[Reached[Rule]]) -> None:
        """Add starts to the search."""
        self.starts += starts
        self._waiting.extend(starts)
        self.is_exhausted = False

    def more(self, allowance: int) -> list[Reached[Rule]]:
        """Return further ends of the piece; none where there are no more.

        At least one is looked for, and all where that costs few configurations.

        Raises:
            OutOfBudget: it is used up.
        """
        found: list[Reached[Rule]] = []
        if self._running is None:
            self._running = self._all()
        most = len(self.visited) + allowance
        for reached in self._running:
            if reached is not None:
                found.append(reached)
            if found and len(self.visited) > most:
                return found
        self._running = None
        self.is_exhausted = True
        return found

    def furthest(self) -> tuple[int | None, Order | None]:
        """Return the place up to which the piece is explained so far, and the order.

        Returns:
            The call whose return was not reached, by its number, None where all were; and an order
            that explains everything before it.
        """
        entry = self._next[0]
        while entry and self.piece.order[entry - 1] >= 0:
            entry = self._next[entry]
        if not entry:
            return None, self._led()
        self._note(entry)
        return ~self.piece.order[self._furthest - 1], self._led_furthest

    def _note(self, entry: int) -> None:
        """Note the path's extent, up to the first end that is left."""
        if entry > self._furthest:
            self._furthest, self._led_furthest = entry, self._led()

    def _led(self) -> Order | None:
        start = self.starts[0] if self._start is None else self._start
        return Order(start.order, tuple(self._path))

    def _all(self) -> Iterator[Reached[Rule] | None]:
        while self._waiting:
            yield from self._from(self._waiting.popleft())

    def _from(self, start: Reached[Rule]) -> Iterator[Reached[Rule] | None]:
        """Yield the places reached from a start; None now and then, so that callers can count."""
        path: list[Taken] = []
        self._start, self._path = start, path
        self._begun += 1
        first = Configuration(0, start.state, start.calls)
        if not self._visit(first):
            return
        if self._left == 0:
            yield from self._reached(first, start, path)
            if not self.goes_on:
                return
        moves: list[tuple[Iterator[_Move[Rule]], Taken | None]] = [(self._moves(first), None)]
        while moves:
            coming, lifted = moves[-1]
            move = next(coming, None)
            if move is None:
                moves.pop()
                if moves:
                    path.pop()
                if lifted is not None:
                    self._put_back(lifted)
                continue
            if not self._visit(move.after):
                continue
            yield None
            lifts = move.taken if move.is_over else None
            if lifts is not None:
                self._take_out(lifts)
            path.append(move.taken)
            if self._left == 0:
                yield from self._reached(move.after, start, path)
            if self._left == 0 and not self.goes_on:
                path.pop()
                if lifts is not None:
                    self._put_back(lifts)
            else:
                moves.append((self._moves(move.after), lifts))

    def _visit(self, configuration: Configuration[Rule]) -> bool:
        """Decide whether a configuration is met for the first time."""
        met: Hashable = configuration
        if self.rules.is_determined:
            met = (self._begun, configuration.over, configuration.calls)
        if met in self.visited:
            return False
        self.budget.spend()
        self.visited.add(met)
        return True

    def _reached(
        self, configuration: Configuration[Rule], start: Reached[Rule], path: list[Taken]
    ) -> Iterator[Reached[Rule]]:
        end = (configuration.state, configuration.calls)
        if end not in self._ends:
            self._ends.add(end)
            yield Reached(*end, Order(start.order, tuple(path)))

    def _moves(self, configuration: Configuration[Rule]) -> Iterator[_Move[Rule]]:
        """Yield the parts that may take effect next: of all calls, or of one that may go first."""
        eligible = sorted(self._eligible(), key=self._end_of)
        tried = set[int]()
        for call in eligible:
            if call.returned is None or not self.rules.may_go_first(call, self._beside(call)):
                continue
            if self._is_known(call, configuration):
                return
            if moves := [*self._moves_of(call, configuration)]:
                yield from moves
                return
            tried.add(call.number)
        for call in eligible:
            if call.number not in tried and not self._is_known(call, configuration):
                yield from self._moves_of(call, configuration)

    def _is_known(self, call: RecordedCall, configuration: Configuration[Rule]) -> bool:
        """Decide, without the rules, whether a call leads to what was met before, if anywhere."""
        if call.returned is None or not self.rules.is_determined:
            return False
        bit = 1 << (call.number - self.piece.first)
        return (self._begun, configuration.over | bit, configuration.calls) in self.visited

    def _moves_of(
        self, call: RecordedCall, configuration: Configuration[Rule]
    ) -> Iterator[_Move[Rule]]:
        """Yield the ways in which the next part of one call may take effect."""
        over, state, calls = configuration
        before = calls.get(call.number) or Call(call.operation, seen=call.events)
        if before.part is None:
            return
        for effect in self.rules.effects(state, call, before.part):
            after = before.after(effect)
            if after is None or (after.owed and call.returned is not None):
                continue  # all that a call shows before its return is seen
            taken = Taken(call.number, before.part)
            if after.part is not None or call.returned is None:
                half = calls.set(call.number, after)
                yield _Move(taken, Configuration(over, effect.state, half), False)
            elif after.may_return(call.returned):
                rest = calls.delete(call.number) if call.number in calls else calls
                bit = 1 << (call.number - self.piece.first)
                yield _Move(taken, Configuration(over | bit, effect.state, rest), True)

    def _end_of(self, call: RecordedCall) -> int:
        """Return the place of a call's end in the list; behind all others without an end."""
        if call.returned is None:
            return len(self.piece.order) + 1
        return self._entries_of(call.number)[-1]

    def _eligible(self) -> Iterator[RecordedCall]:
        """Yield the calls that began before the first end that is left."""
        yield from self.piece.unreturned
        entry = self._next[0]
        while entry:
            number = self.piece.order[entry - 1]
            if number < 0:
                self._note(entry)
                return
            yield self.piece.calls[number - self.piece.first]
            entry = self._next[entry]

    def _beside(self, call: RecordedCall) -> Iterator[RecordedCall]:
        """Yield the other calls that are left and began before the end of a call."""
        yield from self.piece.unreturned
        entry, end = self._next[0], self._entries_of(call.number)[-1]
        while entry != end:
            number = self.piece.order[entry - 1]
            if number >= 0 and number != call.number:
                yield self.piece.calls[number - self.piece.first]
            entry = self._next[entry]

    def _take_out(self, taken: Taken) -> None:
        self._left -= 1
        for entry in self._entries_of(taken.call):
            before, after = self._before[entry], self._next[entry]
            self._next[before], self._before[after] = after, before

    def _put_back(self, taken: Taken) -> None:
        self._left += 1
        for entry in reversed(self._entries_of(taken.call)):
            self._next[self._before[entry]] = self._before[self._next[entry]] = entry

    def _entries_of(self, number: int) -> list[int]:
        return self._places[number - self.piece.first]
