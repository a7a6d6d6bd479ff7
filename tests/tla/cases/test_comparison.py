"""The predicted outcomes beside the seen ones."""

from collections.abc import Iterable

import msgspec
import pytest

from purgatory_spec import profiles
from purgatory_spec.operations import Add, Advance, CancelForKey, Check, RunOne
from purgatory_spec.outcomes import Outcome, completed, expired, ran, tried
from purgatory_spec.reasons import Reason
from purgatory_tla.cases.comparison import Comparison, Difference, follow, misfit
from purgatory_tla.cases.predictions import Driven, NotDrivable, Prediction

STEPPED = profiles.TimerProfile(
    executor=profiles.Executor.STEPPED, observables=frozenset(profiles.Observable)
)
EXPECTED = Outcome(True, events=(expired("a"), expired("b")), observed={"size": 1})


def difference(prediction: Prediction, seen: Outcome) -> Difference | None:
    return Comparison(STEPPED).difference(prediction, seen)


def test_what_is_as_predicted_does_not_differ() -> None:
    seen = msgspec.structs.replace(EXPECTED, observed={"size": 1, "levels": 2})
    assert difference(Prediction(Advance(5), EXPECTED), seen) is None


@pytest.mark.parametrize(
    ("changes", "about"),
    [
        ({"rejected": Reason.CLOSED}, "answer"),
        ({"result": False}, "result"),
        ({"events": (expired("a"),)}, "events"),
        ({"events": (expired("b"), expired("a"))}, "events"),
        ({"events": (expired("a"), ran("b"))}, "events"),
        ({"observed": {"size": 2}}, "size"),
    ],
)
def test_each_part_can_differ(changes: dict[str, object], about: str) -> None:
    seen = msgspec.structs.replace(EXPECTED, **changes)
    found = difference(Prediction(Advance(5), EXPECTED), seen)
    assert found is not None
    assert found.about == about
    assert found.predicted != found.seen


def test_inside_a_group_tasks_may_change_places() -> None:
    a, b, c = expired("a"), expired("b"), expired("c")
    prediction = Prediction(Advance(5), Outcome(events=(a, b, c)), groups=(2,))
    assert difference(prediction, Outcome(events=(b, a, c))) is None
    assert difference(prediction, Outcome(events=(a, c, b))) is not None


def test_inside_a_group_the_events_of_one_operation_keep_their_order() -> None:
    events = (tried("1"), completed("1"), tried("2"))
    prediction = Prediction(Check("k"), Outcome(1, events=events), groups=(3,))
    comparison = Comparison(profiles.PurgatoryProfile(executor=profiles.Executor.STEPPED))
    assert comparison.difference(prediction, Outcome(1, events=(*events[2:], *events[:2]))) is None
    wrong = Outcome(1, events=(completed("1"), tried("1"), tried("2")))
    assert comparison.difference(prediction, wrong) is not None


def test_the_executor_runs_what_the_subject_handed_over_first() -> None:
    advance = Prediction(Advance(5), Outcome(events=(expired("a"), expired("b"))), groups=(2,))
    run = Prediction(RunOne(), Outcome(events=(ran("a"),)))
    for task, differs in (("b", False), ("a", True)):
        comparison = Comparison(STEPPED)
        seen = Outcome(events=(expired("b"), expired("a")))
        assert comparison.difference(advance, seen) is None
        assert (comparison.difference(run, Outcome(events=(ran(task),))) is not None) is differs


def test_what_is_free_is_not_compared() -> None:
    free = Prediction(Advance(5), EXPECTED, free=frozenset({"answer"}))
    seen = Outcome(rejected=Reason.CLOSED, events=EXPECTED.events, observed=EXPECTED.observed)
    assert difference(free, seen) is None
    free = Prediction(Advance(5), EXPECTED, free=frozenset({"events"}))
    assert difference(free, msgspec.structs.replace(EXPECTED, events=())) is None


def test_an_advance_has_a_result_only_where_it_is_declared() -> None:
    comparison = Comparison(profiles.TimerProfile(executor=profiles.Executor.STEPPED))
    seen = msgspec.structs.replace(EXPECTED, result=None)
    assert comparison.difference(Prediction(Advance(5), EXPECTED), seen) is None


def test_names_in_an_answer_may_stand_in_any_order() -> None:
    prediction = Prediction(CancelForKey("k"), Outcome(("1", "2")))
    comparison = Comparison(profiles.PurgatoryProfile(executor=profiles.Executor.STEPPED))
    assert comparison.difference(prediction, Outcome(("2", "1"))) is None
    assert comparison.difference(prediction, Outcome(("2",))) is not None


def driven(*predictions: Prediction) -> Driven:
    length = sum(len(each.steps) for each in predictions)
    return Driven(profiles.TimerConfiguration(), STEPPED, predictions, length)


def outcomes(*sizes: int) -> Iterable[Outcome]:
    return [Outcome(observed={"size": size}) for size in sizes]


def sized(number: int, *steps: int, either: str = "", needs: str = "") -> Prediction:
    features = frozenset({needs} if needs else ())
    return Prediction(
        Add("a", 1), Outcome(observed={"size": number}), steps, needs=features, either=either
    )


def test_a_case_is_followed_up_to_its_first_difference() -> None:
    case = driven(sized(1, 1, 2), sized(2, 3), sized(3, 4, 5, 6))
    followed = follow(case, STEPPED, outcomes(1, 9, 3))
    assert followed.difference == Difference("size", "2", "9")
    assert len(followed.outcomes) == 2
    assert followed.steps(case) == 2
    assert follow(case, STEPPED, outcomes(1, 2, 3)).steps(case) == 6


def test_a_way_that_is_as_right_ends_the_case_without_a_difference() -> None:
    case = driven(sized(1, 1), sized(2, 2, either="both are right"), sized(3, 3))
    followed = follow(case, STEPPED, outcomes(1, 7, 3))
    assert followed.difference is None
    assert followed.left == "both are right"
    assert followed.steps(case) == 1


def test_a_subject_is_asked_up_to_what_it_does_not_offer() -> None:
    case = driven(sized(1, 1, 2), sized(2, 3, needs="readd"))
    cut = case.for_subject(STEPPED)
    assert len(cut.predictions) == 1
    assert cut.stopped == NotDrivable(3, "the subject does not offer readd")
    declared = msgspec.convert({"features": ["readd"]}, profiles.TimerProfile)
    assert case.for_subject(declared) is case


def test_a_subject_with_another_choice_is_not_asked() -> None:
    case = driven(sized(1, 1))
    up = msgspec.structs.replace(STEPPED, rounding=profiles.Rounding.UP)
    assert misfit(case, STEPPED) == ""
    assert "rounding down" in misfit(case, up)
    assert "executor stepped" in misfit(case, profiles.TimerProfile())
    assert "another component" in misfit(case, profiles.MemoryPoolProfile())
    identity = profiles.MemoryPoolProfile(release_validation=profiles.ReleaseValidation.IDENTITY)
    for needs, fits in (
        (profiles.MemoryPoolFeature.STRICT, True),
        (profiles.MemoryPoolFeature.RELEASE_AGAIN, False),
    ):
        pool = Driven(profiles.MemoryPoolConfiguration(), identity, (sized(1, 1, needs=needs),), 1)
        assert (misfit(pool, profiles.MemoryPoolProfile()) == "") is fits
