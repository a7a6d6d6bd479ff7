"""An exception at any line, Ctrl-C say, leaves no lock taken: the program goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("interrupted_program.py")

pytestmark = [
    pytest.mark.verify,
    pytest.mark.skipif(sys.platform == "win32", reason="signals of a timer are of POSIX"),
]


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(PROGRAM), *options],
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("by", ["signal", "exception"])
def test_a_program_goes_on_after_every_interrupt(by: str, threads: int) -> None:
    """It can use everything after each, and what is due runs in the end."""
    done = run("--interrupts", "300", "--threads", str(threads), "--by", by)
    assert done.returncode == 0, done.stderr
    assert "goes on" in done.stdout


@pytest.mark.slow
def test_a_lock_that_is_taken_before_the_block_is_taken_for_ever() -> None:
    """The program hangs, and its watchdog says where."""
    done = run("--interrupts", "5000", "--planted", "--patience", "5")
    assert done.returncode == 1
    assert "Timeout" in done.stderr
    assert "in use" in done.stderr
