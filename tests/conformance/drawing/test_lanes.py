"""A diverging step as lanes: what is alike stands side by side, and what differs is told apart."""

import pytest

from purgatory_conformance.drawing.lanes import NOTHING, Lane, Pair, differing_names, lanes_of
from purgatory_judge.judgement import Divergence
from purgatory_spec.operations import RunOne
from purgatory_spec.outcomes import Outcome, completed, timed_out, tried
from purgatory_spec.reasons import Reason


def diverging(right: Outcome | None, seen: Outcome) -> Divergence:
    return Divergence("A-RULE", "some_kind", "this", "that", RunOne(), seen, right=right)


def test_events_that_are_alike_stand_at_one_height() -> None:
    """The events around it stand side by side, and opposite of it is nothing."""
    right = Outcome(events=(completed("o1"), tried("o2"), timed_out("o1")))
    divergence = diverging(right, Outcome(events=(completed("o1"), timed_out("o1"))))

    alike = Pair("o1 completed", "o1 completed"), Pair("o1 timed out", "o1 timed out")
    missing = Pair("o2 tried", NOTHING)
    assert lanes_of(divergence) == (Lane("events", (alike[0], missing, alike[1])),)
    assert [pair.differs for pair in (*alike, missing)] == [False, False, True]
    assert differing_names(divergence) == {"o2"}


def test_an_order_is_about_the_names_that_changed_their_places() -> None:
    right = Outcome(events=(tried("o1"), tried("o2"), tried("o3")))
    divergence = diverging(right, Outcome(events=(tried("o2"), tried("o1"), tried("o3"))))

    assert differing_names(divergence) == {"o1", "o2"}


def test_of_the_observables_those_that_differ_are_shown() -> None:
    """The last three are shown, the values beside each other."""
    right = Outcome(observed={"keys": 1, "entries": 2, "queued": 0, "pending": 1})
    divergence = diverging(right, Outcome(observed={"keys": 1, "entries": 3, "queued": False}))

    (lane,) = lanes_of(divergence)
    assert lane.pairs == (
        Pair("entries 2", "entries 3"),
        Pair("queued 0", "queued false"),
        Pair("pending 1", f"pending {NOTHING}"),
    )


@pytest.mark.parametrize(
    ("right", "seen", "lane"),
    [
        (
            Outcome(rejected=Reason.INVALID_ARGUMENT),
            Outcome(True),
            Lane("answer", (Pair("rejected: invalid_argument", "accepted"),)),
        ),
        (Outcome(1), Outcome(2), Lane("result", (Pair("1", "2"),))),
        (None, Outcome(), Lane("some kind", (Pair("this", "that"),))),
        (Outcome(), Outcome(), Lane("some kind", (Pair("this", "that"),))),
    ],
)
def test_answers_results_and_bare_sentences_have_a_lane(
    right: Outcome | None, seen: Outcome, lane: Lane
) -> None:
    """The first lane has the two answers, the two results, or the divergence's sentences."""
    assert lanes_of(diverging(right, seen)) == (lane,)


def test_many_events_that_are_alike_are_counted() -> None:
    """The right ones in the middle are counted, and so are the wrong ones that are too many."""
    events = tuple(tried(f"o{number}") for number in range(20))
    (lane,) = lanes_of(diverging(Outcome(events=events), Outcome(events=(*events, tried("z")))))
    assert [pair.seen for pair in lane.pairs] == [
        "o0 tried",
        "… 18 events alike",
        "o19 tried",
        "z tried",
    ]
    many = Outcome(events=tuple(tried(f"z{number}") for number in range(40)))
    (lane,) = lanes_of(diverging(Outcome(), many))
    assert lane.pairs[-1].seen == "… and 26 more"
