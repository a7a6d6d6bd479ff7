----------------------- MODULE MemoryPoolCallsHistory -----------------------
(***************************************************************************)
(* The memory pool's calls, with the label of each step in plain sight;    *)
(* what the label is for, and how it works, is said in                     *)
(* TimingWheelHistory.tla.                                                 *)
(*                                                                         *)
(* Variables                                                               *)
(*   those of MemoryPoolCalls.tla                                          *)
(*   step    <<>> at rest, else the name of the action that has just been  *)
(*           taken, its arguments, and the answer where the name does not  *)
(*           tell it                                                       *)
(*                                                                         *)
(* A pool without a bound takes whatever it is given.                      *)
(*                                                                         *)
(* Left out.  Apalache: a tuple of any length has no type for it.          *)
(***************************************************************************)
EXTENDS MemoryPoolCalls

VARIABLE step

historyVars == <<vars, step>>

HistoryInit == Init /\ step = <<>>

\* The answer to a buffer that is not the pool's.
Answer == IF Bounded THEN "rejected" ELSE "taken"

\* A call, whose label shows.
Labelled ==
  \/ \E buffer \in Buffers, size \in Asked :
       \/ Grant(buffer, size) /\ step' = <<"Grant", buffer, size>>
       \/ Refuse(buffer, size) /\ step' = <<"Refuse", buffer, size>>
       \/ Reject(buffer, size) /\ step' = <<"Reject", buffer, size>>
  \/ \E buffer \in Buffers :
       \/ Release(buffer) /\ step' = <<"Release", buffer>>
       \/ ReleaseAgain(buffer) /\ step' = <<"ReleaseAgain", buffer, Answer>>
       \/ Lose(buffer) /\ step' = <<"Lose", buffer>>
       \/ \E form \in Forms :
            ReleaseOther(form, buffer) /\ step' = <<"ReleaseOther", form, buffer, Answer>>
  \/ \E size \in Sizes :
       ReleaseForeign(size) /\ step' = <<"ReleaseForeign", size, Answer>>
  \/ ReleaseNothing /\ step' = <<"ReleaseNothing", Answer>>
  \/ \E size, single \in Sizes :
       /\ Construct(size, single)
       /\ step' = <<"Construct", size, single,
                    IF Constructible(size, single) THEN "made" ELSE "rejected">>
  \/ Elapse /\ step' = <<"Elapse">>

\* The label has been seen.
Rest == step # <<>> /\ step' = <<>> /\ UNCHANGED vars

HistoryNext == (step = <<>> /\ Labelled) \/ Rest

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars
=============================================================================
