"""A peer's conversation: hello, then an answer to each line until the input ends."""

import subprocess
import sys
from collections.abc import Iterable
from typing import TextIO

from purgatory_lab.benchmarks.python_peer.messages import (
    CannotMeasure,
    Failure,
    Request,
    read_request,
    written,
)
from purgatory_lab.benchmarks.python_peer.peers import Peer


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


def converse(peer: Peer, lines: Iterable[str], output: TextIO, *, alone: bool) -> None:
    """Say hello and answer line by line; a line of white space is passed over.

    Args:
        peer: Who is asked.
        lines: What is asked.
        output: Where the answers go.
        alone: Whether nothing was measured in this process before. If not, measures of memory are
            taken in another one.
    """
    _say(output, written(peer.hello()))
    for line in lines:
        if line.strip():
            _say(output, _answer(peer, line, alone))


def _answer(peer: Peer, line: str, alone: bool) -> str:
    try:
        request = read_request(line)
        return _measured(peer, request, line, alone)
    except CannotMeasure as problem:
        return written(Failure(str(problem)))
    except Exception as failure:
        # A peer lives on, whatever a measure has run into, lack of memory included.
        return written(Failure(f"{type(failure).__name__}: {failure}"))


def _measured(peer: Peer, request: Request, line: str, alone: bool) -> str:
    measure = peer.measures.get(request.measure)
    if measure is None:
        raise CannotMeasure(f"{peer.name} does not offer {request.measure!r}")
    if request.measure in peer.fresh and not alone:
        return ask_fresh_process(peer.name, line)
    return written(measure(request))


def _say(output: TextIO, line: str) -> None:
    output.write(line + "\n")
    output.flush()
