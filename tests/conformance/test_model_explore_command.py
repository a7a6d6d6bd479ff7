"""``purgatory model explore``: claims, stories, sizes, exit codes."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from purgatory_conformance.commands.model import model
from purgatory_conformance.exploring.shelves import SHELVES


def explore(*words: str, width: int = 100) -> Result:
    environment = {"COLUMNS": str(width), "NO_COLOR": "1"}
    return CliRunner(env=environment).invoke(model, ["explore", *words])


def test_the_claims_are_listed_with_what_is_known_of_them() -> None:
    done = explore("--list")
    assert done.exit_code == 0
    words = " ".join(done.output.split())
    for shelf in SHELVES:
        for claim in shelf.known():
            name = f"{claim.name} {claim.options}".strip()
            assert f"{name}: {claim.standing.value} {claim.sentence}" in words
    assert "memory pool, with threads: --component memory-pool --concurrent" in done.output


def test_the_list_can_be_of_one_component_or_of_threads_alone() -> None:
    of_pool = explore("--list", "--component", "memory-pool").output
    assert "published-bound" in of_pool
    assert "mass-expiry" not in of_pool
    of_threads = explore("--list", "--concurrent").output
    assert "mass-expiry" in of_threads
    assert "published-bound" not in of_threads


def test_without_a_word_the_invariants_of_a_wheel_are_tested() -> None:
    done = explore("--tasks", "1", "--delay", "0", "--delay", "3", "--last", "3")
    assert done.exit_code == 0
    assert "claim: every named invariant of the wheel holds" in done.output
    assert "a timing wheel with tick 1 ms, wheel size 2" in done.output
    assert "tasks a, delays of 0, 3 ms, until 3" in done.output
    assert "true of this instance, every state visited: " in done.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("--claim", "size-is-unfinished"),
            ["add a, delay 0 ms -> a expired", "claim broken", "own clock"],
        ),
        (
            ("--claim", "mass-expiry-estimate"),
            ["reaper", "advance to 1 -> a expired", "force a -> completed by this call"],
        ),
        (
            ("--component", "memory-pool", "--claim", "refuses-only-depleted", "--strict"),
            ["ask for b, 2 bytes -> refused", "largest buffer 2, strict"],
        ),
        (
            ("--component", "purgatory", "--concurrent", "--claim", "under-estimate-race"),
            ["tries operation 1: not yet, watches it", "resets the estimate to 0"],
        ),
        (
            (
                "--concurrent",
                "--accounting",
                "exact",
                "--claim",
                "stale-never-negative",
                "--component",
                "purgatory",
            ),
            ["adds -1 to stale, and returns", "counted"],
        ),
        (
            ("--concurrent", "--claim", "split-test-and-subtract"),
            ["subtracts 2 unseen, has its buffer", "outstanding"],
        ),
        (
            ("--component", "channel-muting", "--concurrent", "--claim", "looks-then-takes"),
            ["reads channel 2, sees 2 bytes", "takes for channel 2", "thread 2", "holds"],
        ),
    ],
)
def test_what_is_false_is_told_as_a_story(words: tuple[str, ...], told: list[str]) -> None:
    """Tell the actors' steps one by one, with the counts, and exit with 1."""
    done = explore(*words, width=180)
    assert done.exit_code == 1
    for each in told:
        assert each in done.output
    assert "It is false that " in done.output
    assert "false: shown after " in done.output


def test_each_thread_has_a_column_where_there_is_room() -> None:
    words = ("--component", "purgatory", "--concurrent", "--claim", "under-estimate-race")
    wide = explore(*words, width=180).output
    (header,) = (line.split() for line in wide.splitlines() if line.startswith("step"))
    assert header[:3] == ["step", "c1", "reaper"]
    assert header[3:] == ["timer", "queue", "estimate", "distinct", "live", "stale"]
    narrow = explore(*words, width=70).output
    assert "step  who     what" in narrow


def test_a_story_can_be_written_as_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = explore("--concurrent", "--claim", "blind-store", "--html", str(page))
    assert done.exit_code == 1
    assert "stores 1, has its buffer" in page.read_text(encoding="utf-8")


def test_a_limit_leaves_it_undecided() -> None:
    done = explore("--limit", "10")
    assert done.exit_code == 4
    assert "undecided: the limit was reached after 10 states" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--claim", "invariant"), "did you mean invariants?"),
        (("--claim", "law"), "it is one with --component purgatory --concurrent"),
        (("--tasks", "9"), "--tasks is 9; it must be between 1 and 4"),
        (("--wheel-size", "1"), "wheel_size is 1; it must be at least 2"),
        (("--buffers", "2"), "--buffers is no size of the timer"),
        (
            ("--component", "memory-pool", "--concurrent", "--claim", "law"),
            "it is one with --component purgatory --concurrent",
        ),
        (("--concurrent",), "there is no claim 'invariants' with threads"),
        (("--concurrent",), "model explore --list --concurrent"),
        (("--component", "timer", "--concurrent"), "no claims with threads about the timer"),
        (("--component", "moon"), "is not one of"),
        (("--limit", "0"), "is not in the range"),
        (("--tasks", "many"), "is not a valid integer"),
    ],
)
def test_wrong_words_are_usage_errors(words: tuple[str, ...], said: str) -> None:
    done = explore(*words)
    assert done.exit_code == 2
    assert said in done.output
