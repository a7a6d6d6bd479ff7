"""``purgatory model check`` and ``template``, as a person uses them."""

import json
import subprocess
from pathlib import Path

import pytest

from purgatory_conformance.resources import model_template
from tests.conformance.command import purgatory, purgatory_process

QUICK = ("--states", "150", "--cases", "5")
HEAD = "from purgatory_spec.outcomes import Outcome\nCOMPONENT = 'timer'\ndef initial(): return 0\n"


def check(folder: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, whose output the process that compares inherits."""
    (folder / "mine.py").write_text(text, encoding="utf-8")
    return purgatory_process(folder, "model", "check", "./mine.py", *words)


@pytest.mark.slow
@pytest.mark.parametrize("component", ["purgatory", "memory-pool"])
def test_a_template_is_a_file_to_begin_with(component: str, tmp_path: Path) -> None:
    """It agrees, and it is said how much was compared, and what was not."""
    printed = purgatory(tmp_path, "model", "template", component)
    assert printed.returncode == 0
    done = check(tmp_path, printed.stdout, *QUICK)
    assert (done.returncode, done.stderr) == (0, "")
    of_whom = component.replace("-", " ")
    assert f"mine.py agrees with the rules of the {of_whom} wherever" in done.stdout
    assert "explored:  " in done.stdout
    assert "generated: 5 cases" in done.stdout
    assert "not asked, since PROFILE does not have it: " in done.stdout


@pytest.mark.slow
def test_a_wrong_model_is_told_where_it_is_wrong(tmp_path: Path) -> None:
    """The shortest difference is told step by step, with the direction and the rule."""
    text = model_template("timer").replace("each[0] <= state.now_ms", "each[0] < state.now_ms")
    done = check(tmp_path, text)
    assert (done.returncode, done.stderr) == (1, "")
    for words in (
        "a timer with tick 1 ms",
        "1  add a, delay 1 ms  ->  no event",
        "2  advance to 1",
        "the rules: a expired",
        "yours: no event",
        "your state: State(tick_ms=1, now_ms=0, due=frozenset({(1, 'a')}), queue=())",
        "Yours allows what the rules forbid, and forbids what the rules allow.",
        "The rule is TIMER-NOT-LATE (MUST)",
        "purgatory explain TIMER-NOT-LATE",
    ):
        assert words in done.stdout


@pytest.mark.slow
def test_programs_read_the_same_in_json(tmp_path: Path) -> None:
    """They read how much was compared."""
    right = model_template("memory_pool")
    agreed = check(tmp_path, right, *QUICK, "--json")
    assert (agreed.returncode, agreed.stderr) == (0, "")
    told = json.loads(agreed.stdout)
    assert (told["component"], told["difference"]) == ("memory_pool", None)
    assert told["generated"]["cases"] == 5
    assert told["explored"]["operations"] > 100
    assert "leak_detection" in told["not_asked"]
    wrong = right.replace("<= self.configuration.max_single_bytes", "<= 1000")
    differs = check(tmp_path, wrong, *QUICK, "--json")
    assert (differs.returncode, differs.stderr) == (1, "")
    difference = json.loads(differs.stdout)["difference"]
    assert difference["rule"] == "POOL-OVERSIZE-REQUEST"
    assert difference["configuration"] == {"size_bytes": 3, "max_single_bytes": 2}
    assert difference["operation"] == {"op": "allocate", "buffer": "a", "size_bytes": 3}
    assert [each["result"] for each in difference["own_alone"]] == [True]
    assert [each["rejected"] for each in difference["rules_alone"]] == ["invalid_argument"]


@pytest.mark.slow
def test_a_model_that_is_too_narrow_is_told_that_the_choice_is_free(tmp_path: Path) -> None:
    many = "permutations(sorted(task for tick, task in due if tick == first))"
    one = "[tuple(sorted(task for tick, task in due if tick == first))]"
    done = check(tmp_path, model_template("timer").replace(many, one), "--states", "400")
    assert done.returncode == 1
    assert "Yours forbids what the rules allow, and allows nothing that they forbid." in done.stdout
    assert (
        "It binds where `same_tick_order is fifo`; here the rules leave the choice" in done.stdout
    )


@pytest.mark.slow
def test_a_generated_case_is_named_by_its_seed(tmp_path: Path) -> None:
    text = model_template("timer").replace("+ delay_ms\n", "+ min(delay_ms, 40)\n")
    done = check(tmp_path, text, "--states", "20", "--seed", "3")
    assert done.returncode == 1
    assert "of seed 3, and made shorter:" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("def initial(:", 2, "mine.py:1: invalid syntax"),
        (f"{HEAD}def step(s, o): return 1 / 0\n", 3, "mine.py:4: step(0, Add(task='a'"),
        (f"{HEAD}import os\ndef step(s, o): os._exit(0)\n", 3, "its code has ended the process"),
    ],
)
def test_a_bad_file_has_an_exit_code_of_its_own(
    text: str, code: int, words: str, tmp_path: Path
) -> None:
    """The exit code is 2 or 3, and one sentence says why."""
    done = check(tmp_path, text)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("purgatory: mine.py")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            f"{HEAD}def step(s, o):\n    while True: pass\n",
            "has not come to an end after 0.5 seconds. It is in line 5.",
        ),
        (
            f"{HEAD}def step(s, o): return 10 ** 10 ** 9\n",
            "its code holds the interpreter for more than 0.5 seconds, and was ended",
        ),
    ],
)
def test_what_does_not_come_to_an_end_is_ended(text: str, words: str, tmp_path: Path) -> None:
    """It is ended, and it is said where it was."""
    done = check(tmp_path, text, "--time-limit", "0.5")
    assert (done.returncode, done.stdout) == (3, "")
    assert words in done.stderr


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    done = purgatory_process(tmp_path, "model", "check", "none.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "purgatory: none.py: no such file" in done.stderr


@pytest.mark.slow
def test_without_time_nothing_is_decided(tmp_path: Path) -> None:
    done = check(tmp_path, model_template("timer"), "--seconds", "0")
    assert (done.returncode, done.stdout) == (4, "")
    assert "nothing was compared: give it more --seconds" in done.stderr
