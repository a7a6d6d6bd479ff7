------------------------- MODULE PurgatoryProposal -------------------------
(***************************************************************************)
(* The purgatory as the proposal describes it and Kafka 4.4.0 releases it: *)
(* its order of steps, its estimate, and what the estimate is worth.       *)
(*                                                                         *)
(* A caller (try_complete_else_watch) takes the operation's lock and tries *)
(* once, inserts the operation in the list of each key, counts it in the   *)
(* estimate, tries again and releases the lock.  Not completed: it looks,  *)
(* adds the operation to the timer, and looks again, because somebody may  *)
(* have completed it before there was a time-out to cancel.  Nobody else   *)
(* completes an operation while its caller inserts it: the lock is held.   *)
(* A completer raises a key's event count and walks the key's list: drops  *)
(* what is completed, tries the others under their locks.                  *)
(* The reaper moves due operations out of the timer into the executor's    *)
(* queue.  It purges when estimate - timer size > PurgeInterval: sets the  *)
(* estimate to the timer's size, which it reads once more for that, and    *)
(* takes the completed operations out of each list.  The executor          *)
(* completes the operations of its queue, one by one.                      *)
(* To complete is to set `completed`, once; cancel the time-out; call      *)
(* on_complete.  The executor calls on_expiration after it, if it won.     *)
(*                                                                         *)
(* Variables: shared                                                       *)
(*   completed    operations that somebody has completed                   *)
(*   holder       who has an operation's lock                              *)
(*   callbacks    how often on_complete was called for an operation        *)
(*   expirations  operations for which on_expiration was called            *)
(*   lists        the operations in the list of each key                   *)
(*   timer        operations in the timer                                  *)
(*   queue        expired operations that the executor has not yet taken   *)
(*   estimate     Kafka's estimated total operations                       *)
(*   events       how often each key's condition was raised                *)
(*   begun        operations 1..begun were handed in                       *)
(* Variables: local to a thread, 0 or empty when it does not need them     *)
(*   pc, operation, key; keysLeft (to insert in, to sweep); toTry (to      *)
(*   walk); estimateRead and sizeRead (the reaper's)                       *)
(* Variables: observers, no part of the purgatory                          *)
(*   lost         counts that fell between the last reset's read of the    *)
(*                timer's size and its write                               *)
(*   overlooked   operations in the executor, expired and not decided,     *)
(*                when the last reset read the timer's size                *)
(*                                                                         *)
(* Every access to shared memory is a step of its own, with these          *)
(* exceptions, all of them harmless.  Taking a lock is one step with the   *)
(* first access under it, releasing it with the last.  A condition never   *)
(* becomes false again, so finding it true and setting `completed` is one  *)
(* step; nor does `completed`, so finding it set and acting on it is one.  *)
(* Only the reaper sees whether an operation is between timer and queue.   *)
(*                                                                         *)
(* Left out.  A walk sees the list as it was at its start: it may miss     *)
(* more than Kafka's iterator does.  A list is swept in one step, coarser  *)
(* than Kafka.  Who completes an operation that is not in the timer does   *)
(* not look for a time-out there.  No operation is watched twice, no key   *)
(* is given twice, empty lists stay, delays are positive, callbacks do not *)
(* throw.  Which operation is due is left to chance, and so is the order   *)
(* of keys and of the queue.                                               *)
(*                                                                         *)
(* Features (choices; the released order has none of them)                 *)
(*   "all-keys"       an operation needs the events of all its keys        *)
(*   "no-time-outs"   nothing ever becomes due                             *)
(*   "cancel-for-key" completers may also cancel a key's operations        *)
(*   "amortised"      a purge is due when more is stale than half of what  *)
(*                    the timer holds, too                                 *)
(*   "sequential"     no thread begins before all others have finished     *)
(*   "drained"        the purge test waits until the executor has run all  *)
(*   "count-first"    rejected: count before the first insertion           *)
(*   "subtract"       rejected: the reset subtracts what the test has seen *)
(*   "size-first"     rejected: with "subtract", reads the timer's size    *)
(*                    before the estimate                                  *)
(*   "arm-first"      rejected: timer first, then count, then insert       *)
(*   "owed"           rejected: for the timer's size, take all that the    *)
(*                    timer and the executor still owe                     *)
(* Defects                                                                 *)
(*   "no-second-try"    no try after the insertions                        *)
(*   "early-second-try" the second try precedes the last insertion         *)
(*   "test-then-set"    the executor reads `completed`, then sets it, and  *)
(*                      takes no lock                                      *)
(*   "no-second-look"   no look at `completed` after the timer add         *)
(*   "sweep-takes-all"  a sweep takes live operations too                  *)
(*   "expires-anyway"   on_expiration is called even if others completed   *)
(*   "no-callback"      who completes an operation does not call           *)
(*                      on_complete                                        *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  \* @type: Set(Str);
  Callers,
  \* @type: Set(Str);
  Completers,
  \* @type: Set(Str);
  Keys,
  \* operations are 1..OperationCount, handed in in this order
  \* @type: Int;
  OperationCount,
  \* an operation can complete when a key (all keys) has had so many events
  \* @type: Int -> Int;
  Threshold,
  \* events per key
  \* @type: Int;
  MaxEvents,
  \* @type: Int;
  PurgeInterval,
  \* @type: Set(Str);
  Features,
  \* @type: Set(Str);
  Defects

VARIABLES
  \* @type: Set(Int);
  completed,
  \* @type: Int -> Str;
  holder,
  \* @type: Int -> Int;
  callbacks,
  \* @type: Set(Int);
  expirations,
  \* @type: Str -> Set(Int);
  lists,
  \* @type: Set(Int);
  timer,
  \* @type: Set(Int);
  queue,
  \* @type: Int;
  estimate,
  \* @type: Str -> Int;
  events,
  \* @type: Int;
  begun,
  \* @type: Str -> Str;
  pc,
  \* @type: Str -> Int;
  operation,
  \* @type: Str -> Str;
  key,
  \* @type: Str -> Set(Str);
  keysLeft,
  \* @type: Str -> Set(Int);
  toTry,
  \* @type: Int;
  estimateRead,
  \* @type: Int;
  sizeRead,
  \* @type: Int;
  lost,
  \* @type: Int;
  overlooked

\* Groups of variables, for what a step leaves unchanged.
outcomes == <<callbacks, expirations>>
decisions == <<completed, holder, callbacks, expirations>>
store == <<lists, timer, queue, estimate>>
world == <<events, begun>>
walks == <<key, toTry>>
locals == <<operation, keysLeft, key, toTry>>
\* @type: () => <<Int, Int, Int, Int>>;
purges == <<estimateRead, sizeRead, lost, overlooked>>
vars == <<decisions, store, world, pc, locals, purges>>

Operations == 1..OperationCount
Workers == Callers \union Completers \union {"executor"}
Threads == Workers \union {"reaper"}

\* Values for Threshold: the first and third operation need one event, the second two.
Alternating == [o \in Operations |-> IF o % 2 = 1 THEN 1 ELSE 2]
\* The event that completes an operation never comes.
OutOfReach == [o \in Operations |-> MaxEvents + 1]

Condition(o) == IF "all-keys" \in Features
                THEN \A k \in Keys : events[k] >= Threshold[o]
                ELSE \E k \in Keys : events[k] >= Threshold[o]
Idle(t) == pc[t] = "idle"
Undecided == IF pc["executor"] = "decide" THEN 1 ELSE 0
InExecutor == Cardinality(queue) + Undecided
Pending == Cardinality(timer) + InExecutor
Size == IF "owed" \in Features THEN Pending ELSE Cardinality(timer)

Init ==
  /\ completed = {}
  /\ holder = [o \in Operations |-> "nobody"]
  /\ callbacks = [o \in Operations |-> 0]
  /\ expirations = {}
  /\ lists = [k \in Keys |-> {}]
  /\ timer = {}
  /\ queue = {}
  /\ estimate = 0
  /\ events = [k \in Keys |-> 0]
  /\ begun = 0
  /\ pc = [t \in Threads |-> "idle"]
  /\ operation = [t \in Workers |-> 0]
  /\ key = [x \in Completers |-> "none"]
  /\ keysLeft = [t \in Callers \union {"reaper"} |-> {}]
  /\ toTry = [x \in Completers |-> {}]
  /\ estimateRead = 0
  /\ sizeRead = 0
  /\ lost = 0
  /\ overlooked = 0

-----------------------------------------------------------------------------
(* What the threads have in common                                         *)

Go(t, label) == pc' = [pc EXCEPT ![t] = label]
MayBegin(t) == /\ Idle(t)
               /\ "sequential" \in Features => \A u \in Threads : Idle(u)

Take(o, t) == holder' = [holder EXCEPT ![o] = t]
Release(o, t) == holder' = [holder EXCEPT ![o] = IF @ = t THEN "nobody" ELSE @]

\* Thread t completes operation o, whose lock it has.
Complete(t, o) == completed' = completed \union {o} /\ Go(t, "cancel")

\* @says self: cancels the time-out of operation {operation[self]}
CancelTimeOut(t) ==
  /\ pc[t] = "cancel"
  /\ timer' = timer \ {operation[t]}
  /\ Go(t, "callback")
  /\ UNCHANGED <<decisions, lists, queue, estimate, world, locals, purges>>

AfterCallback(t) == IF t \in Callers THEN "idle"
                    ELSE IF t \in Completers THEN "drop" ELSE "expiration"

\* @says self: calls on_complete of operation {operation[self]}
CallOnComplete(t) ==
  /\ pc[t] = "callback"
  /\ callbacks' = IF "no-callback" \in Defects THEN callbacks
                  ELSE [callbacks EXCEPT ![operation[t]] = @ + 1]
  /\ Release(operation[t], t)
  /\ operation' = [operation EXCEPT ![t] = IF t \in Callers THEN 0 ELSE @]
  /\ Go(t, AfterCallback(t))
  /\ UNCHANGED <<completed, expirations, store, world, walks, keysLeft, purges>>

-----------------------------------------------------------------------------
(* Callers: try_complete_else_watch                                        *)

FirstTry(c) ==
  /\ MayBegin(c)
  /\ begun < OperationCount
  /\ begun' = begun + 1
  /\ operation' = [operation EXCEPT ![c] = begun + 1]
  /\ Take(begun + 1, c)
  /\ UNCHANGED <<outcomes, store, events, walks, purges>>

AfterFirstTry == IF "arm-first" \in Features THEN "add"
                 ELSE IF "count-first" \in Features THEN "count" ELSE "insert"

\* @says self: tries operation {operation'[self]}: not yet, watches it
FirstTryFails(c) ==
  /\ FirstTry(c)
  /\ ~Condition(begun + 1)
  /\ keysLeft' = [keysLeft EXCEPT ![c] = Keys]
  /\ Go(c, AfterFirstTry)
  /\ UNCHANGED completed

\* @says self: tries operation {operation'[self]}: completes it
FirstTryCompletes(c) ==
  /\ FirstTry(c)
  /\ Condition(begun + 1)
  /\ Complete(c, begun + 1)
  /\ UNCHANGED keysLeft

SecondTryIsNext(left) ==
  IF left = {} THEN Defects \cap {"no-second-try", "early-second-try"} = {}
  ELSE Cardinality(left) = 1 /\ "early-second-try" \in Defects

CountsFirst == Features \cap {"count-first", "arm-first"} # {}

\* Watching goes on at `label`; its end releases the lock.
Watch(c, label) ==
  /\ Go(c, label)
  /\ IF label \in {"look", "idle"} THEN Release(operation[c], c) ELSE UNCHANGED holder
  /\ operation' = [operation EXCEPT ![c] = IF label = "idle" THEN 0 ELSE @]

AfterWatching == IF "arm-first" \in Features THEN "idle" ELSE "look"

\* @says self: lists operation {operation[self]}, keys left {keysLeft'[self]}
Insert(c) ==
  /\ pc[c] = "insert"
  /\ \E k \in keysLeft[c] :
       LET left == keysLeft[c] \ {k} IN
       /\ lists' = [lists EXCEPT ![k] = @ \union {operation[c]}]
       /\ keysLeft' = [keysLeft EXCEPT ![c] = left]
       /\ Watch(c, IF left = {} /\ ~CountsFirst THEN "count"
                   ELSE IF SecondTryIsNext(left) THEN "try again"
                   ELSE IF left = {} THEN AfterWatching ELSE "insert")
  /\ UNCHANGED <<completed, outcomes, timer, queue, estimate, world, walks, purges>>

\* @says self: counts operation {operation[self]}
Count(c) ==
  /\ pc[c] = "count"
  /\ estimate' = estimate + 1
  /\ lost' = IF pc["reaper"] = "reset" /\ "subtract" \notin Features THEN lost + 1 ELSE lost
  /\ Watch(c, IF CountsFirst THEN "insert"
              ELSE IF SecondTryIsNext({}) THEN "try again" ELSE AfterWatching)
  /\ UNCHANGED <<completed, outcomes, lists, timer, queue, world, walks, keysLeft, estimateRead,
                 sizeRead, overlooked>>

\* @says self: tries operation {operation[self]} again: not yet
SecondTryFails(c) ==
  /\ pc[c] = "try again"
  /\ ~Condition(operation[c])
  /\ Watch(c, IF keysLeft[c] = {} THEN AfterWatching ELSE "insert")
  /\ UNCHANGED <<completed, outcomes, store, world, walks, keysLeft, purges>>

\* @says self: tries operation {operation[self]} again: completes it
SecondTryCompletes(c) ==
  /\ pc[c] = "try again"
  /\ Condition(operation[c])
  /\ Complete(c, operation[c])
  /\ UNCHANGED <<holder, outcomes, store, world, locals, purges>>

Return(c) == Go(c, "idle") /\ operation' = [operation EXCEPT ![c] = 0]

\* @says self: sees operation {operation[self]} not completed
LookFindsLive(c) ==
  /\ pc[c] = "look"
  /\ operation[c] \notin completed
  /\ Go(c, "add")
  /\ UNCHANGED <<decisions, store, world, locals, purges>>

\* @says self: sees operation {operation[self]} completed, returns
LookFindsCompleted(c) ==
  /\ pc[c] = "look"
  /\ operation[c] \in completed
  /\ Return(c)
  /\ UNCHANGED <<decisions, store, world, walks, keysLeft, purges>>

\* @says self: adds operation {operation[self]} to the timer
AddToTimer(c) ==
  /\ pc[c] = "add"
  /\ timer' = timer \union {operation[c]}
  /\ IF "arm-first" \in Features THEN Go(c, "count") /\ UNCHANGED operation
     ELSE IF "no-second-look" \in Defects THEN Return(c)
     ELSE Go(c, "look again") /\ UNCHANGED operation
  /\ UNCHANGED <<decisions, lists, queue, estimate, world, walks, keysLeft, purges>>

\* @says self: looks again at {operation[self]}, leaves timer at {timer'}
LookAgain(c) ==
  /\ pc[c] = "look again"
  /\ timer' = IF operation[c] \in completed THEN timer \ {operation[c]} ELSE timer
  /\ Return(c)
  /\ UNCHANGED <<decisions, lists, queue, estimate, world, walks, keysLeft, purges>>

-----------------------------------------------------------------------------
(* Completers: an event with check_and_complete, or cancel_for_key         *)

\* @says self: event {events'[key'[self]]} on {key'[self]} arrives
Raise(x) ==
  /\ MayBegin(x)
  /\ \E k \in Keys :
       /\ events[k] < MaxEvents
       /\ events' = [events EXCEPT ![k] = @ + 1]
       /\ key' = [key EXCEPT ![x] = k]
  /\ Go(x, "snapshot")
  /\ UNCHANGED <<decisions, store, begun, operation, toTry, keysLeft, purges>>

\* The walk or cancellation goes on with the operations `left`, or ends.
WalkOn(x, label, left) ==
  /\ Go(x, IF left = {} THEN "idle" ELSE label)
  /\ toTry' = [toTry EXCEPT ![x] = left]
  /\ key' = [key EXCEPT ![x] = IF left = {} THEN "none" ELSE @]
First(x) == {o \in toTry[x] : \A p \in toTry[x] : o <= p}

\* @says self: begins to walk the list of {key[self]}: {toTry'[self]}
Snapshot(x) ==
  /\ pc[x] = "snapshot"
  /\ WalkOn(x, "walk", lists[key[x]])
  /\ UNCHANGED <<decisions, store, world, operation, keysLeft, purges>>

\* @says self: drops one, {key[self]} now lists {lists'[key[self]]}
DropCompleted(x) ==
  /\ pc[x] = "walk"
  /\ \E o \in First(x) \cap completed :
       /\ lists' = [lists EXCEPT ![key[x]] = @ \ {o}]
       /\ WalkOn(x, "walk", toTry[x] \ {o})
  /\ UNCHANGED <<decisions, timer, queue, estimate, world, operation, keysLeft, purges>>

\* @says self: sees operation {operation'[self]} not completed
FindLive(x) ==
  /\ pc[x] = "walk"
  /\ \E o \in First(x) \ completed : operation' = [operation EXCEPT ![x] = o]
  /\ Go(x, "try")
  /\ UNCHANGED <<decisions, store, world, walks, keysLeft, purges>>

\* @says self: tries operation {operation[self]}: not done here
TryFails(x) ==
  /\ pc[x] = "try"
  /\ holder[operation[x]] = "nobody"
  /\ operation[x] \in completed \/ ~Condition(operation[x])
  /\ WalkOn(x, "walk", toTry[x] \ {operation[x]})
  /\ operation' = [operation EXCEPT ![x] = 0]
  /\ UNCHANGED <<decisions, store, world, keysLeft, purges>>

\* @says self: tries operation {operation[self]}: completes it
TryCompletes(x) ==
  /\ pc[x] = "try"
  /\ holder[operation[x]] = "nobody"
  /\ operation[x] \notin completed /\ Condition(operation[x])
  /\ Take(operation[x], x)
  /\ Complete(x, operation[x])
  /\ UNCHANGED <<outcomes, store, world, locals, purges>>

\* @says self: drops operation {operation[self]} from the list of {key[self]}
Drop(x) ==
  /\ pc[x] = "drop"
  /\ lists' = [lists EXCEPT ![key[x]] = @ \ {operation[x]}]
  /\ WalkOn(x, "walk", toTry[x] \ {operation[x]})
  /\ operation' = [operation EXCEPT ![x] = 0]
  /\ UNCHANGED <<decisions, timer, queue, estimate, world, keysLeft, purges>>

\* @says self: cancel_for_key of {key'[self]}: detaches {toTry'[self]}
CancelForKey(x) ==
  /\ "cancel-for-key" \in Features
  /\ MayBegin(x)
  /\ \E k \in Keys :
       /\ lists[k] # {}
       /\ lists' = [lists EXCEPT ![k] = {}]
       /\ toTry' = [toTry EXCEPT ![x] = lists[k]]
       /\ key' = [key EXCEPT ![x] = k]
  /\ Go(x, "withdraw")
  /\ UNCHANGED <<decisions, timer, queue, estimate, world, operation, keysLeft, purges>>

\* @says self: cancels a time-out, leaves timer at {timer'}
Withdraw(x) ==
  /\ pc[x] = "withdraw"
  /\ \E o \in First(x) :
       /\ timer' = timer \ {o}
       /\ WalkOn(x, "withdraw", toTry[x] \ {o})
  /\ UNCHANGED <<decisions, lists, queue, estimate, world, operation, keysLeft, purges>>

-----------------------------------------------------------------------------
(* The reaper                                                              *)

\* @says reaper: one is due: timer {timer'}, executor queue {queue'}
Advance ==
  /\ "no-time-outs" \notin Features
  /\ MayBegin("reaper")
  /\ \E o \in timer : timer' = timer \ {o} /\ queue' = queue \union {o}
  /\ UNCHANGED <<decisions, lists, estimate, world, pc, locals, purges>>

Before(label) ==
  /\ pc["reaper"] = label
  /\ UNCHANGED <<decisions, timer, queue, world, operation, walks>>

BeginsPass ==
  /\ Before("idle")
  /\ MayBegin("reaper")
  /\ "drained" \in Features => queue = {} /\ Idle("executor")
  /\ Go("reaper", "test")
  /\ UNCHANGED <<lists, estimate, keysLeft, lost, overlooked>>

\* @says reaper: purge test: reads estimate {estimateRead'}
ReadEstimate ==
  /\ BeginsPass
  /\ "size-first" \notin Features
  /\ estimateRead' = estimate
  /\ UNCHANGED sizeRead

\* @says reaper: purge test: reads timer size {sizeRead'}
ReadSizeFirst ==
  /\ BeginsPass
  /\ "size-first" \in Features
  /\ sizeRead' = Size
  /\ UNCHANGED estimateRead

\* The two numbers of the purge test, at its second read.
Counted == IF "size-first" \in Features THEN estimate ELSE estimateRead
Found == IF "size-first" \in Features THEN sizeRead ELSE Size
Forget == estimateRead' = 0 /\ sizeRead' = 0

\* How much the test allows beside so many operations in the timer.
IntervalBeside(live) ==
  IF "amortised" \in Features /\ live \div 2 > PurgeInterval THEN live \div 2 ELSE PurgeInterval

\* @says reaper: compares with timer {timer}: no purge
NoPurge ==
  /\ Before("test")
  /\ Counted - Found <= IntervalBeside(Found)
  /\ Forget
  /\ Go("reaper", "idle")
  /\ UNCHANGED <<lists, estimate, keysLeft, lost, overlooked>>

\* @says reaper: compares with timer {timer}: will purge
Purge ==
  /\ Before("test")
  /\ Counted - Found > IntervalBeside(Found)
  /\ IF "subtract" \in Features
     THEN /\ Go("reaper", "reset")
          /\ estimateRead' = Counted /\ sizeRead' = Found
          /\ overlooked' = InExecutor
     ELSE /\ Go("reaper", "read again")
          /\ Forget
          /\ UNCHANGED overlooked
  /\ UNCHANGED <<lists, estimate, keysLeft, lost>>

\* @says reaper: reads the timer's size again: {sizeRead'}
ReadSizeAgain ==
  /\ Before("read again")
  /\ sizeRead' = Size
  /\ overlooked' = InExecutor
  /\ lost' = 0
  /\ Go("reaper", "reset")
  /\ UNCHANGED <<lists, estimate, keysLeft, estimateRead>>

\* @says reaper: resets the estimate: {estimate} becomes {estimate'}
Reset ==
  /\ Before("reset")
  /\ estimate' = IF "subtract" \in Features THEN estimate - (estimateRead - sizeRead)
                 ELSE sizeRead
  /\ Forget
  /\ keysLeft' = [keysLeft EXCEPT !["reaper"] = Keys]
  /\ Go("reaper", "sweep")
  /\ UNCHANGED <<lists, lost, overlooked>>

\* @says reaper: sweeps, keys left {keysLeft'[reaper]}
Sweep ==
  /\ Before("sweep")
  /\ \E k \in keysLeft["reaper"] :
       /\ lists' = [lists EXCEPT ![k] =
            IF "sweep-takes-all" \in Defects THEN {} ELSE @ \ completed]
       /\ keysLeft' = [keysLeft EXCEPT !["reaper"] = @ \ {k}]
       /\ Go("reaper", IF keysLeft["reaper"] = {k} THEN "idle" ELSE "sweep")
  /\ UNCHANGED <<estimate, purges>>

-----------------------------------------------------------------------------
(* The executor                                                            *)

Running(next) ==
  /\ Go("executor", next)
  /\ operation' = [operation EXCEPT !["executor"] = IF next = "idle" THEN 0 ELSE @]
  /\ UNCHANGED <<callbacks, store, world, walks, keysLeft, purges>>

\* @says executor: takes operation {operation'[executor]}
TakeExpired ==
  /\ MayBegin("executor")
  /\ \E o \in queue :
       /\ queue' = queue \ {o}
       /\ operation' = [operation EXCEPT !["executor"] = o]
  /\ Go("executor", "decide")
  /\ UNCHANGED <<decisions, lists, timer, estimate, world, walks, keysLeft, purges>>

CompareAndSwap == "test-then-set" \notin Defects

\* @says executor: finds operation {operation[executor]} completed
ExpiryLoses ==
  /\ pc["executor"] = "decide"
  /\ operation["executor"] \in completed
  /\ Running(IF "expires-anyway" \in Defects THEN "expiration" ELSE "idle")
  /\ UNCHANGED <<completed, holder, expirations>>

\* @says executor: completes operation {operation[executor]}
ExpiryWins ==
  /\ pc["executor"] = "decide"
  /\ operation["executor"] \notin completed
  /\ CompareAndSwap
  /\ holder[operation["executor"]] = "nobody"
  /\ completed' = completed \union {operation["executor"]}
  /\ Take(operation["executor"], "executor")
  /\ Running("callback")
  /\ UNCHANGED expirations

\* @says executor: sees operation {operation[executor]} not completed
ExpiryTests ==
  /\ pc["executor"] = "decide"
  /\ operation["executor"] \notin completed
  /\ ~CompareAndSwap
  /\ Running("set")
  /\ UNCHANGED <<completed, holder, expirations>>

\* @says executor: sets operation {operation[executor]} completed
ExpirySets ==
  /\ pc["executor"] = "set"
  /\ completed' = completed \union {operation["executor"]}
  /\ Running("callback")
  /\ UNCHANGED <<holder, expirations>>

\* @says executor: calls on_expiration of operation {operation[executor]}
CallOnExpiration ==
  /\ pc["executor"] = "expiration"
  /\ expirations' = expirations \union {operation["executor"]}
  /\ Running("idle")
  /\ UNCHANGED <<completed, holder>>

-----------------------------------------------------------------------------
CallerStep(c) ==
  \/ FirstTryFails(c) \/ FirstTryCompletes(c) \/ Insert(c) \/ Count(c)
  \/ SecondTryFails(c) \/ SecondTryCompletes(c) \/ LookFindsLive(c)
  \/ LookFindsCompleted(c) \/ AddToTimer(c) \/ LookAgain(c)
CompleterStep(x) ==
  \/ Raise(x) \/ Snapshot(x) \/ DropCompleted(x) \/ FindLive(x) \/ TryFails(x)
  \/ TryCompletes(x) \/ Drop(x) \/ CancelForKey(x) \/ Withdraw(x)
WorkerStep(t) == CancelTimeOut(t) \/ CallOnComplete(t)
ReaperStep ==
  \/ Advance \/ ReadEstimate \/ ReadSizeFirst \/ NoPurge \/ Purge \/ ReadSizeAgain
  \/ Reset \/ Sweep
ExecutorStep ==
  \/ TakeExpired \/ ExpiryLoses \/ ExpiryWins \/ ExpiryTests \/ ExpirySets
  \/ CallOnExpiration

Next ==
  \/ \E c \in Callers : CallerStep(c)
  \/ \E x \in Completers : CompleterStep(x)
  \/ \E t \in Workers : WorkerStep(t)
  \/ ReaperStep
  \/ ExecutorStep

Spec == Init /\ [][Next]_vars

\* Whoever has begun goes on.  Nobody has to begin.
FairSpec ==
  /\ Spec
  /\ \A c \in Callers : WF_vars(~Idle(c) /\ (CallerStep(c) \/ WorkerStep(c)))
  /\ \A x \in Completers : WF_vars(~Idle(x) /\ (CompleterStep(x) \/ WorkerStep(x)))

-----------------------------------------------------------------------------
(* Words of the claims                                                     *)

Begun == 1..begun
Quiet == \A t \in Threads : Idle(t)
InCall(o) == \E c \in Callers : operation[c] = o
Watched == UNION {lists[k] : k \in Keys}
Distinct == Cardinality(Watched)
Live == Cardinality(Watched \ completed)
Stale == Cardinality(Watched \cap completed)
\* From the reset until all lists are swept.
Purging == pc["reaper"] \in {"reset", "sweep"}
\* A pass of the reaper that began now would not purge.
NothingToPurge == estimate - Size <= IntervalBeside(Size)

-----------------------------------------------------------------------------
(* Claims that are true                                                    *)

Labels ==
  {"idle", "insert", "count", "try again", "look", "add", "look again", "cancel", "callback",
   "snapshot", "walk", "try", "drop", "withdraw",
   "test", "read again", "reset", "sweep", "decide", "set", "expiration"}

TypeOK ==
  /\ completed \subseteq Operations
  /\ holder \in [Operations -> Threads \union {"nobody"}]
  /\ callbacks \in [Operations -> Nat]
  /\ expirations \subseteq Operations
  /\ lists \in [Keys -> SUBSET Operations]
  /\ timer \subseteq Operations
  /\ queue \subseteq Operations
  /\ estimate \in Int
  /\ events \in [Keys -> 0..MaxEvents]
  /\ begun \in 0..OperationCount
  /\ pc \in [Threads -> Labels]
  /\ operation \in [Workers -> Operations \union {0}]
  /\ key \in [Completers -> Keys \union {"none"}]
  /\ keysLeft \in [Callers \union {"reaper"} -> SUBSET Keys]
  /\ toTry \in [Completers -> SUBSET Operations]
  /\ estimateRead \in Int
  /\ sizeRead \in Nat
  /\ lost \in Nat
  /\ overlooked \in Nat

\* on_complete is called at most once for an operation.
\* Rules: PURGATORY-EXACTLY-ONCE.
CalledAtMostOnce == \A o \in Operations : callbacks[o] <= 1

\* When nothing runs, on_complete was called for the completed operations, once, and for no other.
\* Rules: PURGATORY-EXACTLY-ONCE.
CompletedMeansCalledOnce ==
  Quiet => \A o \in Operations : callbacks[o] = (IF o \in completed THEN 1 ELSE 0)

\* on_expiration comes after on_complete.
\* Rules: PURGATORY-CALLBACK-ORDER.
ExpiredAfterCompleted == \A o \in expirations : callbacks[o] > 0

\* When callers and completers are at rest, no operation that can complete waits for its time-out.
\* Rules: PURGATORY-NOT-LOST, PURGATORY-WATCH-SECOND-TRY.
NoLostCompletion ==
  (\A t \in Callers \union Completers : Idle(t)) => \A o \in Begun : Condition(o) => o \in completed

\* Once its call is over, an operation that is not completed is in the list of each of its keys.
\* Rules: PURGATORY-WATCH-WAITS.
LiveIsWatched ==
  \A o \in Begun : o \in completed \/ InCall(o) \/ \A k \in Keys : o \in lists[k]

\* When nothing runs, no completed operation is left in the timer.
\* Rules: PURGATORY-TIMER-LEFT, PURGATORY-OVERLAPPING-CALLS.
TimerHoldsLiveWhenQuiet == Quiet => timer \cap completed = {}

\* Once its call is over, a watched operation that is not completed has its time-out still to come:
\* in the timer, in the executor's queue, or being decided.
\* Rules: PURGATORY-TIME-OUT, PURGATORY-COUNTS-WHEN-QUIET.
TimeOutIsOwed ==
  \A o \in Watched \ completed :
    InCall(o) \/ o \in timer \union queue \/ operation["executor"] = o

\* How many operations the estimate may hide.  Each caller may hide two: one that was counted, wiped
\* by a reset and only then added to the timer, and the next, not counted yet.
Hidden == 2 * Cardinality(Callers) + lost + overlooked

\* What the estimate is worth outside a purge.
\* Rules: PURGATORY-ESTIMATE-PROPOSAL, PURGATORY-COUNTS-WHEN-QUIET.
EstimateBound == ~Purging => Distinct <= estimate + Hidden

\* The live operations keep within the bound during the sweep as well.
LiveBound == pc["reaper"] # "reset" => Live <= estimate + Hidden

\* When nothing runs, the difference that the reaper tests is at least the number of stale
\* operations.  This needs one thread at a time and expiries run before the purge test.
\* Rules: PURGATORY-PURGE-START, PURGATORY-STALE-OPERATIONS.
DifferenceCoversStale == Quiet => estimate - Size >= Stale

\* When nothing runs and the reaper sees nothing to purge, at most PurgeInterval operations are
\* stale, or half of those in the timer where that is more and purges are amortised.  This, too, needs one thread at a time and expiries run before the purge test.
\* Rules: PURGATORY-STALE-OPERATIONS.
StaleIsBounded == (Quiet /\ NothingToPurge) => Stale <= IntervalBeside(Size)

\* What can complete does, without time-outs, if whoever has begun goes on.
\* Rules: PURGATORY-NOT-LOST.
CompletableCompletes ==
  \A o \in Operations : (o <= begun /\ Condition(o)) ~> callbacks[o] = 1

-----------------------------------------------------------------------------
(* False, and why                                                          *)

\* When nothing runs, the estimate is at least the number of watched operations.  A reset wipes an
\* operation that is counted and is not yet, or no longer, in the timer.
DistinctIsCountedWhenQuiet == Quiet => Distinct <= estimate

\* At every instant, the estimate is at least the number of live operations.  An operation is
\* inserted before it is counted; and see above.
LiveIsCounted == Live <= estimate

\* At every instant, the estimate is at least the number of operations whose time-out is owed.  What
\* a reset wiped is added to the timer afterwards.
PendingIsCounted == Pending <= estimate

\* The timer's size is the number of operations whose time-out is owed.  An expired operation waits
\* in the executor, where the timer's size does not see it.
TimerSizeIsPending == Cardinality(timer) = Pending

\* At every instant, the timer holds no completed operation.  Whoever completes an operation takes
\* it out of the timer one step later.
TimerHoldsLive == timer \cap completed = {}

\* A reset loses no count.  Callers count between its read of the timer's size and its write.
NoCountIsLost == lost = 0

\* The bound of the estimate holds during a purge as well.  Between the reset and the sweep the
\* completed operations are no longer counted and still there.
EstimateBoundAlways == Distinct <= estimate + Hidden

\* The bound of the estimate could be smaller by one.
EstimateBoundMinusOne == ~Purging => Distinct <= estimate + Hidden - 1

\* The bound of the live operations could be smaller by one.
LiveBoundMinusOne == pc["reaper"] # "reset" => Live <= estimate + Hidden - 1

\* The bound of the estimate does not need the counts lost in a reset.
EstimateBoundWithoutLost == ~Purging => Distinct <= estimate + Hidden - lost

\* The bound of the estimate does not need the operations in the executor.
EstimateBoundWithoutExecutor == ~Purging => Distinct <= estimate + Hidden - overlooked

-----------------------------------------------------------------------------
(* Witnesses: the situations that the true claims speak of do occur        *)

\* An operation that was watched is completed, and nothing runs.
NeverCompletedWhenQuiet == ~(Quiet /\ Stale > 0)

\* on_expiration has been called.
NeverExpired == expirations = {}

\* Callers and completers have returned, and a watched operation can complete.
NeverCompletable ==
  ~((\A t \in Callers \union Completers : Idle(t)) /\ \E o \in Watched : Condition(o))

\* An operation whose call is over is live, and nothing runs.
NeverLiveWhenQuiet == ~(Quiet /\ Live > 0)

\* An operation in the timer is completed while its caller is about to look again.
NeverCompletedBeforeSecondLook ==
  ~(\E c \in Callers : pc[c] = "look again" /\ operation[c] \in timer \cap completed)

\* A live operation waits in the executor's queue, another in the timer.
NeverInTimerAndInQueue == ~(timer \ completed # {} /\ queue \ completed # {})

\* A purge is over that overlooked an operation in the executor and lost a count.
NeverLostAndOverlooked == ~(~Purging /\ lost > 0 /\ overlooked > 0)

\* A sweep finds a completed and a live operation.
NeverSwept == ~(pc["reaper"] = "sweep" /\ Stale > 0 /\ Live > 0)

\* Nothing runs, there is nothing to purge, and yet there is a stale operation.
NeverStaleWhenQuiet == ~(Quiet /\ NothingToPurge /\ Stale > 0)
=============================================================================
