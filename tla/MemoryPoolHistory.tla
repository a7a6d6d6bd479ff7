-------------------------- MODULE MemoryPoolHistory --------------------------
(***************************************************************************)
(* The memory pool, with the label of each step in plain sight; what the   *)
(* label is for, and how it works, is said in TimingWheelHistory.tla.      *)
(*                                                                         *)
(* Variables                                                               *)
(*   those of MemoryPool.tla                                               *)
(*   step    <<>> at rest, else the name of the action that has just been  *)
(*           taken, its thread, and the bytes that the thread has chosen   *)
(*                                                                         *)
(* Which thread has taken a step can always be told from what it changed.  *)
(* Not so the size of a foreign buffer: a pool that checks releases finds  *)
(* it out and nothing tells one size from another.                         *)
(*                                                                         *)
(* Left out.  Apalache: a tuple of any length has no type for it.          *)
(***************************************************************************)
EXTENDS MemoryPool

VARIABLE step

historyVars == <<vars, step>>

HistoryInit == Init /\ step = <<>>

LabelledRequest(t) ==
  \/ Ask(t) /\ step' = <<"Ask", t, request'[t]>>
  \/ Reject(t) /\ step' = <<"Reject", t>>
  \/ Read(t) /\ step' = <<"Read", t>>
  \/ Refuse(t) /\ step' = <<"Refuse", t>>
  \/ Swap(t) /\ step' = <<"Swap", t>>
  \/ FailToSwap(t) /\ step' = <<"FailToSwap", t>>
  \/ Subtract(t) /\ step' = <<"Subtract", t>>
  \/ Store(t) /\ step' = <<"Store", t>>

LabelledRelease(t) ==
  \/ Release(t) /\ step' = <<"Release", t>>
  \/ LoseBuffer(t) /\ step' = <<"LoseBuffer", t>>
  \/ ReleaseAgain(t) /\ step' = <<"ReleaseAgain", t>>
  \/ \E bytes \in 1..MaxSingle :
       ReleaseForeign(t, bytes) /\ step' = <<"ReleaseForeign", t, bytes>>
  \/ Disown(t) /\ step' = <<"Disown", t>>

\* A step of some thread, whose label shows.
Labelled == \E t \in Threads : LabelledRequest(t) \/ LabelledRelease(t)

\* The label has been seen.
Rest == step # <<>> /\ step' = <<>> /\ UNCHANGED vars

HistoryNext == (step = <<>> /\ Labelled) \/ Rest

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars
=============================================================================
