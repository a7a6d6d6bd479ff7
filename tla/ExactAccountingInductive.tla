---------------------- MODULE ExactAccountingInductive ----------------------
(***************************************************************************)
(* The invariant of ExactAccounting as an initial predicate, and its steps *)
(* with their amounts chosen, for an induction by Apalache: two operations *)
(* with counts of any size.  It stands beside the proof by z3, which has   *)
(* the steps in a text of its own and any number of operations.            *)
(*                                                                         *)
(* The sums of ExactAccounting count up to Most, and no Most is large      *)
(* enough here.  The induction is run on a copy of ExactAccounting whose   *)
(* Sum adds the counts of the two operations.                              *)
(***************************************************************************)
EXTENDS ExactAccounting

Natural ==
  \A o \in Operations :
    /\ entries[o] >= 0 /\ in_lists[o] >= 0 /\ promised[o] >= 0 /\ detached[o] >= 0
    /\ in_timer[o] >= 0 /\ queued[o] >= 0 /\ deciding[o] >= 0
    /\ to_call[o] >= 0 /\ called[o] >= 0

Invariant ==
  /\ TypeOK
  /\ Natural
  /\ Law
  /\ WordIsFootprint
  /\ WatchedKeepsItsTimeOut
  /\ ExactlyOnce

(* The law alone is not inductive: a control. *)
LawAlone == TypeOK /\ Natural /\ Law

WithAmount(o) ==
  \E n \in Int :
    \/ promised' = [promised EXCEPT ![o] = @ + n] /\ Arm(o)
    \/ promised' = [promised EXCEPT ![o] = @ - n] /\ (GiveBackLive(o) \/ GiveBackCompleted(o))
    \/ detached' = [detached EXCEPT ![o] = @ - n] /\ (CancelLive(o) \/ CancelCompleted(o))

OfMany ==
  \E n, m \in Int :
    /\ in_lists' = [o \in Operations |-> in_lists[o] - (IF o = 1 THEN n ELSE m)]
    /\ Remove \/ Detach

Others ==
  \/ \E n \in Int : balances' = balances - n /\ Post
  \/ \E o \in Operations :
       \/ WithAmount(o) \/ Insert(o) \/ Win(o) \/ CallBack(o)
       \/ Expire(o) \/ Take(o) \/ DecideWon(o) \/ DecideLost(o)

NextWithAmounts == OfMany \/ Others \/ \E o \in Operations : LeaveTimer(o)

(* A live operation leaves the timer: a control. *)
LeaveTimerLive(o) ==
  /\ in_timer' = [in_timer EXCEPT ![o] = 0]
  /\ UNCHANGED <<stale, balances, word, places, queued, deciding, calling>>

NextLeavesLive == OfMany \/ Others \/ \E o \in Operations : LeaveTimerLive(o)

=============================================================================
