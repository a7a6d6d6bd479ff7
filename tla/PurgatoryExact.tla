---------------------------- MODULE PurgatoryExact ----------------------------
(***************************************************************************)
(* The purgatory with the exact accounting: how many entries are stale is  *)
(* counted, not estimated.                                                 *)
(*                                                                         *)
(* Theory of operation                                                     *)
(*                                                                         *)
(* A delayed operation waits in the watcher list of each of its keys until *)
(* its condition holds or its time-out is due. Whoever first sets its      *)
(* completed bit has completed it and runs its callback. Its entries in    *)
(* the lists of other keys stay behind: they are stale, and a purge takes  *)
(* them out when there are too many.                                       *)
(*                                                                         *)
(* Shared memory:                                                          *)
(*   completed, entries  the two halves of one atomic word per operation:  *)
(*          the completed bit, and how many list entries the operation has *)
(*          or has been promised. Who completes it takes the number out.   *)
(*   lists  per key, how many entries each operation has in that list      *)
(*   timer, queue  operations in the timer, and operations whose time-out  *)
(*          is due and that wait for the executor                          *)
(*   stale  one signed number for the whole purgatory                      *)
(*                                                                         *)
(* The rule: each thread keeps a balance of its own. Completing an         *)
(* operation adds the entries taken out of its word; taking an entry of a  *)
(* completed operation out of a list subtracts one. A thread posts its     *)
(* balance, that is adds it to `stale`, before it runs a callback and      *)
(* before its call returns. Nothing is ever reset. So at every instant     *)
(*                                                                         *)
(*   stale + all balances = entries of completed operations                *)
(*                                                                         *)
(* and a purge starts when stale exceeds the purge interval. Any number of *)
(* purges may run. A walk drops its own entry before it posts, so that a   *)
(* one-key operation that it completes costs no addition to `stale`.       *)
(*                                                                         *)
(* The calls, each step being one access to shared memory:                 *)
(*   watch    try; arm (refused if completed: else into the timer, and     *)
(*            its entries are promised in the word); append to each list;  *)
(*            try again. Who sees that it is completed may stop appending: *)
(*            the entries that will not come are subtracted                *)
(*   check    the key's event happens; copy the key's list; per entry of   *)
(*            the copy: try, and if the operation is completed drop the    *)
(*            entry from the list                                          *)
(*   complete (the end of every try, expiry or force_complete that wins    *)
(*            the word) post the balance; leave the timer; callback        *)
(*   cancel   detach the key's list; per operation of it: a completed one  *)
(*            is subtracted, another loses these entries from its word,    *)
(*            and its time-out with the last of them                       *)
(*   purge    per list: take out the entries of completed operations       *)
(*                                                                         *)
(* `pending` counts the timer, the executor's queue and the expiry being   *)
(* decided; estimate = pending + max(0, stale).                            *)
(*                                                                         *)
(* What is abstracted away, and why that is sound:                         *)
(* - A list is a bag: a walk takes its copy in any order, which includes   *)
(*   the order of insertion. Lists are not dropped from the map of keys    *)
(*   (WatcherListRemoval is about that).                                   *)
(* - A try looks at the condition and swaps the word in one step. As long  *)
(*   as conditions never fall, looking earlier would see nothing else;     *)
(*   "evaluate-then-win" takes the two apart.                              *)
(* - Arming, and cancelling one operation, touch word and timer in one     *)
(*   step. "arm-in-two-steps", "cancel-in-two-steps" with "operation-lock" *)
(*   show that a lock between these two, and nobody else, is enough.       *)
(* - A purge handles a list in one step, under the list's lock;            *)
(*   "sweep-by-operation" looks at each operation's word on its own.       *)
(* - A call that raises at its end differs from one that returns in        *)
(*   nothing that another thread can see: raising is not modelled, what    *)
(*   the call has done before is.                                          *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  \* Threads that watch operations.
  \* @type: Set(Str);
  Callers,
  \* Threads in which events happen, and which then check the event's key.
  \* @type: Set(Str);
  Completers,
  \* Threads that cancel keys.
  \* @type: Set(Str);
  Cancellers,
  \* Threads that complete operations by force.
  \* @type: Set(Str);
  Forcers,
  \* Threads that purge.
  \* @type: Set(Str);
  Purgers,
  \* Numbers from 1.
  \* @type: Set(Int);
  Operations,
  \* @type: Set(Str);
  Keys,
  \* Operations that need two events of a key; the others need one.
  \* @type: Set(Int);
  Demanding,
  \* Operations whose callback raises.
  \* @type: Set(Int);
  Throwing,
  \* How often the event of one key happens, at most.
  \* @type: Int;
  MaxEvents,
  \* How often one operation is watched, at most: 2 to have it watched again.
  \* @type: Int;
  MaxCalls,
  \* How often each key stands in one call: 2 for duplicate keys.
  \* @type: Int;
  Duplicates,
  \* A purge is due when `stale` is above it, or above half of the live entries: see `Features`.
  \* @type: Int;
  PurgeInterval,
  \* Legal choices and things that may happen, {} for none:
  \*   "time-outs"             time-outs become due
  \*   "evaluate-then-win"     a try looks at the condition, then swaps the word, in two steps
  \*   "conditions-fall"       the event count of a key may go down again
  \*   "throwing-try"          the try of an operation raises, once at most per operation
  \*   "re-entrant-check"      the callback of operation 1 has an event happen and checks its key
  \*   "re-entrant-watch"      the callback of operation 1 watches an operation
  \*   "re-entrant-cancel"     the callback of operation 1 cancels a key
  \*   "amortised"             a purge is due when more is stale than half of what lives, too
  \*   "post-early"            balances may be posted at any moment
  \*   "sweep-by-operation"    a purge looks at one operation of a list at a time
  \*   "walk-looks-again"      a walk drops what it has tried in vain and somebody completed meanwhile
  \*   "cancel-by-entry"       cancelling a key settles each place in its list by itself
  \*   "arm-in-two-steps"      into the timer, then the promise; out again if that is refused
  \*   "cancel-in-two-steps"   entries out of the word, then the time-out if none are left
  \*   "operation-lock"        the two above exclude each other, per operation
  \*   "timer-last"            into the timer only at the end of the call, then look again (Kafka)
  \*   "stops-inserting"       who sees its operation completed appends it to no further list
  \*   "insert-fails"          appending may raise, once at most per operation
  \* @type: Set(Str);
  Features,
  \* Seeded bugs, {} for none:
  \*   "test-then-set"           completed is set by whoever has seen it unset
  \*   "no-second-try"           a caller does not try again after it has inserted
  \*   "list-before-event"       a completer copies the list before the event has happened
  \*   "promise-after-insert"    entries are added to the word after they are in the lists
  \*   "forgets-to-give-back"    who stops inserting does not subtract the entries that will not come
  \*   "fails-without-giving-back"  an operation whose appending raises keeps the number in its word
  \*   "winner-counts-lists"     the winner counts the entries that it finds in the lists
  \*   "arm-ignores-completed"   arming does not look at the completed bit
  \*   "winner-stays-in-timer"   the winner does not leave the timer
  \*   "pending-is-timer-size"   an expired operation is no longer pending
  \*   "pending-omits-running"   an operation is no longer pending when the executor has taken it
  \*   "cancel-takes-time-out"   cancelling any key takes the time-out
  \*   "cancel-keeps-entries"    cancelling a key does not lower the number in the word
  \*   "cancel-forgets-to-subtract"  cancelling a key does not count the stale entries it took
  \*   "purge-resets"            a purge sets stale to 0 and subtracts nothing
  \*   "purge-counts-first"      a purge counts a list's stale entries, then removes them
  \*   "purge-threshold"         a purge is due one entry too late
  \*   "callback-before-post"    the callback runs before the balance is posted; if it raises, never
  \*   "walk-ends-at-throw"      a walk ends when a try or a callback raises
  \*   "throwing-try-drops"      a walk drops the operation whose try has raised
  \*   "throwing-try-disarms"    a raising second try takes the operation out of the timer
  \*   "executor-ends-at-throw"  a raising callback ends the executor
  \*   "shared-buffer"           the call of a callback keeps its list where the walk around it has its copy
  \* @type: Set(Str);
  Defects

(* The one pseudo-thread: what the callback of operation 1 does in the     *)
(* thread that runs it, which waits meanwhile. So a call stack of depth    *)
(* two needs no stack, and has a column of its own in a trace.             *)
Callback == "callback"
Executor == "executor"
Watchers == Callers \union {Callback}
Walkers == Completers \union {Callback}
Detachers == Cancellers \union {Callback}
Threads == Callers \union Completers \union Cancellers \union Forcers \union Purgers
             \union {Executor, Callback}

NoOperation == 0
NoKey == "none"
\* @type: Int -> Int;
Nothing == [o \in Operations |-> 0]

ASSUME /\ Operations \subseteq Nat \ {NoOperation}
       /\ NoKey \notin Keys
       /\ "conditions-fall" \in Features => "evaluate-then-win" \in Features

VARIABLES
  \* The number of events of a key.
  \* @type: Str -> Int;
  events,
  \* @type: Int -> Bool;
  completed,
  \* @type: Int -> Int;
  entries,
  \* How often the callback has run.
  \* @type: Int -> Int;
  callbacks,
  \* @type: Set(Int);
  timer,
  \* @type: Set(Int);
  queue,
  \* @type: Str -> (Int -> Int);
  lists,
  \* @type: Int;
  stale,
  \* How often an operation has been given to watch.
  \* @type: Int -> Int;
  calls,
  \* Has a try of this operation raised, or its appending to a list?
  \* @type: Int -> Bool;
  raised,
  \* The step that a thread does next.
  \* @type: Str -> Str;
  pc,
  \* The operation that a thread is busy with.
  \* @type: Str -> Int;
  operation,
  \* The key that a thread checks or cancels.
  \* @type: Str -> Str;
  key,
  \* What a thread has still to add to `stale`.
  \* @type: Str -> Int;
  balance,
  \* Entries that a watching thread has still to insert.
  \* @type: Str -> (Str -> Int);
  promised,
  \* The copy of the list that is being walked, or the list that has been detached.
  \* @type: Str -> (Int -> Int);
  batch,
  \* What a purging thread has still to look at.
  \* @type: Str -> Set(<<Str, Int>>);
  unswept

words == <<completed, entries>>
\* @type: () => <<Set(Int), Set(Int)>>;
timing == <<timer, queue>>
history == <<callbacks, calls, raised>>
locals == <<operation, key, promised, batch, unswept>>
vars == <<events, completed, entries, callbacks, timer, queue, lists, stale, calls, raised,
          pc, operation, key, balance, promised, batch, unswept>>

Init ==
  /\ events = [k \in Keys |-> 0]
  /\ completed = [o \in Operations |-> FALSE]
  /\ entries = Nothing
  /\ callbacks = Nothing
  /\ timer = {}
  /\ queue = {}
  /\ lists = [k \in Keys |-> Nothing]
  /\ stale = 0
  /\ calls = Nothing
  /\ raised = [o \in Operations |-> FALSE]
  /\ pc = [t \in Threads |-> "idle"]
  /\ operation = [t \in Threads |-> NoOperation]
  /\ key = [t \in Threads |-> NoKey]
  /\ balance = [t \in Threads |-> 0]
  /\ promised = [t \in Watchers |-> [k \in Keys |-> 0]]
  /\ batch = [t \in Walkers \union Detachers |-> Nothing]
  /\ unswept = [t \in Purgers |-> {}]

-----------------------------------------------------------------------------
(* Words used below *)

Threshold(o) == IF o \in Demanding THEN 2 ELSE 1
Condition(o) == \E k \in Keys : events[k] >= Threshold(o)

EntriesPerCall == Cardinality(Keys) * Duplicates
Largest == EntriesPerCall * MaxCalls

InLists(o) == Cardinality({<<k, i>> \in Keys \X (1..Largest) : i <= lists[k][o]})

(* A thread begins a call when it is in none; the pseudo-thread when the   *)
(* callback has got the word and may do such a thing.                      *)
MayBegin(t, feature) ==
  IF t = Callback THEN pc[t] = "begin" /\ feature \in Features ELSE pc[t] = "idle"

Goto(t, label) == pc' = [pc EXCEPT ![t] = label]

Return(t) ==
  /\ Goto(t, "idle")
  /\ operation' = [operation EXCEPT ![t] = NoOperation]
  /\ key' = [key EXCEPT ![t] = NoKey]

(* The call is at its end: what is owed is posted first.                   *)
Finish(t, owed) ==
  IF owed = 0 THEN Return(t)
  ELSE /\ Goto(t, "settle")
       /\ operation' = [operation EXCEPT ![t] = NoOperation]
       /\ UNCHANGED key

InWalk(t) == t \in Walkers /\ key[t] # NoKey

(* An operation is dealt with: for a walk follows the next entry.          *)
GoOn(t, owed) ==
  IF InWalk(t) /\ batch[t] # Nothing
  THEN /\ Goto(t, "walk")
       /\ operation' = [operation EXCEPT ![t] = NoOperation]
       /\ UNCHANGED key
  ELSE Finish(t, owed)

(* From the win to the callback: what is owed is posted first.             *)
TowardsCallback(owed) ==
  IF owed = 0 \/ "callback-before-post" \in Defects THEN "call-back" ELSE "post"

(* The compare-and-swap that completes: one access, it takes the entries.  *)
Win(t, o) ==
  LET taken == IF "winner-counts-lists" \in Defects THEN InLists(o) ELSE entries[o] IN
  /\ completed' = [completed EXCEPT ![o] = TRUE]
  /\ entries' = [entries EXCEPT ![o] = 0]
  /\ balance' = [balance EXCEPT ![t] = @ + taken]
  /\ operation' = [operation EXCEPT ![t] = o]
  /\ Goto(t, IF InWalk(t) THEN "drop-own" ELSE TowardsCallback(balance[t] + taken))

(* A try in one step, or its first half.                                   *)
TryAndWin(t, o) ==
  /\ Condition(o)
  /\ ~completed[o]
  /\ IF "evaluate-then-win" \in Features \/ "test-then-set" \in Defects
     THEN /\ Goto(t, "win")
          /\ operation' = [operation EXCEPT ![t] = o]
          /\ UNCHANGED <<completed, entries, balance>>
     ELSE Win(t, o)

MayRaise(o) == "throwing-try" \in Features /\ ~raised[o] /\ ~completed[o]
Raise(o) == raised' = [raised EXCEPT ![o] = TRUE]

-----------------------------------------------------------------------------
(* Completing: the steps shared by all who can win *)

\* @says self: swaps the word of operation {operation[self]}
SwapWord(t) ==
  /\ pc[t] = "win"
  /\ LET o == operation[t] IN
     IF ~completed[o] \/ "test-then-set" \in Defects
     THEN Win(t, o) /\ UNCHANGED key
     ELSE /\ IF InWalk(t)
             THEN Goto(t, "drop") /\ UNCHANGED <<operation, key>>
             ELSE Return(t)
          /\ UNCHANGED <<completed, entries, balance>>
  /\ UNCHANGED <<events, timing, lists, stale, history, promised, batch, unswept>>

\* @says self: adds {balance[self]} to stale
Post(t) ==
  /\ pc[t] = "post"
  /\ stale' = stale + balance[t]
  /\ balance' = [balance EXCEPT ![t] = 0]
  /\ IF "callback-before-post" \in Defects THEN GoOn(t, 0)
     ELSE Goto(t, "call-back") /\ UNCHANGED <<operation, key>>
  /\ UNCHANGED <<events, words, timing, lists, history, promised, batch, unswept>>

Reenters(o) ==
  o = 1 /\ Features \intersect {"re-entrant-check", "re-entrant-watch", "re-entrant-cancel"} # {}

(* Leaves the timer, then runs the callback: that it has run is a count    *)
(* which no thread reads, so both are one step.                            *)
\* @says self: leaves the timer, callback of operation {operation[self]}
CallBack(t) ==
  /\ pc[t] = "call-back"
  /\ LET o == operation[t]
         raises == o \in Throwing IN
     /\ timer' = IF "winner-stays-in-timer" \in Defects THEN timer ELSE timer \ {o}
     /\ callbacks' = [callbacks EXCEPT ![o] = @ + 1]
     /\ batch' = IF InWalk(t) /\ raises /\ "walk-ends-at-throw" \in Defects
                 THEN [batch EXCEPT ![t] = Nothing] ELSE batch
     /\ balance' = IF raises /\ "callback-before-post" \in Defects
                   THEN [balance EXCEPT ![t] = 0] ELSE balance
     /\ CASE Reenters(o) ->
               /\ pc' = [pc EXCEPT ![t] = "nested", ![Callback] = "begin"]
               /\ UNCHANGED <<operation, key>>
          [] InWalk(t) /\ raises /\ "walk-ends-at-throw" \in Defects ->
               Finish(t, balance[t])
          [] t = Executor /\ raises /\ "executor-ends-at-throw" \in Defects ->
               Goto(t, "ended") /\ UNCHANGED <<operation, key>>
          [] balance[t] # 0 /\ ~raises /\ "callback-before-post" \in Defects ->
               Goto(t, "post") /\ UNCHANGED <<operation, key>>
          [] OTHER -> GoOn(t, 0)
  /\ UNCHANGED <<events, words, queue, lists, stale, calls, raised, promised, unswept>>

\* @says self: the callback of operation {operation[self]} is over
Resume(t) ==
  /\ pc[t] = "nested"
  /\ pc[Callback] = "idle"
  /\ GoOn(t, 0)
  /\ UNCHANGED <<events, words, timing, lists, stale, history, balance, promised, batch, unswept>>

\* @says self: adds {balance[self]} to stale, and returns
Settle(t) ==
  /\ pc[t] = "settle"
  /\ stale' = stale + balance[t]
  /\ balance' = [balance EXCEPT ![t] = 0]
  /\ Return(t)
  /\ UNCHANGED <<events, words, timing, lists, history, promised, batch, unswept>>

\* @says self: adds {balance[self]} to stale
PostEarly(t) ==
  /\ "post-early" \in Features
  /\ balance[t] # 0
  /\ pc[t] \notin {"post", "settle"}
  /\ stale' = stale + balance[t]
  /\ balance' = [balance EXCEPT ![t] = 0]
  /\ UNCHANGED <<events, words, timing, lists, history, pc, locals>>

-----------------------------------------------------------------------------
(* Watching *)

\* @says self: tries operation {operation'[self]} for the first time
BeginWatch(c, o) ==
  /\ MayBegin(c, "re-entrant-watch")
  /\ calls[o] < MaxCalls
  /\ calls' = [calls EXCEPT ![o] = @ + 1]
  /\ \/ TryAndWin(c, o) /\ UNCHANGED <<key, raised>>
     \/ /\ ~completed[o]
        /\ ~Condition(o)
        /\ Goto(c, "arm")
        /\ operation' = [operation EXCEPT ![c] = o]
        /\ UNCHANGED <<completed, entries, balance, key, raised>>
     \/ /\ completed[o]
        /\ Return(c)
        /\ UNCHANGED <<completed, entries, balance, raised>>
     \/ /\ MayRaise(o)
        /\ Raise(o)
        /\ Return(c)
        /\ UNCHANGED <<completed, entries, balance>>
  /\ UNCHANGED <<events, timing, lists, stale, callbacks, promised, batch, unswept>>

(* With "operation-lock": nobody is between the two halves of arming or    *)
(* cancelling this operation.                                              *)
Unlocked(o) ==
  "operation-lock" \in Features =>
    \A t \in Threads : operation[t] = o => pc[t] \notin {"promise", "withdraw", "cancel-time-out"}

Promise(c, o) ==
  /\ entries' = [entries EXCEPT ![o] = @ + EntriesPerCall]
  /\ promised' = [promised EXCEPT ![c] = [k \in Keys |-> Duplicates]]
  /\ Goto(c, "insert")

\* @says self: arms operation {operation[self]}: timer and promise
Arm(c) ==
  /\ pc[c] = "arm"
  /\ LET o == operation[c] IN
     /\ Unlocked(o)
     /\ CASE "arm-in-two-steps" \in Features ->
               /\ timer' = timer \union {o}
               /\ Goto(c, "promise")
               /\ UNCHANGED <<entries, promised, operation, key>>
          [] OTHER ->
               IF completed[o] /\ "arm-ignores-completed" \notin Defects
               THEN Return(c) /\ UNCHANGED <<timer, entries, promised>>
               ELSE /\ timer' = IF "timer-last" \in Features THEN timer ELSE timer \union {o}
                    /\ UNCHANGED <<operation, key>>
                    /\ IF "promise-after-insert" \in Defects
                       THEN /\ promised' = [promised EXCEPT ![c] = [k \in Keys |-> Duplicates]]
                            /\ Goto(c, "insert")
                            /\ UNCHANGED entries
                       ELSE Promise(c, o)
  /\ UNCHANGED <<events, completed, queue, lists, stale, history, balance, batch, unswept>>

\* @says self: promises the entries of operation {operation[self]}
PromiseAlone(c) ==
  /\ pc[c] = "promise"
  /\ LET o == operation[c] IN
     IF completed[o]
     THEN Goto(c, "withdraw") /\ UNCHANGED <<entries, promised>>
     ELSE Promise(c, o)
  /\ UNCHANGED <<events, completed, timing, lists, stale, history, balance, operation, key, batch, unswept>>

\* @says self: puts operation {operation[self]} into the timer
ArmLate(c) ==
  /\ pc[c] = "late-arm"
  /\ timer' = timer \union {operation[c]}
  /\ Goto(c, "look-again")
  /\ UNCHANGED <<events, words, queue, lists, stale, history, balance, locals>>

\* @says self: looks again at the word of operation {operation[self]}
LookAgain(c) ==
  /\ pc[c] = "look-again"
  /\ IF completed[operation[c]] THEN Goto(c, "withdraw") /\ UNCHANGED <<operation, key>> ELSE Return(c)
  /\ UNCHANGED <<events, words, timing, lists, stale, history, balance, promised, batch, unswept>>

\* @says self: takes completed operation {operation[self]} out of the timer
Withdraw(c) ==
  /\ pc[c] = "withdraw"
  /\ timer' = timer \ {operation[c]}
  /\ Return(c)
  /\ UNCHANGED <<events, words, queue, lists, stale, history, balance, promised, batch, unswept>>

AfterInserts(c) ==
  CASE "promise-after-insert" \in Defects -> Goto(c, "late-promise") /\ UNCHANGED <<operation, key>>
    [] "no-second-try" \in Defects -> Return(c)
    [] OTHER -> Goto(c, "second-try") /\ UNCHANGED <<operation, key>>

\* @says self: appends operation {operation[self]} to a list
Insert(c, k) ==
  /\ pc[c] = "insert"
  /\ promised[c][k] > 0
  /\ lists' = [lists EXCEPT ![k][operation[c]] = @ + 1]
  /\ promised' = [promised EXCEPT ![c][k] = @ - 1]
  /\ IF promised[c][k] = 1 /\ \A j \in Keys \ {k} : promised[c][j] = 0
     THEN AfterInserts(c)
     ELSE UNCHANGED <<pc, operation, key>>
  /\ UNCHANGED <<events, words, timing, stale, history, balance, batch, unswept>>

StillPromised(c) == Cardinality({<<k, i>> \in Keys \X (1..Largest) : i <= promised[c][k]})
NothingPromised(c) == [promised EXCEPT ![c] = [k \in Keys |-> 0]]

(* Entries of a completed operation that will not come are subtracted like *)
(* any that have gone.  The second try, which would find it completed, is  *)
(* not made.                                                               *)
\* @says self: operation {operation[self]} is completed: gives back what it has still promised
StopInserting(c) ==
  /\ "stops-inserting" \in Features
  /\ pc[c] = "insert"
  /\ completed[operation[c]]
  /\ LET owed == IF "forgets-to-give-back" \in Defects THEN 0 ELSE -StillPromised(c) IN
     /\ balance' = [balance EXCEPT ![c] = @ + owed]
     /\ Finish(c, balance[c] + owed)
  /\ promised' = NothingPromised(c)
  /\ UNCHANGED <<events, words, timing, lists, stale, history, batch, unswept>>

(* Appending to a list has raised, and so does the call.  A live operation *)
(* loses the entries that will not come from its word, as if their keys    *)
(* were cancelled; a completed one is subtracted.                          *)
\* @says self: cannot append operation {operation[self]}, gives back what it has still promised
FailInserting(c) ==
  /\ "insert-fails" \in Features
  /\ pc[c] = "insert"
  /\ LET o == operation[c]
         rest == StillPromised(c) IN
     /\ ~raised[o]
     /\ Raise(o)
     /\ IF completed[o]
        THEN /\ balance' = [balance EXCEPT ![c] = @ - rest]
             /\ Finish(c, balance[c] - rest)
             /\ UNCHANGED <<entries, timer>>
        ELSE /\ entries' = IF "fails-without-giving-back" \in Defects THEN entries
                           ELSE [entries EXCEPT ![o] = @ - rest]
             /\ timer' = IF entries[o] = rest THEN timer \ {o} ELSE timer
             /\ Finish(c, balance[c])
             /\ UNCHANGED balance
  /\ promised' = NothingPromised(c)
  /\ UNCHANGED <<events, completed, queue, lists, stale, callbacks, calls, batch, unswept>>

\* @says self: adds the entries to the word of operation {operation[self]}
LatePromise(c) ==
  /\ pc[c] = "late-promise"
  /\ LET o == operation[c] IN
     entries' = IF completed[o] THEN entries ELSE [entries EXCEPT ![o] = @ + EntriesPerCall]
  /\ Goto(c, "second-try")
  /\ UNCHANGED <<events, completed, timing, lists, stale, history, balance, locals>>

\* @says self: tries operation {operation[self]} again
SecondTry(c) ==
  /\ pc[c] = "second-try"
  /\ LET o == operation[c] IN
     \/ TryAndWin(c, o) /\ UNCHANGED <<key, raised, timer>>
     \/ /\ completed[o] \/ ~Condition(o)
        /\ IF "timer-last" \in Features /\ ~completed[o]
           THEN Goto(c, "late-arm") /\ UNCHANGED <<operation, key>>
           ELSE Return(c)
        /\ UNCHANGED <<completed, entries, balance, raised, timer>>
     \/ /\ MayRaise(o)
        /\ Raise(o)
        /\ timer' = IF "throwing-try-disarms" \in Defects THEN timer \ {o} ELSE timer
        /\ Return(c)
        /\ UNCHANGED <<completed, entries, balance>>
  /\ UNCHANGED <<events, queue, lists, stale, callbacks, calls, promised, batch, unswept>>

-----------------------------------------------------------------------------
(* An event happens and its key is checked *)

\* @says self: an event of {key'[self]} happens
BeginCheck(x, k) ==
  /\ MayBegin(x, "re-entrant-check")
  /\ events[k] < MaxEvents
  /\ key' = [key EXCEPT ![x] = k]
  /\ IF "list-before-event" \in Defects
     THEN /\ batch' = [batch EXCEPT ![x] = lists[k]]
          /\ Goto(x, "late-event")
          /\ UNCHANGED events
     ELSE /\ events' = [events EXCEPT ![k] = @ + 1]
          /\ Goto(x, "copy-list")
          /\ UNCHANGED batch
  /\ UNCHANGED <<words, timing, lists, stale, history, balance, operation, promised, unswept>>

\* @says self: an event of {key[self]} happens, after the copy
LateEvent(x) ==
  /\ pc[x] = "late-event"
  /\ events' = [events EXCEPT ![key[x]] = IF @ < MaxEvents THEN @ + 1 ELSE @]
  /\ Goto(x, "walk")
  /\ UNCHANGED <<words, timing, lists, stale, history, balance, locals>>

\* @says world: an event is undone: events {events'}
Fall(k) ==
  /\ "conditions-fall" \in Features
  /\ events[k] > 0
  /\ events' = [events EXCEPT ![k] = @ - 1]
  /\ UNCHANGED <<words, timing, lists, stale, history, pc, balance, locals>>

(* The copy is the call's own.                                             *)
Copy(x, k) ==
  [t \in Walkers \union Detachers |->
     IF t = x
     THEN lists[k]
     ELSE IF pc[t] = "nested" /\ x = Callback /\ "shared-buffer" \in Defects THEN Nothing
     ELSE batch[t]]

\* @says self: copies the list of {key[self]}
CopyList(x) ==
  /\ pc[x] = "copy-list"
  /\ batch' = Copy(x, key[x])
  /\ IF lists[key[x]] = Nothing THEN Return(x) ELSE Goto(x, "walk") /\ UNCHANGED <<operation, key>>
  /\ UNCHANGED <<events, words, timing, lists, stale, history, balance, promised, unswept>>

AfterTry == IF "walk-looks-again" \in Features THEN "look-behind" ELSE "walk"

\* @says self: looks at operation {operation'[self]}
Walk(x, o) ==
  /\ pc[x] = "walk"
  /\ batch[x][o] > 0
  /\ \/ /\ TryAndWin(x, o)
        /\ batch' = [batch EXCEPT ![x][o] = @ - 1]
        /\ UNCHANGED <<key, raised>>
     \/ /\ completed[o] \/ ~Condition(o)
        /\ batch' = [batch EXCEPT ![x][o] = @ - 1]
        /\ operation' = [operation EXCEPT ![x] = o]
        /\ Goto(x, IF completed[o] THEN "drop" ELSE AfterTry)
        /\ UNCHANGED <<completed, entries, balance, key, raised>>
     \/ /\ MayRaise(o)
        /\ Raise(o)
        /\ UNCHANGED <<completed, entries, balance>>
        /\ CASE "walk-ends-at-throw" \in Defects ->
                  /\ batch' = [batch EXCEPT ![x] = Nothing]
                  /\ Finish(x, balance[x])
             [] OTHER ->
                  /\ batch' = [batch EXCEPT ![x][o] = @ - 1]
                  /\ operation' = [operation EXCEPT ![x] = o]
                  /\ Goto(x, IF "throwing-try-drops" \in Defects THEN "drop" ELSE AfterTry)
                  /\ UNCHANGED key
  /\ UNCHANGED <<events, timing, lists, stale, callbacks, calls, promised, unswept>>

\* @says self: looks again at operation {operation[self]}, which it has tried in vain
LookBehind(x) ==
  /\ pc[x] = "look-behind"
  /\ Goto(x, IF completed[operation[x]] THEN "drop" ELSE "walk")
  /\ UNCHANGED <<events, words, timing, lists, stale, history, balance, locals>>

\* @says self: has walked the list
EndWalk(x) ==
  /\ pc[x] = "walk"
  /\ batch[x] = Nothing
  /\ Finish(x, balance[x])
  /\ UNCHANGED <<events, words, timing, lists, stale, history, balance, promised, batch, unswept>>

\* @says self: drops operation {operation[self]} from the list of {key[self]}
Drop(x) ==
  /\ pc[x] \in {"drop", "drop-own"}
  /\ LET k == key[x]
         o == operation[x]
         dropped == IF lists[k][o] > 0 THEN 1 ELSE 0 IN
     /\ lists' = [lists EXCEPT ![k][o] = @ - dropped]
     /\ balance' = [balance EXCEPT ![x] = @ - dropped]
     /\ IF pc[x] = "drop" THEN GoOn(x, balance[x] - dropped)
        ELSE Goto(x, TowardsCallback(balance[x] - dropped)) /\ UNCHANGED <<operation, key>>
  /\ UNCHANGED <<events, words, timing, stale, history, promised, batch, unswept>>

-----------------------------------------------------------------------------
(* Cancelling a key (of an unknown key nothing happens: left out) *)

\* @says self: detaches the list of a key
BeginCancel(x, k) ==
  /\ MayBegin(x, "re-entrant-cancel")
  /\ lists[k] # Nothing
  /\ batch' = Copy(x, k)
  /\ lists' = [lists EXCEPT ![k] = Nothing]
  /\ Goto(x, "cancel")
  /\ UNCHANGED <<events, words, timing, stale, history, balance, operation, key, promised, unswept>>

\* @says self: settles operation {operation'[self]} of the detached list
CancelOne(x, o) ==
  /\ pc[x] = "cancel"
  /\ batch[x][o] > 0
  /\ LET count == IF "cancel-by-entry" \in Features THEN 1 ELSE batch[x][o]
         last == entries[o] = count \/ "cancel-takes-time-out" \in Defects IN
     /\ Unlocked(o)
     /\ batch' = [batch EXCEPT ![x][o] = @ - count]
     /\ operation' = [operation EXCEPT ![x] = o]
     /\ IF completed[o]
        THEN /\ balance' = IF "cancel-forgets-to-subtract" \in Defects THEN balance
                           ELSE [balance EXCEPT ![x] = @ - count]
             /\ UNCHANGED <<entries, timer, pc>>
        ELSE /\ entries' = IF "cancel-keeps-entries" \in Defects THEN entries
                           ELSE [entries EXCEPT ![o] = @ - count]
             /\ UNCHANGED balance
             /\ IF last /\ "cancel-in-two-steps" \in Features
                THEN Goto(x, "cancel-time-out") /\ UNCHANGED timer
                ELSE timer' = (IF last THEN timer \ {o} ELSE timer) /\ UNCHANGED pc
  /\ UNCHANGED <<events, completed, queue, lists, stale, history, key, promised, unswept>>

\* @says self: takes operation {operation[self]} out of the timer
CancelTimeOut(x) ==
  /\ pc[x] = "cancel-time-out"
  /\ timer' = timer \ {operation[x]}
  /\ Goto(x, "cancel")
  /\ UNCHANGED <<events, words, queue, lists, stale, history, balance, locals>>

\* @says self: has settled the detached list
EndCancel(x) ==
  /\ pc[x] = "cancel"
  /\ batch[x] = Nothing
  /\ Finish(x, balance[x])
  /\ UNCHANGED <<events, words, timing, lists, stale, history, balance, promised, batch, unswept>>

-----------------------------------------------------------------------------
(* Time-outs, and completing by force *)

\* @says timer: a time-out is due; executor's queue {queue'}
Expire(o) ==
  /\ "time-outs" \in Features
  /\ o \in timer \ queue
  /\ timer' = timer \ {o}
  /\ queue' = queue \union {o}
  /\ UNCHANGED <<events, words, lists, stale, history, pc, balance, locals>>

\* @says self: takes operation {operation'[self]} from its queue
Take(o) ==
  /\ pc[Executor] = "idle"
  /\ o \in queue
  /\ queue' = queue \ {o}
  /\ operation' = [operation EXCEPT ![Executor] = o]
  /\ Goto(Executor, "decide")
  /\ UNCHANGED <<events, words, timer, lists, stale, history, balance, key, promised, batch, unswept>>

\* @says self: expiry of operation {operation[self]}: swaps the word
Decide ==
  /\ pc[Executor] = "decide"
  /\ IF completed[operation[Executor]]
     THEN Return(Executor) /\ UNCHANGED <<words, balance>>
     ELSE Win(Executor, operation[Executor]) /\ UNCHANGED key
  /\ UNCHANGED <<events, timing, lists, stale, history, promised, batch, unswept>>

\* @says self: completes operation {operation'[self]} by force
BeginForce(f, o) ==
  /\ pc[f] = "idle"
  /\ ~completed[o]
  /\ Win(f, o)
  /\ UNCHANGED <<events, timing, lists, stale, history, key, promised, batch, unswept>>

-----------------------------------------------------------------------------
(* Purging *)

AllEntries == Cardinality({<<k, o, i>> \in Keys \X Operations \X (1..Largest) : i <= lists[k][o]})

(* How much may be stale beside so many live entries.                      *)
IntervalBeside(live) ==
  IF "amortised" \in Features /\ live \div 2 > PurgeInterval THEN live \div 2 ELSE PurgeInterval
Interval == IntervalBeside(AllEntries - stale)

PurgeDue == stale > (IF "purge-threshold" \in Defects THEN Interval + 1 ELSE Interval)

\* @says self: reads stale = {stale}: a purge is due
BeginPurge(p) ==
  /\ pc[p] = "idle"
  /\ PurgeDue
  /\ unswept' = [unswept EXCEPT ![p] = Keys \X Operations]
  /\ Goto(p, IF "purge-resets" \in Defects THEN "reset" ELSE "sweep")
  /\ UNCHANGED <<events, words, timing, lists, stale, history, balance, operation, key, promised, batch>>

\* @says self: sets stale to 0
Reset(p) ==
  /\ pc[p] = "reset"
  /\ stale' = 0
  /\ Goto(p, "sweep")
  /\ UNCHANGED <<events, words, timing, lists, history, balance, locals>>

StaleIn(k, seen) ==
  Cardinality({<<o, i>> \in seen \X (1..Largest) : completed[o] /\ i <= lists[k][o]})
Swept(k, seen) ==
  [lists EXCEPT ![k] = [o \in Operations |-> IF o \in seen /\ completed[o] THEN 0 ELSE lists[k][o]]]

NextList(p, rest, owed) ==
  IF rest = {} THEN Finish(p, IF "purge-resets" \in Defects THEN 0 ELSE owed)
  ELSE Goto(p, "sweep") /\ UNCHANGED <<operation, key>>

(* What a purge looks at in one step.                                      *)
Glances ==
  IF "sweep-by-operation" \in Features THEN {{o} : o \in Operations} ELSE {Operations}

\* @says self: purges a list, balance {balance'[self]}
Sweep(p, k, seen) ==
  /\ pc[p] = "sweep"
  /\ {k} \X seen \subseteq unswept[p]
  /\ unswept' = [unswept EXCEPT ![p] = @ \ ({k} \X seen)]
  /\ balance' = IF "purge-resets" \in Defects THEN balance
                ELSE [balance EXCEPT ![p] = @ - StaleIn(k, seen)]
  /\ IF "purge-counts-first" \in Defects
     THEN /\ key' = [key EXCEPT ![p] = k]
          /\ Goto(p, "remove")
          /\ UNCHANGED <<lists, operation>>
     ELSE /\ lists' = Swept(k, seen)
          /\ NextList(p, unswept[p] \ ({k} \X seen), balance[p] - StaleIn(k, seen))
  /\ UNCHANGED <<events, words, timing, stale, history, promised, batch>>

\* @says self: removes what is completed from the list of {key[self]}
Remove(p) ==
  /\ pc[p] = "remove"
  /\ lists' = Swept(key[p], Operations)
  /\ NextList(p, unswept[p], balance[p])
  /\ UNCHANGED <<events, words, timing, stale, history, balance, promised, batch, unswept>>

-----------------------------------------------------------------------------
(* All together *)

\* @says self: the callback does nothing
NestedNothing ==
  /\ pc[Callback] = "begin"
  /\ Return(Callback)
  /\ UNCHANGED <<events, words, timing, lists, stale, history, balance, promised, batch, unswept>>

Complete(t) ==
  \/ SwapWord(t) \/ Post(t) \/ CallBack(t) \/ Resume(t) \/ Settle(t)
ContinueWatch(c) ==
  \/ Arm(c) \/ PromiseAlone(c) \/ Withdraw(c) \/ LatePromise(c) \/ SecondTry(c)
    \/ ArmLate(c) \/ LookAgain(c) \/ StopInserting(c) \/ FailInserting(c)
  \/ \E k \in Keys : Insert(c, k)
ContinueCheck(x) ==
  \/ LateEvent(x) \/ CopyList(x) \/ LookBehind(x) \/ EndWalk(x) \/ Drop(x)
  \/ \E o \in Operations : Walk(x, o)
ContinueCancel(x) ==
  \/ CancelTimeOut(x) \/ EndCancel(x)
  \/ \E o \in Operations : CancelOne(x, o)
ContinuePurge(p) ==
  \/ Reset(p) \/ Remove(p)
  \/ \E k \in Keys, seen \in Glances : Sweep(p, k, seen)

Next ==
  \/ \E t \in Threads : Complete(t) \/ PostEarly(t)
  \/ \E c \in Watchers : ContinueWatch(c) \/ \E o \in Operations : BeginWatch(c, o)
  \/ \E x \in Walkers : ContinueCheck(x) \/ \E k \in Keys : BeginCheck(x, k)
  \/ \E x \in Detachers : ContinueCancel(x) \/ \E k \in Keys : BeginCancel(x, k)
  \/ \E f \in Forcers, o \in Operations : BeginForce(f, o)
  \/ \E p \in Purgers : BeginPurge(p) \/ ContinuePurge(p)
  \/ \E o \in Operations : Expire(o) \/ Take(o)
  \/ Decide
  \/ \E k \in Keys : Fall(k)
  \/ NestedNothing

Spec == Init /\ [][Next]_vars

(* Nobody has to begin a call, no event has to happen; who is in a call    *)
(* goes on, the executor takes what is queued, a purge that is due begins. *)
FairSpec ==
  /\ Spec
  /\ \A t \in Threads : WF_vars(Complete(t))
  /\ \A c \in Watchers : WF_vars(ContinueWatch(c))
  /\ \A x \in Walkers : WF_vars(ContinueCheck(x))
  /\ \A x \in Detachers : WF_vars(ContinueCancel(x))
  /\ \A p \in Purgers : WF_vars(BeginPurge(p) \/ ContinuePurge(p))
  /\ WF_vars(Decide \/ \E o \in Operations : Take(o))
  /\ WF_vars(NestedNothing)

(* The timer goes on as well.                                              *)
TimedSpec == FairSpec /\ WF_vars(\E o \in Operations : Expire(o))

-----------------------------------------------------------------------------
(* Counts, as the design names them *)

Quiet == \A t \in Threads : pc[t] = "idle"
NobodyLooks == \A t \in Watchers \union Walkers : pc[t] = "idle"

Listed(o) == \E k \in Keys : lists[k][o] > 0
StaleEntries ==
  Cardinality({<<k, o, i>> \in Keys \X Operations \X (1..Largest) : completed[o] /\ i <= lists[k][o]})
Distinct == Cardinality({o \in Operations : Listed(o)})
Live == Cardinality({o \in Operations : Listed(o) /\ ~completed[o]})
Deciding == IF pc[Executor] = "decide" THEN 1 ELSE 0
Pending ==
  CASE "pending-is-timer-size" \in Defects -> Cardinality(timer)
    [] "pending-omits-running" \in Defects -> Cardinality(timer) + Cardinality(queue)
    [] OTHER -> Cardinality(timer) + Cardinality(queue) + Deciding
Estimate == Pending + (IF stale > 0 THEN stale ELSE 0)

HasTimeOut(o) == o \in timer \/ o \in queue \/ (pc[Executor] = "decide" /\ operation[Executor] = o)
InCall(o) ==
  \E c \in Watchers :
    operation[c] = o
      /\ pc[c] \in {"arm", "promise", "withdraw", "insert", "late-promise", "second-try", "win",
                   "late-arm", "look-again"}
PromisedEntries(o) ==
  Cardinality({<<c, k, i>> \in Watchers \X Keys \X (1..Largest) :
                 operation[c] = o /\ i <= promised[c][k]})
DetachedEntries(o) ==
  Cardinality({<<x, i>> \in Detachers \X (1..Largest) :
                 pc[x] \in {"cancel", "cancel-time-out"} /\ i <= batch[x][o]})
EntriesOf(o) == InLists(o) + PromisedEntries(o) + DetachedEntries(o)

Widest == Largest * Cardinality(Operations)
Balances ==
  Cardinality({<<t, i>> \in Threads \X (1..Widest) : i <= balance[t]})
    - Cardinality({<<t, i>> \in Threads \X (1..Widest) : i <= -balance[t]})
EntriesOfCompleted ==
  Cardinality({<<k, o, i>> \in Keys \X Operations \X (1..Largest) : completed[o] /\ i <= lists[k][o]})
    + Cardinality({<<c, k, i>> \in Watchers \X Keys \X (1..Largest) :
                     operation[c] # NoOperation /\ completed[operation[c]] /\ i <= promised[c][k]})
    + Cardinality({<<x, o, i>> \in Detachers \X Operations \X (1..Largest) :
                     completed[o] /\ pc[x] \in {"cancel", "cancel-time-out"} /\ i <= batch[x][o]})

-----------------------------------------------------------------------------
(* Claims *)

Labels ==
  {"idle", "begin", "win", "post", "call-back", "nested", "settle", "ended",
   "arm", "promise", "withdraw", "insert", "late-promise", "second-try", "late-arm", "look-again",
   "late-event", "copy-list", "walk", "look-behind", "drop", "drop-own",
   "cancel", "cancel-time-out", "decide", "reset", "sweep", "remove"}

TypeOK ==
  /\ events \in [Keys -> 0..MaxEvents]
  /\ completed \in [Operations -> BOOLEAN]
  /\ entries \in [Operations -> 0..Largest]
  /\ callbacks \in [Operations -> Nat]
  /\ timer \subseteq Operations
  /\ queue \subseteq Operations
  /\ lists \in [Keys -> [Operations -> 0..Largest]]
  /\ stale \in -Widest..Widest
  /\ calls \in [Operations -> 0..MaxCalls]
  /\ raised \in [Operations -> BOOLEAN]
  /\ pc \in [Threads -> Labels]
  /\ operation \in [Threads -> Operations \union {NoOperation}]
  /\ key \in [Threads -> Keys \union {NoKey}]
  /\ balance \in [Threads -> -Widest..Widest]
  /\ promised \in [Watchers -> [Keys -> 0..Duplicates]]
  /\ batch \in [Walkers \union Detachers -> [Operations -> 0..Largest]]
  /\ unswept \in [Purgers -> SUBSET (Keys \X Operations)]

(* A callback never runs twice.
   Rules: PURGATORY-EXACTLY-ONCE. *)
CallbackAtMostOnce == \A o \in Operations : callbacks[o] <= 1

(* When nobody is in the middle of anything, exactly the completed operations have had their callback.
   Rules: PURGATORY-EXACTLY-ONCE, PURGATORY-LOST-EXPIRY. *)
CompletedIffCalledBack == Quiet => \A o \in Operations : completed[o] <=> callbacks[o] = 1

(* No completion is lost: who is watched under a key, and not completed, waits for an event of that key.
   Rules: PURGATORY-NOT-LOST, PURGATORY-WATCH-SECOND-TRY. *)
NoLostCompletion ==
  NobodyLooks =>
    \A o \in Operations, k \in Keys :
      lists[k][o] > 0 /\ ~completed[o] /\ ~raised[o] => events[k] < Threshold(o)

(* An operation that is watched and not completed has its time-out, from its first entry on.
   Rules: PURGATORY-TIME-OUT, PURGATORY-CANCEL-KEEPS-TIME-OUT, PURGATORY-SECOND-TRY-THROWS. *)
WatchedHasTimeOut == \A o \in Operations : Listed(o) /\ ~completed[o] => HasTimeOut(o)

(* The same, but only when the call that watches it has returned: enough where "timer-last" is chosen. *)
ReturnedHasTimeOut == \A o \in Operations : Listed(o) /\ ~completed[o] /\ ~InCall(o) => HasTimeOut(o)

(* Where no key is cancelled: an operation given to watch, in no such call any more and not completed,
   stands in all its lists and has its time-out; one whose try has raised either does, or was never armed.
   Rules: PURGATORY-WATCH-WAITS, PURGATORY-SECOND-TRY-THROWS, PURGATORY-CHECK-THROWS. *)
StaysWatched ==
  Detachers = {Callback} /\ "re-entrant-cancel" \notin Features =>
    \A o \in Operations :
      calls[o] > 0 /\ ~completed[o] /\ ~InCall(o) /\ (raised[o] => HasTimeOut(o) \/ Listed(o)) =>
        HasTimeOut(o) /\ \A k \in Keys : lists[k][o] > 0

(* Live operations are always counted as pending.
   Rules: PURGATORY-PENDING. *)
LiveIsPending == Live <= Pending

(* The estimate is never below the number of live operations.
   Rules: PURGATORY-ESTIMATE-EXACT. *)
LiveIsEstimated == Live <= Estimate

(* When quiet the timer holds only operations that are not completed.
   Rules: PURGATORY-TIMER-LEFT, PURGATORY-CALLBACK-ORDER. *)
TimerIsLive == Quiet => \A o \in timer : ~completed[o]

(* The law: stale and all balances together are the entries of completed operations, at every instant. *)
Law == stale + Balances = EntriesOfCompleted

(* The word of an operation that is not completed has the number of its entries, at every instant. *)
WordIsExact == \A o \in Operations : ~completed[o] => entries[o] = EntriesOf(o)

(* When quiet, `stale` is the number of stale entries.
   Rules: PURGATORY-ESTIMATE-EXACT, PURGATORY-PURGE-START. *)
StaleIsExact == Quiet => stale = StaleEntries

(* When quiet, all distinct operations in the lists are within the estimate.
   Rules: PURGATORY-ESTIMATE-EXACT. *)
DistinctIsEstimated == Quiet => Distinct <= Estimate

(* When quiet and no purge is due, at most the interval's number of entries is stale, be expiries queued or
   not: `PurgeInterval`, or half of the live entries where that is more and purges are amortised.
   Rules: PURGATORY-STALE-ENTRIES, PURGATORY-STALE-OPERATIONS. *)
StaleIsBounded ==
  Quiet /\ ~PurgeDue => StaleEntries <= IntervalBeside(AllEntries - StaleEntries)

(* When quiet and a purge at interval 0 has nothing more to do, nothing is stale; the estimate is `pending`.
   Rules: PURGATORY-PURGE-REMOVES. *)
NothingStaleIsLeft == Quiet /\ stale <= 0 => StaleEntries = 0 /\ Estimate = Pending

(* The lists are bounded: when quiet and no purge is due, by what the live operations own and the interval.
   Rules: PURGATORY-ENTRIES, PURGATORY-STALE-ENTRIES. *)
EntriesAreBounded ==
  Quiet /\ ~PurgeDue =>
    AllEntries <= Cardinality({<<o, i>> \in Operations \X (1..Largest) : i <= entries[o]}) + Interval

(* While threads are busy and no purge is due, there are more stale entries than the interval only by what
   threads have still to add: each at most the entries of one operation. *)
StaleIsBoundedWhileBusy ==
  ~PurgeDue => StaleEntries <= Interval + Largest * Cardinality({t \in Threads : balance[t] > 0})

(* Under weak fairness: who is watched under a key whose event has happened gets its callback.
   Rules: PURGATORY-NOT-LOST. *)
ConditionLeadsToCallback ==
  \A o \in Operations : Listed(o) /\ Condition(o) ~> callbacks[o] = 1

(* Under weak fairness, and with conditions that may fall: one that holds for good leads to completion.
   Rules: PURGATORY-NOT-LOST. *)
HeldConditionCompletes ==
  \A o \in Operations : []<>~(Listed(o) /\ ~completed[o] /\ Condition(o))

(* Under weak fairness: every call returns. *)
EveryCallReturns == \A t \in Threads : pc[t] # "idle" ~> pc[t] = "idle"

(* Under weak fairness: what is expired is completed.
   Rules: PURGATORY-TIME-OUT. *)
ExpiredIsCompleted == \A o \in Operations : o \in queue ~> completed[o]

(* Under weak fairness, the timer's included, and where no key is cancelled: a time-out ends in completion.
   Rules: PURGATORY-TIME-OUT. *)
TimeOutCompletes == \A o \in Operations : o \in timer ~> completed[o]

(* Under weak fairness: the purge brings stale down to its interval.
   Rules: PURGATORY-STALE-ENTRIES. *)
StaleIsPurged == stale > Interval ~> stale <= Interval

-----------------------------------------------------------------------------
(* False, and why *)

(* A walk takes an entry of a completed operation out before its winner has posted. *)
StaleIsNeverNegative == stale >= 0

(* A winner is between the word and the timer. *)
TimerIsAlwaysLive == \A o \in timer : ~completed[o]

(* A winner has not posted yet. *)
DistinctIsAlwaysEstimated == Distinct <= Estimate

(* A completed operation may still wait in the executor's queue, which will find it completed. *)
PendingIsLive == Quiet => Pending = Live

(* All keys of an operation may have been cancelled: it belongs to who has cancelled it. *)
UncompletedHasTimeOut == \A o \in Operations : calls[o] > 0 /\ ~InCall(o) /\ ~completed[o] => HasTimeOut(o)

(* Under "amortised" half of what lives may be stale. *)
StaleIsWithinThePurgeInterval == Quiet /\ ~PurgeDue => StaleEntries <= PurgeInterval

(* A winner has taken the entries out of the word, and has not posted them. *)
StaleIsWithinTheIntervalWhileBusy == ~PurgeDue => StaleEntries <= Interval

(* A condition may fall between the look and the swap of the word. *)
ConditionHoldsAtTheWin ==
  \A t \in Threads : pc[t] = "win" /\ ~completed[operation[t]] => Condition(operation[t])

(* A try that raises has not answered; the operation waits for its next event or its time-out. *)
NoLostCompletionAtAll ==
  NobodyLooks =>
    \A o \in Operations, k \in Keys : lists[k][o] > 0 /\ ~completed[o] => events[k] < Threshold(o)

-----------------------------------------------------------------------------
(* Witnesses: each must be violated, or a claim above has not been put to the test *)

(* An operation has been completed, and called back once. *)
NeverCalledBack == ~(Quiet /\ \E o \in Operations : callbacks[o] = 1)
(* A key has had an event that is not enough for an operation in its list. *)
NeverWaitsForMore ==
  ~(NobodyLooks /\ \E k \in Keys, o \in Operations : lists[k][o] > 0 /\ ~completed[o] /\ events[k] = 1)
(* A condition holds, and its operation is in a list. *)
NeverHolds == ~\E o \in Operations : Listed(o) /\ ~completed[o] /\ Condition(o)
(* Stale entries, when quiet. *)
NeverQuietWithStale == ~(Quiet /\ StaleEntries > 0)
(* Stale entries when quiet, with an expiry in the executor's queue. *)
NeverQuietWithQueue == ~(Quiet /\ StaleEntries > 0 /\ queue # {})
(* Live operations and stale entries, when quiet. *)
NeverQuietWithBoth == ~(Quiet /\ Live > 0 /\ StaleEntries > 0)
(* As many stale entries as the interval allows. *)
NeverFullInterval == ~(Quiet /\ PurgeInterval > 0 /\ StaleEntries = PurgeInterval /\ queue # {})
(* As many stale entries as the interval and two threads that have not posted allow. *)
NeverFullWhileBusy ==
  LET owing == Cardinality({t \in Threads : balance[t] > 0}) IN
  ~(~PurgeDue /\ owing = 2 /\ StaleEntries = Interval + Largest * owing)
(* A purge has cleaned up, and a live operation is still there. *)
NeverPurgedClean ==
  ~(Quiet /\ Live > 0 /\ StaleEntries = 0 /\ \E o \in Operations : completed[o] /\ calls[o] > 0)
(* Every operation has been watched and has expired, and a purge has left no entry behind. *)
NeverPurgedAfterMassExpiry ==
  ~(Quiet /\ queue = {} /\ AllEntries = 0 /\ \A o \in Operations : callbacks[o] = 1)
(* `stale` is above the interval. *)
NeverPurgeDue == stale <= PurgeInterval
(* `stale` below 0: somebody has posted a removal before the winner has posted. *)
NeverStaleBelowZero == stale >= 0
(* A thread owes a subtraction. *)
NeverOwesSubtraction == \A t \in Threads : balance[t] >= 0
(* An operation is completed whose entries are promised, but not yet all inserted. *)
NeverCompletedWhilePromised ==
  ~\E c \in Watchers : operation[c] # NoOperation /\ completed[operation[c]] /\ pc[c] = "insert"
(* An operation is completed that is in a detached list. *)
NeverCompletedWhileDetached ==
  ~\E x \in Detachers, o \in Operations : pc[x] = "cancel" /\ completed[o] /\ batch[x][o] > 0
(* Arming finds the operation completed. *)
NeverArmRefused == ~\E c \in Watchers : pc[c] = "arm" /\ completed[operation[c]]
(* Only the queue and the executor know of the time-outs of live operations. *)
NeverPendingOutsideTimer == ~(Live > Cardinality(timer) + Cardinality(queue) /\ queue # {})
(* An expiry finds its operation completed. *)
NeverExpiryTooLate == ~(pc[Executor] = "decide" /\ completed[operation[Executor]])
(* Two purges at the same time. *)
NeverTwoPurges == ~\E p, q \in Purgers : p # q /\ pc[p] = "sweep" /\ pc[q] = "sweep"
(* An operation stands twice in a list, because it is watched again or has duplicate keys. *)
NeverTwiceInAList == \A k \in Keys, o \in Operations : lists[k][o] < 2
(* An operation has lost one key and keeps the other. *)
NeverCancelledSomewhere ==
  ~(Quiet /\ \E o \in Operations : ~completed[o] /\ Listed(o) /\ \E k \in Keys : lists[k][o] = 0)
(* A try has raised: the operation is still watched. *)
NeverRaisedAndWatched == ~(Quiet /\ \E o \in Operations : raised[o] /\ ~completed[o] /\ Listed(o))
(* The first try has raised: the operation has not been watched. *)
NeverRaisedAndUnwatched == ~(Quiet /\ \E o \in Operations : raised[o] /\ ~completed[o] /\ ~Listed(o))
(* A try has raised in a walk that has still something to look at. *)
NeverRaisedInWalk ==
  ~\E x \in Walkers : pc[x] = "walk" /\ batch[x] # Nothing /\ operation[x] # NoOperation /\ raised[operation[x]]
(* A callback's walk drops an entry, and the walk around it is not at its end. *)
NeverNestedInWalk ==
  ~\E x \in Completers : pc[x] = "nested" /\ batch[x] # Nothing /\ pc[Callback] = "drop-own"
(* A callback in the executor's thread walks. *)
NeverNestedInExecutor == ~(pc[Executor] = "nested" /\ pc[Callback] = "walk")
(* A callback has watched an operation. *)
NeverNestedWatch == ~(pc[Callback] = "second-try" /\ \E x \in Completers : pc[x] = "nested")
(* A callback cancels the key that is being walked around it. *)
NeverNestedCancel ==
  ~(pc[Callback] = "cancel" /\ \E x \in Completers : pc[x] = "nested" /\ batch[x] # Nothing)
(* A caller has seen its operation completed, has given back what it had promised, and owes that. *)
NeverGivesBack == ~\E c \in Callers : pc[c] = "settle"
(* Appending has raised: the operation is watched under one key and not under the other. *)
NeverWatchedInPart ==
  ~(Quiet /\ \E o \in Operations, k \in Keys :
      raised[o] /\ ~completed[o] /\ Listed(o) /\ lists[k][o] = 0)
(* A walk finds completed what it has just tried in vain. *)
NeverCompletedBehind ==
  ~\E x \in Walkers : pc[x] = "look-behind" /\ completed[operation[x]]
(* One who cancels waits for one who arms. *)
NeverWaitsForLock ==
  ~\E c \in Watchers, x \in Detachers : pc[c] = "promise" /\ pc[x] = "cancel" /\ batch[x][operation[c]] > 0

=============================================================================
