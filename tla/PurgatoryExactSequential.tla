----------------------- MODULE PurgatoryExactSequential -----------------------
(***************************************************************************)
(* The purgatory with the exact accounting, one call at a time.            *)
(*                                                                         *)
(* PurgatoryProposal.tla has a feature "sequential" for this, and this     *)
(* module does the same for PurgatoryExact.tla: a thread that is idle      *)
(* takes a step, and the timer lets an operation expire, only when all     *)
(* threads are idle.  Its behaviours are calls that follow each other, and *)
(* so what an implementation can be asked to do without a scheduler.       *)
(***************************************************************************)
EXTENDS PurgatoryExactHistory

\* Whether the thread of the step has begun before, or may begin now.
OneAtATime ==
  step' # <<>> /\ (step'[2] \notin Threads \/ pc[step'[2]] = "idle") => Quiet

SequentialNext == HistoryNext /\ OneAtATime

SequentialSpec == HistoryInit /\ [][SequentialNext]_historyVars
=============================================================================
