"""Other people's timers behind our adapters: built, judged, found out if broken."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from ctypes.util import find_library
from pathlib import Path

import pytest

from purgatory_conformance.opening import adapter_command, open_subject
from purgatory_conformance.registered import PROJECTS
from purgatory_conformance.resources import adapters_folder
from purgatory_conformance.running.campaign import Campaign, Verdict
from purgatory_conformance.subjects.declaration import read_declaration
from tests.conformance.command import SCRIPT

from .adapter_process import WORK_FOLDER
from .kafka_campaign import campaign_on

pytestmark = pytest.mark.verify

FETCH = {
    "go": ("go", "mod", "download"),
    "npm": ("npm", "view", "timer-wheel@1.0.0", "version"),
    "python": (sys.executable, "-m", "pip", "index", "versions", "trio"),
    "rust": ("cargo", "fetch", "--quiet"),
}
"""By the adapter's folder: the command that gets what is not on every machine."""

NOT_CONFORMANT = {
    "apscheduler-debug": {"TIMER-ADD-INSIDE", "TIMER-CANCEL-INSIDE", "TIMER-SIZE"},
    "gevent": {"TIMER-NOT-EARLY"},
    "netty-size": {"TIMER-SIZE"},
    "npm-node-schedule": {"TIMER-NOT-LATE"},
    "npm-retimer": {"TIMER-READD-PENDING"},
    "npm-timer-wheel": {"TIMER-NOT-LATE"},
    "vertx-zero": {"TIMER-ZERO-DELAY"},
}
"""The words that stand for known breaches, and the rules."""

OF_THE_SYSTEM = {"libevent": "event_core-2.1", "libuv": "uv"}
"""The words for libraries that the system has or has not, and the libraries' names."""

OF_THE_JVM = ("fluss/", "jvm/")
"""The folders of the adapters that are built with Maven."""

ALWAYS = (
    *("sched", "asyncio", "trio", "go-time", "agrona", "pekko", "fluss", "npm-fake-timers"),
    "rust-hash-wheel",
)
"""One of each language is judged in every run, Python's own, and Pekko's: they take little time."""

CONFORMANT = (Verdict.CONFORMANT, Verdict.CONFORMANT_WITH_DEVIATIONS)

FAULTS = {
    "go-time": ("timers_test.go", "time.AfterFunc(delay, call)", "time.AfterFunc(delay+1e6, call)"),
    "agrona": (
        "src/main/java/purgatory/adapter/timers/AgronaTimer.java",
        "<= nowMs",
        "< nowMs - 1",
    ),
    "npm-fake-timers": (
        "timers.js",
        "clock.setTimeout(call, delay_ms)",
        "clock.setTimeout(call, delay_ms + 1)",
    ),
    "rust-hash-wheel": ("src/wheel.rs", "from_millis(delay_ms)", "from_millis(delay_ms + 1)"),
    "sched": ("standard_timers.py", "enter(delay_ms, ", "enter(delay_ms + 1, "),
    "trio": ("trio_timers.py", "move_on_after(delay_ms)", "move_on_after(delay_ms + 1)"),
}
"""For a word a place of the adapter, and what stands there instead: every task is late."""


def marked(words: Sequence[str], always: Sequence[str] = ()) -> "list[pytest.ParameterSet]":
    """Words as parameters: those of the JVM need Java, what is not in ``always`` is large."""
    return [
        pytest.param(
            word,
            marks=[
                *([pytest.mark.java] if PROJECTS[word][0].startswith(OF_THE_JVM) else []),
                *([] if word in always else [pytest.mark.large]),
            ],
        )
        for word in words
    ]


def fetched(word: str) -> None:
    """Skip where the tool is missing, or what a project depends on cannot be had."""
    library = OF_THE_SYSTEM.get(word)
    if library is not None and find_library(library) is None:
        pytest.skip(f"lib{library} is not installed")
    folder = PROJECTS[word][0].partition("/")[0]
    command = FETCH.get(folder)
    if not read_declaration(adapters_folder() / PROJECTS[word][0]).build:
        return
    if command is None or os.environ.get("REQUIRE_TOOLCHAINS") == "1":
        return
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed (for conformance/adapters/{folder})")
    ended = subprocess.run(
        command, cwd=adapters_folder() / folder, capture_output=True, text=True, timeout=1800
    )
    if ended.returncode != 0:
        pytest.skip(f"what {word} depends on cannot be fetched: {ended.stderr.strip()[-200:]}")


def judged(word: str) -> list[Campaign]:
    """The verdicts on the components of a word, with what is declared for them."""
    opened = open_subject(word, work_folder=WORK_FOLDER)
    try:
        return [
            campaign_on(opened, opened.subject, component, "quick")
            for component in opened.subject.profiles
        ]
    finally:
        opened.subject.close()


@pytest.mark.slow
@pytest.mark.parametrize("word", marked(list(PROJECTS), ALWAYS))
def test_a_project_is_what_its_row_says(word: str) -> None:
    """It is conformant; where its word stands for a breach, that rule is broken."""
    fetched(word)
    rules = NOT_CONFORMANT.get(word)
    for campaign in judged(word):
        if rules is None:
            # A machine that is busy elsewhere makes a task on the real clock late now and then.
            is_late = campaign.verdict is Verdict.INCONCLUSIVE and not campaign.causes
            assert is_late or campaign.verdict in CONFORMANT, campaign.why
        else:
            assert campaign.verdict is Verdict.NOT_CONFORMANT, campaign.why
            assert {cause.rule for cause in campaign.causes} == rules


@pytest.mark.slow
@pytest.mark.parametrize("word", marked(list(FAULTS), ("sched",)))
def test_a_fault_in_an_adapter_is_found(word: str, tmp_path: Path) -> None:
    """Given a copy of an adapter in which every task is late: it is not conformant."""
    fetched(word)
    folder, _, declaration = PROJECTS[word][0].partition("/")
    copy = tmp_path / "adapter"
    shutil.copytree(adapters_folder() / folder, copy)
    file, right, wrong = FAULTS[word]
    text = (copy / file).read_text(encoding="utf-8")
    assert text.count(right) == 1
    (copy / file).write_text(text.replace(right, wrong), encoding="utf-8")
    named = copy / declaration
    name = f'name = "{word}"'
    assert name in named.read_text(encoding="utf-8")
    named.write_text(
        named.read_text(encoding="utf-8").replace(name, f'name = "late-{word}"'), encoding="utf-8"
    )
    ended = subprocess.run(  # in a process of its own, which has not imported the right one
        [str(SCRIPT), "check", str(named), "--suite", "quick", "--seed", "7"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert ended.returncode == 1, ended.stderr
    assert re.search(r"broken +TIMER-(NOT-LATE|ROUNDING|ZERO-DELAY) ", ended.stdout)


PROGRAMS = {
    "CancelledInItsTick dubbo jraft netty": ["dubbo -1", "jraft -1", "netty 0"],
    "FreeListBeyondInt": [
        "131071 batches kept, 4294967296 of 4294967296 bytes available: granted 20000",
        "131072 batches kept, 4294967296 of 4294967296 bytes available: exhausted after 100 ms",
    ],
}
"""Programs of the JVM's adapter for what no case of the suite can ask, each with its control: Netty
counts a timeout off once, and a pool that keeps one batch less grants."""


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.parametrize(("words", "lines"), PROGRAMS.items(), ids=["wheels", "pool"])
def test_a_fault_that_no_case_shows_is_still_there(words: str, lines: list[str]) -> None:
    command, _ = adapter_command("agrona", work_folder=WORK_FOLDER)
    program, *arguments = words.split()
    ended = subprocess.run(
        [*command[:-3], f"purgatory.adapter.timers.{program}", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert ended.stdout.splitlines() == lines


STORED = [
    ("apscheduler-debug", "apscheduler-removes-itself", "TIMER-CANCEL-INSIDE"),
    ("apscheduler-debug", "apscheduler-arms-itself", "TIMER-ADD-INSIDE"),
    ("npm-node-schedule", "node-schedule-one-date", "TIMER-NOT-LATE"),
    ("npm-timer-wheel", "timer-wheel-ring-skipped", "TIMER-NOT-LATE"),
    ("npm-timer-wheel", "timer-wheel-item-lost", "TIMER-NOT-LATE"),
    ("npm-retimer", "retimer-moved-to-zero", "TIMER-READD-PENDING"),
]
"""Words, their stored faults, and the rules that these break."""


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.parametrize(("word", "name", "rule"), STORED)
def test_a_stored_fault_is_still_there(word: str, name: str, rule: str) -> None:
    """A replay breaks the rule; the control is the same case on a timer that keeps it."""
    fetched(word)
    folder = (adapters_folder() / PROJECTS[word][0]).parent
    file = folder / "replays" / f"{name}.jsonl"
    for subject, code in ((word, 1), ("sched", 0)):
        ended = subprocess.run(
            [str(SCRIPT), "replay", str(file), "--subject", subject, "--work", str(WORK_FOLDER)],
            capture_output=True,
            text=True,
            timeout=1800,
        )
        assert ended.returncode == code, ended.stderr
        assert (f"diverges from {rule} " in ended.stdout) == bool(code)
