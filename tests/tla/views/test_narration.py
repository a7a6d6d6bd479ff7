"""A trace becomes a story: who acted, in which words, and how it ends."""

from itf_py import State, Trace, value_from_json

from purgatory_model.claims.narrative import NarrativeStep
from purgatory_tla.checkers.results import CheckResult, Outcome, Statistics
from purgatory_tla.views.narration import in_words, narrate

from ..conftest import Toys


def state(index: int, total: int, places: dict[str, str], action: str = "") -> State:
    meta: dict[str, object] = {"index": index}
    if action:
        meta["action"] = action
    pc = value_from_json({"#map": [[name, place] for name, place in places.items()]})
    return State(meta=meta, values={"total": total, "pc": pc})


def result(
    outcome: Outcome, violated: str | None, loop: int | None = None, loop_action: str = ""
) -> CheckResult:
    states = [
        state(0, 2, {"a": "idle", "b": "idle"}),
        state(1, 2, {"a": "idle", "b": "busy"}, "Begin"),
        state(2, 3, {"a": "idle", "b": "idle"}, "Add"),
    ]
    trace = Trace(
        meta={"loop_action": loop_action}, params=[], vars=["total", "pc"], states=states, loop=loop
    )
    return CheckResult(outcome, violated, Statistics(9, 8, 3, 0.1), trace, "TLC", "2", "")


def test_steps_are_told_in_the_words_of_their_actions(toys: Toys) -> None:
    told = narrate(toys.model(toys.must_fail), result(Outcome.INVARIANT, "Bounded"), toys.folder)
    assert told.actors == ("b",)
    assert told.steps == (
        NarrativeStep(0, "", "at first", {}),
        NarrativeStep(1, "b", "begins at 2", {}),
        NarrativeStep(2, "b", "adds one to 2, now 3", {}, "claim broken: bounded"),
    )
    assert told.verdict == "Bounded is broken. It says: The total is never above its bound."
    assert told.explanation == "Both begin below the bound."
    assert told.loop is None


def test_a_lasso_is_told_with_the_step_that_leads_back(toys: Toys) -> None:
    model = toys.model(toys.must_fail, expected="property", violated="ReachesFour")
    found = result(Outcome.PROPERTY, "ReachesFour", loop=1, loop_action="Begin")
    told = narrate(model, found, toys.folder)
    assert told.loop == 1
    assert [(step.number, step.actor, step.text) for step in told.steps][-1] == (
        3,
        "b",
        "begins at 3",
    )


def test_a_behaviour_that_stops_is_told_without_a_further_step(toys: Toys) -> None:
    model = toys.model(toys.must_fail, expected="property", violated="ReachesFour")
    told = narrate(model, result(Outcome.PROPERTY, "ReachesFour", loop=2), toys.folder)
    assert (told.loop, told.steps[-1].number) == (2, 2)


def test_a_witness_and_a_deadlock_end_in_their_own_words(toys: Toys) -> None:
    reached = narrate(toys.model(toys.witness), result(Outcome.INVARIANT, "NeverTwo"), toys.folder)
    assert reached.steps[-1].remark == "reached"
    assert "reached: The total is never two" in reached.verdict
    assert reached.is_witness
    stuck = narrate(toys.model(toys.must_fail), result(Outcome.DEADLOCK, None), toys.folder)
    assert stuck.steps[-1].remark == "nothing can happen any more"
    assert not stuck.is_witness


def test_names_become_words() -> None:
    assert in_words("LiveIsCounted") == "live is counted"
    assert in_words("TypeOK") == "type OK"
