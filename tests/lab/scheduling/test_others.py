"""Timers, purgatories and pools of other people under the scheduler: what is wrong is found.

Each class is written as somebody would who has never heard of a scheduler. What they are wrong in
shows in no single thread.
"""

import importlib
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from purgatory_conformance.opening import open_subject
from purgatory_conformance.subjects.open_subject import OpenSubject
from purgatory_lab.documents import read_document
from purgatory_lab.museum.page import THREADS, Scheduled
from purgatory_lab.museum.threads import THREADED
from purgatory_lab.scheduling import errors
from purgatory_lab.scheduling.run import LogicalThread
from purgatory_lab.scheduling.schedule import as_text
from purgatory_lab.scheduling.strangers.judge import RuleBroken
from purgatory_lab.scheduling.strangers.opcodes import Access, Point, SharedNames, points_of
from purgatory_lab.scheduling.strangers.runs import NotScheduled, Stranger
from purgatory_lab.scheduling.strangers.search import (
    Searched,
    programs_of,
    replayed,
    search_all,
)

_OTHERS = "tests.lab.scheduling.others"
_MUSEUM = "purgatory_lab.museum.threads"
_KINDS = ("pools:", "timers:", "purgatories:")
_RESULTS = Path(__file__).resolve().parents[3] / "docs" / "reference" / "results"
SCHEDULED = read_document(_RESULTS / THREADS, dict[str, Scheduled])
_MINUTES = 3_000.0
"""More than any search takes, s."""

WRONG = {
    "pools:counts_under_a_second_lock": (
        "POOL-RELEASE",
        "allocate waits for CountsUnderASecondLock.statistics, which release holds",
    ),
    "pools:forgets_its_lock": ("POOL-RELEASE", "waits for ForgetsItsLock.lock, which second holds"),
    "pools:spins_for_ever": ("POOL-STRICT", "livelock"),
    "pools:raises": ("POOL-STRICT", "raised KeyError(10)"),
    "timers:dies_of_a_cancel": (
        "TIMER-EXACTLY-ONCE",
        "thread reaper has ended with ValueError('list.remove(x): x not in list')",
    ),
    "timers:hands_over_under_its_lock": (
        "TIMER-NOT-LATE",
        "waits for Queue.lock, which cancel holds",
    ),
    "purgatories:tries_once": ("PURGATORY-WATCH-SECOND-TRY", "is tried after"),
    "purgatories:appends_to_a_lost_list": ("PURGATORY-NOT-LOST", "closing in “check k”"),
    "purgatories:waits_in_a_circle": (
        "PURGATORY-NO-CIRCLE",
        "cancel waits for Delayed.lock, which check holds",
    ),
}
"""The wrong classes besides those of the museum, the rule that each breaks, and words of it."""

OF_MUSEUM = {
    "pools:looks_outside": "expected no buffer",
    "pools:counts_without_a_lock": "closing in “ask for all, 10 bytes”",
    "pools:released_twice": "release a",
    "timers:counted_twice": "when all is over size is -1, and not 0",
    "timers:lost_bucket": "has not run by",
    "timers:loses_a_wake_up": "has not run by",
    "purgatories:armed_too_late": "timer_size is 1, and 0 operations wait",
    "purgatories:completed_by_both": "is completed already",
}
"""Words of what is said of wrong classes of the museum."""

ALL_WRONG = {
    **{f"{_OTHERS}.{name}": said for name, said in WRONG.items()},
    **{each.word: (each.rule, OF_MUSEUM.get(each.name, "")) for each in THREADED},
}

PROGRAMS = {each.word: SCHEDULED[each.name].program for each in THREADED}
"""The programs of the findings that the page of the museum shows."""

RIGHT = [
    *("pools:right", "pools:spins_in_turn", "pools:under_semaphore"),
    *("timers:in_one_list", "timers:hands_over", "timers:polls"),
    *("timers:one_thread_each", "timers:commands", "purgatories:right"),
    *sorted({f"{_MUSEUM}.{each.right}" for each in THREADED}),
]

written = ""

MANY_THREADS = ("timers:one_thread_each", "timers:commands")


@contextmanager
def scheduled(name: str, longest_wait_s: float = 60) -> Iterator[Stranger]:
    """A class under the scheduler."""
    word = f"{_OTHERS}.{name}" if name.startswith(_KINDS) else name
    # A class of the museum that another one extends is imported anew with it.
    for module in [each for each in sys.modules if each.startswith(f"{_MUSEUM}.")]:
        del sys.modules[module]

    def open_anew() -> OpenSubject:
        return open_subject(word, work_folder=Path("unused"))

    stranger = Stranger(word, open_anew, longest_wait_s)
    with stranger.active():
        yield stranger


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Threads have ended, and the standard library is as it was."""
    before = set(threading.enumerate())
    names = {name: vars(threading)[name] for name in ("Lock", "RLock", "Condition", "_time")}
    clock = time.monotonic
    yield
    assert set(threading.enumerate()) <= before
    assert {name: vars(threading)[name] for name in names} == names
    assert time.monotonic is clock


def found(stranger: Stranger, preemptions: int = 1) -> Searched:
    """Return the last result of the search."""
    *_, last = search_all(stranger, programs_of(stranger), preemptions, _MINUTES)
    return last


@pytest.mark.parametrize("name", ALL_WRONG)
def test_what_is_wrong_is_found_with_one_preemption_and_replayed(name: str) -> None:
    rule, words = ALL_WRONG[name]
    with scheduled(name) as stranger:
        last = found(stranger)
        record = last.failure
        assert record is not None
        assert isinstance(record.failure, RuleBroken)
        assert record.failure.rule == rule
        assert words in str(record.failure)
        assert last.program.name == PROGRAMS.get(name, last.program.name)
    # The schedule is enough, in another process, which has learnt nothing.
    with scheduled(name) as stranger:
        (program,) = programs_of(stranger, last.program.name)
        again = replayed(stranger, program, record.chosen())
    assert (str(again.failure), as_text(again.chosen())) == (
        str(record.failure),
        as_text(record.chosen()),
    )


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_has_no_schedule_that_fails(name: str) -> None:
    with scheduled(name) as stranger:
        # Those with many threads have many schedules even without a preemption.
        last = found(stranger, preemptions=0 if name in MANY_THREADS else 1)
    assert last.failure is None
    assert last.search.complete


@pytest.mark.parametrize("component", ["timer", "purgatory", "memory_pool"])
def test_the_bundled_implementation_is_right(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, component: str
) -> None:
    kind = "".join(word.title() for word in component.split("_"))
    (tmp_path / "here_bundled.py").write_text(
        f"from purgatory_conformance.subjects.bundled.{component} import PROFILE, {kind}Instance\n"
        "from purgatory_conformance.subjects.in_process import subject_of\n\n\n"
        f"def bundled():\n    return subject_of({kind}Instance, PROFILE)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with scheduled("here_bundled:bundled") as stranger:
        last = found(stranger, preemptions=1)
    assert last.failure is None


def test_its_own_threads_are_shown_with_the_calls() -> None:
    with scheduled("timers:dies_of_a_cancel") as stranger:
        record = found(stranger).failure
    assert record is not None
    assert record.names == ["setup", "reaper", "cancel", "time", "closing"]
    marks = {mark.what for mark in record.marks}
    assert {"DiesOfACancel.changed", "calls", "returns"} <= marks


# What cannot be scheduled


def test_a_thread_that_waits_for_something_else_is_named_with_its_line() -> None:
    with (
        scheduled("pools:waits_for_a_socket", longest_wait_s=0.5) as stranger,
        pytest.raises(errors.Stalled) as stalled,
    ):
        found(stranger)
    words = str(stalled.value)
    assert "thread first has reached no yield point" in words
    assert "pools.py:" in words
    assert "first is in “ask for a, 10 bytes”" in words
    assert "what waits outside threading, queue and time is not scheduled: files, sockets" in words
    for thread in threading.enumerate():
        if thread.name == "scheduled-first":
            thread.join(60)


def test_a_lock_that_was_made_before_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "here_locks.py").write_text("import threading\nLOCK = threading.Lock()\n")
    (tmp_path / "here_pool.py").write_text(
        f"from here_locks import LOCK\nfrom {_OTHERS}.pools import right\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("here_locks")
    with (
        pytest.raises(NotScheduled, match=r"here_pool\.LOCK is a lock that was made before"),
        scheduled("here_pool:right"),
    ):
        pass
    # Imported by the class alone it is under control.
    del sys.modules["here_locks"]
    with scheduled("here_pool:right") as stranger:
        assert found(stranger, preemptions=0).failure is None
    assert "here_locks" not in sys.modules


MADE = f"""
from purgatory_conformance.subjects.in_process import subject_of
from purgatory_conformance.subjects.subject import UnsupportedConfigurationError
from purgatory_spec.outcomes import Outcome
from purgatory_spec.profiles import ChannelMutingProfile, Component
from purgatory_spec.reasons import Reason
from {_MUSEUM}.pools import Instance, under_one_lock

PROFILE = under_one_lock().profiles[Component.MEMORY_POOL]


class Refuses(Instance):
    def do(self, operation):
        return Outcome(rejected=Reason.UNSUPPORTED)


class IsNotMade(Instance):
    def __init__(self, configuration):
        raise UnsupportedConfigurationError("pools of 10 bytes are too small")


def refuses():
    return subject_of(Refuses, PROFILE)


def is_not_made():
    return subject_of(IsNotMade, PROFILE)


def of_a_server():
    return subject_of(Instance, ChannelMutingProfile())
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("refuses", "the subject refuses “ask for a, 10 bytes” as unsupported"),
        ("is_not_made", "offers no such instance: pools of 10 bytes are too small"),
        ("of_a_server", "the subject offers none"),
    ],
)
def test_a_class_that_cannot_be_scheduled_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, words: str
) -> None:
    (tmp_path / "here_made.py").write_text(MADE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with scheduled(f"here_made:{name}") as stranger, pytest.raises(NotScheduled, match=words):
        found(stranger)


def test_a_program_that_is_not_there_is_refused_with_the_names() -> None:
    with (
        scheduled("pools:right") as stranger,
        pytest.raises(NotScheduled, match="there are strict-"),
    ):
        programs_of(stranger, "watch-and-check")


# What single instructions are for


def test_yield_points_are_the_accesses_to_attributes_items_and_written_variables() -> None:
    def code(self: Any, key: str) -> None:
        global written
        self.count += 1
        self.inner.table[key] = len(key)
        if key in self.table:
            written = key

    points = [(point.words(), point.path) for point in points_of(code.__code__).values()]
    assert points == [
        ("reads count", ("self",)),
        ("writes count", ("self",)),
        ("reads inner", ("self",)),
        ("reads table", ("self", "inner")),
        ("uses an item", ()),
        ("reads table", ("self",)),
        ("uses an item", ()),
        ("writes written", ()),
    ]


def test_an_attribute_that_is_always_used_under_one_lock_needs_no_other_schedule() -> None:
    def suspects(*uses: tuple[int, list[object], Access]) -> set[str]:
        shared = SharedNames()
        for number, held, access in uses:
            thread = LogicalThread(number, "thread", int)
            thread.held = held
            shared.use(thread, Point(access, "free", ("self",)), owner, 1)
        return shared.suspects

    owner, lock, other = object(), object(), object()
    read, write = Access.READ, Access.WRITE
    assert suspects((0, [lock], write), (1, [lock, other], write), (0, [lock], read)) == set()
    assert suspects((0, [], write), (0, [], write), (1, [lock], write)) == set()
    assert suspects((0, [lock], read), (1, [], read)) == set()
    assert suspects((0, [lock], write), (1, [lock], write), (0, [], read)) == {"free"}
    assert suspects((0, [lock], write), (1, [lock], write), (0, [other], read)) == {"free"}
