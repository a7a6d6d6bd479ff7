----------------------- MODULE ExactAccountingHistory -----------------------
(***************************************************************************)
(* The steps of ExactAccounting from every state of small numbers, with    *)
(* their names in plain sight; what a label is for is said in              *)
(* TimingWheelHistory.tla.  The proof by z3 has the steps a second time,   *)
(* in Python.  Both are written out here, edge by edge, and compared.      *)
(*                                                                         *)
(* Variables                                                               *)
(*   those of ExactAccounting.tla                                          *)
(*   step    <<>> at rest, else the name of the action that has just been  *)
(*           taken and its operation; of Choose also which invariants hold *)
(*                                                                         *)
(* From the initial state Choose leads to any state of small numbers,      *)
(* whether the accounting reaches it or not: a step must be the same there *)
(* too, for the proof is about every state that has the invariant.  From   *)
(* such a state each action is tried with each amount, also with amounts   *)
(* that its guard must refuse.  States with larger numbers have no steps.  *)
(*                                                                         *)
(* Of several operations only the first has numbers of its own.  Those of  *)
(* another are all alike, which is enough to see that a step leaves them.  *)
(*                                                                         *)
(* Left out.  Apalache: a tuple of any length has no type for it.          *)
(***************************************************************************)
EXTENDS ExactAccounting

CONSTANT
  \* The largest count of an operation in a state that is chosen.
  \* @type: Int;
  Each

VARIABLE step

historyVars == <<vars, step>>

HistoryInit == Init /\ step = <<>>

Amounts == -1..Each

\* The functions from operations to counts, those of other operations than the first as given.
Counts(like, most) ==
  {count \in [Operations -> 0..most] : \A o \in Operations \ {1} : count[o] = like[o]}

Chosen ==
  /\ stale' \in 0..1 /\ balances' = stale'
  /\ completed' \in [Operations -> BOOLEAN]
  /\ entries' \in [Operations -> 0..Each]
  /\ in_lists' \in Counts(entries', Each)
  /\ promised' \in Counts(entries', Each)
  /\ detached' \in Counts(entries', Each)
  /\ in_timer' \in Counts(entries', 1)
  /\ queued' \in Counts(entries', 1)
  /\ deciding' \in Counts(entries', 1)
  /\ to_call' \in Counts(entries', 1)
  /\ called' \in Counts(entries', 1)

\* The state is one that can be chosen.
Small ==
  /\ stale \in 0..1 /\ balances = stale
  /\ entries \in [Operations -> 0..Each]
  /\ {in_lists, promised, detached} \subseteq Counts(entries, Each)
  /\ {in_timer, queued, deciding, to_call, called} \subseteq Counts(entries, 1)

Holds(claim) == IF claim THEN 1 ELSE 0

\* Any state of small numbers is entered.
Choose ==
  /\ Init
  /\ Chosen
  /\ step' =
       <<"Choose", Holds(Law'), Holds(WordIsFootprint'), Holds(WatchedKeepsItsTimeOut'),
         Holds(ExactlyOnce')>>

LabelledOfMany ==
  \/ \E n \in [Operations -> Amounts] :
       /\ in_lists' = [o \in Operations |-> in_lists[o] - n[o]]
       /\ \/ Remove /\ step' = <<"Remove">>
          \/ Detach /\ step' = <<"Detach">>
  \/ \E n \in Amounts : balances' = balances - n /\ Post /\ step' = <<"Post">>

LabelledWithAmount(o, n) ==
  \/ promised' = [promised EXCEPT ![o] = @ + n] /\ Arm(o) /\ step' = <<"Arm", o>>
  \/ /\ promised' = [promised EXCEPT ![o] = @ - n]
     /\ \/ GiveBackLive(o) /\ step' = <<"GiveBackLive", o>>
        \/ GiveBackCompleted(o) /\ step' = <<"GiveBackCompleted", o>>
  \/ /\ detached' = [detached EXCEPT ![o] = @ - n]
     /\ \/ CancelLive(o) /\ step' = <<"CancelLive", o>>
        \/ CancelCompleted(o) /\ step' = <<"CancelCompleted", o>>

LabelledOfOne(o) ==
  \/ \E n \in Amounts : LabelledWithAmount(o, n)
  \/ Insert(o) /\ step' = <<"Insert", o>>
  \/ Win(o) /\ step' = <<"Win", o>>
  \/ LeaveTimer(o) /\ step' = <<"LeaveTimer", o>>
  \/ CallBack(o) /\ step' = <<"CallBack", o>>
  \/ Expire(o) /\ step' = <<"Expire", o>>
  \/ Take(o) /\ step' = <<"Take", o>>
  \/ DecideWon(o) /\ step' = <<"DecideWon", o>>
  \/ DecideLost(o) /\ step' = <<"DecideLost", o>>

\* A step of the counts, whose label shows.
Labelled == Choose \/ (Small /\ (LabelledOfMany \/ \E o \in Operations : LabelledOfOne(o)))

\* The label has been seen.
Rest == step # <<>> /\ step' = <<>> /\ UNCHANGED vars

HistoryNext == (step = <<>> /\ Labelled) \/ Rest

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars
=============================================================================
