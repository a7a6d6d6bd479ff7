"""A toy module with its models, small enough to know by heart, and a stand-in of Apalache."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from purgatory_tla.manifest.manifest import Manifest, Model, parse_manifest

MODULE = """---------------------------- MODULE Toy ----------------------------
EXTENDS Integers

CONSTANTS
  \\* @type: Set(Str);
  Threads,
  \\* @type: Int;
  Most

VARIABLES
  \\* @type: Int;
  total,
  \\* @type: Str -> Str;
  pc

vars == <<total, pc>>

Init == total = 0 /\\ pc = [t \\in Threads |-> "idle"]

\\* @says self: begins at {total}
Begin(t) ==
  /\\ pc[t] = "idle" /\\ total < Most
  /\\ pc' = [pc EXCEPT ![t] = "busy"]
  /\\ UNCHANGED total

\\* @says self: adds one to {total}, now {total'}
Add(t) ==
  /\\ pc[t] = "busy"
  /\\ total' = total + 1
  /\\ pc' = [pc EXCEPT ![t] = "idle"]

Next == \\E t \\in Threads : Begin(t) \\/ Add(t)

Spec == Init /\\ [][Next]_vars
FairSpec == Spec /\\ WF_vars(Next)

\\* The total is never above its bound. Rules: TIMER-SIZE.
Bounded == total <= Most

\\* The total is never two.
NeverTwo == total # 2

\\* The total reaches four.
ReachesFour == <>(total = 4)
====================================================================
"""

CONFIGURATION = """SPECIFICATION Spec
CONSTANTS
  Threads = {"a"}
  Most = 3
INVARIANTS
  Bounded
"""

CLAIM: dict[str, object] = {
    "name": "toy-bound",
    "title": "One thread stays within the bound.",
    "module": "Toy",
    "configuration": "Toy.cfg",
    "generated": 7,
    "distinct": 7,
    "depth": 7,
}
MUST_FAIL: dict[str, object] = {
    **CLAIM,
    "name": "toy-bound-two-threads",
    "title": "Two threads test before either adds.",
    "constants": {"Threads": '{"a", "b"}'},
    "kind": "must-fail",
    "about": ["Bounded"],
    "expected": "invariant",
    "violated": "Bounded",
    "explanation": "Both begin below the bound.",
}
WITNESS: dict[str, object] = {
    **CLAIM,
    "name": "toy-reaches-two",
    "title": "The total gets as far as two.",
    "invariants": ["NeverTwo"],
    "kind": "witness",
    "about": ["Bounded"],
    "expected": "invariant",
    "violated": "NeverTwo",
}


@dataclass(frozen=True)
class Toys:
    """A folder with the module, and entries for it."""

    folder: Path
    claim = CLAIM
    must_fail = MUST_FAIL
    witness = WITNESS

    def text(self, *entries: dict[str, object]) -> str:
        """A manifest of these entries."""
        return json.dumps({"version": 1, "models": entries})

    def manifest(self, *entries: dict[str, object]) -> Manifest:
        return parse_manifest(self.text(*entries))

    def model(self, entry: Mapping[str, object], **changes: object) -> Model:
        return self.manifest({**entry, **changes}).models[0]


@pytest.fixture
def toys(tmp_path: Path) -> Toys:
    """The toy in a folder of its own."""
    folder = tmp_path / "toys"
    (folder / "models").mkdir(parents=True)
    (folder / "Toy.tla").write_text(MODULE, encoding="utf-8")
    (folder / "models" / "Toy.cfg").write_text(CONFIGURATION, encoding="utf-8")
    return Toys(folder)


needs_apalache = pytest.mark.apalache
"""Marks a test that runs the real Apalache."""

StandIn = Callable[[dict[str, Any]], Path]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """A program that answers what it is told to."""
    script = Path(__file__).with_name("checkers") / "stand_in_apalache.py"
    program = tmp_path / "apalache-mc"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    answer = tmp_path / "answer.json"
    monkeypatch.setenv("STAND_IN", str(answer))

    def answering(said: dict[str, Any]) -> Path:
        answer.write_text(json.dumps(said), encoding="utf-8")
        return program

    return answering
