"""A small module with everything that can be wrong in it, for runs of the real checker."""

from pathlib import Path

MODULE = r"""---- MODULE Counter ----
EXTENDS Base
CONSTANTS
  \* @type: Int;
  Top
VARIABLES
  \* @type: Int;
  x,
  \* @type: Str -> Int;
  named,
  \* @type: Int -> Int;
  numbered

vars == <<x, named, numbered>>
Init == x = 0 /\ named = [n \in {"a", "b"} |-> 0] /\ numbered = [n \in 1..2 |-> n]
Up == x < Top /\ x' = x + 1 /\ UNCHANGED <<named, numbered>>
Reset(n) == x = Top /\ x' = 0 /\ named' = [named EXCEPT ![n] = 1 - @] /\ UNCHANGED numbered
Next == Up \/ \E n \in {"a"} : Reset(n)
Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Next)

Small == x < 3
Natural == x \in Nat
Endless == \E y \in 0..1 : x >= y
Grows == [][x' > x]_vars
Passes == <>(x = Top + 1)
Reaches == <>(x = Top)
Compared == x < "a"
Asserted == Assert(x < 2, "too large")
Range == x \in 0..Top /\ named \in [{"a", "b"} -> 0..1] /\ numbered = [n \in 1..2 |-> n]
Half == x \in 0..(Top - 1) /\ named \in [{"a", "b"} -> 0..1] /\ numbered = [n \in 1..2 |-> n]
NoState == x \in {} /\ named = 0 /\ numbered = 0
Unfinished == x' = x + 1
Huge == Cardinality({<<i, j>> : i \in 1..2000, j \in 1..2000}) > x
Deep == x >= 0 /\ x' = x + 1 /\ UNCHANGED <<named, numbered>>
===="""

BASE = """---- MODULE Base ----
EXTENDS Integers, FiniteSets, TLC
===="""


def write_counter(folder: Path) -> Path:
    """The module and the one that it extends."""
    (folder / "Base.tla").write_text(BASE, encoding="utf-8")
    path = folder / "Counter.tla"
    path.write_text(MODULE, encoding="utf-8")
    return path
