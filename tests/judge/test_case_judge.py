"""The judge of a case with declared deviations: when the lenient judge takes over, and for what."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from purgatory_judge.case_judge import CaseJudge
from purgatory_judge.judgement import Divergence, Judgement, TooManyStates
from purgatory_spec.operations import Operation, RunOne
from purgatory_spec.outcomes import Outcome

STEP = (RunOne(), Outcome())
OVERFLOW = "overflow"


@dataclass
class Scripted:
    """A judge that says of each step what it was told to: a rule that is broken, or nothing."""

    name: str
    broken: Sequence[str | None]
    also: tuple[str, ...] = ()
    seen: list[Operation] = field(default_factory=list)

    @property
    def state(self) -> object:
        return self.name

    def step(self, operation: Operation, outcome: Outcome) -> Judgement:
        self.seen.append(operation)
        rule = self.broken[len(self.seen) - 1]
        if rule == OVERFLOW:
            raise TooManyStates
        visited = {f"VISITED-BY-{self.name.upper()}"}
        if rule is None:
            return Judgement(visited)
        divergence = Divergence(rule, "kind", "wanted", "came", operation, outcome, also=self.also)
        return Judgement(visited, divergence)


def test_without_deviations_the_strict_judge_decides() -> None:
    judge = CaseJudge(Scripted("strict", [None, "RULE-A"]))
    assert judge.step(*STEP).divergence is None
    divergence = judge.step(*STEP).divergence
    assert divergence is not None
    assert (divergence.rule, judge.deviated) == ("RULE-A", None)


def test_the_lenient_judge_goes_on_alone_after_a_declared_divergence() -> None:
    """The lenient judge alone sees the rest, its visits count and its blame is reported."""
    strict = Scripted("strict", [None, "RULE-A"])
    lenient = Scripted("lenient", [None, None, None, "RULE-B"])
    judge = CaseJudge(strict, lenient, frozenset({"RULE-A"}))
    assert judge.step(*STEP).visited == {"VISITED-BY-STRICT"}
    assert judge.state == "strict"
    assert judge.step(*STEP).divergence is None
    assert judge.deviated is not None
    assert (judge.deviated.rule, judge.state) == ("RULE-A", "lenient")
    assert judge.step(*STEP) == Judgement({"VISITED-BY-LENIENT"})
    further = judge.step(*STEP).divergence
    assert further is not None
    assert (further.rule, further.expected, further.seen) == ("RULE-B", "wanted", "came")
    assert (len(strict.seen), len(lenient.seen)) == (2, 4)


def test_a_lenient_judge_that_names_no_rule_is_put_down_to_the_deviation() -> None:
    """The divergence names the declared rule, and says that it is beyond it."""
    judge = CaseJudge(
        Scripted("strict", ["RULE-A"]), Scripted("lenient", [None, ""]), frozenset({"RULE-A"})
    )
    judge.step(*STEP)
    further = judge.step(*STEP).divergence
    assert further is not None
    assert (further.rule, further.kind) == ("RULE-A", "beyond the declared deviation")


def test_a_divergence_may_be_put_down_to_another_declared_rule() -> None:
    """The case deviates by the declared one."""
    strict = Scripted("strict", ["RULE-A"], also=("RULE-C",))
    judge = CaseJudge(strict, Scripted("lenient", [None]), frozenset({"RULE-C"}))
    assert judge.step(*STEP).divergence is None
    assert judge.deviated is not None
    assert judge.deviated.rule == "RULE-C"


@pytest.mark.parametrize(
    ("broken", "declared"),
    [([None, None], "RULE-B"), ([None, "RULE-A"], "RULE-A"), (["RULE-A", None], "RULE-A")],
    ids=["another rule is declared", "the step is not allowed", "an earlier step was not"],
)
def test_what_is_not_declared_or_not_allowed_is_a_divergence(
    broken: list[str | None], declared: str
) -> None:
    """Given a lenient judge, and a rule that is broken in the second step: that is a divergence."""
    strict = Scripted("strict", [None, "RULE-A"])
    judge = CaseJudge(strict, Scripted("lenient", broken), frozenset({declared}))
    assert judge.step(*STEP).divergence is None
    divergence = judge.step(*STEP).divergence
    assert divergence is not None
    assert (divergence.rule, judge.deviated) == ("RULE-A", None)


def test_a_lenient_judge_that_lost_its_way_makes_the_deviation_inconclusive() -> None:
    """Nothing can be said; without that, the strict judge goes on."""
    strict = Scripted("strict", [None, "RULE-A"])
    judge = CaseJudge(strict, Scripted("lenient", [OVERFLOW]), frozenset({"RULE-A"}))
    assert judge.step(*STEP).divergence is None
    with pytest.raises(TooManyStates):
        judge.step(*STEP)


@pytest.mark.parametrize("forgetful", [False, True])
def test_what_only_a_declared_fault_explains_is_put_down_to_it(forgetful: bool) -> None:
    """The case is put down to the deviation that alone allows it so far."""
    alone = {"RULE-A": Scripted("a", [None, "RULE-C"]), "RULE-B": Scripted("b", [None, None])}
    judge = CaseJudge(
        Scripted("strict", [None, "RULE-C"]),
        Scripted("lenient", [None, None]),
        frozenset(alone),
        lambda rule: alone[rule],
        forgetful=forgetful,
    )
    assert judge.step(*STEP).divergence is None
    assert judge.step(*STEP).divergence is None
    assert judge.deviated is not None
    assert judge.deviated.rule == "RULE-B"


def test_what_no_declared_fault_explains_stays_a_divergence() -> None:
    """The rule is reported."""
    judge = CaseJudge(
        Scripted("strict", ["RULE-C"]),
        Scripted("lenient", ["RULE-C"]),
        frozenset({"RULE-A"}),
        lambda rule: Scripted("a", [None]),
    )
    divergence = judge.step(*STEP).divergence
    assert divergence is not None
    assert (divergence.rule, judge.deviated) == ("RULE-C", None)


@pytest.mark.parametrize("forgetful", [False, True])
def test_a_judge_that_lost_its_way_explains_no_more(forgetful: bool) -> None:
    """It is put down to the second, which has allowed more steps."""
    alone = {
        "RULE-A": Scripted("a", [OVERFLOW, None, None]),
        "RULE-B": Scripted("b", [None, "RULE-C", None]),
    }
    judge = CaseJudge(
        Scripted("strict", [None, None, "RULE-C"]),
        Scripted("lenient", [None, None, None]),
        frozenset(alone),
        lambda rule: alone[rule],
        forgetful=forgetful,
    )
    for _ in range(3):
        assert judge.step(*STEP).divergence is None
    assert judge.deviated is not None
    assert judge.deviated.rule == "RULE-B"
    assert (len(alone["RULE-A"].seen), len(alone["RULE-B"].seen)) == (1, 2)


def test_all_states_that_are_believed_possible_are_told() -> None:
    """Given a judge that knows one state only: that is the one."""
    assert CaseJudge(Scripted("strict", [None])).states == ("strict",)
