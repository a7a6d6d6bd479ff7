"""Memory pools that threads share: some order of the overlapping calls explains each answer."""

import pickle
import random
from collections.abc import Iterator
from itertools import islice

import msgspec
import pytest

from purgatory_model.concurrent.memory_pool.model import ConcurrentMemoryPool
from purgatory_model.memory_pool import MemoryPoolModel
from purgatory_model.overlapping.histories import histories
from purgatory_model.overlapping.interleaving import Called, History, Returned
from purgatory_model.overlapping.linearizability import explain
from purgatory_model.overlapping.programs import Programmed
from purgatory_model.overlapping.sequential_rules import sequential
from purgatory_pipeline.replay.judge import Finding
from purgatory_pipeline.replay.judges import judge_of
from purgatory_pipeline.traces.lines import (
    DeclaredDeviation,
    HeldBuffer,
    ManualClock,
    MemoryPoolInstance,
    Snapshot,
    Step,
    WallClock,
)
from purgatory_spec.operations import Allocate, Operation, Release
from purgatory_spec.outcomes import Value
from purgatory_spec.profiles import (
    MemoryPoolConfiguration,
    MemoryPoolProfile,
    ReleaseValidation,
    ZeroRequest,
)
from purgatory_spec.reasons import Reason

from .wall_clock import NS_PER_MS, Line, at_once, begin, call, judged, lines_of, returns, rule_of

SIZES = MemoryPoolConfiguration(size_bytes=3, max_single_bytes=2)
STRICT = MemoryPoolConfiguration(size_bytes=3, max_single_bytes=2, strict=True)
IDENTITY = MemoryPoolProfile(release_validation=ReleaseValidation.IDENTITY)
POOL = begin(MemoryPoolInstance(SIZES))
STRICT_POOL = begin(MemoryPoolInstance(STRICT))
KNOWS = begin(MemoryPoolInstance(SIZES, IDENTITY))


def granted(buffer: str, size_bytes: int) -> list[Line]:
    return at_once(0, Allocate(buffer, size_bytes), True)


def refused(buffer: str, size_bytes: int) -> list[Line]:
    return at_once(0, Allocate(buffer, size_bytes), False)


def rejected(operation: Operation, reason: Reason) -> list[Line]:
    return [call(0, "main", operation), returns(0, "main", None, reason)]


FULL = [*granted("a", 2), *granted("b", 2)]
RELEASE_A = at_once(0, Release("a"))


RUNS: dict[str, tuple[list[Line], str | None]] = {
    "right": ([*FULL, *refused("c", 1), *RELEASE_A, *granted("c", 1)], None),
    "over the bound": ([*FULL, *granted("c", 1)], "POOL-BOUND"),
    "refused though there is plenty": (refused("a", 1), "POOL-NON-STRICT"),
    "lost bytes": ([*FULL, *RELEASE_A, *refused("c", 1)], "POOL-NON-STRICT"),
    "more than the largest": (granted("a", 3), "POOL-OVERSIZE-REQUEST"),
    "nothing is granted": (granted("a", 0), "POOL-ZERO-REQUEST"),
    "less than nothing": (rejected(Allocate("a", -1), Reason.INVALID_ARGUMENT), None),
    "rejected": (rejected(Allocate("a", 1), Reason.INVALID_ARGUMENT), "POOL-NON-STRICT"),
    "granted from a release under way": (
        [*FULL, call(0, "t1", Release("a")), *granted("c", 1), returns(0, "t1")],
        None,
    ),
    "refused during a release": (
        [*FULL, call(0, "t1", Release("a")), *refused("c", 1), returns(0, "t1")],
        None,
    ),
    "two are granted what is there for one": (
        [
            *granted("a", 2),
            call(0, "t1", Allocate("b", 2)),
            call(0, "t2", Allocate("c", 2)),
            returns(0, "t2", True),
            returns(0, "t1", True),
        ],
        "POOL-BOUND",
    ),
    "one is refused for the sake of another": (
        [
            *granted("a", 2),
            call(0, "t1", Allocate("b", 2)),
            call(0, "t2", Allocate("c", 2)),
            returns(0, "t2", False),
            returns(0, "t1", True),
        ],
        None,
    ),
    "never returns": ([*FULL, call(0, "t1", Release("a")), *granted("c", 1)], None),
}
"""Runs of a pool of three bytes, with the rule that is broken in their last line."""


@pytest.mark.parametrize(("lines", "rule"), RUNS.values(), ids=RUNS)
def test_some_order_explains_each_answer(lines: list[Line], rule: str | None) -> None:
    found = judged(POOL, lines)
    if rule is None:
        assert found is None
    else:
        assert found is not None
        assert found[1].rule == rule, found[1]
        assert found[0] == len(lines) - 1


ANSWERS_TO_NOTHING: dict[ZeroRequest, list[Line]] = {
    ZeroRequest.REJECT: rejected(Allocate("n", 0), Reason.INVALID_ARGUMENT),
    ZeroRequest.REFUSE: refused("n", 0),
    ZeroRequest.GRANT: granted("n", 0),
}


@pytest.mark.parametrize("is_strict", [False, True], ids=["non-strict", "strict"])
@pytest.mark.parametrize("means", ANSWERS_TO_NOTHING)
def test_a_request_for_nothing_means_what_is_declared(means: ZeroRequest, is_strict: bool) -> None:
    """The first is right, and the second is not."""
    profile = MemoryPoolProfile(zero_request=means)
    pool = begin(MemoryPoolInstance(STRICT if is_strict else SIZES, profile))
    for answered, lines in ANSWERS_TO_NOTHING.items():
        expected = None if answered is means else "POOL-ZERO-REQUEST"
        assert rule_of(pool, lines) == expected


def test_an_empty_buffer_may_be_refused_where_nothing_was_left_for_an_instant() -> None:
    """The first is right: there was an instant without anything left."""
    pool = begin(MemoryPoolInstance(SIZES, MemoryPoolProfile(zero_request=ZeroRequest.GRANT)))
    refused_meanwhile = [
        call(0, "t1", Allocate("n", 0)),
        *FULL,
        *RELEASE_A,
        *at_once(0, Release("b")),
        returns(0, "t1", False),
    ]
    assert rule_of(pool, refused_meanwhile) is None
    assert rule_of(pool, [*refused_meanwhile, *refused("m", 0)]) == "POOL-ZERO-REQUEST"


def test_a_second_release_of_an_empty_buffer_is_free() -> None:
    """The first is free, and the second breaks a rule."""
    profile = MemoryPoolProfile(ReleaseValidation.IDENTITY, ZeroRequest.GRANT)
    pool = begin(MemoryPoolInstance(SIZES, profile))
    assert rule_of(pool, [*granted("a", 0), *RELEASE_A, *RELEASE_A]) is None
    assert rule_of(pool, [*granted("a", 2), *RELEASE_A, *RELEASE_A]) == "POOL-RELEASE-AGAIN"


def test_a_strict_pool_grants_what_it_has() -> None:
    assert rule_of(STRICT_POOL, [*granted("a", 2), *refused("b", 2), *granted("b", 1)]) is None
    assert rule_of(STRICT_POOL, [*granted("a", 2), *granted("b", 2)]) == "POOL-BOUND"
    assert rule_of(STRICT_POOL, [*granted("a", 2), *refused("b", 1)]) == "POOL-STRICT"


RELEASED_TWICE_AT_ONCE: list[Line] = [
    *granted("a", 2),
    call(0, "t1", Release("a")),
    call(0, "t2", Release("a")),
    returns(0, "t1", None, Reason.INVALID_ARGUMENT),
    returns(0, "t2"),
]


def test_a_pool_that_knows_its_own_rejects_what_is_given_back_twice() -> None:
    twice = [*granted("a", 2), *RELEASE_A]
    again = rejected(Release("a"), Reason.INVALID_ARGUMENT)
    assert rule_of(KNOWS, [*twice, *again]) is None
    assert rule_of(KNOWS, [*twice, *RELEASE_A]) == "POOL-RELEASE-AGAIN"
    assert rule_of(KNOWS, RELEASED_TWICE_AT_ONCE) is None


@pytest.mark.parametrize("clock", [ManualClock(), POOL.clock], ids=["manual", "real"])
def test_what_a_release_returns_is_free(clock: ManualClock | WallClock) -> None:
    """It is right on both; a request that is answered wrongly is found on both."""
    first = msgspec.structs.replace(POOL, clock=clock)

    def steps(again: Operation, result: Value) -> list[Finding | None]:
        judge = judge_of(first)
        told: tuple[tuple[Operation, Value], ...] = (
            (Allocate("a", 2), True),
            (Release("a"), True),
            (again, result),
        )
        return [
            judge.take(
                Step(
                    run="run",
                    seq=seq,
                    at_ns=None if isinstance(clock, ManualClock) else seq * NS_PER_MS,
                    operation=operation,
                    result=answer,
                )
            )
            for seq, (operation, answer) in enumerate(told, start=1)
        ]

    assert steps(Allocate("b", 2), True) == [None, None, None]
    assert steps(Allocate("b", 2), False)[2] is not None


def test_bytes_that_were_credited_twice_are_found_when_they_are_granted() -> None:
    """Only a wrong credit explains that: declared it is a deviation."""
    lines = [*FULL, *RELEASE_A, *RELEASE_A, *granted("c", 2), *granted("d", 1)]
    assert rule_of(POOL, lines) == "POOL-CONSERVATION"
    declared = DeclaredDeviation("POOL-CONSERVATION", "credits_anything")
    judge = judge_of(begin(MemoryPoolInstance(SIZES), deviations=(declared,)))
    assert [judge.take(line) for line in lines] == [None] * len(lines)
    assert judge.deviated == ("POOL-CONSERVATION",)


def programs(configuration: MemoryPoolConfiguration) -> Iterator[History]:
    pool = ConcurrentMemoryPool(configuration, ("t1", "t2", "t3"))
    asks = {
        "t1": (Allocate("t1", 2),),
        "t2": (Allocate("t2", 2),),
        "t3": (Allocate("t3", 1),),
    }
    yield from islice(histories(Programmed(pool, asks)), 300)


@pytest.mark.parametrize("configuration", [SIZES, STRICT], ids=["non-strict", "strict"])
def test_it_says_what_the_model_says_of_every_history(
    configuration: MemoryPoolConfiguration,
) -> None:
    """When model and judge are asked whether some order explains them, they agree."""
    rules = sequential(MemoryPoolModel(configuration, MemoryPoolProfile()))
    first = begin(MemoryPoolInstance(configuration))
    answers = []
    for history in programs(configuration):
        for wrong in (history, *_turned(history)):
            is_right = explain(wrong, rules).is_complete
            assert (judged(first, lines_of(wrong)) is None) == is_right, wrong
            answers.append(is_right)
    assert answers.count(True) > 20
    assert answers.count(False) > 20


def _turned(history: History) -> Iterator[History]:
    for place, each in enumerate(history):
        if isinstance(each, Returned) and isinstance(each.result, bool):
            turned = Returned(each.thread, not each.result)
            yield (*history[:place], turned, *history[place + 1 :])
    assert any(isinstance(each, Called) for each in history)


def right_run(number: int, seed: int, size_bytes: int) -> list[Line]:
    """Four threads that ask for buffers and give them back; each call overlaps with others."""
    source = random.Random(seed)
    lines, held, left = list[Line](), list[tuple[str, int]](), size_bytes
    inside: dict[str, Line] = {}
    for turn in range(number):
        thread = f"t{source.randint(1, 4)}"
        if thread in inside:
            lines.append(inside.pop(thread))
        elif held and source.random() < 0.5:
            buffer, size = held.pop(source.randrange(len(held)))
            left += size
            lines.append(call(0, thread, Release(buffer)))
            inside[thread] = returns(0, thread)
        else:
            size = source.randint(1, 100)
            lines.append(call(0, thread, Allocate(f"b{turn}", size)))
            inside[thread] = returns(0, thread, left > 0)
            if left > 0:
                left -= size
                inside[thread] = returns(0, thread, True)
                lines.append(inside.pop(thread))
                held.append((f"b{turn}", size))
    return lines


@pytest.mark.parametrize("size_bytes", [300, 100_000])
def test_its_memory_follows_what_is_outstanding(size_bytes: int) -> None:
    first = begin(MemoryPoolInstance(MemoryPoolConfiguration(size_bytes, 100)))
    judge = judge_of(first)
    sizes = []
    for place, line in enumerate(right_run(16_000, 1, size_bytes)):
        assert judge.take(line) is None, place
        if place % 4000 == 3999:
            sizes.append(len(pickle.dumps(judge)))
    assert sizes[-1] < 1.5 * sizes[1]


def test_it_can_be_pickled_between_any_two_lines() -> None:
    lines = right_run(200, 2, 300)
    wrong = [*lines, *at_once(0, Allocate("x", 101), True)]
    first = begin(MemoryPoolInstance(MemoryPoolConfiguration(300, 100)))
    assert judged(first, lines, pickled=True) is None
    assert judged(first, wrong, pickled=True) == judged(first, wrong)
    assert judged(first, wrong) is not None


def test_a_run_may_begin_with_a_snapshot_and_must_agree_with_another() -> None:
    held = (HeldBuffer("a", 2), HeldBuffer("b", 2))
    told = Snapshot(run="run", seq=8, at_ns=NS_PER_MS, buffers=held)
    first = begin(MemoryPoolInstance(SIZES), seq=7)
    assert rule_of(first, [told, *refused("c", 1), *RELEASE_A, *granted("c", 1)]) is None
    assert rule_of(first, [told, *granted("c", 1)]) == "POOL-BOUND"
    assert rule_of(POOL, [*FULL, told]) is None
    assert rule_of(POOL, [*granted("a", 2), told]) == "POOL-CONSERVATION"
