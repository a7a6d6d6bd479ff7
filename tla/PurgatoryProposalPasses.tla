----------------------- MODULE PurgatoryProposalPasses -----------------------
(***************************************************************************)
(* What a pass of the reaper leaves behind: a claim about the proposal     *)
(* that speaks of steps, and so of the labels that show them.              *)
(*                                                                         *)
(* StaleIsBounded of PurgatoryProposal.tla says what a pass would do that  *)
(* began now.  Outside, only a pass that was made can be seen.  So a       *)
(* behaviour that an implementation is to be asked ends with one.          *)
(***************************************************************************)
EXTENDS PurgatoryProposalHistory

\* The reaper has just compared and does not purge, and nothing else runs.
PassedOver == Quiet /\ step # <<>> /\ step[1] = "NoPurge"

\* A pass that does not purge leaves at most the interval's operations stale.  This needs expiries
\* that are run before the purge test.  Rules: PURGATORY-STALE-OPERATIONS.
PassLeavesFewStale == PassedOver => Stale <= IntervalBeside(Size)

\* A pass does not purge, and leaves a stale operation.
NeverPassedOver == ~(PassedOver /\ Stale > 0)
=============================================================================
