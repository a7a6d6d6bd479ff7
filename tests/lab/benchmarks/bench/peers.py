"""Scripted peers for tests."""

import sys
from collections.abc import Sequence
from pathlib import Path

from purgatory_lab.benchmarks.bench.roster import Place, Roll
from purgatory_lab.benchmarks.bench.talking import PeerProcess, Start

SCRIPT = Path(__file__).with_name("scripted_peer.py")


def start(folder: Path, *words: str) -> Start:
    return Start(_command(words), folder, folder / "peer.log")


def _command(words: Sequence[str]) -> Sequence[str]:
    return [sys.executable, "-S", str(SCRIPT), *words]


def roll(name: str, *words: str, runtime: str = "", alone: bool = False) -> Roll:
    def started(place: Place) -> Start:
        return Start(_command(words), place.work, place.log(name))

    return Roll(name, started, runtime, alone=("--alone",) if alone else ())


def peer(folder: Path, *words: str) -> PeerProcess:
    return PeerProcess(start(folder, *words), 300.0)


def silent(_: str) -> None:
    """Takes what is under way."""
