"""The old design under four threads and its own: each operation is completed exactly once."""

import random
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from purgatory_lab.benchmarks.baselines import DelayedOperation, Purgatory
from purgatory_lab.stress import harness
from tests.lab.benchmarks.baselines.waiting import Waiting

pytestmark = pytest.mark.verify

THREADS = 4
OPERATIONS = 400
KEYS = [f"key-{number}" for number in range(5)]
PATIENCE_S = 60.0


class StressRun:
    """Four threads that watch, force, and check; time-outs of a few milliseconds."""

    def __init__(self) -> None:
        self.purgatory: Purgatory[str] = Purgatory(purge_interval=50)
        self.operations = [[Waiting(1 + n % 9) for n in range(OPERATIONS)] for _ in range(THREADS)]
        self.claimed = [0] * THREADS

    def body(self, thread: int) -> Iterator[None]:
        dice = random.Random(thread)
        for operation in self.operations[thread]:
            self.claimed[thread] += self.purgatory.try_complete_else_watch(
                operation, dice.sample(KEYS, 3)
            )
            other = dice.choice(self.operations[dice.randrange(THREADS)])
            if dice.random() < 0.5:
                other.ready = True
                self.claimed[thread] += self.purgatory.check_and_complete(dice.choice(KEYS))
            else:
                self.claimed[thread] += other.force_complete()
            yield

    def all(self) -> list[Waiting]:
        return [operation for part in self.operations for operation in part]

    def judge(self, result: harness.Round) -> None:
        harness.wait_until(lambda: all(each.is_completed for each in self.all()), PATIENCE_S)
        # The thread has been told to end, and has: the last ``on_expiration`` was called, too.
        self.purgatory.close()
        self.purgatory.purge()
        for operation in self.all():
            if operation.completions > 1 or operation.expirations > 1:
                result.find(harness.Kind.TWICE, f"{operation.completions} times")
            if operation.completions == 0:
                result.find(harness.Kind.LOST, "never completed")
        expired = sum(operation.expirations for operation in self.all())
        result.expect(
            harness.Kind.RESULT,
            "claims and time-outs",
            len(self.all()),
            sum(self.claimed) + expired,
        )
        result.expect(harness.Kind.COUNT, "entries", 0, self.purgatory.entries)
        result.expect(harness.Kind.COUNT, "delayed", 0, self.purgatory.delayed)


def stressed() -> tuple[StressRun, harness.Round]:
    result = harness.Round()
    with harness.harsh_interpreter():
        run = StressRun()
        bodies = {f"t{thread}": partial(run.body, thread) for thread in range(THREADS)}
        if harness.run_together(bodies, result, PATIENCE_S):
            run.judge(result)
    return run, result


@pytest.mark.slow
def test_each_operation_is_completed_exactly_once() -> None:
    run, result = stressed()
    assert result.findings == []
    assert 0 < sum(run.claimed) < len(run.all())


@pytest.mark.slow
def test_without_its_lock_operations_are_completed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[DelayedOperation] = []

    def force_complete(self: DelayedOperation) -> bool:
        if self._completed:
            return False
        if not met:
            met.append(self)
            other = threading.Thread(target=self.force_complete)
            other.start()
            other.join()
        self._completed = True
        self.on_complete()
        return True

    monkeypatch.setattr(DelayedOperation, "force_complete", force_complete)
    _, result = stressed()
    assert harness.Kind.TWICE in {finding.kind for finding in result.findings}
