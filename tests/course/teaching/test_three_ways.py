"""Each exercise is solved three ways: right, the usual wrong way, and by a clever evasion.

The right answer is solved, the wrong one told as wrong, and the evasion as wrong or as no answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from purgatory_conformance.problems import EXIT_USAGE
from purgatory_course.teaching.beginnings import beginning
from purgatory_course.teaching.exercises import EXERCISES, exercise
from purgatory_course.teaching.gradable import Predicted, Run
from purgatory_spec.cases import Case, Step, decode_case
from purgatory_spec.operations import Add, Advance, Allocate, Operation, Release
from purgatory_spec.outcomes import Event, completed, expired, tried
from purgatory_spec.profiles import Component
from tests.conformance.command import purgatory, purgatory_process

from .answers import block, classes, in_a_file, mended, naive, predicted


@dataclass
class Answers:
    """The answers to an exercise: the files of each, the first one the answer itself."""

    right: Mapping[str, str]
    wrong: Mapping[str, str]
    evasion: Mapping[str, str]
    told: str
    """The words in which the grade tells of the evasion."""
    code: int = 1
    """The exit code for the evasion."""
    more: list[tuple[Mapping[str, str], str]] = field(default_factory=list)
    """Further evasions, each with what is told of it."""


def off_by(case: Case, step: int, **changes: object) -> dict[str, str]:
    """The prediction with other parts of an outcome, by a belief that is common."""
    steps = list(case.steps)
    outcome = steps[step].outcome
    assert outcome is not None
    observed = changes.pop("observed", {})
    assert isinstance(observed, dict)
    other = msgspec.structs.replace(outcome, observed={**outcome.observed, **observed}, **changes)
    assert other != outcome
    steps[step] = Step(steps[step].operation, other)
    return in_a_file(Case(case.header, tuple(steps)))


def told_for_another(number: str) -> Answers:
    """Answers to a prediction: right, wrong by belief, and what is right if less is shown."""
    case = predicted(number)
    step, changes = BELIEFS[number]
    header = case.header
    profile = msgspec.structs.replace(header.profile, observables=frozenset())
    hidden = [
        Step(each.operation, msgspec.structs.replace(each.outcome, observed={}))
        for each in case.steps
        if each.outcome is not None
    ]
    evasion = Case(msgspec.structs.replace(header, profile=profile), tuple(hidden))
    if not header.profile.observables:  # nothing can be hidden: the steps are left out
        evasion = Case(header, case.steps[:1])
    words = "the header and the operations must stay as they were"
    return Answers(
        in_a_file(case), off_by(case, step, **changes), in_a_file(evasion), words, EXIT_USAGE
    )


NOTHING: tuple[Event, ...] = ()
BELIEFS: dict[str, tuple[int, dict[str, object]]] = {
    # The check takes the request out of all lists.
    "1.1": (2, {"observed": {"entries": 0, "stale_entries": 0}}),
    # The request waits before it is tried.
    "1.2": (1, {"observed": {"entries": 2, "timer_size": 1}}),
    # The task expires when its first bucket is popped.
    "4.1": (1, {"events": (expired("t"),)}),
    # The emptied bucket leaves the delay queue with its task.
    "5.1": (1, {"observed": {"queued_buckets": 0}}),
    # The cancel takes back the run that was handed over.
    "5.2": (4, {"events": NOTHING}),
    # The operation completes as soon as its condition is true.
    "6.1": (1, {"events": (completed("o"),)}),
    # The operation is tried once for each entry, whatever came of the first.
    "6.2": (3, {"events": (tried("o"), completed("o"), tried("o"))}),
    # Nothing is purged, since the check has taken out the operation.
    "7.1": (3, {"observed": {"entries": 3, "stale_entries": 3}}),
    # All three are counted as stale, and purged.
    "7.2": (7, {"observed": {"entries": 0}}),
    # The estimate still counts the three that have expired.
    "8.1": (6, {"observed": {"estimate": 4}}),
    # The operations complete too late for the count, as under an executor of its own.
    "8.2": (3, {"observed": {"entries": 2}}),
    # A pool below zero grants a small request.
    "9.1": (2, {"result": True}),
}


def run_of(number: str, *operations: Operation, **header: object) -> dict[str, str]:
    """An answer that is a run, perhaps with another header than the exercise has."""
    begun = decode_case(beginning(exercise(number), number), "beginning").header
    changed = msgspec.structs.replace(begun, **header)
    return in_a_file(Case(changed, tuple(map(Step, operations))))


def runs() -> dict[str, Answers]:
    """Answers that are runs; the evasion is a run on an instance that is more convenient."""
    words = "the header must stay as it was"
    timer, pool = exercise("4.2"), exercise("9.2")
    assert isinstance(timer, Run)
    assert isinstance(pool, Run)
    later = msgspec.structs.replace(timer.configuration, start_ms=1)
    smaller = msgspec.structs.replace(pool.configuration, size_bytes=2)
    down = Allocate("a", 1), Allocate("b", 1), Allocate("c", 2), Release("a")
    tight = Allocate("a", 1), Allocate("b", 2), Release("a")
    return {
        "4.2": Answers(
            run_of("4.2", Add("a", 3), Advance(2)),
            run_of("4.2", Add("a", 1), Advance(1)),
            run_of("4.2", Add("a", 3), Advance(2), configuration=later),
            words,
            EXIT_USAGE,
        ),
        "9.2": Answers(
            run_of("9.2", *down),
            run_of("9.2", Allocate("a", 2), Allocate("b", 2), Release("a")),
            run_of("9.2", *tight, configuration=smaller),
            words,
            EXIT_USAGE,
        ),
    }


HEAP = classes("a-heap-and-its-cost", "HeapTimer", "SweepingTimer")
DECOY = """

class SweepingTimer(HeapTimer):
    def __init__(self):
        super().__init__()
        self.decoy, self.heap = self.heap, []

    def add(self, task, due_ms):
        self.heap = self.decoy
        super().add(task, due_ms)
        self.decoy, self.heap = self.heap, [None] * len(self.armed)

    def cancel(self, task):
        super().cancel(task)
        self.heap = [None] * len(self.armed)

    def advance(self, now_ms):
        self.heap = self.decoy
        expired = super().advance(now_ms)
        self.decoy, self.heap = self.heap, [None] * len(self.armed)
        return expired
"""
RING = block("one-wheel", "one_wheel.py")
ANEW = "bucket.clear()\n            self.places = list(self.places)"
OF_A_DICTIONARY = """
class OneWheel:
    def __init__(self, tick_ms, wheel_size):
        self.wheel_size, self.due, PLACES = wheel_size, {}, None
        PLACES

    def add(self, task, due_ms):
        self.due[task] = due_ms
        SHOW

    def cancel(self, task):
        self.due.pop(task, None)
        SHOW

    def advance(self, to_ms):
        expired = {task for task, due_ms in self.due.items() if due_ms <= to_ms}
        self.due = {task: due for task, due in self.due.items() if task not in expired}
        SHOW
        return expired
"""


def of_a_dictionary(places: str, show: str) -> dict[str, str]:
    """A dictionary that is searched, and that shows places in this way."""
    source = OF_A_DICTIONARY.replace(", PLACES = wheel_size, {}, None", " = wheel_size, {}")
    return {"mine.py": source.replace("PLACES", places).replace("SHOW", show)}


NO_PLACES = of_a_dictionary("pass", "pass")
PROPERTY = {
    "mine.py": NO_PLACES["mine.py"]
    + """
    @property
    def places(self):
        shown = [set() for _ in range(self.wheel_size)]
        for task, due_ms in self.due.items():
            shown[due_ms % self.wheel_size].add(task)
        return shown
"""
}
SHOWN = of_a_dictionary(
    "self.places = [set() for _ in range(wheel_size)]",
    """for place, shown in enumerate(self.places):
            shown.clear()
            shown.update(t for t, due in self.due.items() if due % self.wheel_size == place)""",
)
NAIVE_TIMER = naive(Component.TIMER, "heap_timer.py").replace("class HeapTimer", "class Timer")
WHEELS = block("wheels-above-wheels", "timer.py")
POOL = naive(Component.MEMORY_POOL, "naive_memory_pool.py")
SUBJECT = block("judge-your-own", "my_subject.py")
TIMER = block("judge-your-own", "my_timer.py")
BOTH = mended("my_timer.py", TIMER, (0, 1, 2))
USING_BOTH = mended("my_subject.py", SUBJECT, (0,))
COUNTS = mended("my_subject.py", SUBJECT, (1, 2, 3, 4))
DECLARED = SUBJECT.replace(
    "PROFILE = TimerProfile(",
    "PROFILE = TimerProfile(rounding=Rounding.EXACT, executor=Executor.THREADS, ",
).replace("Component, Feature", "Component, Executor, Feature, Rounding")


def changed(source: str, old: str, new: str) -> str:
    """The source with one place changed."""
    assert source.count(old) == 1, old
    return source.replace(old, new)


CODE: dict[str, Answers] = {
    "2.2": Answers(
        {"mine.py": HEAP},
        {"mine.py": changed(HEAP, "len(self.heap) > 16", "False")},
        {"mine.py": classes("a-heap-and-its-cost", "HeapTimer") + DECOY},
        "at most 16 entries in decoy",
    ),
    "3.2": Answers(
        {"mine.py": RING},
        {"mine.py": changed(RING, "bucket_index(time_ms,", "bucket_index(time_ms + 1,")},
        NO_PLACES,
        "places, an attribute that is a list of 8 sets",
        more=[
            (PROPERTY, "places, an attribute that is a list of 8 sets"),
            (SHOWN, "among 1000 tasks"),
            ({"mine.py": changed(RING, "bucket.clear()", ANEW)}, "another list"),
        ],
    ),
    "4.3": Answers(
        {"mine.py": WHEELS},
        {"mine.py": changed(WHEELS, "if due_ms > self.own_clock_ms:", "if False:")},
        {"mine.py": NAIVE_TIMER},
        "among 1000 tasks",
        more=[
            (
                {"mine.py": "from purgatory_impl.timer import Timer as Ours\nTimer = Ours\n"},
                "mine.py uses purgatory_impl.timer; the answer must be your own",
            ),
        ],
    ),
    "9.3": Answers(
        {"mine.py": POOL},
        {"mine.py": changed(POOL, "(size_bytes if self.strict else 1)", "1")},
        {"mine.py": "from naive_memory_pool import *\nimport importlib\n" + POOL},
        "mine.py uses importlib; the answer must be your own",
        EXIT_USAGE,
    ),
    "11.1": Answers(
        {"my_subject.py": USING_BOTH, "my_timer.py": BOTH},
        {"my_subject.py": SUBJECT, "my_timer.py": TIMER},
        {"my_subject.py": DECLARED, "my_timer.py": TIMER},
        "The subject declares another rounding and another executor than the exercise asks.",
    ),
    "11.2": Answers(
        {"my_subject.py": COUNTS, "my_timer.py": TIMER},
        {"my_subject.py": SUBJECT, "my_timer.py": TIMER},
        {"my_subject.py": changed(COUNTS, "len(self.added)", "-1"), "my_timer.py": TIMER},
        "The shortest case of TIMER-SIZE shows another fault",
    ),
}

ANSWERS: dict[str, Answers] = {
    **{
        number: told_for_another(number)
        for number, each in EXERCISES.items()
        if isinstance(each, Predicted)
    },
    **runs(),
    **CODE,
}


def check(folder: Path, number: str, files: Mapping[str, str]) -> tuple[int, str]:
    """Write the files of an answer, and have it graded: the exit code, and what is told."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    # A subject is imported, and a later one may have its name.
    command = purgatory_process if number.startswith("11.") else purgatory
    done = command(folder, "course", "check", number, next(iter(files)))
    return done.returncode, done.stdout + done.stderr


def test_each_exercise_is_solved_three_ways() -> None:
    assert list(EXERCISES) == sorted(ANSWERS, key=lambda number: [*map(int, number.split("."))])


@pytest.mark.slow
@pytest.mark.parametrize("number", EXERCISES)
def test_the_right_answer_is_solved(tmp_path: Path, number: str) -> None:
    code, told = check(tmp_path, number, ANSWERS[number].right)
    assert code == 0, told
    assert "Solved: " in told


@pytest.mark.slow
@pytest.mark.parametrize("number", EXERCISES)
def test_the_usual_wrong_answer_is_not_solved(tmp_path: Path, number: str) -> None:
    code, told = check(tmp_path, number, ANSWERS[number].wrong)
    assert code == 1, told
    assert "Solved: " not in told


@pytest.mark.slow
@pytest.mark.parametrize("number", EXERCISES)
def test_an_evasion_is_not_solved(tmp_path: Path, number: str) -> None:
    """It is told as wrong, or as no answer, and the reason is the evasion."""
    answers = ANSWERS[number]
    code, told = check(tmp_path, number, answers.evasion)
    assert code == answers.code, told
    assert answers.told in " ".join(told.split())
    for files, words in answers.more:
        code, told = check(tmp_path, number, files)
        assert code != 0, told
        assert words in " ".join(told.split())


VARIANTS = range(1, 6)


@pytest.mark.parametrize("number", EXERCISES)
def test_a_variant_is_another_task(number: str) -> None:
    """The file of a variant differs from the lesson's, and equal numbers give equal tasks."""
    own = beginning(exercise(number), number)
    for variant in VARIANTS:
        begun = beginning(exercise(number, variant), number)
        assert begun != own
        assert begun == beginning(exercise(number, variant), number)


@pytest.mark.slow
@pytest.mark.parametrize("number", [n for n in EXERCISES if isinstance(EXERCISES[n], Predicted)])
def test_the_answer_to_a_variant_is_solved_and_that_of_the_lesson_is_not(
    tmp_path: Path, number: str
) -> None:
    for variant in VARIANTS[:2]:
        code, told = check(tmp_path, number, in_a_file(predicted(number, variant)))
        assert code == 0, told
        lessons_own = predicted(number)
        title = predicted(number, variant).header.title
        other = Case(msgspec.structs.replace(lessons_own.header, title=title), lessons_own.steps)
        code, told = check(tmp_path, number, in_a_file(other))
        assert code == EXIT_USAGE, told


OTHER_CODE: Mapping[str, tuple[int, Mapping[str, tuple[tuple[str, str], ...]]]] = {
    "2.2": (1, {"mine.py": (("len(self.heap) > 16", "len(self.heap) > 8"),)}),
    "3.2": (1, {"mine.py": (("bucket_index(time_ms,", "bucket_index(time_ms + 3,"),)}),
    "4.3": (
        1,
        {
            "mine.py": (
                ("expiry_ms - expiry_ms % self.tick_ms", "expiry_ms + -expiry_ms % self.tick_ms"),
                ("MS = 2**31 - 1", "MS = 86_400_000 - 1"),
            )
        },
    ),
    "11.1": (
        2,
        {
            "my_subject.py": (
                ("Component, Feature", "Component, Feature, NegativeDelay, Rounding"),
                (
                    "frozenset({Feature.CANCEL})",
                    "frozenset({Feature.CANCEL}), "
                    "rounding=Rounding.UP, negative_delay=NegativeDelay.REJECT",
                ),
                (
                    "            case Add(task, delay_ms):",
                    "            case Add(_, delay_ms) if delay_ms < 0:\n"
                    "                return Outcome(rejected=Reason.INVALID_ARGUMENT)\n"
                    "            case Add(task, delay_ms):",
                ),
            ),
            "my_timer.py": (
                ("expiry_ms - expiry_ms % self.tick_ms", "expiry_ms + -expiry_ms % self.tick_ms"),
            ),
        },
    ),
}
"""By the exercise: a variant, and the changes of the lesson's files that solve it."""


@pytest.mark.slow
@pytest.mark.parametrize("number", OTHER_CODE)
@pytest.mark.parametrize("left_out", [0, 1])
def test_a_variant_of_code_wants_other_code(tmp_path: Path, number: str, left_out: int) -> None:
    """The lesson's solution fails the variant, as does one without the last change; all solve."""
    variant, changes = OTHER_CODE[number]
    assert exercise(number, variant) != exercise(number)
    files = dict(ANSWERS[number].right)
    pairs = [(name, *each) for name, of_file in changes.items() for each in of_file]
    files[next(iter(files))] = f'"""Exercise {number}, variant {variant}."""\n' + next(
        iter(files.values())
    )
    for name, old, new in pairs[: -1 if left_out else 0]:
        files[name] = changed(files[name], old, new)
    code, told = check(tmp_path, number, files)
    assert code == 1, told
    for name, old, new in pairs[-1 if left_out else 0 :]:
        files[name] = changed(files[name], old, new)
    code, told = check(tmp_path, number, files)
    assert code == 0, told
