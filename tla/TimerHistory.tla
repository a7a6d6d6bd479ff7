---------------------------- MODULE TimerHistory ----------------------------
(***************************************************************************)
(* The timer, with the label of each step in plain sight; what the label   *)
(* is for, and how it works, is said in TimingWheelHistory.tla.            *)
(*                                                                         *)
(* Variables                                                               *)
(*   those of Timer.tla                                                    *)
(*   step    <<>> at rest, else the name of the action that has just been  *)
(*           taken and its arguments                                       *)
(*                                                                         *)
(* Left out.  Apalache: a tuple of any length has no type for it.          *)
(***************************************************************************)
EXTENDS Timer

VARIABLE step

historyVars == <<vars, step>>

HistoryInit == Init /\ step = <<>>

\* A step of the timer, whose label shows.
Labelled ==
  \/ \E task \in Tasks, delay \in Delays :
       \/ AddPending(task, delay) /\ step' = <<"AddPending", task, delay>>
       \/ AddExpires(task, delay) /\ step' = <<"AddExpires", task, delay>>
       \/ Refuse(task, delay) /\ step' = <<"Refuse", task, delay>>
  \/ \E task \in Tasks : Cancel(task) /\ step' = <<"Cancel", task>>
  \/ Elapse /\ step' = <<"Elapse">>
  \/ \E to \in Start..Last : Advance(to) /\ step' = <<"Advance", to>>
  \/ RunOne /\ step' = <<"RunOne">>
  \/ Shutdown /\ step' = <<"Shutdown">>

\* The label has been seen.
Rest == step # <<>> /\ step' = <<>> /\ UNCHANGED vars

HistoryNext == (step = <<>> /\ Labelled) \/ Rest

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars
=============================================================================
