"""The page's timer is right, its defects are found, and par is what the suite needs."""

import msgspec
import pytest

from purgatory_conformance.knowledge import vectors
from purgatory_conformance.running.campaign import SUITES, Verdict, run_campaign
from purgatory_conformance.running.case_run import run_case
from purgatory_conformance.specimens.mutants import mutant
from purgatory_course.playing.hunts import Hunt, defective_timer, hunted, hunts
from purgatory_spec.profiles import Component

from .node import in_node, needs_node

pytestmark = [needs_node, pytest.mark.slow]

ALWAYS = "one-tick-late"
"""This defect is hunted in every run, the others in the large tests: each takes ten seconds."""


def test_the_right_timer_is_conformant() -> None:
    """Given the page's timer behind the protocol, when the suite judges it, it is conformant."""
    with defective_timer("") as subject:
        campaign = run_campaign(
            subject,
            Component.TIMER,
            seed=1,
            budget=SUITES["quick"],
            vectors=vectors(Component.TIMER),
        )
    assert campaign.verdict is Verdict.CONFORMANT, campaign.why


def test_there_is_a_hunt_for_each_defect() -> None:
    """Each is hunted once, and the hunts with the fewest steps come first."""
    defects = in_node("Object.keys(purgatory_timer.DEFECTS)", None)
    assert sorted(defects) == sorted(hunt.name for hunt in hunts())
    lengths = [len(hunt.steps) for hunt in hunts()]
    assert lengths == sorted(lengths)


@pytest.mark.parametrize("hunt", hunts(), ids=lambda hunt: hunt.name)
def test_the_kept_steps_show_the_defect_in_the_last_of_them(hunt: Hunt) -> None:
    """Both go wrong in the last step, for the rule that the page names; a right one does not."""
    own = mutant(hunt.name)
    for subject in (defective_timer(hunt.name), own.make()):
        run = run_case(subject, hunt.name, hunt.configuration, hunt.steps)
        subject.close()
        assert run.divergence is not None
        assert run.divergence.rule == hunt.rule == own.rule
        assert len(run.steps) == len(hunt.steps)
    with defective_timer("") as right:
        assert run_case(right, "right", hunt.configuration, hunt.steps).divergence is None


FEWEST = """
(() => {
  const { name, configuration, steps } = given, moves = [{ op: "run_one" }];
  const most = Math.max(6, ...steps.map(each => each.delay_ms ?? 0));
  for (const task of ["a", "b"]) {
    moves.push({ op: "cancel", task });
    for (let delay_ms = 0; delay_ms <= most; delay_ms += 1)
      moves.push({ op: "add", task, delay_ms });
  }
  for (let to_ms = 0; to_ms <= 6; to_ms += 1)
    moves.push({ op: "advance", to_ms }, { op: "elapse", to_ms });
  const differs = run => {
    const right = purgatory_timer.make("", configuration);
    const wrong = purgatory_timer.make(name, configuration);
    return run.some(move => JSON.stringify(right.do(move)) !== JSON.stringify(wrong.do(move)));
  };
  const goes_back = run => {
    const times = run.map(move => move.to_ms).filter(time => time !== undefined);
    return times.some((time, at) => at > 0 && time < times[at - 1]);
  };
  let runs = [[]];
  for (let length = 1; length < 4; length += 1) {
    runs = runs.flatMap(run => moves.map(move => [...run, move])).filter(run => !goes_back(run));
    if (runs.some(differs)) return length;
  }
  return null;
})()
"""
"""The length of the shortest run of small steps that shows a defect; null for more than three."""

BEATEN = {"last-in-first-out": 3}
"""The suite's shrunk case has a step more: tasks with a delay of 0 expire as they are added."""


@pytest.mark.parametrize("hunt", hunts(), ids=lambda hunt: hunt.name)
def test_no_run_of_small_steps_is_shorter_than_par(hunt: Hunt) -> None:
    """The shortest that shows the defect has as many as are par, or is known to have fewer."""
    fewest = in_node(FEWEST, msgspec.to_builtins(hunt))
    assert fewest == BEATEN.get(hunt.name, len(hunt.steps))


@pytest.mark.parametrize(
    "hunt",
    [
        pytest.param(hunt, marks=[] if hunt.name == ALWAYS else [pytest.mark.large])
        for hunt in hunts()
    ],
    ids=lambda hunt: hunt.name,
)
def test_par_is_what_the_suite_needs(hunt: Hunt) -> None:
    """Given a defect: it blames the rule that the page names, in as many steps as are par."""
    found = hunted(hunt.name)
    assert (found.title, found.rule, len(found.steps)) == (hunt.title, hunt.rule, len(hunt.steps))


def test_a_defect_that_is_not_there_is_not_found() -> None:
    """No case is found, rather than one of another defect."""
    with pytest.raises(LookupError, match="the suite blames no case on TIMER-SPAN"):
        hunted("whole-interval-late")
