------------------------- MODULE TimingWheelHistory -------------------------
(***************************************************************************)
(* The timing wheel, with the label of each step in plain sight.           *)
(*                                                                         *)
(* A graph that a checker writes names the action of an edge and not its   *)
(* arguments: that a task was added with a delay of 3 is told by where it  *)
(* comes to rest, and not at all where a delay of 2 would have put it into *)
(* the same bucket.  Here a variable shows it.  A step of the wheel sets   *)
(* it to the action's name and its arguments, and nothing but Rest can     *)
(* follow, which empties it and leaves everything else as it is.  So the   *)
(* states at rest are those of the wheel, and each of its steps, from one  *)
(* state by one label to another, is a way of two edges over a state that  *)
(* bears the label.                                                        *)
(*                                                                         *)
(* Variables                                                               *)
(*   those of TimingWheel.tla                                              *)
(*   step    <<>> at rest, else the name of the action that has just been  *)
(*           taken and its arguments; of an advance also its result,       *)
(*           whether it has popped a bucket                                *)
(*                                                                         *)
(* Left out.  Apalache: a tuple of any length has no type for it.          *)
(***************************************************************************)
EXTENDS TimingWheel

VARIABLE step

historyVars == <<vars, step>>

HistoryInit == Init /\ step = <<>>

\* A step of the wheel, whose label shows.
Labelled ==
  \/ \E task \in Tasks, delay \in Delays :
       \/ Insert(task, delay) /\ step' = <<"Insert", task, delay>>
       \/ InsertExpires(task, delay) /\ step' = <<"InsertExpires", task, delay>>
  \/ \E task \in Tasks : Cancel(task) /\ step' = <<"Cancel", task>>
  \/ Elapse /\ step' = <<"Elapse">>
  \/ \E to \in Start..Last : Advance(to) /\ step' = <<"Advance", to, Popped(to) # {}>>
  \/ RunOne /\ step' = <<"RunOne">>
  \/ Shutdown /\ step' = <<"Shutdown">>

\* The label has been seen.
Rest == step # <<>> /\ step' = <<>> /\ UNCHANGED vars

HistoryNext == (step = <<>> /\ Labelled) \/ Rest

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars
=============================================================================
