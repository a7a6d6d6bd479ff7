--------------------------- MODULE ExactAccounting ---------------------------
(***************************************************************************)
(* The exact accounting as counts alone: no keys, no lists, no threads.    *)
(*                                                                         *)
(* Theory of operation.  Of each operation only numbers are left: its word *)
(* (completed, entries); how many of its entries lie in lists, are         *)
(* promised by running watches, or have been detached by running cancels;  *)
(* how often its time-out is in the timer, in the executor's queue, being  *)
(* decided; how many callbacks are owed and made.  Of all threads together *)
(* the sum of their balances is left.  The module exists for two checks,   *)
(* which together carry the law from small instances to any number of      *)
(* operations, keys and threads:                                           *)
(*   - each step keeps the invariant below.  That is proved for unbounded  *)
(*     integers by z3 (purgatory_tla.proofs.stale_law), where every step   *)
(*     has the name that it has here;                                      *)
(*   - PurgatoryExact takes no step but these.  TLC checks that on         *)
(*     instances, as a refinement (PurgatoryExactRefinement).              *)
(*                                                                         *)
(* A step that touches several operations at once, Remove and Detach, is   *)
(* here one step, and in the proof the same step once for each operation.  *)
(* The amounts are read off the state after the step, so that this module  *)
(* can judge steps but not enumerate them.                                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  \* @type: Set(Int);
  Operations,
  \* The most entries that one operation can have: sums count up to it.
  \* @type: Int;
  Most

VARIABLES
  \* @type: Int;
  stale,
  \* @type: Int;
  balances,
  \* @type: Int -> Bool;
  completed,
  \* @type: Int -> Int;
  entries,
  \* @type: Int -> Int;
  in_lists,
  \* @type: Int -> Int;
  promised,
  \* @type: Int -> Int;
  detached,
  \* @type: Int -> Int;
  in_timer,
  \* @type: Int -> Int;
  queued,
  \* @type: Int -> Int;
  deciding,
  \* @type: Int -> Int;
  to_call,
  \* @type: Int -> Int;
  called

word == <<completed, entries>>
\* @type: () => <<Int -> Int, Int -> Int, Int -> Int>>;
places == <<in_lists, promised, detached>>
\* @type: () => <<Int -> Int, Int -> Int, Int -> Int>>;
timing == <<in_timer, queued, deciding>>
\* @type: () => <<Int -> Int, Int -> Int>>;
calling == <<to_call, called>>
vars == <<stale, balances, word, places, timing, calling>>

\* @type: (Int -> Int) => Int;
Sum(count) == Cardinality({<<o, i>> \in Operations \X (1..Most) : i <= count[o]})

Zero == [o \in Operations |-> 0]

Init ==
  /\ stale = 0
  /\ balances = 0
  /\ completed = [o \in Operations |-> FALSE]
  /\ entries = Zero
  /\ in_lists = Zero /\ promised = Zero /\ detached = Zero
  /\ in_timer = Zero /\ queued = Zero /\ deciding = Zero
  /\ to_call = Zero /\ called = Zero

-----------------------------------------------------------------------------
(* The steps *)

\* @says counts: a watch arms an operation: word and timer
Arm(o) ==
  LET n == promised'[o] - promised[o] IN
  /\ ~completed[o]
  /\ n >= 1
  /\ entries' = [entries EXCEPT ![o] = @ + n]
  /\ promised' = [promised EXCEPT ![o] = @ + n]
  /\ in_timer' = [in_timer EXCEPT ![o] = 1]
  /\ UNCHANGED <<stale, balances, completed, in_lists, detached, queued, deciding, calling>>

\* @says counts: a watch appends a promised entry
Insert(o) ==
  /\ promised[o] >= 1
  /\ promised' = [promised EXCEPT ![o] = @ - 1]
  /\ in_lists' = [in_lists EXCEPT ![o] = @ + 1]
  /\ UNCHANGED <<stale, balances, word, detached, timing, calling>>

(* A watch that appends no more gives back what it has promised.           *)
\* @says counts: a watch gives entries of a live operation back
GiveBackLive(o) ==
  LET n == promised[o] - promised'[o] IN
  /\ ~completed[o]
  /\ n >= 1
  /\ n <= promised[o]
  /\ entries' = [entries EXCEPT ![o] = @ - n]
  /\ promised' = [promised EXCEPT ![o] = @ - n]
  /\ in_timer' = IF entries[o] = n THEN [in_timer EXCEPT ![o] = 0] ELSE in_timer
  /\ UNCHANGED <<stale, balances, completed, in_lists, detached, queued, deciding, calling>>

\* @says counts: a watch gives entries of a completed operation back
GiveBackCompleted(o) ==
  LET n == promised[o] - promised'[o] IN
  /\ completed[o]
  /\ n >= 1
  /\ n <= promised[o]
  /\ promised' = [promised EXCEPT ![o] = @ - n]
  /\ balances' = balances - n
  /\ UNCHANGED <<stale, word, in_lists, detached, timing, calling>>

Won(o) ==
  /\ ~completed[o]
  /\ completed' = [completed EXCEPT ![o] = TRUE]
  /\ entries' = [entries EXCEPT ![o] = 0]
  /\ balances' = balances + entries[o]
  /\ to_call' = [to_call EXCEPT ![o] = @ + 1]

\* @says counts: a thread wins the word of an operation
Win(o) == Won(o) /\ UNCHANGED <<stale, places, timing, called>>

\* @says counts: stale entries leave a list
Remove ==
  LET gone == [o \in Operations |-> in_lists[o] - in_lists'[o]] IN
  /\ in_lists' # in_lists
  /\ \A o \in Operations : gone[o] >= 0
  /\ \A o \in Operations : gone[o] <= in_lists[o]
  /\ \A o \in Operations : gone[o] # 0 => completed[o]
  /\ balances' = balances - Sum(gone)
  /\ UNCHANGED <<stale, word, promised, detached, timing, calling>>

\* @says counts: a thread posts its balance
Post ==
  /\ stale' = stale + (balances - balances')
  /\ UNCHANGED <<word, places, timing, calling>>

\* @says counts: a completed operation leaves the timer
LeaveTimer(o) ==
  /\ completed[o]
  /\ in_timer' = [in_timer EXCEPT ![o] = 0]
  /\ UNCHANGED <<stale, balances, word, places, queued, deciding, calling>>

\* A thread may leave the timer in the same step, since a callback touches nothing shared.
\* @says counts: a callback is made
CallBack(o) ==
  /\ to_call[o] >= 1
  /\ to_call' = [to_call EXCEPT ![o] = @ - 1]
  /\ called' = [called EXCEPT ![o] = @ + 1]
  /\ in_timer' \in {in_timer, [in_timer EXCEPT ![o] = 0]}
  /\ UNCHANGED <<stale, balances, word, places, queued, deciding>>

\* @says counts: a cancel detaches a list
Detach ==
  /\ in_lists' # in_lists
  /\ \A o \in Operations : in_lists'[o] <= in_lists[o]
  /\ \A o \in Operations : in_lists'[o] >= 0
  /\ detached' = [o \in Operations |-> detached[o] + (in_lists[o] - in_lists'[o])]
  /\ UNCHANGED <<stale, balances, word, promised, timing, calling>>

\* @says counts: a cancel settles a live operation
CancelLive(o) ==
  LET n == detached[o] - detached'[o] IN
  /\ ~completed[o]
  /\ n >= 1
  /\ n <= detached[o]
  /\ entries' = [entries EXCEPT ![o] = @ - n]
  /\ detached' = [detached EXCEPT ![o] = @ - n]
  /\ in_timer' = IF entries[o] = n THEN [in_timer EXCEPT ![o] = 0] ELSE in_timer
  /\ UNCHANGED <<stale, balances, completed, in_lists, promised, queued, deciding, calling>>

\* @says counts: a cancel settles a completed operation
CancelCompleted(o) ==
  LET n == detached[o] - detached'[o] IN
  /\ completed[o]
  /\ n >= 1
  /\ n <= detached[o]
  /\ detached' = [detached EXCEPT ![o] = @ - n]
  /\ balances' = balances - n
  /\ UNCHANGED <<stale, word, in_lists, promised, timing, calling>>

\* @says counts: a time-out is due
Expire(o) ==
  /\ in_timer[o] >= 1
  /\ in_timer' = [in_timer EXCEPT ![o] = 0]
  /\ queued' = [queued EXCEPT ![o] = @ + 1]
  /\ UNCHANGED <<stale, balances, word, places, deciding, calling>>

\* @says counts: the executor takes an operation
Take(o) ==
  /\ queued[o] >= 1
  /\ queued' = [queued EXCEPT ![o] = @ - 1]
  /\ deciding' = [deciding EXCEPT ![o] = @ + 1]
  /\ UNCHANGED <<stale, balances, word, places, in_timer, calling>>

\* @says counts: the executor wins the word
DecideWon(o) ==
  /\ deciding[o] >= 1
  /\ Won(o)
  /\ deciding' = [deciding EXCEPT ![o] = @ - 1]
  /\ UNCHANGED <<stale, places, in_timer, queued, called>>

\* @says counts: the executor finds it completed
DecideLost(o) ==
  /\ deciding[o] >= 1
  /\ completed[o]
  /\ deciding' = [deciding EXCEPT ![o] = @ - 1]
  /\ UNCHANGED <<stale, balances, word, places, in_timer, queued, calling>>

Next ==
  \/ Remove \/ Post \/ Detach
  \/ \E o \in Operations :
       \/ Arm(o) \/ Insert(o) \/ GiveBackLive(o) \/ GiveBackCompleted(o)
       \/ Win(o) \/ LeaveTimer(o) \/ CallBack(o)
       \/ CancelLive(o) \/ CancelCompleted(o)
       \/ Expire(o) \/ Take(o) \/ DecideWon(o) \/ DecideLost(o)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* The invariant that z3 proves inductive *)

TypeOK ==
  /\ stale \in Int /\ balances \in Int
  /\ completed \in [Operations -> BOOLEAN]
  /\ entries \in [Operations -> Int]
  /\ in_lists \in [Operations -> Int]
  /\ promised \in [Operations -> Int]
  /\ detached \in [Operations -> Int]
  /\ in_timer \in [Operations -> Int]
  /\ queued \in [Operations -> Int]
  /\ deciding \in [Operations -> Int]
  /\ to_call \in [Operations -> Int]
  /\ called \in [Operations -> Int]

Footprint(o) == in_lists[o] + promised[o] + detached[o]
Pending(o) == in_timer[o] + queued[o] + deciding[o]

(* The law: stale and the balances are the entries of completed operations. *)
Law == stale + balances = Sum([o \in Operations |-> IF completed[o] THEN Footprint(o) ELSE 0])

(* The word of a live operation counts its entries; that of a completed one is empty. *)
WordIsFootprint ==
  \A o \in Operations : entries[o] = IF completed[o] THEN 0 ELSE Footprint(o)

(* A live operation that has entries has its time-out owed somewhere. *)
WatchedKeepsItsTimeOut ==
  \A o \in Operations : ~completed[o] /\ entries[o] > 0 => Pending(o) >= 1

(* A completed operation has one callback, made or owed; a live one none. *)
ExactlyOnce ==
  \A o \in Operations : to_call[o] + called[o] = IF completed[o] THEN 1 ELSE 0

=============================================================================
