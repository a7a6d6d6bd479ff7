--------------------------- MODULE PurgatoryCalls ---------------------------
(***************************************************************************)
(* The purgatory as its callers see it: one call after the other.          *)
(*                                                                         *)
(* A call is one step.  How calls of several threads mix is said in        *)
(* PurgatoryExact.tla and PurgatoryProposal.tla, without a clock; this     *)
(* module says what each call does when it is alone: what it tells its     *)
(* callers, in which order it calls back, what it leaves in the watcher    *)
(* lists and in the timer, what the accountings make of it, and when an    *)
(* advance purges.                                                         *)
(*                                                                         *)
(* An operation that is watched stands in the list of each of its keys,    *)
(* once for each time the key is given, and is a task of the timer.  A try *)
(* completes it if it is satisfied, which is what callers wait for.  The   *)
(* timer hands over what is due to the executor's queue; the executor runs *)
(* the head of that queue in a step of its own.                            *)
(*                                                                         *)
(* Variables                                                               *)
(*   now        what the clock reads                                       *)
(*   delay      the operations that are known, each with its delay         *)
(*   satisfied  the operations that every further try completes            *)
(*   completed  the operations that are completed                          *)
(*   lists      the watcher list of each key, the oldest entry first       *)
(*   due        the operations in the timer, each with its due tick        *)
(*   queue      the executor's queue                                       *)
(*   estimate   the count of the published accounting; 0 under the other   *)
(*   closed     whether the purgatory was shut down                        *)
(*                                                                         *)
(* Every action says what its caller sees: the answer, and the events in   *)
(* their order, each as two words, what happened and to which operation.   *)
(*                                                                         *)
(* Left out.  Callbacks that call the purgatory again or throw, and tries  *)
(* that throw; the tick is one millisecond.  MostEntries bounds the lists, *)
(* MostQueued how many runs of one operation wait, MostEstimate the count, *)
(* and the clock stops at Last: all of them only make the states finitely  *)
(* many.  Here and in the modules of calls that overlap a check goes       *)
(* through a list in the order of its entries, a watch tries before and    *)
(* after it enters the lists, and a cancellation answers the whole list:   *)
(* a profile may declare otherwise.                                        *)
(*                                                                         *)
(* Features (legal choices)                                                *)
(*   "exact"      the exact accounting; else the published one             *)
(*   "amortised"  a purge is due when more is stale than half of what      *)
(*                lives, too                                               *)
(*   "leaves-all" an operation leaves all its lists as it completes        *)
(*                                                                         *)
(* Defects                                                                 *)
(*   "no-second-try"     a watch tries once, and not again once the        *)
(*                       operation is in the lists                         *)
(*   "completes-again"   force completes what is completed                 *)
(*   "expires-first"     a time-out is told before the completion          *)
(*   "stays-in-timer"    a completed operation stays in the timer          *)
(*   "check-drops-none"  a check leaves what it completes in the list      *)
(*   "check-stops"       a check ends at the first that it completes       *)
(*   "check-counts-all"  a check counts what it tries                      *)
(*   "newest-first"      a check begins with the newest entry              *)
(*   "cancel-keeps"      cancelling for the last key keeps the time-out    *)
(*   "cancel-takes"      cancelling for one key takes the time-out         *)
(*   "purges-live"       a purge removes what waits                        *)
(*   "purge-is-late"     a purge is made at twice the interval             *)
(*   "keys-once"         a key that is given twice counts once             *)
(*   "keys-doubled"      every key counts twice                            *)
(*   "watches-closed"    a watch after shutdown is taken                   *)
(*   "close-keeps"       shutdown keeps the time-outs                      *)
(*   "prepends"          a new entry stands at the head of a list          *)
(*   "counts-nothing"    the published accounting does not count a watch   *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  \* three at most: see Lines
  \* @type: Set(Str);
  Operations,
  \* @type: Set(Str);
  Keys,
  \* the delays that callers give
  \* @type: Set(Int);
  Delays,
  \* how much may be stale before an advance purges
  \* @type: Int;
  Interval,
  \* the last reading of the clock; the first is zero
  \* @type: Int;
  Last,
  \* @type: Int;
  MostEntries,
  \* @type: Int;
  MostQueued,
  \* @type: Int;
  MostEstimate,
  \* @type: Set(Str);
  Features,
  \* @type: Set(Str);
  Defects

ASSUME Cardinality(Operations) <= 3 /\ Interval >= 0 /\ Last >= 0 /\ \A d \in Delays : d >= 0

VARIABLES
  \* @type: Int;
  now,
  \* @type: Str -> Int;
  delay,
  \* @type: Set(Str);
  satisfied,
  \* @type: Set(Str);
  completed,
  \* @type: Str -> Seq(Str);
  lists,
  \* @type: Str -> Int;
  due,
  \* @type: Seq(Str);
  queue,
  \* @type: Int;
  estimate,
  \* @type: Bool;
  closed

vars == <<now, delay, satisfied, completed, lists, due, queue, estimate, closed>>

-----------------------------------------------------------------------------
(* Words                                                                   *)

Exact == "exact" \in Features
Known == DOMAIN delay

\* @type: (Str -> Int, Set(Str)) => Str -> Int;
Without(ticks, names) == [o \in DOMAIN ticks \ names |-> ticks[o]]

\* @type: (Str -> Int, Str, Int) => Str -> Int;
With(ticks, name, tick) ==
  [o \in DOMAIN ticks \cup {name} |-> IF o = name THEN tick ELSE ticks[o]]

\* @type: (Str, Seq(Str)) => Int;
Times(name, line) == Cardinality({i \in DOMAIN line : line[i] = name})

\* @type: Seq(Str) => Set(Str);
Members(line) == {line[i] : i \in DOMAIN line}

\* @type: (Seq(Str), Set(Str)) => Seq(Str);
Less(line, names) == SelectSeq(line, LAMBDA o : o \notin names)

\* A line in which each name stands where it stands first.
\* @type: Seq(Str) => Seq(Str);
RECURSIVE Once(_)
Once(line) ==
  IF line = <<>> THEN <<>>
  ELSE <<Head(line)>> \o Once(SelectSeq(Tail(line), LAMBDA o : o # Head(line)))

\* @type: Seq(Str) => Seq(Str);
RECURSIVE Reversed(_)
Reversed(line) == IF line = <<>> THEN <<>> ELSE Append(Reversed(Tail(line)), Head(line))

\* Every line of different operations.
\* @type: Set(Seq(Str));
Lines ==
  {line \in {<<>>} \cup {<<a>> : a \in Operations} \cup {<<a, b>> : a, b \in Operations}
              \cup {<<a, b, c>> : a, b, c \in Operations} :
     \A o \in Operations : Times(o, line) <= 1}

\* The keys that callers give: one or two, the same one twice, or none.
\* @type: Set(Seq(Str));
KeyLists == {<<>>} \cup {<<k>> : k \in Keys} \cup {<<k, l>> : k, l \in Keys}

\* @type: (Str -> Seq(Str)) => Int;
RECURSIVE Length(_)
Length(of) ==
  IF DOMAIN of = {} THEN 0
  ELSE LET k == CHOOSE k \in DOMAIN of : TRUE IN
       Len(of[k]) + Length([l \in DOMAIN of \ {k} |-> of[l]])

Entries == Length(lists)
Watched(of) == UNION {Members(of[k]) : k \in DOMAIN of}
Stale(of, done) == Length([k \in DOMAIN of |-> SelectSeq(of[k], LAMBDA o : o \in done)])

\* The time-outs that are owed.
Pending == Cardinality(DOMAIN due) + Len(queue)

\* What the accounting says: the published one counts what was watched since the last purge and what
\* was in the timer then; the exact one adds the time-outs that are owed and what is stale.
Estimate == IF Exact THEN Pending + Stale(lists, completed) ELSE estimate

\* @type: (Str -> Seq(Str), Set(Str)) => Str -> Seq(Str);
Swept(of, names) == [k \in DOMAIN of |-> Less(of[k], names)]

\* The lists at the end of a call.
\* @type: (Str -> Seq(Str), Set(Str)) => Str -> Seq(Str);
Left(of, done) == IF "leaves-all" \in Features THEN Swept(of, done) ELSE of

\* @type: (Str, Str) => Seq(Str);
Tells(what, o) == <<what, o>>

\* The timer without operations that have completed.
Disarmed(names) == IF "stays-in-timer" \in Defects THEN due ELSE Without(due, names)

-----------------------------------------------------------------------------
(* Steps: watch                                                            *)

Init ==
  /\ now = 0
  /\ delay = [o \in {} |-> 0]
  /\ satisfied = {}
  /\ completed = {}
  /\ lists = [k \in Keys |-> <<>>]
  /\ due = [o \in {} |-> 0]
  /\ queue = <<>>
  /\ estimate = 0
  /\ closed = FALSE

\* Whether callers watch an operation with this delay: one that is known keeps its own.
Offered(o, keys, ms) ==
  /\ o \in Known => ms = delay[o]
  /\ Entries + Len(keys) <= MostEntries
  /\ Times(o, queue) < MostQueued
  /\ ~Exact => estimate < MostEstimate

\* Why a watch is rejected.
Why(keys) ==
  IF closed /\ "watches-closed" \notin Defects THEN "closed"
  ELSE IF keys = <<>> THEN "invalid_argument" ELSE ""

Introduce(o, ms) == delay' = IF o \in Known THEN delay ELSE With(delay, o, ms)

\* One more by the published accounting.
Counted == IF Exact \/ "counts-nothing" \in Defects THEN estimate ELSE estimate + 1

\* The lists with an entry at the end of each key's list.
Appended(o, keys) ==
  [k \in Keys |->
     LET times == IF "keys-once" \in Defects /\ Times(k, keys) > 1 THEN 1
                  ELSE IF "keys-doubled" \in Defects THEN 2 * Times(k, keys) ELSE Times(k, keys)
         added == [i \in 1..times |-> o]
     IN IF "prepends" \in Defects THEN added \o lists[k] ELSE lists[k] \o added]

Tries(o) == Tells("tried", o) \o (IF "no-second-try" \in Defects THEN <<>> ELSE Tells("tried", o))

\* @says purgatory: rejects a watch
WatchRejected(o, keys, ms, reason) ==
  /\ reason = Why(keys) /\ reason # ""
  /\ Offered(o, keys, ms)
  /\ Introduce(o, ms)
  /\ UNCHANGED <<now, satisfied, completed, lists, due, queue, estimate, closed>>

\* @says purgatory: the first try of a watch completes its operation
WatchCompletes(o, keys, ms, events) ==
  /\ Why(keys) = ""
  /\ o \in satisfied \ completed
  /\ events = Tells("tried", o) \o Tells("completed", o)
  /\ Offered(o, keys, ms)
  /\ Introduce(o, ms)
  /\ completed' = completed \cup {o}
  /\ due' = Disarmed({o})
  /\ lists' = Left(lists, completed')
  /\ UNCHANGED <<now, satisfied, queue, estimate, closed>>

\* @says purgatory: an operation waits; in the timer are {due'}
WatchWaits(o, keys, ms, events) ==
  /\ Why(keys) = ""
  /\ o \notin satisfied \cup completed
  /\ events = Tries(o)
  /\ Offered(o, keys, ms)
  /\ Introduce(o, ms)
  /\ lists' = Appended(o, keys)
  /\ due' = With(due, o, now + delay'[o])
  /\ estimate' = Counted
  /\ UNCHANGED <<now, satisfied, completed, queue, closed>>

\* The time-out is due as it is armed, before the second try or behind it.
\* @says purgatory: the time-out of an operation that waits is due at once
WatchExpires(o, keys, ms, events) ==
  /\ Why(keys) = ""
  /\ o \notin satisfied \cup completed
  /\ events \in {Tells("tried", o) \o Tells("tried", o) \o Tells("expired", o),
                 Tells("tried", o) \o Tells("expired", o) \o Tells("tried", o)}
  /\ Offered(o, keys, ms)
  /\ Introduce(o, ms)
  /\ delay'[o] <= 0
  /\ lists' = Appended(o, keys)
  /\ due' = Without(due, {o})
  /\ queue' = Append(queue, o)
  /\ estimate' = Counted
  /\ UNCHANGED <<now, satisfied, completed, closed>>

\* What is completed is not watched; it is tried never, once or twice, which does nothing.
\* @says purgatory: does not watch what is completed
WatchCompleted(o, keys, ms, events) ==
  /\ Why(keys) = ""
  /\ o \in completed
  /\ events \in {<<>>, Tells("tried", o), Tells("tried", o) \o Tells("tried", o)}
  /\ Offered(o, keys, ms)
  /\ estimate' = Counted
  /\ lists' = Left(lists, completed)
  /\ UNCHANGED <<now, delay, satisfied, completed, due, queue, closed>>

-----------------------------------------------------------------------------
(* Steps: events                                                           *)

\* A check passes a list from the oldest entry on: what it tells, and which operations it completes.
\* @type: (Seq(Str), Set(Str), Seq(Str)) => Seq(Str);
RECURSIVE Passed(_, _, _)
Passed(line, done, events) ==
  IF line = <<>> THEN events
  ELSE LET o == Head(line) IN
       IF o \in done THEN Passed(Tail(line), done, events)
       ELSE IF o \notin satisfied THEN Passed(Tail(line), done, events \o Tells("tried", o))
       ELSE Passed(IF "check-stops" \in Defects THEN <<>> ELSE Tail(line), done \cup {o},
                   events \o Tells("tried", o) \o Tells("completed", o))

Checked(key) ==
  Passed(IF "newest-first" \in Defects THEN Reversed(lists[key]) ELSE lists[key], completed, <<>>)

\* Which operations events tell to be completed.
CompletedBy(events) ==
  {events[i] : i \in {j \in DOMAIN events : j > 1 /\ events[j - 1] = "completed"}}

\* @says purgatory: a check leaves {lists'}
Check(key, count, events) ==
  /\ events = Checked(key)
  /\ count = IF "check-counts-all" \in Defects THEN Len(events) \div 2
             ELSE Cardinality(CompletedBy(events))
  /\ completed' = completed \cup CompletedBy(events)
  /\ due' = Disarmed(CompletedBy(events))
  /\ lists' =
       IF "check-drops-none" \in Defects THEN lists
       ELSE Left([lists EXCEPT ![key] = Less(lists[key], completed')], completed')
  /\ UNCHANGED <<now, delay, satisfied, queue, estimate, closed>>

\* @says purgatory: cancels for a key; in the timer are {due'}
CancelForKey(key, names) ==
  /\ names = lists[key]
  /\ lists' = Left([lists EXCEPT ![key] = <<>>], completed)
  /\ due' =
       LET kept == IF "cancel-takes" \in Defects THEN {} ELSE Watched([lists EXCEPT ![key] = <<>>])
       IN IF "cancel-keeps" \in Defects THEN due ELSE Without(due, Members(names) \ kept)
  /\ UNCHANGED <<now, delay, satisfied, completed, queue, estimate, closed>>

\* @says purgatory: completes an operation by force
Force(o, done, events) ==
  /\ done = (o \notin completed \/ "completes-again" \in Defects)
  /\ events = IF done THEN Tells("completed", o) ELSE <<>>
  /\ delay' = IF o \in Known THEN delay ELSE With(delay, o, 0)
  /\ completed' = completed \cup {o}
  /\ due' = Disarmed({o})
  /\ lists' = Left(lists, completed')
  /\ UNCHANGED <<now, satisfied, queue, estimate, closed>>

\* @says caller: what an operation waits for has come: {satisfied'}
Satisfy(o) ==
  /\ delay' = IF o \in Known THEN delay ELSE With(delay, o, 0)
  /\ satisfied' = satisfied \cup {o}
  /\ lists' = Left(lists, completed)
  /\ UNCHANGED <<now, completed, due, queue, estimate, closed>>

-----------------------------------------------------------------------------
(* Steps: time                                                             *)

\* @says clock: reads {now'}
Elapse ==
  /\ now < Last
  /\ now' = now + 1
  /\ UNCHANGED <<delay, satisfied, completed, lists, due, queue, estimate, closed>>

\* How much may be stale beside so much that lives.
IntervalBeside(live) ==
  IF "amortised" \in Features /\ live \div 2 > Interval THEN live \div 2 ELSE Interval
LiveIn(of, done) == Length(of) - Stale(of, done)

\* Whether there is more to purge than the interval.
PurgeIsDue(ticks) ==
  LET armed == Cardinality(DOMAIN ticks)
      interval == IntervalBeside(IF Exact THEN LiveIn(lists, completed) ELSE armed)
  IN (IF Exact THEN Stale(lists, completed) ELSE estimate - armed)
       > (IF "purge-is-late" \in Defects THEN 2 * interval + 1 ELSE interval)

\* The ways in which operations may be handed over: each once, earlier ticks first.
InTickOrder(names) ==
  {line \in Lines :
     /\ Members(line) = names
     /\ \A i, j \in DOMAIN line : i < j => due[line[i]] <= due[line[j]]}

\* After shutdown an advance is an error or is not, and purges or does not.
\* @says purgatory: advances at {now'}; the queue is {queue'}
Advance(to, handed, answer) ==
  /\ now <= to /\ to <= Last
  /\ now' = to
  /\ LET taken == IF closed THEN {} ELSE {o \in DOMAIN due : due[o] <= to} IN
     /\ handed \in InTickOrder(taken)
     /\ due' = Without(due, taken)
  /\ answer \in (IF closed THEN {"", "closed"} ELSE {""})
  /\ queue' = queue \o handed
  /\ \E purge \in BOOLEAN :
       /\ ~closed => purge = PurgeIsDue(due')
       /\ lists' =
            IF ~purge THEN lists
            ELSE Swept(lists, IF "purges-live" \in Defects THEN Operations ELSE completed)
       /\ estimate' = IF ~purge THEN estimate ELSE IF Exact THEN 0 ELSE Cardinality(DOMAIN due')
  /\ UNCHANGED <<delay, satisfied, completed, closed>>

\* @says executor: runs a time-out; {queue'} wait
RunOne(events) ==
  /\ queue # <<>>
  /\ LET o == Head(queue) IN
     /\ events = IF o \in completed THEN <<>>
                 ELSE IF "expires-first" \in Defects
                 THEN Tells("timed_out", o) \o Tells("completed", o)
                 ELSE Tells("completed", o) \o Tells("timed_out", o)
     /\ completed' = completed \cup {o}
     /\ due' = IF o \in completed THEN due ELSE Disarmed({o})
  /\ queue' = Tail(queue)
  /\ lists' = Left(lists, completed')
  /\ UNCHANGED <<now, delay, satisfied, estimate, closed>>

\* @says purgatory: is shut down
Shutdown ==
  /\ closed' = TRUE
  /\ due' = IF "close-keeps" \in Defects THEN due ELSE Without(due, DOMAIN due)
  /\ UNCHANGED <<now, delay, satisfied, completed, lists, queue, estimate>>

-----------------------------------------------------------------------------
(* All steps; what may be told is looked for among few sequences.          *)

\* What a watch may tell of an operation.
Told(o) ==
  {<<>>, Tells("tried", o), Tells("tried", o) \o Tells("tried", o),
   Tells("tried", o) \o Tells("completed", o),
   Tells("tried", o) \o Tells("tried", o) \o Tells("expired", o),
   Tells("tried", o) \o Tells("expired", o) \o Tells("tried", o)}

Watch(o, keys, ms) ==
  \/ \E reason \in {"closed", "invalid_argument"} : WatchRejected(o, keys, ms, reason)
  \/ \E events \in Told(o) :
       \/ WatchCompletes(o, keys, ms, events)
       \/ WatchWaits(o, keys, ms, events)
       \/ WatchExpires(o, keys, ms, events)
       \/ WatchCompleted(o, keys, ms, events)

Counts == 0..(2 * MostEntries)

\* What the run of an operation's time-out may tell.
RunTold(o) ==
  {<<>>, Tells("completed", o) \o Tells("timed_out", o),
   Tells("timed_out", o) \o Tells("completed", o)}

Next ==
  \/ \E o \in Operations, keys \in KeyLists, ms \in Delays : Watch(o, keys, ms)
  \/ \E key \in Keys, count \in Counts : Check(key, count, Checked(key))
  \/ \E key \in Keys : CancelForKey(key, lists[key])
  \/ \E o \in Operations, done \in BOOLEAN :
       Force(o, done, IF done THEN Tells("completed", o) ELSE <<>>)
  \/ \E o \in Operations : Satisfy(o)
  \/ Elapse
  \/ \E to \in 0..Last, handed \in Lines, answer \in {"", "closed"} : Advance(to, handed, answer)
  \/ \E events \in UNION {RunTold(o) : o \in Operations} : RunOne(events)
  \/ Shutdown

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Claims about states                                                     *)

TypeOK ==
  /\ now \in 0..Last
  /\ Known \subseteq Operations
  /\ satisfied \subseteq Known
  /\ completed \subseteq Known
  /\ DOMAIN lists = Keys /\ \A k \in Keys : Members(lists[k]) \subseteq Known
  /\ DOMAIN due \subseteq Known
  /\ Members(queue) \subseteq Known
  /\ estimate \in 0..(MostEstimate + 1)
  /\ closed \in BOOLEAN

\* A completed operation is not in the timer.  Rules: PURGATORY-TIMER-LEFT.
CompletedLeavesTheTimer == DOMAIN due \cap completed = {}

\* What waits in a list has its time-out ahead: in the timer, or in the executor's queue.
\* Rules: PURGATORY-WATCH-WAITS, PURGATORY-TIME-OUT, PURGATORY-CANCEL-KEEPS-TIME-OUT.
WaitsWithATimeOut == ~closed => Watched(lists) \ completed \subseteq DOMAIN due \cup Members(queue)

\* What is in the timer waits in some list.  Rules: PURGATORY-CANCEL-LAST-KEY.
NoTimeOutAlone == DOMAIN due \subseteq Watched(lists)

\* After shutdown there is no time-out in the timer.  Rules: PURGATORY-SHUTDOWN-DROPS.
ClosedMeansNoTimeOut == closed => DOMAIN due = {}

\* The published estimate is never below what is in the timer.  Rules: PURGATORY-ESTIMATE-PROPOSAL.
EstimateCoversTheTimer == ~Exact => estimate >= Cardinality(DOMAIN due)

\* A key that is given twice has two entries.  Rules: PURGATORY-DUPLICATE-KEYS, PURGATORY-ENTRIES.
EveryKeyCounts ==
  \A o \in Known, keys \in KeyLists : Length(Appended(o, keys)) = Entries + Len(keys)

-----------------------------------------------------------------------------
(* Claims about steps                                                      *)

\* Whether a step may be an advance, or a check of a key.
Advances ==
  Len(queue') >= Len(queue) /\ Advance(now', SubSeq(queue', Len(queue) + 1, Len(queue')), "")
Checks(key) ==
  lists'[key] # lists[key] /\ Check(key, Cardinality(CompletedBy(Checked(key))), Checked(key))

\* What waits leaves a list when the key is cancelled, and not by a purge.
\* Rules: PURGATORY-PURGE-REMOVES.
PurgeLeavesWhatWaits ==
  [][\A k \in Keys :
       (Members(lists[k]) \ completed') \ Members(lists'[k]) # {} => CancelForKey(k, lists[k])]_vars

\* Behind an advance no more is stale than the interval allows.
\* Rules: PURGATORY-PURGE-START, PURGATORY-STALE-ENTRIES.
AdvancePurges ==
  [][Exact /\ ~closed /\ Advances =>
       Stale(lists', completed) <= IntervalBeside(LiveIn(lists', completed))]_vars

\* What a check completes leaves the list of its key.  Rules: PURGATORY-CHECK-DROPS.
CheckDrops ==
  [][\A key \in Keys, o \in Operations :
       /\ o \in Members(lists[key]) /\ o \in completed' \ completed
       /\ Check(key, Cardinality(CompletedBy(Checked(key))), Checked(key))
       => o \notin Members(lists'[key])]_vars

\* No completion is lost: what is satisfied under a key is completed behind a check of it.
\* Rules: PURGATORY-NOT-LOST.
CheckCompletes ==
  [][\A key \in Keys :
       Checks(key) => Members(lists[key]) \cap satisfied \subseteq completed']_vars

\* A list that grows keeps what it has where it is.
\* Rules: PURGATORY-CHECK-ORDER, PURGATORY-REWATCH.
WatchAppends ==
  [][\A k \in Keys :
       Len(lists'[k]) > Len(lists[k]) => SubSeq(lists'[k], 1, Len(lists[k])) = lists[k]]_vars

\* Nothing is watched after shutdown.  Rules: PURGATORY-SHUTDOWN-CLOSED.
NothingIsWatchedAfterClose ==
  [][closed => Watched(lists') \subseteq Watched(lists)]_vars

-----------------------------------------------------------------------------
(* Claims about what callers are told: of every step that is possible.     *)

\* A check completes the oldest first, counts what it has completed, and tries nothing that is
\* completed.  Rules: PURGATORY-CHECK-ORDER, PURGATORY-CHECK-COUNT, PURGATORY-COMPLETED-NOT-TRIED.
CheckTellsInOrder ==
  \A key \in Keys :
      /\ ENABLED Check(key, Cardinality(CompletedBy(Checked(key))), Checked(key))
      /\ LET told == SelectSeq(Checked(key), LAMBDA each : each \in Operations)
             waiting == SelectSeq(lists[key], LAMBDA o : o \notin completed)
         IN Once(told) = Once(waiting)

\* A completed operation is never completed again.
\* Rules: PURGATORY-EXACTLY-ONCE, PURGATORY-FORCE-AGAIN.
ForceCompletesOnce ==
  \A o \in completed : ~ENABLED Force(o, TRUE, Tells("completed", o))

\* Whoever is timed out was completed just before.  Rules: PURGATORY-CALLBACK-ORDER.
TimedOutBehindCompleted ==
  \A o \in Operations : ~ENABLED RunOne(Tells("timed_out", o) \o Tells("completed", o))

\* An operation that waits was tried once more when it was in the lists.
\* Rules: PURGATORY-WATCH-SECOND-TRY.
TriedTwice ==
  \A o \in Known, k \in Keys, ms \in Delays :
    ~ENABLED WatchWaits(o, <<k>>, ms, Tells("tried", o))

-----------------------------------------------------------------------------
(* False, and why                                                          *)

\* The published estimate counts what was never listed, and forgets what waits for the executor: it
\* is no count of the operations.
EstimateIsTheTotal == estimate = Cardinality(Watched(lists) \cup DOMAIN due)

-----------------------------------------------------------------------------
(* Witnesses: situations that must occur, or the claims say nothing        *)

NeverCompleted == completed = {}
NeverTwoWaiting == Cardinality(Watched(lists) \ completed) < 2
NeverQueued == queue = <<>>
NeverStale == Stale(lists, completed) = 0
NeverClosedWithEntries == ~(closed /\ Watched(lists) # {})
NeverStaleAndLive ==
  \A k \in Keys : Members(lists[k]) \subseteq completed \/ Members(lists[k]) \cap completed = {}
NeverUnderTwoKeys == \A o \in Operations : Cardinality({k \in Keys : o \in Members(lists[k])}) < 2
NeverTwiceUnderOne == \A o \in Operations, k \in Keys : Times(o, lists[k]) < 2
NeverSatisfiedInAList == Watched(lists) \cap satisfied = {}
=============================================================================
