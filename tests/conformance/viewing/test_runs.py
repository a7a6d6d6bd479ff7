"""Runs of the model as frames: the states are the model's, an advance is shown pop by pop."""

import msgspec
import pytest

from purgatory_conformance.drawing.panels import Boxes, Budget, Words
from purgatory_conformance.knowledge import all_vectors
from purgatory_conformance.resources import adapter_folder
from purgatory_conformance.viewing.markup import viewer
from purgatory_conformance.viewing.runs import Frame, NoSuchStep, run_of_case, run_of_narrative
from purgatory_conformance.viewing.timer_rows import Levels
from purgatory_judge.components import on_real_clock
from purgatory_model.claims.narrative import Narrative, NarrativeStep
from purgatory_spec.cases import Case, Step, TimerCaseHeader, decode_case, read_case
from purgatory_spec.operations import Add, Advance, Cancel, Operation
from purgatory_spec.outcomes import Outcome, expired
from purgatory_spec.profiles import Executor, Structure, TimerConfiguration, TimerProfile
from tests.documentation.code_blocks import ROOT, blocks_of

DEVIATIONS = adapter_folder("kafka") / "deviations"

WHEEL = TimerProfile(executor=Executor.STEPPED, structure=Structure.DELAY_QUEUE_WHEEL)


def case_of(*steps: Operation | Step, wheel_size: int = 4) -> Case:
    """A case of a timing wheel with a tick of 1 ms."""
    header = TimerCaseHeader(
        case="known", configuration=TimerConfiguration(wheel_size=wheel_size), profile=WHEEL
    )
    return Case(header, tuple(s if isinstance(s, Step) else Step(s) for s in steps))


def buckets(frame: Frame) -> dict[tuple[int, int], str]:
    """The tasks of each queued bucket of a frame, by level and first time."""
    (levels,) = (row for row in frame.rows if isinstance(row, Levels))
    return {
        (level.level, cell.first_ms): " ".join(task.name for task in cell.tasks)
        for level in levels.levels
        for cell in level.cells
        if cell.queued
    }


def boxes(frame: Frame, about: str) -> list[str]:
    """The words of the boxes of a row."""
    (row,) = (row for row in frame.rows if isinstance(row, Boxes) and row.about == about)
    return [box.words for box in row.boxes]


def test_a_cascade_is_shown_pop_by_pop() -> None:
    """Each pop has a frame with the buckets as they are after the pop."""
    run = run_of_case(case_of(Add("c", 27), Advance(27)))
    assert [buckets(frame) for frame in run.frames] == [
        {},
        {(3, 16): "c"},
        {(2, 24): "c"},
        {(1, 27): "c"},
        {},
    ]
    assert [boxes(frame, "delay queue") for frame in run.frames[1:]] == [
        ["16 (level 3)"],
        ["24 (level 2)"],
        ["27 (level 1)"],
        [],
    ]
    assert [boxes(frame, "executor") for frame in run.frames] == [[], [], [], [], ["c"]]
    assert [frame.step for frame in run.frames] == [0, 1, 2, 2, 2]
    assert run.frames[2].says == "advance to 27: pops the bucket of 16, c goes down to level 2"
    assert run.frames[-1].says == ("advance to 27: pops the bucket of 27, c expires → c expired")


def test_an_emptied_bucket_stays_in_the_delay_queue_until_it_is_popped() -> None:
    """The frame says that the popped bucket was empty."""
    run = run_of_case(case_of(Add("a", 2), Cancel("a"), Advance(3)))
    assert [buckets(frame) for frame in run.frames] == [{}, {(1, 2): "a"}, {(1, 2): ""}, {}]
    assert "pops the bucket of 2, the bucket is empty" in run.frames[-1].says


def test_empty_buckets_of_a_large_wheel_are_one_cell() -> None:
    """The cells cover all buckets, and only three of them are buckets of their own."""
    run = run_of_case(case_of(Add("a", 7), Add("b", 99), wheel_size=100))
    (levels,) = (row for row in run.frames[-1].rows if isinstance(row, Levels))
    (level,) = levels.levels
    assert [(cell.first_ms, cell.last_ms, cell.buckets) for cell in level.cells] == [
        (0, 0, 1),
        (1, 6, 6),
        (7, 7, 1),
        (8, 98, 91),
        (99, 99, 1),
    ]
    assert [cell.present for cell in level.cells] == [True, False, False, False, False]


def test_an_outcome_that_the_model_does_not_allow_is_refused() -> None:
    """Given a case with a recorded expiry that comes too early: the number of the step is told."""
    early = Step(Advance(1), Outcome(events=(expired("a"),)))
    with pytest.raises(NoSuchStep, match="step 2: the model does not allow"):
        run_of_case(case_of(Add("a", 2), early))


def test_a_case_of_a_declared_fault_is_followed_to_its_end() -> None:
    """The variant is followed to the last step, and the rules refuse that step."""
    case = read_case(DEVIATIONS / "stale-after-mass-expiry.jsonl")
    run = run_of_case(case)
    assert run.frames[-1].step == len(case.steps)
    assert "list k" in {row.about for row in run.frames[-1].rows if isinstance(row, Boxes)}
    rightful = msgspec.structs.replace(case.header, breaks="", variant="")
    with pytest.raises(NoSuchStep, match=f"step {len(case.steps)}"):
        run_of_case(Case(rightful, case.steps))


def test_every_golden_vector_has_a_run_of_the_rows_of_its_component() -> None:
    """Each step has a frame, every frame has rows, and the figure holds every frame's words."""
    seen: set[type] = set()
    followed = 0
    for vector in all_vectors():
        if on_real_clock(vector.header.profile):
            continue
        run = run_of_case(Case(vector.header, vector.steps))
        followed += 1
        assert {frame.step for frame in run.frames} == set(range(len(vector.steps) + 1))
        assert all(frame.rows and frame.state for frame in run.frames)
        seen |= {type(row) for frame in run.frames for row in frame.rows}
        assert str(viewer(run)).count("<li>") == len(run.frames)
    assert seen == {Boxes, Words, Budget, Levels}
    assert followed > 100


def test_names_cannot_leave_the_script_that_holds_them() -> None:
    """The only script in it is the figure's own, and its JSON holds the name."""
    name = "</script><script>alert(1)</script>"
    run = run_of_case(case_of(Add(name, 2)))
    figure = str(viewer(run))
    assert figure.count("<script") == figure.count("</script>") == 1
    held = figure.partition('<script type="application/json">')[2].partition("</script>")[0]
    assert name in msgspec.json.decode(held)["frames"][1]["state"]


def test_a_story_of_threads_has_a_frame_for_each_step() -> None:
    """A frame shows what each thread did last and the count, and tells the step with its remark."""
    steps = (
        NarrativeStep(0, "", "at first", {"estimate": "0"}),
        NarrativeStep(1, "caller", "counts operation 1", {"estimate": "1"}),
        NarrativeStep(2, "reaper", "resets the estimate", {"estimate": "0"}, "claim broken"),
    )
    run = run_of_narrative(Narrative("t", ("caller", "reaper"), ("estimate",), steps, "v"))
    assert run.frames[-1] == Frame(
        2,
        "reaper: resets the estimate; claim broken",
        "estimate 0",
        (
            Words("caller", "counts operation 1"),
            Words("reaper", "resets the estimate"),
            Words("estimate", "0"),
        ),
    )
    assert [frame.rows[1] for frame in run.frames[:2]] == [Words("reaper", "nothing yet")] * 2


def test_the_places_of_a_ring_are_those_that_the_lesson_names() -> None:
    """Time 5 goes to place 1, in the lesson's picture as in its text."""
    page = ROOT / "docs" / "course" / "one-wheel.md"
    (block,) = (each for each in blocks_of(page) if "viewer" in each.words)
    last = run_of_case(decode_case(block.text, block.where)).frames[-4]
    (levels,) = (row for row in last.rows if isinstance(row, Levels))
    held = {
        task.name: (cell.first_ms, cell.place)
        for cell in levels.levels[0].cells
        for task in cell.tasks
    }
    assert held == {"d": (5, 1)}
    assert "`d`, due at 5, goes to place 1." in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("start_ms", [0, -7, 1_000_003])
def test_places_follow_each_other_around_the_ring(start_ms: int) -> None:
    """Each place is there once, also of times below zero, and in the order of time."""
    header = TimerCaseHeader(
        case="known", configuration=TimerConfiguration(3, 5, start_ms), profile=WHEEL
    )
    run = run_of_case(Case(header, (Step(Add("a", 40)),)))
    (levels,) = (row for row in run.frames[-1].rows if isinstance(row, Levels))
    assert len(levels.levels) == 2
    for level in levels.levels:
        assert level.places == 5
        places = [cell.place for cell in level.cells]
        assert places == [(places[0] + at) % 5 for at in range(5)]
        assert [cell.first_ms // level.tick_ms % 5 for cell in level.cells] == places
