"""``purgatory deviations``: blocks for what variants explain, and whether they are still right."""

import tomllib
from pathlib import Path

import pytest

from purgatory_conformance.problems import EXIT_USAGE
from purgatory_conformance.running.campaign import SUITES, Budget
from tests.conformance.command import purgatory

CLOSED = "TIMER-SHUTDOWN-CLOSED"
REPLAY = f"{CLOSED}-rejection.jsonl"

TIMERS = """
from purgatory_conformance.specimens.small.timer import Refusal, SmallTimer, small_subject
from purgatory_conformance.specimens.wrong.executor import taken_after_shutdown
from purgatory_conformance.specimens.wrong.expiry import zero_dropped
from purgatory_spec.profiles import Executor, Feature, Observable, TimerProfile
from purgatory_spec.reasons import Reason

PROFILE = TimerProfile(
    executor=Executor.STEPPED,
    features=frozenset({Feature.CANCEL, Feature.SHUTDOWN}),
    observables=frozenset({Observable.SIZE}),
)

class OtherReason(SmallTimer):
    def add(self, task, delay_ms, script=None):
        if self.closed:
            raise Refusal(Reason.TOO_LARGE)
        super().add(task, delay_ms, script)

def taken():
    return small_subject(taken_after_shutdown, PROFILE, "taken")

def right():
    return small_subject(SmallTimer, PROFILE, "right")

def other_reason():
    return small_subject(OtherReason, PROFILE, "other reason")

def dropped():
    return small_subject(zero_dropped, PROFILE, "dropped")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with timers, and a declaration of the one that takes tasks after its shutdown."""
    few = Budget(least_cases=60, minimum_visits=1, shrink_runs=100)
    monkeypatch.setitem(SUITES, "quick", few)
    (tmp_path / "timers.py").write_text(TIMERS, encoding="utf-8")
    declare(tmp_path, "taken")
    return tmp_path


def declare(folder: Path, factory: str) -> None:
    """Declare another subject, and keep the deviations that are declared."""
    path = folder / "purgatory.toml"
    kept = path.read_text("utf-8").partition("[[deviation]]") if path.exists() else ("", "", "")
    declared = f'[subject]\nname = "{factory}"\npython = "timers:{factory}"\n\n'
    path.write_text(declared + kept[1] + kept[2], encoding="utf-8")


@pytest.mark.slow
def test_blocks_are_proposed_appended_and_verified(folder: Path) -> None:
    """The block stands in the declaration, its replay file beside."""
    proposed = purgatory(folder, "deviations", "propose", "--write")
    assert proposed.returncode == 0, proposed.stderr
    (block,) = tomllib.loads(proposed.stdout)["deviation"]
    assert (block["rule"], block["variant"]) == (CLOSED, "taken_after_shutdown")
    assert block["replay"] == f"deviations/{REPLAY}"
    assert (folder / "deviations" / REPLAY).is_file()
    declared = tomllib.loads((folder / "purgatory.toml").read_text("utf-8"))
    assert declared["deviation"] == [block]
    assert "1 block appended" in proposed.stderr

    checked = purgatory(folder, "check", "--suite", "quick", "--seed", "2")
    assert "conformant with 1 declared deviation" in checked.stdout
    verified = purgatory(folder, "deviations", "verify")
    assert verified.returncode == 0
    assert "still needed: shown by" in verified.stdout


@pytest.mark.slow
def test_without_write_nothing_is_changed_and_the_replay_is_found_from_the_declaration(
    folder: Path,
) -> None:
    before = (folder / "purgatory.toml").read_text("utf-8")
    (folder / "elsewhere").mkdir()
    proposed = purgatory(folder / "elsewhere", "deviations", "propose", "..")
    assert proposed.returncode == 0, proposed.stderr
    (block,) = tomllib.loads(proposed.stdout)["deviation"]
    assert (folder / block["replay"]).resolve().is_file()
    assert (folder / "purgatory.toml").read_text("utf-8") == before
    assert not (folder / "deviations").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("now", "told"),
    [
        ("right", "no longer needed"),
        ("other_reason", "no longer enough"),
        ("dropped", "no longer needed"),
    ],
)
def test_a_deviation_that_is_no_longer_right_is_told(folder: Path, now: str, told: str) -> None:
    purgatory(folder, "deviations", "propose", "--write")
    declare(folder, now)
    verified = purgatory(folder, "deviations", "verify")
    assert verified.returncode == 1
    assert told in " ".join(verified.stdout.split())
    assert ("not declared: TIMER-ZERO-DELAY" in verified.stdout) == (now == "dropped")


@pytest.mark.slow
def test_what_no_variant_explains_is_not_proposed(folder: Path) -> None:
    """There is no block for it, it is named, and the exit code is that of the check."""
    declare(folder, "dropped")
    proposed = purgatory(folder, "deviations", "propose", "--write")
    assert proposed.returncode == 1
    assert "TIMER-ZERO-DELAY" not in proposed.stdout
    assert "not explained by any variant: TIMER-ZERO-DELAY" in proposed.stderr
    assert "TIMER-ZERO-DELAY" not in (folder / "purgatory.toml").read_text("utf-8")


@pytest.mark.slow
def test_five_deviations_of_one_port_are_proposed_together(folder: Path) -> None:
    """The blocks are exactly the five, and with them the port is conformant by another seed."""
    source = "from tests.strangers.purgatories.five_deviations import PORT\nport = PORT.subject\n"
    (folder / "ported.py").write_text(source, encoding="utf-8")
    declaration = '[subject]\nname = "port"\npython = "ported:port"\n'
    (folder / "purgatory.toml").write_text(declaration, encoding="utf-8")
    proposed = purgatory(folder, "deviations", "propose", "--write")
    assert proposed.returncode == 0, proposed.stderr
    blocks = tomllib.loads(proposed.stdout)["deviation"]
    assert [(block["rule"], block["variant"]) for block in blocks] == [
        ("PURGATORY-STALE-OPERATIONS", "stale_uncounted"),
        ("PURGATORY-CANCEL-KEEPS-TIME-OUT", "time_out_taken_with_key"),
        ("PURGATORY-WATCH-COMPLETED", "completed_watched"),
        ("PURGATORY-SECOND-TRY-THROWS", "second_try_unarmed"),
        ("PURGATORY-SHUTDOWN-CLOSED", "open_after_shutdown"),
    ]
    checked = purgatory(folder, "check", "--suite", "quick", "--seed", "2")
    assert "conformant with 5 declared deviations" in checked.stdout


def test_where_nothing_is_declared_there_is_nothing_to_verify(folder: Path) -> None:
    verified = purgatory(folder, "deviations", "verify")
    assert (verified.returncode, verified.stdout) == (0, "taken declares no deviation\n")


def test_only_a_declaration_can_be_written_to(folder: Path) -> None:
    refused = purgatory(folder, "deviations", "propose", "timers:taken", "--write")
    assert refused.returncode == EXIT_USAGE
    assert "--write needs a SUBJECT with a purgatory.toml" in refused.stderr
