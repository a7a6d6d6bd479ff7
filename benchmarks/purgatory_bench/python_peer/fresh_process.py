"""A measure in a fresh process, so that no memory of earlier measures is used again."""

import subprocess
import sys

import msgspec

from purgatory_bench.python_peer.messages import CannotMeasure, Failure, Measurement


def ask_fresh_process(name: str, line: str) -> Measurement | Failure:
    """Start a peer of the same name, ask it one thing, and pass its answer on.

    Args:
        name: Of the peer.
        line: The request, which was read without an error here.

    Raises:
        CannotMeasure: the process ended before it had answered.
    """
    command = [sys.executable, "-m", "purgatory_bench.python_peer", name, "--alone"]
    ended = subprocess.run(
        command, input=line.strip() + "\n", stdout=subprocess.PIPE, text=True, check=False
    )
    said = ended.stdout.splitlines()
    if len(said) != 2 or ended.returncode != 0:
        raise CannotMeasure(f"the fresh process ended with {ended.returncode} and no answer")
    return msgspec.json.decode(said[1], type=_Answered).read()


class _Answered(msgspec.Struct):
    """An answer or a failure, whichever the line has."""

    error: str | None = None
    operations: int = 0
    thread_cpu_ns: int | None = None
    process_cpu_ns: int | None = None
    wall_ns: int = 0
    detail: dict[str, int | float | str | None] = {}

    def read(self) -> Measurement | Failure:
        if self.error is not None:
            return Failure(self.error)
        return Measurement(
            self.operations, self.thread_cpu_ns, self.process_cpu_ns, self.wall_ns, self.detail
        )
