------------------------ MODULE PurgatoryCallsHistory ------------------------
(***************************************************************************)
(* The purgatory's calls, with the label of each step in plain sight; what *)
(* the label is for, and how it works, is said in TimingWheelHistory.tla.  *)
(*                                                                         *)
(* Variables                                                               *)
(*   those of PurgatoryCalls.tla                                           *)
(*   step    <<>> at rest, else the name of the action that has just been  *)
(*           taken, its arguments, the answer and the events, and last the *)
(*           estimate behind the step, of which nothing is said after      *)
(*           shutdown                                                      *)
(*                                                                         *)
(* Left out.  Apalache: a tuple of any length has no type for it.          *)
(***************************************************************************)
EXTENDS PurgatoryCalls

VARIABLE step

historyVars == <<vars, step>>

HistoryInit == Init /\ step = <<>>

\* A label, with the estimate behind it.
Labels(words) == step' = words \o <<IF closed' THEN "free" ELSE Estimate'>>

LabelledWatch(o, keys, ms) ==
  \/ \E reason \in {"closed", "invalid_argument"} :
       /\ WatchRejected(o, keys, ms, reason)
       /\ Labels(<<"WatchRejected", o>> \o keys \o <<ms, reason>>)
  \/ \E events \in Told(o) :
       \/ /\ WatchCompletes(o, keys, ms, events)
          /\ Labels(<<"WatchCompletes", o>> \o keys \o <<ms, "true">> \o events)
       \/ /\ WatchWaits(o, keys, ms, events)
          /\ Labels(<<"WatchWaits", o>> \o keys \o <<ms, "false">> \o events)
       \/ /\ WatchExpires(o, keys, ms, events)
          /\ Labels(<<"WatchExpires", o>> \o keys \o <<ms, "false">> \o events)
       \/ /\ WatchCompleted(o, keys, ms, events)
          /\ Labels(<<"WatchCompleted", o>> \o keys \o <<ms, "false">> \o events)

\* The events of a hand-over.
\* @type: Seq(Str) => Seq(Str);
RECURSIVE Expired(_)
Expired(line) ==
  IF line = <<>> THEN <<>> ELSE Tells("expired", Head(line)) \o Expired(Tail(line))

\* A call, whose label shows.
Labelled ==
  \/ \E o \in Operations, keys \in KeyLists, ms \in Delays : LabelledWatch(o, keys, ms)
  \/ \E key \in Keys, count \in Counts :
       /\ Check(key, count, Checked(key))
       /\ Labels(<<"Check", key, count>> \o Checked(key))
  \/ \E key \in Keys :
       /\ CancelForKey(key, lists[key])
       /\ Labels(<<"CancelForKey", key>> \o lists[key])
  \/ \E o \in Operations, done \in BOOLEAN :
       LET events == IF done THEN Tells("completed", o) ELSE <<>> IN
       /\ Force(o, done, events)
       /\ Labels(<<"Force", o, IF done THEN "true" ELSE "false">> \o events)
  \/ \E o \in Operations : Satisfy(o) /\ Labels(<<"Satisfy", o>>)
  \/ Elapse /\ Labels(<<"Elapse">>)
  \/ \E to \in 0..Last, handed \in Lines, answer \in {"", "closed"} :
       /\ Advance(to, handed, answer)
       /\ Labels(<<"Advance", to, answer>> \o Expired(handed))
  \/ \E events \in UNION {RunTold(p) : p \in Operations} :
       RunOne(events) /\ Labels(<<"RunOne">> \o events)
  \/ Shutdown /\ Labels(<<"Shutdown">>)

\* The label has been seen.
Rest == step # <<>> /\ step' = <<>> /\ UNCHANGED vars

HistoryNext == (step = <<>> /\ Labelled) \/ Rest

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars
=============================================================================
