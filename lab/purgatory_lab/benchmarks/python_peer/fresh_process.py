"""A measure in a fresh process, so that no memory of earlier measures is used again."""

import subprocess
import sys

from purgatory_lab.benchmarks.python_peer.messages import CannotMeasure


def ask_fresh_process(name: str, line: str) -> str:
    """Start a peer of the same name, ask it one thing, and pass the line of its answer on.

    Args:
        name: Of the peer.
        line: The request, which was read without an error here.

    Raises:
        CannotMeasure: the process ended before it had answered.
    """
    command = [sys.executable, "-m", "purgatory_lab.benchmarks.python_peer", name, "--alone"]
    ended = subprocess.run(
        command, input=line.strip() + "\n", stdout=subprocess.PIPE, text=True, check=False
    )
    said = ended.stdout.splitlines()
    if len(said) != 2 or ended.returncode != 0:
        raise CannotMeasure(f"the fresh process ended with {ended.returncode} and no answer")
    return said[1]
