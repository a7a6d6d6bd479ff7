"""The sequential purgatory is the concurrent one without interleaving."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purgatory_model.concurrent.exact.instance import ExactInstance
from purgatory_spec import operations as op

from .exact_alone import ExactAlone
from .exact_pairs import INSTANCE, Differ, Pair, Pairs

pytestmark = pytest.mark.recorded

ONE_KEY = replace(INSTANCE, keys=("k1",), max_events=1)
TWICE = replace(ONE_KEY, operations=1, demanding=frozenset(), max_calls=2, duplicates=2)
ONE_OPERATION = replace(INSTANCE, operations=1, demanding=frozenset())


def everything(pairs: Pairs, last_ms: int) -> tuple[int, int]:
    """Every pair of states that calls lead to, and how many calls were compared in them."""
    calls = list(possible(pairs))
    met = {pairs.initial()}
    fresh = list(met)
    compared = 0
    while fresh:
        pair = fresh.pop()
        now_ms = pair.sequential.timer.now_ms
        advances = [op.Advance(ms) for ms in range(now_ms, min(now_ms + 1, last_ms) + 1)]
        for operation in (*calls, *advances):
            if pairs.may(pair, operation):
                compared += 1
                found = {after for _, after in pairs.after(pair, operation)} - met
                met |= found
                fresh += found
    return len(met), compared


def possible(pairs: Pairs) -> Iterator[op.Operation]:
    """Every call but advances, with one delay for each operation."""
    for number in range(1, pairs.instance.operations + 1):
        yield pairs.watch(number, delay_ms=number)
        yield op.Force(str(number))
    for key in pairs.instance.keys:
        yield op.Check(key)
        yield op.CancelForKey(key)
    yield op.RunOne()


@pytest.mark.parametrize(
    ("instance", "found"),
    [
        pytest.param(ONE_OPERATION, (241, 1714), id="one operation, two keys"),
        pytest.param(TWICE, (98, 530), id="watched twice, duplicate keys"),
        pytest.param(replace(TWICE, throwing=frozenset({1})), (77, 411), id="a callback raises"),
        pytest.param(replace(ONE_KEY, purge_interval=1), (478, 3020), id="two operations"),
    ],
)
def test_every_call_has_the_same_outcomes(instance: ExactInstance, found: tuple[int, int]) -> None:
    """Results, events and counts are the same, and no outcome is one model's alone."""
    assert everything(Pairs(instance), last_ms=2) == found


@pytest.mark.large
def test_every_call_has_the_same_outcomes_with_two_operations_and_two_keys() -> None:
    """Results, events and counts are the same."""
    assert everything(Pairs(), last_ms=2) == (3327, 27430)


INSTANCES = st.builds(
    replace,
    st.sampled_from([INSTANCE, ONE_KEY]),
    purge_interval=st.integers(0, 2),
    duplicates=st.integers(1, 2),
    max_calls=st.integers(1, 2),
    throwing=st.sampled_from([frozenset[int](), frozenset({1})]),
    features=st.sampled_from(
        [
            frozenset({"time-outs"}),
            frozenset({"time-outs", "throwing-try"}),
            frozenset({"time-outs", "stops-inserting", "sweep-by-operation"}),
        ]
    ),
)
_ONE_THROW = [
    (),
    (op.Answer.WAIT, op.Answer.THROW, op.Answer.WAIT),
    (op.Answer.THROW, op.Answer.WAIT),
]


@settings(max_examples=40)
@given(st.data())
def test_every_program_has_the_same_outcomes(data: st.DataObject) -> None:
    """When both models are asked for each call, results, events and counts are the same."""
    pairs = Pairs(data.draw(INSTANCES))
    pair = pairs.initial()
    for _ in range(data.draw(st.integers(1, 14))):
        operation = data.draw(_calls(pairs, pair))
        if not pairs.may(pair, operation):
            continue
        afters = [after for _, after in pairs.after(pair, operation)]
        assert afters
        pair = data.draw(st.sampled_from(afters))


def _calls(pairs: Pairs, pair: Pair) -> st.SearchStrategy[op.Operation]:
    throws = "throwing-try" in pairs.instance.features
    number = st.integers(1, pairs.instance.operations)
    key = st.sampled_from(pairs.instance.keys)
    now_ms = pair.sequential.timer.now_ms
    tries = st.sampled_from(_ONE_THROW if throws else [()])
    return st.one_of(
        st.builds(pairs.watch, number, st.integers(1, 3), tries),
        st.builds(op.Check, key),
        st.builds(op.CancelForKey, key),
        st.builds(op.Force, number.map(str)),
        st.builds(op.Advance, st.integers(now_ms, now_ms + 2)),
        st.just(op.RunOne()),
    )


@pytest.mark.parametrize(
    "variant",
    ["no-second-try", "cancel-takes-time-out", "promise-one-too-few", "winner-stays-in-timer"],
)
def test_a_fault_of_one_thread_alone_is_seen(variant: str) -> None:
    """Some call has another outcome."""
    faulty = replace(INSTANCE, operations=1, variants=frozenset({variant}))
    with pytest.raises(Differ):
        everything(Pairs(replace(faulty, demanding=frozenset())), last_ms=2)


def test_a_call_that_no_thread_makes_is_refused() -> None:
    """Given an instance without a forcer: the error names the operation."""
    alone = ExactAlone(replace(INSTANCE, forcers=()))
    for operation, name in ((op.Force("1"), "force"), (op.Shutdown(), "shutdown")):
        with pytest.raises(ValueError, match=f"calls {name}"):
            list(alone.successors(alone.initial(), operation))
