---------------------- MODULE PurgatoryProposalHistory ----------------------
(***************************************************************************)
(* The purgatory in the proposal's order, with the label of each step in   *)
(* plain sight.                                                            *)
(*                                                                         *)
(* Why and how is told in TimingWheelHistory.tla: a step sets the variable *)
(* `step`, and nothing but Rest can follow.                                *)
(*                                                                         *)
(* Variables                                                               *)
(*   those of PurgatoryProposal.tla                                        *)
(*   step    <<>> at rest, else the name of the action that has just been  *)
(*           taken, its thread and what it is about                        *)
(*                                                                         *)
(* What a step chooses among equals (the key that comes next, the          *)
(* operation that is due) is read off the local variable in which the      *)
(* choice shows: what is left to do becomes less by it.                    *)
(*                                                                         *)
(* Left out.  Apalache: a tuple of any length has no type for it.          *)
(***************************************************************************)
EXTENDS PurgatoryProposal

VARIABLE step

historyVars == <<vars, step>>

HistoryInit == Init /\ step = <<>>

\* The element by which a set has become smaller, or larger.
OneOf(difference) == CHOOSE x \in difference : TRUE
KeyDone(t) == OneOf(keysLeft[t] \ keysLeft'[t])
OperationDone(t) == OneOf(toTry[t] \ toTry'[t])

LabelledCaller(c) ==
  \/ FirstTryFails(c) /\ step' = <<"FirstTryFails", c, operation'[c]>>
  \/ FirstTryCompletes(c) /\ step' = <<"FirstTryCompletes", c, operation'[c]>>
  \/ Insert(c) /\ step' = <<"Insert", c, operation[c], KeyDone(c)>>
  \/ Count(c) /\ step' = <<"Count", c, operation[c]>>
  \/ SecondTryFails(c) /\ step' = <<"SecondTryFails", c, operation[c]>>
  \/ SecondTryCompletes(c) /\ step' = <<"SecondTryCompletes", c, operation[c]>>
  \/ LookFindsLive(c) /\ step' = <<"LookFindsLive", c, operation[c]>>
  \/ LookFindsCompleted(c) /\ step' = <<"LookFindsCompleted", c, operation[c]>>
  \/ AddToTimer(c) /\ step' = <<"AddToTimer", c, operation[c]>>
  \/ LookAgain(c) /\ step' = <<"LookAgain", c, operation[c]>>

LabelledCompleter(x) ==
  \/ Raise(x) /\ step' = <<"Raise", x, key'[x]>>
  \/ Snapshot(x) /\ step' = <<"Snapshot", x, key[x]>>
  \/ DropCompleted(x) /\ step' = <<"DropCompleted", x, key[x], OperationDone(x)>>
  \/ FindLive(x) /\ step' = <<"FindLive", x, operation'[x]>>
  \/ TryFails(x) /\ step' = <<"TryFails", x, operation[x]>>
  \/ TryCompletes(x) /\ step' = <<"TryCompletes", x, operation[x]>>
  \/ Drop(x) /\ step' = <<"Drop", x, key[x], operation[x]>>
  \/ CancelForKey(x) /\ step' = <<"CancelForKey", x, key'[x]>>
  \/ Withdraw(x) /\ step' = <<"Withdraw", x, OperationDone(x)>>

LabelledWorker(t) ==
  \/ CancelTimeOut(t) /\ step' = <<"CancelTimeOut", t, operation[t]>>
  \/ CallOnComplete(t) /\ step' = <<"CallOnComplete", t, operation[t]>>

LabelledReaper ==
  \/ Advance /\ step' = <<"Advance", "reaper", OneOf(timer \ timer')>>
  \/ ReadEstimate /\ step' = <<"ReadEstimate", "reaper", estimateRead'>>
  \/ ReadSizeFirst /\ step' = <<"ReadSizeFirst", "reaper", sizeRead'>>
  \/ NoPurge /\ step' = <<"NoPurge", "reaper", Found>>
  \/ Purge /\ step' = <<"Purge", "reaper", Found>>
  \/ ReadSizeAgain /\ step' = <<"ReadSizeAgain", "reaper", sizeRead'>>
  \/ Reset /\ step' = <<"Reset", "reaper", estimate'>>
  \/ Sweep /\ step' = <<"Sweep", "reaper", KeyDone("reaper")>>

LabelledExecutor ==
  \/ TakeExpired /\ step' = <<"TakeExpired", "executor", operation'["executor"]>>
  \/ ExpiryLoses /\ step' = <<"ExpiryLoses", "executor", operation["executor"]>>
  \/ ExpiryWins /\ step' = <<"ExpiryWins", "executor", operation["executor"]>>
  \/ ExpiryTests /\ step' = <<"ExpiryTests", "executor", operation["executor"]>>
  \/ ExpirySets /\ step' = <<"ExpirySets", "executor", operation["executor"]>>
  \/ CallOnExpiration /\ step' = <<"CallOnExpiration", "executor", operation["executor"]>>

\* A step of the purgatory, whose label shows.
Labelled ==
  \/ \E c \in Callers : LabelledCaller(c)
  \/ \E x \in Completers : LabelledCompleter(x)
  \/ \E t \in Workers : LabelledWorker(t)
  \/ LabelledReaper
  \/ LabelledExecutor

\* The label has been seen.
Rest == step # <<>> /\ step' = <<>> /\ UNCHANGED vars

HistoryNext == (step = <<>> /\ Labelled) \/ Rest

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars
=============================================================================
