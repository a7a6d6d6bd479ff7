"""Run tests that other people wrote for their timer and purgatory on ours.

    python -m purgatory_lab.their_tests

Apache Kafka and Apache Fluss publish their tests as jars. ``lab/their_tests`` has classes with the
names of those that the tests test, which call this process by py4j instead. Each thread of the one
process has a partner in the other: a try that Java answers is under the lock that Python took for
it.
"""

import logging
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any, Final

import click
from py4j.clientserver import ClientServer, JavaParameters, PythonParameters

from purgatory_conformance.commands.options import WORK
from purgatory_impl import DelayedOperation, MonotonicClock, Purgatory, Timer, TimerTask
from purgatory_impl.delayed_operation import attempt
from purgatory_impl.operation_locks import holds, this_thread

SYSTEMS: Final = {
    "Apache Kafka": (
        "org.apache.kafka.server.util.timer.TimerTest",
        "org.apache.kafka.server.purgatory.DelayedOperationTest",
    ),
    "Apache Fluss": (
        "org.apache.fluss.server.utils.timer.DefaultTimerTest",
        "org.apache.fluss.server.replica.delay.DelayedOperationTest",
    ),
}
"""The test classes that test what ours has, too. Others test a wheel's lists, or a whole server."""

DIFFERENT: Final = {
    "testSafeTryCompleteOrElse()": "a try that answers true and completes nothing: they take its "
    "word, ours looks whether the operation is completed",
}
"""The tests that ours does not pass, and why; both have it."""

_PROJECT: Final = Path(__file__).resolve().parents[1] / "their_tests"
_BUILD_SECONDS: Final = 1200.0
_SLOWER: Final = 250
"""The purgatory's clock is so many times slower than the machine's: a test begins to wait for a
time-out of 20 ms without looking whether that has passed, and would wait for ever."""


class _SlowClock(MonotonicClock):
    """A clock for which a second is four milliseconds."""

    def now_ms(self) -> int:
        return super().now_ms() // _SLOWER

    def wait_until(self, condition: threading.Condition, deadline_ms: int | None) -> None:
        super().wait_until(condition, deadline_ms and deadline_ms * _SLOWER)


class _Task(TimerTask):
    """A task whose work is done in Java."""

    def __init__(self, theirs: Any) -> None:
        super().__init__()
        self._theirs = theirs

    def run(self) -> None:
        self._theirs.run()


class _Operation(DelayedOperation):
    """An operation whose try and callbacks are in Java."""

    def __init__(self, theirs: Any, delay_ms: int) -> None:
        super().__init__(delay_ms)
        self._theirs = theirs

    def try_complete(self) -> bool:
        return bool(self._theirs.tryComplete())

    def on_complete(self) -> None:
        self._theirs.onComplete()

    def on_expiration(self) -> None:
        self._theirs.onExpiration()


class Ours:
    """Our objects by number, for Java: the methods are those of ``Ours.java``."""

    class Java:
        """The interface, for py4j."""

        implements = ("purgatory.theirs.Ours",)

    def __init__(self, purgatory_class: type[Purgatory[Any, Any]]) -> None:
        self._purgatory_class = purgatory_class
        self._numbered: list[Any] = []
        self._numbers: dict[DelayedOperation, int] = {}

    def timer(self, tick_ms: int, wheel_size: int) -> int:
        """Make a timer that only ``advance`` moves."""
        return self._number(Timer(tick_ms=tick_ms, wheel_size=wheel_size, reaper=False))

    def add(self, timer: int, task: Any, delay_ms: int) -> None:
        """Arm a task of Java's."""
        self._numbered[timer].add(_Task(task), delay_ms)

    def advance(self, timer: int, timeout_ms: int) -> bool:
        """Wait until something is due, or for so long, and advance; whether anything was due."""
        ours: Timer = self._numbered[timer]
        deadline_ms = ours.clock.now_ms() + timeout_ms
        while not ours.advance():
            if ours.clock.now_ms() >= deadline_ms:
                return False
            time.sleep(0.001)
        return True

    def purgatory(self, purge_interval: int) -> int:
        """Make a purgatory on the slow clock."""
        timer = Timer(clock=_SlowClock())
        made = self._purgatory_class("theirs", purge_interval=purge_interval, timer=timer)
        return self._number(made)

    def operation(self, theirs: Any, delay_ms: int) -> int:
        """Make an operation of Java's."""
        made = _Operation(theirs, delay_ms)
        self._numbers[made] = self._number(made)
        return self._numbers[made]

    def watch(self, purgatory: int, operation: int, keys: Sequence[object]) -> bool:
        """Try an operation, and watch it under the keys."""
        ours: Purgatory[object, _Operation] = self._numbered[purgatory]
        return ours.try_complete_else_watch(self._numbered[operation], keys)

    def check(self, purgatory: int, key: object) -> int:
        """Return the number of operations that a check has completed."""
        return int(self._numbered[purgatory].check_and_complete(key))

    def entries(self, purgatory: int) -> int:
        """Return the entries of all lists."""
        return int(self._numbered[purgatory].entries)

    def cancelForKey(self, purgatory: int, key: object) -> str:  # noqa: N802
        """Return the numbers of the cancelled operations, with blanks between them."""
        cancelled = self._numbered[purgatory].cancel_for_key(key)
        return " ".join(str(self._numbers[each]) for each in cancelled)

    def timerSize(self, purgatory: int) -> int:  # noqa: N802
        """Return the number of operations in the timer."""
        return int(self._numbered[purgatory].timer_size)

    def closeTimer(self, timer: int) -> None:  # noqa: N802
        """Close a timer."""
        self._numbered[timer].close()

    def closePurgatory(self, purgatory: int) -> None:  # noqa: N802
        """Close a purgatory and its timer."""
        ours = self._numbered[purgatory]
        ours.close()
        ours._timer.close()

    def forceComplete(self, operation: int) -> bool:  # noqa: N802
        """Complete an operation; whether this call has."""
        return bool(self._numbered[operation].force_complete())

    def isCompleted(self, operation: int) -> bool:  # noqa: N802
        """Decide whether an operation is completed."""
        return bool(self._numbered[operation].is_completed)

    def holdsLock(self, operation: int) -> bool:  # noqa: N802
        """Decide whether this thread, the partner of Java's, holds the own lock."""
        return holds(self._numbered[operation], threading.get_ident())

    def tryElse(self, operation: int, action: Any) -> bool:  # noqa: N802
        """Try as a watch does, with an action between the tries in the place of the lists."""
        ours: _Operation = self._numbered[operation]
        if attempt(ours, this_thread()) & 1:
            return True
        action.run()
        return attempt(ours, this_thread()) & 1 == 1

    def _number(self, made: object) -> int:
        self._numbered.append(made)
        return len(self._numbered) - 1


def run_theirs(
    classes: Sequence[str],
    work: Path,
    purgatory_class: type[Purgatory[Any, Any]] = Purgatory,
) -> dict[str, str]:
    """Run test classes on our timer and on a purgatory.

    Args:
        classes: Their names.
        work: The folder of the build.
        purgatory_class: Ours, or one of the same methods.

    Returns:
        What was wrong, by test; empty for a test that passed.

    Raises:
        click.ClickException: the classes cannot be fetched or built.
    """
    with _java(work, Ours(purgatory_class)) as theirs:
        lines = [str(line) for line in theirs.run(" ".join(classes))]
    return dict(line.split("\t", 1) for line in lines)


@contextmanager
def _java(work: Path, ours: Ours) -> Iterator[Any]:
    """Start the Java process, let the two know each other, and end it afterwards."""
    built = _built(work)
    java_parameters = JavaParameters()
    gateway = ClientServer(
        java_parameters=java_parameters,
        python_parameters=PythonParameters(port=0, propagate_java_exceptions=True),
        python_server_entry_point=ours,
    )
    port = gateway.get_callback_server().get_listening_port()
    words = ["java", "-cp", f"{built / 'classes'}:{built / 'lib'}/*"]
    with subprocess.Popen(
        [*words, "purgatory.theirs.RunTheirs", str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as java:
        try:
            assert java.stdout is not None
            # Each needs the other's port from the beginning: a client in Java that is given
            # another one later has forgotten which thread is whose partner.
            java_parameters.port = int(java.stdout.readline())
            yield gateway.entry_point
        finally:
            gateway.shutdown()
            java.kill()


def _built(work: Path) -> Path:
    """Fetch and compile what is in ``lab/their_tests``; return the folder."""
    output = (work / "their-tests").resolve()
    ended = subprocess.run(
        [
            which("mvn") or "mvn",
            "-B",
            "-q",
            "-ntp",
            "-Dstyle.color=never",
            f"-Doutput={output}",
            "process-classes",
        ],
        cwd=_PROJECT,
        capture_output=True,
        text=True,
        timeout=_BUILD_SECONDS,
        check=False,
    )
    if ended.returncode != 0:
        raise click.ClickException(f"the tests cannot be built:\n{ended.stdout[-2000:]}")
    return output


@click.command(help=(__doc__ or "").split("\n", 1)[0])
@WORK
def main(work: Path) -> None:
    """Run all tests and print a line for each, and how many passed."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it tells of every test that fails
    unexpected = False
    for system, classes in SYSTEMS.items():
        found = run_theirs(classes, work)
        for test, wrong in found.items():
            click.echo(f"{test}  {f'differs: {DIFFERENT.get(test, wrong)}' if wrong else 'passed'}")
        failed = {test for test, wrong in found.items() if wrong}
        unexpected = unexpected or not failed <= set(DIFFERENT)
        click.echo(f"{system}: {len(found) - len(failed)} of {len(found)} passed")
    raise SystemExit(1 if unexpected else 0)


if __name__ == "__main__":
    main()
