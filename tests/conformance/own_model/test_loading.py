"""Definitions that a file must have, and answers of its code: everything else is a clear error."""

from pathlib import Path

import pytest

from purgatory_conformance.own_model.asking import OwnModelFailure, TooManyOutcomes
from purgatory_conformance.own_model.loading import InvalidOwnModel, load
from purgatory_spec.operations import Advance
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import Component, Executor, TimerConfiguration, TimerProfile

from .own_files import Unwatched, loaded, written

HEAD = "from purgatory_spec.outcomes import Outcome\nCOMPONENT = 'timer'\n"
INITIAL = HEAD + "def initial(): return 0\n"
RIGHT = INITIAL + "def step(state, operation): return Outcome(), state\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def initial(:", r"mine\.py:1: invalid syntax"),
        ("\0", r"mine\.py( is no Python)?: source code string cannot contain null bytes"),
        ("x = 1", "does not say what it is a model of"),
        (
            "COMPONENT = 'tmer'",
            "COMPONENT is 'tmer'; it must be one of timer, purgatory, memory_pool",
        ),
        ("COMPONENT = 7", "COMPONENT is 7"),
        (HEAD, "there is no function initial, and no class Model; see: purgatory model template"),
        (INITIAL, "there is no function step"),
        (INITIAL + "step = 3\n", "step is no function"),
        (INITIAL + "def step(state): pass\n", r"step\(state\) must take 2 arguments"),
        (HEAD + "Model = 3\n", "Model is no class"),
        (
            HEAD + "def initial(a, b): pass\ndef step(s, o): pass\n",
            r"initial\(a, b\) must take 0 or 1 arguments",
        ),
        (RIGHT + "PROFILE = {'featurs': []}\n", "PROFILE: Object contains unknown field `featurs`"),
        (RIGHT + "PROFILE = {'features': ['fly']}\n", "PROFILE: Invalid enum value 'fly'"),
        (RIGHT + "PROFILE = {'executor': 'inline'}\n", "has the executor 'stepped'"),
        (RIGHT + "PROFILE = {'clock': 'wall'}\n", "the clock 'manual'"),
        (RIGHT.replace("'timer'", "'memory_pool'"), "declares none of the features 'strict'"),
    ],
)
def test_a_file_that_holds_no_model_is_rejected(text: str, words: str, tmp_path: Path) -> None:
    """The error says what, and names the file."""
    with pytest.raises(InvalidOwnModel, match=words) as caught:
        loaded(tmp_path, text)
    assert "mine.py" in str(caught.value)


def test_a_file_that_is_not_there_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidOwnModel, match="no such file"):
        load(tmp_path / "mine.py", "", Unwatched())
    with pytest.raises(InvalidOwnModel, match="no such file"):
        load(tmp_path, "", Unwatched())


def test_a_file_may_have_functions_or_a_class(tmp_path: Path) -> None:
    """Given two functions, and a class with the same two methods: both answer."""
    methods = (
        "class Model:\n"
        "    def __init__(self, configuration): self.tick = configuration.tick_ms\n"
        "    def initial(self): return self.tick\n"
        "    def step(self, state, operation): return [(Outcome(), state + 1)]\n"
    )
    for text, first, then in ((RIGHT, 0, 0), (HEAD + methods, 4, 5)):
        instance = loaded(tmp_path, text).begin(TimerConfiguration(4))
        assert instance.initial() == first
        assert instance.step(first, Advance(1)) == [(Outcome(), then)]


def test_the_option_goes_before_the_files_own_word(tmp_path: Path) -> None:
    own = loaded(tmp_path, RIGHT, "purgatory")
    assert own.component is Component.PURGATORY
    assert loaded(tmp_path, RIGHT.replace("COMPONENT", "OTHER"), "timer").component == "timer"


def test_a_timers_executor_is_stepped_unless_it_is_said(tmp_path: Path) -> None:
    profile = loaded(tmp_path, RIGHT).profile
    assert isinstance(profile, TimerProfile)
    assert profile.executor is Executor.STEPPED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("return 1 / 0", r"mine\.py:\d: step\(0, .*\) raised ZeroDivisionError"),
        ("raise SystemExit(0)", "raised SystemExit: 0"),
        ("return 'x'", "gave 'x'; an outcome with the state after it was expected"),
        ("return None", "gave None; an outcome"),
        ("return [Outcome()]", "a pair of an Outcome and a state was expected"),
        ("return Outcome(), []", "a state that cannot be kept in a set .*unhashable type: 'list'"),
        ("return Outcome(events=['a']), 0", "an outcome with a value of a wrong type"),
        ("return Outcome(result=1.5), 0", "an outcome with a value of a wrong type"),
        ("return Outcome(), object()", "answers differently when it is asked a second time"),
        ("yield Outcome(), 0\n    raise KeyError('k')", "raised KeyError"),
    ],
)
def test_an_answer_that_is_none_is_the_files_own_failure(
    text: str, words: str, tmp_path: Path
) -> None:
    """The error says what it was asked, and what is wrong with the answer."""
    own = loaded(tmp_path, f"{INITIAL}def step(state, operation):\n    {text}\n")
    instance = own.begin(TimerConfiguration())
    with pytest.raises(OwnModelFailure, match=words):
        instance.step(instance.initial(), Advance(1))


def test_a_state_that_is_changed_in_place_is_found(tmp_path: Path) -> None:
    text = (
        f"{HEAD}class State:\n    times = 0\n"
        "def initial(): return State()\n"
        "def step(state, operation):\n"
        "    state.times += 1\n"
        "    return Outcome(result=state.times), state\n"
    )
    instance = loaded(tmp_path, text).begin(TimerConfiguration())
    with pytest.raises(OwnModelFailure, match="must not be changed in place"):
        instance.step(instance.initial(), Advance(1))


def test_endless_outcomes_are_too_many(tmp_path: Path) -> None:
    text = f"{INITIAL}def step(state, operation):\n    while True: yield Outcome(), 0\n"
    instance = loaded(tmp_path, text).begin(TimerConfiguration())
    with pytest.raises(TooManyOutcomes, match="more than 5040 outcomes"):
        instance.step(0, Advance(1))


def test_a_file_that_fails_while_it_is_loaded_has_failed(tmp_path: Path) -> None:
    with pytest.raises(OwnModelFailure, match=r"mine\.py:1: the file raised ModuleNotFoundError"):
        loaded(tmp_path, "import no_such_module\n")


def test_lists_are_taken_for_tuples_and_undeclared_values_left_out(tmp_path: Path) -> None:
    """The events are a tuple, and the observable is not there."""
    text = (
        f"{INITIAL}from purgatory_spec.outcomes import expired\n"
        "PROFILE = {'observables': ['size']}\n"
        "def step(state, operation):\n"
        "    yield Outcome(events=[expired('a')], observed={'size': 1, 'levels': 2}), state\n"
    )
    instance = loaded(tmp_path, text).begin(TimerConfiguration())
    ((outcome, _),) = instance.step(0, Advance(1))
    assert isinstance(outcome.events, tuple)
    assert outcome.observed == {"size": 1}


def test_modules_of_the_files_folder_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "my_parts_of_a_model.py").write_text("FIRST = 7\n", encoding="utf-8")
    text = f"{HEAD}from my_parts_of_a_model import FIRST\ndef initial(): return FIRST\n"
    own = loaded(tmp_path, text + "def step(state, operation): return Outcome(), state\n")
    assert own.begin(TimerConfiguration()).initial() == 7
    assert written(tmp_path, text).is_file()


def test_a_class_that_lacks_a_method_is_rejected_when_it_is_made(tmp_path: Path) -> None:
    text = f"{HEAD}class Model:\n    def initial(self): return 0\n"
    with pytest.raises(InvalidOwnModel, match="Model has no step"):
        loaded(tmp_path, text).begin(TimerConfiguration())
    failing = f"{HEAD}class Model:\n    def __init__(self): raise KeyError(1)\n"
    with pytest.raises(OwnModelFailure, match=r"Model\(\) raised KeyError: 1"):
        loaded(tmp_path, failing).begin(TimerConfiguration())
