------------------------ MODULE MemoryPoolInductive ------------------------
(***************************************************************************)
(* The memory pool of MemoryPool.tla, with test and subtraction in one     *)
(* step, and an invariant that every step keeps from any state that        *)
(* satisfies it.                                                           *)
(*                                                                         *)
(* Four threads have names; pool size and largest request are any numbers: *)
(* they are variables that never change, so that a symbolic checker takes  *)
(* them for all their values at once, and TLC for those in a finite range. *)
(*                                                                         *)
(*   base         from Init, no step:        Invariant                     *)
(*   step         from Invariant, one step:  Invariant                     *)
(*   implication  from Invariant, no step:   Bound                         *)
(*                                                                         *)
(* The same with InvariantStrict, NextStrict, StrictBound.                 *)
(*                                                                         *)
(* What was run.  TLC checks all three for small sizes; Numbers is then a  *)
(* finite range, large enough for all states that satisfy the invariant    *)
(* (nobody can hold more than poolSize + maxSingle - 1 bytes).  For all    *)
(* sizes and any number of threads z3 proves it on every run of the tests  *)
(* (purgatory_tla.proofs.memory_pool).  Apalache has not been run on this  *)
(* module, since no package registry has it; a test does where Apalache is *)
(* installed.                                                              *)
(***************************************************************************)
EXTENDS Integers

VARIABLES
  \* @type: Int;
  poolSize,
  \* @type: Int;
  maxSingle,
  \* @type: Int;
  available,
  \* @type: Str -> Int;
  held

vars == <<poolSize, maxSingle, available, held>>

Threads == {"t1", "t2", "t3", "t4"}

\* Sizes of pools, and numbers of bytes.  Finite ranges in a configuration for TLC: all pools of up
\* to three bytes, and every number that can occur in a state that satisfies their invariant.
Sizes == Int
Numbers == Int
SmallSizes == 1..3
SmallNumbers == (-2)..5

Pools ==
  /\ poolSize \in Sizes
  /\ maxSingle \in Sizes
  /\ 1 <= maxSingle /\ maxSingle <= poolSize

Outstanding == held["t1"] + held["t2"] + held["t3"] + held["t4"]

Init ==
  /\ Pools
  /\ available = poolSize
  /\ held = [t \in Threads |-> 0]

-----------------------------------------------------------------------------
\* One byte is enough for a request of any legal size.
\* @says pool: hands a buffer out, {available'} bytes are left
Take(t) ==
  /\ held[t] = 0
  /\ available > 0
  /\ \E request \in Numbers :
       /\ 1 <= request /\ request <= maxSingle
       /\ available' = available - request
       /\ held' = [held EXCEPT ![t] = request]
  /\ UNCHANGED <<poolSize, maxSingle>>

\* All bytes of the request must be available.
\* @says pool: hands a buffer out, {available'} bytes are left
TakeStrict(t) ==
  /\ held[t] = 0
  /\ \E request \in Numbers :
       /\ 1 <= request /\ request <= maxSingle
       /\ available >= request
       /\ available' = available - request
       /\ held' = [held EXCEPT ![t] = request]
  /\ UNCHANGED <<poolSize, maxSingle>>

\* Takes whatever is available: a seeded error, the control of the induction.
\* @says pool: hands a buffer out, {available'} bytes are left
TakeUntested(t) ==
  /\ held[t] = 0
  /\ \E request \in Numbers :
       /\ 1 <= request /\ request <= maxSingle
       /\ available' = available - request
       /\ held' = [held EXCEPT ![t] = request]
  /\ UNCHANGED <<poolSize, maxSingle>>

\* @says pool: has a buffer back, {available'} bytes are left
Release(t) ==
  /\ held[t] > 0
  /\ available' = available + held[t]
  /\ held' = [held EXCEPT ![t] = 0]
  /\ UNCHANGED <<poolSize, maxSingle>>

Next == \E t \in Threads : Take(t) \/ Release(t)
NextStrict == \E t \in Threads : TakeStrict(t) \/ Release(t)
NextUntested == \E t \in Threads : TakeUntested(t) \/ Release(t)

Spec == Init /\ [][Next]_vars
StrictSpec == Init /\ [][NextStrict]_vars

-----------------------------------------------------------------------------
(* Claims                                                                  *)

Values ==
  /\ Pools
  /\ available \in Numbers
  /\ held \in [Threads -> Numbers]

\* Non-strict: together these three are kept by every step.
Invariant ==
  /\ Values
  /\ \A t \in Threads : held[t] >= 0
  /\ available + Outstanding = poolSize
  /\ available >= 1 - maxSingle

\* Strict: the same with a count that is never negative.
InvariantStrict ==
  /\ Invariant
  /\ available >= 0

\* What the invariant implies.
Bound == Outstanding <= poolSize + maxSingle - 1
StrictBound == Outstanding <= poolSize

\* The induction as behaviours: they begin anywhere in the invariant.
InductionSpec == Invariant /\ [][Next]_vars
StrictInductionSpec == InvariantStrict /\ [][NextStrict]_vars
UntestedInductionSpec == Invariant /\ [][NextUntested]_vars

-----------------------------------------------------------------------------
(* False, and why                                                          *)

\* One byte less: the invariant allows the count to be as low as 1 - maxSingle.
BoundMinusOne == Outstanding <= poolSize + maxSingle - 2

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
NeverLowest == available > 1 - maxSingle

\* In a strict pool all is out.
NeverEmpty == available # 0
=============================================================================
