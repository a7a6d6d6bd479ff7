------------------------ MODULE ChannelMutingHistory ------------------------
(***************************************************************************)
(* Channels that wait for memory, with the label of each step in plain     *)
(* sight; what the label is for, and how it works, is said in              *)
(* TimingWheelHistory.tla.                                                 *)
(*                                                                         *)
(* Variables                                                               *)
(*   those of ChannelMuting.tla                                            *)
(*   step    <<>> at rest, else the name of the action that has just been  *)
(*           taken, and its channel or thread                              *)
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

LabelledRound(t) ==
  \/ Poll(t) /\ step' = <<"Poll", t>>
  \/ Select(t) /\ step' = <<"Select", t>>
  \/ Done(t) /\ step' = <<"Done", t>>

LabelledChannel(c) ==
  \/ Announce(c) /\ step' = <<"Announce", c>>
  \/ SendRest(c) /\ step' = <<"SendRest", c>>
  \/ Read(c) /\ step' = <<"Read", c>>
  \/ Look(c) /\ step' = <<"Look", c>>
  \/ Take(c) /\ step' = <<"Take", c>>
  \/ Release(c) /\ step' = <<"Release", c>>
  \/ Respond(c) /\ step' = <<"Respond", c>>

\* A step, whose label shows.
Labelled ==
  \/ \E t \in NetworkThreads : LabelledRound(t)
  \/ \E c \in Channels : LabelledChannel(c)

\* The label has been seen.
Rest == step # <<>> /\ step' = <<>> /\ UNCHANGED vars

HistoryNext == (step = <<>> /\ Labelled) \/ Rest

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars
=============================================================================
