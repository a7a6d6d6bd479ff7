------------------------ MODULE PurgatoryExactHistory ------------------------
(***************************************************************************)
(* The purgatory with the exact accounting, with the label of each step in *)
(* plain sight.                                                            *)
(*                                                                         *)
(* Why and how is told in TimingWheelHistory.tla: a step sets the variable *)
(* `step`, and nothing but Rest can follow.                                *)
(*                                                                         *)
(* Variables                                                               *)
(*   those of PurgatoryExact.tla                                           *)
(*   step    <<>> at rest, else the name of the action that has just been  *)
(*           taken, its thread, and what it has chosen: a key, an          *)
(*           operation                                                     *)
(*                                                                         *)
(* Every argument is the one that the action was given, none is guessed    *)
(* from what has changed.                                                  *)
(*                                                                         *)
(* Left out.  Apalache: a tuple of any length has no type for it.          *)
(***************************************************************************)
EXTENDS PurgatoryExact

VARIABLE step

historyVars == <<vars, step>>

HistoryInit == Init /\ step = <<>>

(* Threads that are none of the program's: who advances the timer, and who *)
(* undoes events.                                                          *)
Timer == "timer"
World == "world"

LabelledComplete(t) ==
  \/ SwapWord(t) /\ step' = <<"SwapWord", t>>
  \/ Post(t) /\ step' = <<"Post", t>>
  \/ CallBack(t) /\ step' = <<"CallBack", t>>
  \/ Resume(t) /\ step' = <<"Resume", t>>
  \/ Settle(t) /\ step' = <<"Settle", t>>
  \/ PostEarly(t) /\ step' = <<"PostEarly", t>>

LabelledWatch(c) ==
  \/ \E o \in Operations : BeginWatch(c, o) /\ step' = <<"BeginWatch", c, o>>
  \/ Arm(c) /\ step' = <<"Arm", c>>
  \/ PromiseAlone(c) /\ step' = <<"PromiseAlone", c>>
  \/ Withdraw(c) /\ step' = <<"Withdraw", c>>
  \/ \E k \in Keys : Insert(c, k) /\ step' = <<"Insert", c, k>>
  \/ StopInserting(c) /\ step' = <<"StopInserting", c>>
  \/ FailInserting(c) /\ step' = <<"FailInserting", c>>
  \/ LatePromise(c) /\ step' = <<"LatePromise", c>>
  \/ SecondTry(c) /\ step' = <<"SecondTry", c>>
  \/ ArmLate(c) /\ step' = <<"ArmLate", c>>
  \/ LookAgain(c) /\ step' = <<"LookAgain", c>>

LabelledCheck(x) ==
  \/ \E k \in Keys : BeginCheck(x, k) /\ step' = <<"BeginCheck", x, k>>
  \/ LateEvent(x) /\ step' = <<"LateEvent", x>>
  \/ CopyList(x) /\ step' = <<"CopyList", x>>
  \/ \E o \in Operations : Walk(x, o) /\ step' = <<"Walk", x, o>>
  \/ LookBehind(x) /\ step' = <<"LookBehind", x>>
  \/ EndWalk(x) /\ step' = <<"EndWalk", x>>
  \/ Drop(x) /\ step' = <<"Drop", x>>

LabelledCancel(x) ==
  \/ \E k \in Keys : BeginCancel(x, k) /\ step' = <<"BeginCancel", x, k>>
  \/ \E o \in Operations : CancelOne(x, o) /\ step' = <<"CancelOne", x, o>>
  \/ CancelTimeOut(x) /\ step' = <<"CancelTimeOut", x>>
  \/ EndCancel(x) /\ step' = <<"EndCancel", x>>

LabelledPurge(p) ==
  \/ BeginPurge(p) /\ step' = <<"BeginPurge", p>>
  \/ Reset(p) /\ step' = <<"Reset", p>>
  \/ \E k \in Keys, seen \in Glances :
       /\ Sweep(p, k, seen)
       /\ step' = IF "sweep-by-operation" \in Features
                  THEN <<"Sweep", p, k, CHOOSE o \in seen : TRUE>> ELSE <<"Sweep", p, k>>
  \/ Remove(p) /\ step' = <<"Remove", p>>

\* A step of the purgatory, whose label shows.
Labelled ==
  \/ \E t \in Threads : LabelledComplete(t)
  \/ \E c \in Watchers : LabelledWatch(c)
  \/ \E x \in Walkers : LabelledCheck(x)
  \/ \E x \in Detachers : LabelledCancel(x)
  \/ \E f \in Forcers, o \in Operations : BeginForce(f, o) /\ step' = <<"BeginForce", f, o>>
  \/ \E p \in Purgers : LabelledPurge(p)
  \/ \E o \in Operations :
       \/ Expire(o) /\ step' = <<"Expire", Timer, o>>
       \/ Take(o) /\ step' = <<"Take", Executor, o>>
  \/ Decide /\ step' = <<"Decide", Executor>>
  \/ \E k \in Keys : Fall(k) /\ step' = <<"Fall", World, k>>
  \/ NestedNothing /\ step' = <<"NestedNothing", Callback>>

\* The label has been seen.
Rest == step # <<>> /\ step' = <<>> /\ UNCHANGED vars

HistoryNext == (step = <<>> /\ Labelled) \/ Rest

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars
=============================================================================
