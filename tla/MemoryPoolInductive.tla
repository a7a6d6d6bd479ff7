------------------------ MODULE MemoryPoolInductive ------------------------
(***************************************************************************)
(* The memory pool of MemoryPool.tla, with test and subtraction in one     *)
(* step, and an invariant that every step keeps from any state that        *)
(* satisfies it.                                                           *)
(*                                                                         *)
(* Four threads have names; pool size and largest request are any numbers. *)
(* That needs a symbolic checker.  For Apalache:                           *)
(*   base         --cinit=AnySizes --init=Init      --inv=Invariant --length=0 *)
(*   step         --cinit=AnySizes --init=Invariant --inv=Invariant --length=1 *)
(*   implication  --cinit=AnySizes --init=Invariant --inv=Bound     --length=0 *)
(* and InvariantStrict, StrictBound with NextStrict.  BoundMinusOne must   *)
(* be refuted.                                                             *)
(*                                                                         *)
(* What was run.  TLC does the same three steps for given sizes: Numbers   *)
(* is then a finite range, large enough for all states that satisfy the    *)
(* invariant (nobody can hold more than PoolSize + MaxSingle - 1 bytes).   *)
(* For all sizes and any number of threads z3 proves it on every run of    *)
(* the tests (purgatory_tla.proofs.memory_pool).  With Apalache this       *)
(* module has not been run here, since no package registry has Apalache;   *)
(* a test does where Apalache is installed.                                *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
  \* @type: Int;
  PoolSize,
  \* @type: Int;
  MaxSingle

VARIABLES
  \* @type: Int;
  available,
  \* @type: Str -> Int;
  held

vars == <<available, held>>

Threads == {"t1", "t2", "t3", "t4"}

\* A finite range in a configuration for TLC.
Numbers == Int

\* For TLC: every number that can occur in a state that satisfies the invariant.
SmallNumbers == (1 - MaxSingle)..(PoolSize + MaxSingle)

\* For Apalache: the constants are any numbers that a pool can have.
AnySizes ==
  /\ PoolSize \in Int /\ MaxSingle \in Int
  /\ MaxSingle >= 1 /\ PoolSize >= MaxSingle

Outstanding == held["t1"] + held["t2"] + held["t3"] + held["t4"]

Init ==
  /\ available = PoolSize
  /\ held = [t \in Threads |-> 0]

-----------------------------------------------------------------------------
\* One byte is enough for a request of any legal size.
\* @says self: takes {held'[self]} of {available} bytes
Take(t) ==
  /\ held[t] = 0
  /\ available > 0
  /\ \E size \in Numbers :
       /\ 1 <= size /\ size <= MaxSingle
       /\ available' = available - size
       /\ held' = [held EXCEPT ![t] = size]

\* All bytes of the request must be available.
\* @says self: takes {held'[self]} of {available} bytes
TakeStrict(t) ==
  /\ held[t] = 0
  /\ \E size \in Numbers :
       /\ 1 <= size /\ size <= MaxSingle
       /\ available >= size
       /\ available' = available - size
       /\ held' = [held EXCEPT ![t] = size]

\* Takes whatever is available: a seeded error, the control of the induction.
\* @says self: takes {held'[self]} of {available} bytes
TakeUntested(t) ==
  /\ held[t] = 0
  /\ \E size \in Numbers :
       /\ 1 <= size /\ size <= MaxSingle
       /\ available' = available - size
       /\ held' = [held EXCEPT ![t] = size]

\* @says self: gives {held[self]} bytes back
Release(t) ==
  /\ held[t] > 0
  /\ available' = available + held[t]
  /\ held' = [held EXCEPT ![t] = 0]

Next == \E t \in Threads : Take(t) \/ Release(t)
NextStrict == \E t \in Threads : TakeStrict(t) \/ Release(t)
NextUntested == \E t \in Threads : TakeUntested(t) \/ Release(t)

Spec == Init /\ [][Next]_vars
StrictSpec == Init /\ [][NextStrict]_vars

-----------------------------------------------------------------------------
(* Claims                                                                  *)

Values ==
  /\ available \in Numbers
  /\ held \in [Threads -> Numbers]

\* Non-strict: together these three are kept by every step.
Invariant ==
  /\ Values
  /\ \A t \in Threads : held[t] >= 0
  /\ available + Outstanding = PoolSize
  /\ available >= 1 - MaxSingle

\* Strict: the same with a count that is never negative.
InvariantStrict ==
  /\ Invariant
  /\ available >= 0

\* What the invariant implies.
Bound == Outstanding <= PoolSize + MaxSingle - 1
StrictBound == Outstanding <= PoolSize

\* The induction as behaviours: they begin anywhere in the invariant.
InductionSpec == Invariant /\ [][Next]_vars
StrictInductionSpec == InvariantStrict /\ [][NextStrict]_vars
UntestedInductionSpec == Invariant /\ [][NextUntested]_vars

-----------------------------------------------------------------------------
(* False, and why                                                          *)

\* One byte less: the invariant allows the count to be as low as 1 - MaxSingle.
BoundMinusOne == Outstanding <= PoolSize + MaxSingle - 2

\* True in every reachable state, and not kept from any state: with a count that is too high, one
\* more buffer goes beyond the bound.
BoundAlone ==
  /\ Values
  /\ \A t \in Threads : held[t] >= 0
  /\ Bound
BoundAloneSpec == BoundAlone /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Witnesses                                                               *)

\* The count reaches the lowest value that the invariant allows.
NeverLowest == available > 1 - MaxSingle

\* In a strict pool all is out.
NeverEmpty == available # 0
=============================================================================
