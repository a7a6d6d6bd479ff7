"""``python -m purgatory_lab.benchmarks.python_peer NAME``: a peer on standard input and output."""

import argparse
import io
import sys

from purgatory_lab.benchmarks.python_peer.conversation import converse
from purgatory_lab.benchmarks.python_peer.peers import peers


def main() -> None:
    """Be the peer that the command line names, until the input ends."""
    known = peers()
    parser = argparse.ArgumentParser(prog="python -m purgatory_lab.benchmarks.python_peer")
    parser.add_argument("name", choices=sorted(known), help="which peer to be")
    parser.add_argument(
        "--alone",
        action="store_true",
        help="measure memory in this process: for one request alone",
    )
    arguments = parser.parse_args()
    if isinstance(sys.stdin, io.TextIOWrapper):
        # A line that is no text is a bad request, and not the end.
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    converse(known[arguments.name], sys.stdin, sys.stdout, alone=arguments.alone)


if __name__ == "__main__":
    main()
