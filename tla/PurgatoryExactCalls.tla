-------------------------- MODULE PurgatoryExactCalls --------------------------
(***************************************************************************)
(* Calls that overlap do to the callers what calls in a row do: every step *)
(* of PurgatoryExact is a call of PurgatoryCalls, or callers see nothing   *)
(* of it.                                                                  *)
(*                                                                         *)
(* A call takes effect at these steps, its linearisation points:           *)
(*   word swap  whoever gets the word completes the operation: Force; the  *)
(*              executor that gets it runs the time-out: RunOne            *)
(*   append     each entry of a live operation is a watch under that key:  *)
(*              WatchWaits, or WatchExpires if the time-out has gone       *)
(*   detach     a detached list is a key that is cancelled: CancelForKey   *)
(*   hand-over  a time-out that goes to the executor's queue is an advance *)
(*              to a reading at which it alone is due: Advance             *)
(*                                                                         *)
(* Two steps are no calls, only parts of one:                              *)
(*   PartAppends    the time-out was handed over between two lists of a    *)
(*              watch, and the later list gets its entry without one       *)
(*   PartOvertakes  the time-out is handed over between the detaching of   *)
(*              the list and the settling of the operation                 *)
(*                                                                         *)
(* What callers see are the live entries of the lists: PurgatoryCalls with *)
(* "leaves-all".  Which entries are stale is counted by ExactAccounting,   *)
(* which PurgatoryExactRefinement.tla is about.  The time-out of a live    *)
(* operation is seen in the timer from its append to its detach, and in    *)
(* the executor's queue from its hand-over or its append, whichever comes  *)
(* last.  When quiet, the memory itself is what callers see.               *)
(*                                                                         *)
(* Left out.  Conditions: a try that completes is seen as force, and       *)
(* NoLostCompletion says that none is missed.  Ticks, and the order of     *)
(* entries and of the executor's queue, which PurgatoryExact does not      *)
(* have: for each step there are ticks and an order with which it is a     *)
(* call.                                                                   *)
(***************************************************************************)
EXTENDS PurgatoryExactHistory, Sequences

VARIABLES
  \* The operations whose time-out callers see in the timer.
  \* @type: Set(Int);
  armed,
  \* The time-outs that callers see with the executor, each with its place: "queue" or "executor".
  \* @type: Set(<<Str, Int>>);
  handed

callVars == <<historyVars, armed, handed>>

-----------------------------------------------------------------------------
(* What callers see *)

InQueue(o) == <<"queue", o>> \in handed
InExecutor(o) == <<"executor", o>> \in handed
TimesHanded(o) == Cardinality({p \in handed : p[2] = o})
LiveEntries == [k \in Keys |-> [o \in Operations |-> IF completed[o] THEN 0 ELSE lists[k][o]]]
seen == <<LiveEntries, completed, armed, [o \in Operations |-> TimesHanded(o)]>>

\* Operations in the order of their numbers.
RECURSIVE Numbered(_)
Numbered(names) ==
  IF names = {} THEN <<>>
  ELSE LET o == CHOOSE o \in names : \A p \in names : o <= p
       IN <<o>> \o Numbered(names \ {o})
WithFirst(o) == <<o>> \o Numbered(Operations \ {o})
WithLast(o) == Numbered(Operations \ {o}) \o <<o>>

\* A line in an order of operations, where each stands as often as is said.
RECURSIVE Line(_, _)
Line(order, times) ==
  IF order = <<>> THEN <<>>
  ELSE [i \in 1..times[Head(order)] |-> Head(order)] \o Line(Tail(order), times)

\* The purgatory of the callers, where the time-out of at most one operation is due.
Calls(soon, order) == INSTANCE PurgatoryCalls WITH
  Delays <- {0, 1},
  Interval <- PurgeInterval,
  Last <- 1,
  MostEntries <- 2 * Widest,
  MostQueued <- 3,
  MostEstimate <- 0,
  Features <- {"exact", "leaves-all"},
  Defects <- {},
  now <- 0,
  delay <- [o \in Operations |-> IF o = soon THEN 0 ELSE 1],
  satisfied <- {},
  completed <- {o \in Operations : completed[o]},
  lists <- [k \in Keys |-> Line(order, LiveEntries[k])],
  due <- [o \in armed |-> IF o = soon THEN 0 ELSE 1],
  queue <- Line(order, [o \in Operations |-> TimesHanded(o)]),
  estimate <- 0,
  closed <- FALSE

-----------------------------------------------------------------------------
(* What a step shows to callers; its label says which step it is *)

\* A thread gets the word of the operation that it is busy with from then on.
HasWon == {"post", "call-back", "drop-own"}
SwapsWord(t) == pc[t] \notin HasWon /\ pc'[t] \in HasWon
Does(action) == step'[1] = action
Chosen == step'[3]

\* The live operation that gets an entry.
Grown == IF Does("Insert") THEN {o \in {operation[step'[2]]} : ~completed[o]} ELSE {}

\* The time-out has gone to the executor before any list had the operation.
HiddenInExecutor(o) == pc[Executor] = "decide" /\ operation[Executor] = o /\ ~InExecutor(o)
Hidden(o) == HiddenInExecutor(o) \/ (o \in queue /\ ~InQueue(o))

\* The operation was in a list that is detached, and is not settled.
Unsettled(o) ==
  /\ ~completed[o]
  /\ DetachedEntries(o) > 0 \/ \E x \in Detachers : pc[x] = "cancel-time-out" /\ operation[x] = o

ShowTimer ==
  armed' = {o \in armed \union {p \in Grown : ~Hidden(p)} :
              o \in timer' /\ ~completed'[o] /\ \E k \in Keys : lists'[k][o] > 0}

ShowQueue ==
  handed' =
    CASE Does("Expire") /\ (Chosen \in armed \/ Unsettled(Chosen)) ->
           handed \union {<<"queue", Chosen>>}
      [] Does("Take") /\ InQueue(Chosen) ->
           (handed \ {<<"queue", Chosen>>}) \union {<<"executor", Chosen>>}
      [] Does("Decide") -> handed \ {"executor"} \X Operations
      [] \E o \in Grown : Hidden(o) ->
           handed \union {<<IF HiddenInExecutor(o) THEN "executor" ELSE "queue", o>> : o \in Grown}
      [] OTHER -> handed

CallsSpec ==
  /\ HistoryInit /\ armed = {} /\ handed = {}
  /\ [][Labelled /\ ShowTimer /\ ShowQueue]_callVars

-----------------------------------------------------------------------------
(* The linearisation points *)

SeesNothing == UNCHANGED seen

SwapIsACall(t, o) ==
  /\ operation'[t] = o
  /\ IF t = Executor /\ InExecutor(o)
     THEN Calls(NoOperation, WithFirst(o))!RunOne(<<"completed", o, "timed_out", o>>)
     ELSE Calls(NoOperation, WithFirst(o))!Force(o, TRUE, <<"completed", o>>)

\* The executor finds the operation completed.
LateRunIsACall(o) ==
  /\ operation[Executor] = o
  /\ IF InExecutor(o) THEN Calls(NoOperation, WithFirst(o))!RunOne(<<>>) ELSE SeesNothing

PartAppends(k, o) ==
  /\ TimesHanded(o) > 0
  /\ LiveEntries' = [LiveEntries EXCEPT ![k][o] = @ + 1]
  /\ UNCHANGED <<completed, armed, handed>>

AppendIsACall(k, o, parts) ==
  CASE Hidden(o) ->
         Calls(o, WithLast(o))!WatchExpires(o, <<k>>, 0, <<"tried", o, "tried", o, "expired", o>>)
    [] ~Hidden(o) /\ o \in timer ->
         Calls(NoOperation, WithLast(o))!WatchWaits(o, <<k>>, 1, <<"tried", o, "tried", o>>)
    [] OTHER -> parts /\ PartAppends(k, o)

DetachIsACall(k) ==
  LET order == Numbered(Operations) IN
  Calls(NoOperation, order)!CancelForKey(k, Line(order, LiveEntries[k]))

PartOvertakes(o) ==
  /\ Unsettled(o)
  /\ handed' = handed \union {<<"queue", o>>}
  /\ UNCHANGED <<LiveEntries, completed, armed>>

HandOverIsACall(o, parts) ==
  CASE o \in armed -> Calls(o, WithLast(o))!Advance(0, <<o>>, "")
    [] o \notin armed /\ Unsettled(o) -> parts /\ PartOvertakes(o)
    [] OTHER -> SeesNothing

\* A step is a call, a part of one if parts are allowed, or nothing to callers.
IsACall(parts) ==
  CASE \E t \in Threads : SwapsWord(t) ->
         \E t \in Threads, o \in Operations : SwapsWord(t) /\ SwapIsACall(t, o)
    [] Does("Decide") /\ ~SwapsWord(Executor) -> \E o \in Operations : LateRunIsACall(o)
    [] Grown # {} ->
         \E k \in Keys, o \in Operations : k = Chosen /\ o \in Grown /\ AppendIsACall(k, o, parts)
    [] Does("BeginCancel") -> \E k \in Keys : k = Chosen /\ DetachIsACall(k)
    [] Does("Expire") -> \E o \in Operations : o = Chosen /\ HandOverIsACall(o, parts)
    [] OTHER -> SeesNothing

-----------------------------------------------------------------------------
(* Claims *)

ShownTypeOK ==
  /\ TypeOK
  /\ armed \subseteq Operations
  /\ handed \subseteq {"queue", "executor"} \X Operations

(* Every step is a call, a part of one, or nothing to callers.
   Rules: PURGATORY-OVERLAPPING-CALLS. *)
RefinesCalls == [][IsACall(TRUE)]_callVars

(* When quiet, callers see what the timer and the executor's queue hold.  They do not see in the queue
   an operation that was completed, or whose appending raised, before any list had it.
   Rules: PURGATORY-COUNTS-WHEN-QUIET. *)
QuietIsAsSeen ==
  Quiet =>
    /\ armed = timer
    /\ \A o \in queue : InQueue(o) \/ completed[o] \/ raised[o]
    /\ handed \subseteq {"queue"} \X queue

-----------------------------------------------------------------------------
(* False, and why *)

(* Between two lists of a watch, or between a cancelled list and its operations, a time-out may be
   handed over: no call in a row does what callers see then. *)
EveryStepIsACall == [][IsACall(FALSE)]_callVars
=============================================================================
