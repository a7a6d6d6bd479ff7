"""A right model agrees with the rules; a wrong one is told where, and which rule it is about."""

import time
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.own_model.asking import TooManyOutcomes
from purgatory_conformance.own_model.blaming import blamed
from purgatory_conformance.own_model.comparison import Comparison, Difference
from purgatory_conformance.own_model.exploring import Bounds, explore_small
from purgatory_conformance.own_model.generating import generate
from purgatory_conformance.own_model.loading import OwnModel
from purgatory_conformance.own_model.words import verdict
from purgatory_conformance.own_model.worlds import timer_world
from purgatory_judge.components import MODELLED
from purgatory_spec import profiles
from purgatory_spec.operations import Add, Advance
from tests.known_cases import known_rows

from .own_files import loaded, template

COMPONENTS = [component.value for component in MODELLED]


def bounds(most_pairs: int = 20_000) -> Bounds:
    return Bounds(most_pairs, time.monotonic() + 1800)


def first_difference(own: OwnModel) -> Difference | None:
    explored = explore_small(own, bounds())
    if explored.difference is not None:
        return explored.difference
    return generate(own, 3, 60, bounds()).difference


@pytest.mark.slow
@pytest.mark.parametrize("component", ["purgatory", "memory_pool"])
def test_a_template_agrees_with_the_rules_on_every_state(component: str, tmp_path: Path) -> None:
    """Given the template of a component: it allows what the rules allow, and nothing else."""
    explored = explore_small(loaded(tmp_path, template(component)), bounds())
    assert (explored.complete, explored.difference) == (True, None)
    assert explored.pairs > 200


@pytest.mark.slow
def test_the_timers_template_agrees_as_far_as_it_is_explored(tmp_path: Path) -> None:
    explored = explore_small(loaded(tmp_path, template("timer")), bounds(400))
    assert explored.difference is None
    assert explored.operations > 2_000
    assert not explored.complete


@pytest.mark.slow
@pytest.mark.parametrize("component", COMPONENTS)
def test_a_template_agrees_with_the_rules_on_generated_cases(
    component: str, tmp_path: Path
) -> None:
    generated = generate(loaded(tmp_path, template(component)), 1, 25, bounds())
    assert generated.difference is None
    assert generated.cases == 25
    assert generated.steps > 200


DIRECTIONS = {
    "both": "Yours allows what the rules forbid, and forbids what the rules allow.",
    "forbids": "Yours forbids what the rules allow, and allows nothing that they forbid.",
    "allows": "Yours allows what the rules forbid, beside all that they allow.",
}


@pytest.mark.slow
@pytest.mark.parametrize("row", known_rows(Path(__file__).with_name("wrong_models.jsonl")))
def test_a_wrong_model_is_told_the_rule_and_the_direction(
    row: dict[str, str], tmp_path: Path
) -> None:
    """The first difference is about the rule that the line states, in a few steps."""
    own = loaded(tmp_path, template(row["component"], (row["right"], row["wrong"])))
    difference = first_difference(own)
    assert difference is not None
    assert verdict(difference) == DIRECTIONS[row["direction"]]
    assert blamed(difference, own.profile).rule == row["rule"]
    assert len(difference.steps) <= 4


@pytest.mark.slow
def test_what_only_generated_cases_show_is_made_shorter(tmp_path: Path) -> None:
    """The small instances show nothing, and a generated case does, with one or two steps."""
    change = (
        "    expiry_ms = state.now_ms + delay_ms\n",
        "    expiry_ms = state.now_ms + min(delay_ms, 40)\n",
    )
    own = loaded(tmp_path, template("timer", change))
    assert explore_small(own, bounds(300)).difference is None
    generated = generate(own, 3, 60, bounds())
    assert generated.difference is not None
    assert len(generated.difference.steps) <= 2
    assert blamed(generated.difference, own.profile).rule == "TIMER-NOT-EARLY"


def test_a_model_that_allows_nothing_forbids_everything(tmp_path: Path) -> None:
    """Given a model without any outcome: the first operation differs, and a rule is named."""
    text = "COMPONENT = 'timer'\ndef initial(): return 0\ndef step(state, operation): return []\n"
    own = loaded(tmp_path, text)
    difference = first_difference(own)
    assert difference is not None
    assert (difference.steps, difference.own_alone, difference.both) == ((), (), ())
    assert verdict(difference) == DIRECTIONS["forbids"]
    assert blamed(difference, own.profile).rule.startswith("TIMER-")


def test_time_that_is_up_leaves_things_uncompared(tmp_path: Path) -> None:
    own = loaded(tmp_path, template("timer"))
    over = Bounds(100, time.monotonic())
    explored, generated = explore_small(own, over), generate(own, 1, 10, over)
    assert (explored.operations, explored.complete) == (0, False)
    assert (generated.cases, generated.steps) == (0, 0)


def test_a_model_of_one_configuration_is_compared_on_that_one(tmp_path: Path) -> None:
    """The first agrees, and the second is told the rule of rounding."""
    no_argument = (
        "def initial(configuration: TimerConfiguration) -> State:",
        "def initial() -> State:",
    )
    ignored = ("State(configuration.tick_ms, configuration.start_ms)", "State(1, 0)")
    fixed = loaded(tmp_path, template("timer", no_argument, ignored))
    assert not fixed.for_any_configuration
    assert explore_small(fixed, bounds(200)).difference is None
    assert generate(fixed, 1, 10, bounds()).difference is None
    other = loaded(tmp_path, template("timer", ignored))
    difference = first_difference(other)
    assert difference is not None
    assert blamed(difference, other.profile).rule == "TIMER-ROUNDING"


def test_what_leaves_too_much_open_is_not_compared(tmp_path: Path) -> None:
    """Nothing is compared there; a model that has as many where the rules have one has failed."""
    own = loaded(tmp_path, template("timer"))
    configuration = profiles.TimerConfiguration()
    profile = own.profile
    assert isinstance(profile, profiles.TimerProfile)
    world = timer_world(configuration, profile)
    comparison = Comparison(configuration, world, own.begin(configuration))
    pair = comparison.start()
    for number in range(7):
        look = comparison.look(pair, Add(f"t{number}", 1))
        assert look.was_compared
        ((_, pair),) = look.both
    assert not comparison.look(pair, Advance(1)).was_compared
    endless = "COMPONENT = 'timer'\nfrom purgatory_spec.outcomes import Outcome\n"
    endless += "def initial(): return 0\n"
    endless += "def step(state, operation):\n    while True: yield Outcome(), state\n"
    other = loaded(tmp_path, endless)
    comparison = Comparison(configuration, world, other.begin(configuration))
    with pytest.raises(TooManyOutcomes):
        comparison.look(comparison.start(), Advance(1))


EVERYTHING = {
    "timer": (
        "from purgatory_model.timer import timing_wheel_model as model",
        profiles.TimerProfile(
            executor=profiles.Executor.STEPPED,
            structure=profiles.Structure.DELAY_QUEUE_WHEEL,
            features=frozenset(profiles.Feature),
            observables=frozenset(profiles.Observable),
        ),
    ),
    "purgatory": (
        "from purgatory_model.purgatory import purgatory_model as model",
        profiles.PurgatoryProfile(
            check_drops=profiles.CheckDrops.AS_PASSED,
            severe_throw=profiles.SevereThrow.AS_ORDINARY,
            accounting=profiles.Accounting.EXACT,
            features=frozenset(profiles.PurgatoryFeature),
            observables=frozenset(profiles.PurgatoryObservable),
        ),
    ),
    "memory_pool": (
        "from purgatory_model.memory_pool import MemoryPoolModel as model",
        profiles.MemoryPoolProfile(
            release_validation=profiles.ReleaseValidation.IDENTITY,
            features=frozenset(profiles.MemoryPoolFeature),
            observables=frozenset(profiles.MemoryPoolObservable),
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("component", COMPONENTS)
def test_the_model_of_the_rules_agrees_with_itself(component: str, tmp_path: Path) -> None:
    """No difference is found, in small instances and in generated cases."""
    imported, profile = EVERYTHING[component]
    text = (
        f"import msgspec\n{imported}\n"
        f"from purgatory_judge.components import PROFILES\n"
        f"COMPONENT = {component!r}\nPROFILE = {msgspec.to_builtins(profile)!r}\n"
        "class Model:\n"
        "    def __init__(self, configuration):\n"
        "        profile = msgspec.convert(PROFILE, PROFILES[COMPONENT])\n"
        "        self.model = model(configuration, profile)\n"
        "    def initial(self): return self.model.initial()\n"
        "    def step(self, state, operation): return self.model.successors(state, operation)\n"
    )
    own = loaded(tmp_path, text)
    assert own.profile == profile
    assert explore_small(own, bounds(60)).difference is None
    generated = generate(own, 1, 8, bounds())
    assert generated.difference is None
    assert generated.steps > 50
