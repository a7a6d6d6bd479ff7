------------------------ MODULE ChannelMutingHistory ------------------------
(***************************************************************************)
(* Channels that wait for memory, with the label of each step in plain     *)
(* sight; what the label is for, and how it works, is said in              *)
(* TimingWheelHistory.tla.                                                 *)
(*                                                                         *)
(* Variables                                                               *)
(*   those of ChannelMuting.tla                                            *)
(*   step    <<>> at rest, else the name of the action that has just been  *)
(*           taken, and its channel if it has one                          *)
(*                                                                         *)
(* A poll that finds nothing and a read of the last channel leave the same *)
(* phase behind them: only the label tells such steps apart.               *)
(*                                                                         *)
(* Left out.  Apalache: a tuple of any length has no type for it.          *)
(***************************************************************************)
EXTENDS ChannelMuting

VARIABLE step

historyVars == <<vars, step>>

HistoryInit == Init /\ step = <<>>

LabelledRound ==
  \/ Poll /\ step' = <<"Poll">>
  \/ Select /\ step' = <<"Select">>
  \/ Done /\ step' = <<"Done">>

LabelledChannel(c) ==
  \/ Announce(c) /\ step' = <<"Announce", c>>
  \/ SendRest(c) /\ step' = <<"SendRest", c>>
  \/ Read(c) /\ step' = <<"Read", c>>
  \/ Release(c) /\ step' = <<"Release", c>>
  \/ Respond(c) /\ step' = <<"Respond", c>>

\* A step, whose label shows.
Labelled == LabelledRound \/ \E c \in Channels : LabelledChannel(c)

\* The label has been seen.
Rest == step # <<>> /\ step' = <<>> /\ UNCHANGED vars

HistoryNext == (step = <<>> /\ Labelled) \/ Rest

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars
=============================================================================
