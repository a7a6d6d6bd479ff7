"""A pool's explainer leaves out most orders of its open calls, and finds what all orders say."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar

import msgspec
import pytest

from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.overlapping.interleaving import Returned
from purgatory_model.overlapping.linearizability import Call
from purgatory_model.overlapping.parts import WHOLE, Part
from purgatory_model.overlapping.sequential_rules import Effect, Rules
from purgatory_spec.operations import (
    Allocate,
    Construct,
    Lose,
    Operation,
    Release,
    ReleaseForeign,
    ReleaseForm,
    ReleaseNothing,
)
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import (
    MemoryPoolConfiguration,
    MemoryPoolProfile,
    ReleaseValidation,
    ZeroRequest,
)
from purgatory_spec.reasons import Reason
from purgatory_traces.replay.overlapping.explainer import Explanation, LateExplainer
from purgatory_traces.replay.overlapping.memory_pool import follower
from purgatory_traces.replay.overlapping.memory_pool.explainer import (
    Moment,
    Moments,
    PoolExplainer,
    ways_of,
)
from purgatory_traces.replay.overlapping.memory_pool.rules import (
    ANSWERS,
    BEGUN,
    WAY_OF,
    Answer,
    PoolCall,
    Ways,
    ways_that_give,
)
from purgatory_traces.traces.lines import (
    Begin,
    DeclaredDeviation,
    MemoryPoolInstance,
    OpenCall,
    Return,
    Snapshot,
)

from .snapshot_of_state import snapshot_of
from .wall_clock import Line, begin, call, judged, returns, rule_of

Standing = tuple[int, bool]
"""The bytes that are available, and whether some were credited wrongly."""

CREDITS = (DeclaredDeviation("POOL-RELEASE-AGAIN", "credits_anything"),)


@dataclass
class OneByOne(Rules[Standing]):
    """The effects of the open calls of a pool, for an explainer that knows nothing of pools."""

    open: list[PoolCall]

    def initial(self) -> Standing:
        return 0, False

    def effects(
        self, state: Standing, operation: Operation, part: Part
    ) -> Iterator[Effect[Standing]]:
        (call,) = (each for each in self.open if each.shift == part.number)
        effects = call.effects[state[0]]
        for answer in answers_of(effects.idle):
            yield Effect(state, (), answer.result, answer.raised)
        for change in effects.changes:
            (answer,) = answers_of(change.way)
            after = change.available_bytes, state[1] or change.credits_wrongly
            yield Effect(after, (), answer.result, answer.raised)


def answers_of(ways: Ways) -> list[Answer]:
    return [answer for answer in ANSWERS if WAY_OF[answer] & ways]


class AllOrders(PoolExplainer):
    """The same knowledge, followed by the explainer of purgatories."""

    def changed(self, moments: Moments, call: PoolCall) -> Moments:
        self.rules.take_up(call)
        opened = []
        for each in moments:
            moment = self.explanation(each)
            for thread, ways in moment.calls.items():
                moment = self.late.with_ways(moment, thread, ways)
            opened.append(self.moment(moment))
        return frozenset(opened)

    def after(self, moments: Moments, call: PoolCall, seen: Ways) -> Moments | None:
        answer = next(each for each in ANSWERS if ways_that_give(*each) == seen)
        known = frozenset(map(self.explanation, moments))
        left = self.late.after(known, Returned(str(call.shift), *answer))
        return None if left is None else frozenset(map(self.moment, left))

    def all_moments(self, moments: object) -> set[Moment]:
        assert isinstance(moments, frozenset)
        known = frozenset(map(self.explanation, moments))
        return set(map(self.moment, self.late.all_moments(known)))

    @property
    def late(self) -> LateExplainer[Standing]:
        return LateExplainer(OneByOne(self.open))

    def explanation(self, moment: Moment) -> Explanation[Standing]:
        explained = Explanation((moment[0], bool(moment[1] & 1)))
        for each in self.open:
            ways = ways_of(moment, each)
            begun = Call(each.operation, part=WHOLE._replace(number=each.shift))
            over = (Call(each.operation, None, (), (), *answer) for answer in answers_of(ways))
            calls = frozenset([begun, *over] if ways & BEGUN else over)
            if calls:
                explained = explained._replace(calls=explained.calls.set(str(each.shift), calls))
        return explained

    def moment(self, explained: Explanation[Standing]) -> Moment:
        (available, wrongly), ways = explained.state, 0
        for thread, calls in explained.calls.items():
            for each in calls:
                over = Answer(each.result, each.raised)
                way = WAY_OF[over] if each.part is None else BEGUN
                ways |= way << int(thread)
        return available, ways | wrongly


def some_run(chance: Random) -> tuple[Begin, list[Line]]:
    """A run of three to five threads on a small pool, with at most one wrong answer.

    It has calls of every kind, some that never return, and a snapshot, which may be its beginning.
    """
    is_odd = chance.random() < 0.5
    size_bytes = chance.randint(2, 8)
    instance = MemoryPoolInstance(
        configuration=MemoryPoolConfiguration(
            size_bytes, min(size_bytes, 3), strict=chance.random() < 0.5
        ),
        profile=MemoryPoolProfile(
            release_validation=chance.choice([ReleaseValidation.NONE, ReleaseValidation.IDENTITY]),
            zero_request=chance.choice([ZeroRequest.GRANT, ZeroRequest.REFUSE, ZeroRequest.REJECT]),
        ),
    )
    deviations = CREDITS if is_odd and chance.random() < 0.5 else ()
    declared = frozenset(each.variant for each in deviations)
    model = MemoryPoolModel(instance.configuration, instance.profile, declared)
    threads, turns = chance.randint(3, 5), chance.randint(10, 40)
    lines = lines_of_threads(chance, model, threads=threads, turns=turns, is_odd=is_odd)
    places = [place for place, each in enumerate(lines) if isinstance(each, Return)]
    if places and chance.random() < 0.6:
        place = chance.choice(places)
        lines[place] = turned(lines[place])
    first = begin(instance, deviations=deviations)
    snapshots = [place for place, each in enumerate(lines) if isinstance(each, Snapshot)]
    if snapshots and chance.random() < 0.5:
        lines = lines[snapshots[0] :]
        first = msgspec.structs.replace(first, seq=1)
    return first, lines


def turned(line: Line) -> Line:
    """The return with another answer."""
    assert isinstance(line, Return)
    if isinstance(line.result, bool):
        return msgspec.structs.replace(line, result=not line.result)
    is_rejected = line.rejected is not None
    return msgspec.structs.replace(line, rejected=None if is_rejected else Reason.INVALID_ARGUMENT)


def lines_of_threads(
    chance: Random, model: MemoryPoolModel, *, threads: int, turns: int, is_odd: bool
) -> list[Line]:
    """The lines of threads whose calls each take effect at some instant."""
    lines, state, held = list[Line](), model.initial(), list[str]()
    asked: dict[str, Operation] = {}
    outcomes: dict[str, Outcome] = {}
    for turn in range(turns):
        thread = f"t{chance.randrange(threads)}"
        if thread not in asked:
            asked[thread] = some_operation(chance, f"b{turn}", held, is_odd=is_odd)
            lines.append(call(0, thread, asked[thread]))
        elif thread not in outcomes:
            ways = list(model.successors(state, asked[thread]))
            outcomes[thread], state = chance.choice(ways)
        else:
            outcome, operation = outcomes.pop(thread), asked.pop(thread)
            lines.append(returns(0, thread, outcome.result, outcome.rejected))
            if isinstance(operation, Allocate) and outcome.result is True:
                held.append(operation.buffer)
        if chance.random() < 0.03:
            calls = tuple(OpenCall(name, operation, 0) for name, operation in asked.items())
            told = snapshot_of(state, "run", 1)
            lines.append(msgspec.structs.replace(told, at_ns=0, calls=calls))
    return lines


def some_operation(chance: Random, name: str, held: list[str], *, is_odd: bool) -> Operation:
    if held and chance.random() < 0.45:
        buffer = chance.choice(held)
        if not is_odd or chance.random() < 0.7:
            held.remove(buffer)
        form = ReleaseForm.ITSELF
        if is_odd and chance.random() < 0.1:
            form = chance.choice([ReleaseForm.SLICE, ReleaseForm.COPY])
        return Lose(buffer) if chance.random() < 0.1 else Release(buffer, form)
    if is_odd and chance.random() < 0.1:
        others: list[Operation] = [ReleaseForeign(1), ReleaseNothing(), Construct(1, 2)]
        return chance.choice(others)
    size_bytes = chance.choice([0, 0, 1, 1, 2, 2, 3, 3, 4])
    return Allocate(name, size_bytes, fail=chance.random() < 0.05)


def found_by(explainer: type[PoolExplainer], first: Begin, lines: list[Line]) -> object:
    """The first line that is not allowed, with its finding, as a judge with an explainer says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(follower, "PoolExplainer", explainer)
        return judged(first, lines)


class GiversNeverFirst(PoolExplainer):
    """Wrong: a request is taken to be possible now or never."""

    def _granted(self, moment: Moment, call: PoolCall, givers: object) -> list[Moment]:
        return self._steps(moment, call)


class NothingToGain(PoolExplainer):
    """Wrong: the call that returns always takes effect first."""

    def _gains(self, before: Moment, last: PoolCall, after: Moment, call: PoolCall) -> bool:
        return False


class NothingToLookFor(PoolExplainer):
    """Wrong: no request is taken to matter to the call that returns."""

    def _worth_trying(
        self, moment: Moment, requests: list[PoolCall], call: PoolCall, wanted: int
    ) -> list[PoolCall]:
        return []


class FewestActedIsEnough(PoolExplainer):
    """Wrong: a moment in which less happened is taken to lead to any other."""

    def _leads(self, early: Moment, late: Moment) -> bool:
        return True


WRONG = (GiversNeverFirst, NothingToGain, NothingToLookFor, FewestActedIsEnough)


def test_it_finds_what_all_orders_say() -> None:
    """Both name the same line and say the same of it; each wrong short cut would be noticed."""
    chance = Random(38)
    verdicts: Counter[bool] = Counter()
    noticed: Counter[str] = Counter()
    for number in range(1000):
        first, lines = some_run(chance)
        expected = found_by(AllOrders, first, lines)
        assert found_by(PoolExplainer, first, lines) == expected, (number, first, lines)
        verdicts[expected is None] += 1
        for wrong in WRONG:
            noticed[wrong.__name__] += found_by(wrong, first, lines) != expected
    assert min(verdicts.values()) > 300
    assert min(noticed[wrong.__name__] for wrong in WRONG) > 5


@dataclass(slots=True)
class Counting(PoolExplainer):
    """Counts the calls that it lets take effect."""

    steps: ClassVar[int] = 0

    def _steps(self, moment: Moment, call: PoolCall) -> list[Moment]:
        Counting.steps += 1
        return PoolExplainer._steps(self, moment, call)


class TriesAllOrders(Counting):
    """The same without what is known of requests and givers."""

    def _reached(self, moments: Iterable[Moment], call: PoolCall, wanted: int) -> set[Moment]:
        return self._reached_in_any_order(moments, call, wanted)


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
def test_a_return_costs_few_steps_though_seven_other_calls_are_open(strict: bool) -> None:
    """Allow for 50 on the average; all orders need more than four times as many."""
    instance = MemoryPoolInstance(MemoryPoolConfiguration(8, 4, strict=strict))
    model = MemoryPoolModel(instance.configuration, instance.profile)
    lines = lines_of_threads(Random(8), model, threads=8, turns=1500, is_odd=False)
    spent = []
    for explainer in (Counting, TriesAllOrders):
        Counting.steps = 0
        assert found_by(explainer, begin(instance), lines) is None
        spent.append(Counting.steps)
    number = sum(isinstance(each, Return) for each in lines)
    assert spent[0] < 50 * number, spent
    assert spent[1] > 4 * spent[0], spent


SMALL_BEHIND_LARGE: list[Line] = [
    call(0, "t1", Allocate("large", 5)),
    call(0, "t2", Allocate("small", 1)),
    returns(0, "t2", False),
    returns(0, "t1", True),
]


def test_a_small_request_may_be_refused_for_the_sake_of_a_large_one() -> None:
    """Allow it where the large one takes all there is, and not where a byte is left."""
    all_there_is = begin(MemoryPoolInstance(MemoryPoolConfiguration(5, 5)))
    a_byte_more = begin(MemoryPoolInstance(MemoryPoolConfiguration(6, 5)))
    assert judged(all_there_is, SMALL_BEHIND_LARGE) is None
    assert rule_of(a_byte_more, SMALL_BEHIND_LARGE) == "POOL-NON-STRICT"
    assert found_by(NothingToLookFor, all_there_is, SMALL_BEHIND_LARGE) is not None
