------------------------- MODULE WatcherListRemoval -------------------------
(***************************************************************************)
(* One key of the purgatory, and its list of watching operations.          *)
(*                                                                         *)
(* A map leads from the key to its list.  A list that becomes empty is     *)
(* taken out of the map, or the map would grow with every key that was     *)
(* ever used (KAFKA-2160).  The next caller makes a new one.  That is a    *)
(* race: a caller that has fetched the list and has not yet put its        *)
(* operation into it loses the list under its hands.  The operation then   *)
(* sits in a list that no event will ever find.                            *)
(*                                                                         *)
(* Each caller watches one operation (named like the caller): fetch the    *)
(* list, insert, and look once more at the condition.  A completer makes   *)
(* the condition true, finds the list, completes all operations in it, and *)
(* drops the list where it is empty.  A sweeper, for ever, takes completed *)
(* operations out of the list and drops it where it is empty.              *)
(*                                                                         *)
(* Variables                                                               *)
(*   current    the list to which the map leads; 0 for none                *)
(*   members    the operations in each list, in the map or not             *)
(*   retired    lists that carry the mark "no more"                        *)
(*   shard      who has the lock of this part of the map, or "nobody"      *)
(*   condition  whether the awaited event has happened                     *)
(*   completed  the operations that are completed                          *)
(*   pc         where each thread is                                       *)
(*   found      the list that a thread has fetched; 0 for none             *)
(*   met        observer: the retired list that a caller has met last; 0   *)
(*              for none                                                   *)
(*                                                                         *)
(* Lists have numbers.  The number of an empty list to which nothing leads *)
(* any more is used again, as its memory would be: that keeps the states   *)
(* finite although lists are made and dropped without end.                 *)
(*                                                                         *)
(* What is one step: every access to the map (fetch or make, as one        *)
(* compute-if-absent; take out if it is still the same, as one compare-    *)
(* and-remove) and every access to a list under the list's own lock        *)
(* (insert; complete and take out; test for emptiness and mark).  A walk   *)
(* is one step, which favours nobody: what the walk does not see is        *)
(* inserted later, and its caller looks again.                             *)
(*                                                                         *)
(* Features: exactly one of                                                *)
(*   "racy"          callers fetch and insert in two steps; a dropper      *)
(*                   tests and takes out in two steps; nothing else        *)
(*   "shard-lock"    fetch and insert are under the map's lock, and so are *)
(*                   test and removal                                      *)
(*   "retired-mark"  the dropper marks an empty list, then takes it out of *)
(*                   the map; an insertion that meets the mark fetches     *)
(*                   again                                                 *)
(*   "retired-and-helped"  as before, and who meets the mark takes the     *)
(*                   list out of the map itself before it fetches again    *)
(*                                                                         *)
(* Defects                                                                 *)
(*   "removes-whatever-is-there"  takes out the list to which the map      *)
(*                   leads now, not only the one that was found empty      *)
(*   "ignores-mark"  inserts into a retired list                           *)
(*   "never-drops"   empty lists stay                                      *)
(*   "dropper-skips-lock"  the callers take the map's lock, the droppers   *)
(*                   do not                                                *)
(*   "looks-before-inserting"  a caller does not look again after its      *)
(*                   insertion, only before                                *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  \* @type: Set(Str);
  Callers,
  \* @type: Set(Str);
  Completers,
  \* @type: Set(Str);
  Sweepers,
  \* lists that can be referred to at once; ListsSuffice says that it is enough
  \* @type: Int;
  MostLists,
  \* @type: Set(Str);
  Features,
  \* @type: Set(Str);
  Defects

Designs == {"racy", "shard-lock", "retired-mark", "retired-and-helped"}

ASSUME Cardinality(Features \cap Designs) = 1

VARIABLES
  \* @type: Int;
  current,
  \* @type: Int -> Set(Str);
  members,
  \* @type: Set(Int);
  retired,
  \* @type: Str;
  shard,
  \* @type: Bool;
  condition,
  \* @type: Set(Str);
  completed,
  \* @type: Str -> Str;
  pc,
  \* @type: Str -> Int;
  found,
  \* @type: Str -> Int;
  met

vars == <<current, members, retired, shard, condition, completed, pc, found, met>>

Droppers == Completers \union Sweepers
Threads == Callers \union Droppers
Lists == 1..MostLists
Locked == "shard-lock" \in Features
Marking == Features \cap {"retired-mark", "retired-and-helped"} # {}
Goto(t, label) == pc' = [pc EXCEPT ![t] = label]

\* Numbers for a new list: empty, and nothing leads there.
Unused ==
  {list \in Lists :
     /\ list # current
     /\ members[list] = {}
     /\ \A t \in Threads : found[t] # list
     /\ \A c \in Callers : met[c] # list}

Init ==
  /\ current = 0
  /\ members = [list \in Lists |-> {}]
  /\ retired = {}
  /\ shard = "nobody"
  /\ condition = FALSE
  /\ completed = {}
  /\ pc = [t \in Threads |-> IF t \in Callers THEN "idle"
                             ELSE IF t \in Completers THEN "event" ELSE "find"]
  /\ found = [t \in Threads |-> 0]
  /\ met = [c \in Callers |-> 0]

-----------------------------------------------------------------------------
(* Steps: callers                                                          *)

\* @says self: wants to watch its operation
Begin(c) ==
  /\ pc[c] = "idle"
  /\ Goto(c, IF Locked THEN "lock" ELSE "fetch")
  /\ UNCHANGED <<current, members, retired, shard, condition, completed, found, met>>

\* @says self: takes the map's lock
LockToInsert(c) ==
  /\ c \in Callers
  /\ pc[c] = "lock"
  /\ shard = "nobody"
  /\ shard' = c
  /\ Goto(c, "fetch")
  /\ UNCHANGED <<current, members, retired, condition, completed, found, met>>

\* @says self: fetches list {found'[self]}
Fetch(c) ==
  /\ pc[c] = "fetch"
  /\ current # 0
  /\ found' = [found EXCEPT ![c] = current]
  /\ Goto(c, "insert")
  /\ UNCHANGED <<current, members, retired, shard, condition, completed, met>>

\* @says self: finds no list, makes list {found'[self]}
Make(c) ==
  /\ pc[c] = "fetch"
  /\ current = 0
  /\ \E list \in Unused :
       /\ \A other \in Unused : list <= other
       /\ current' = list
       /\ found' = [found EXCEPT ![c] = list]
       /\ retired' = retired \ {list}
  /\ Goto(c, "insert")
  /\ UNCHANGED <<members, shard, condition, completed, met>>

\* @says self: inserts its operation into list {found[self]}
Insert(c) ==
  /\ pc[c] = "insert"
  /\ found[c] \notin retired \/ "ignores-mark" \in Defects
  /\ members' = [members EXCEPT ![found[c]] = members[found[c]] \union {c}]
  /\ Goto(c, IF Locked THEN "unlock"
             ELSE IF "looks-before-inserting" \in Defects THEN "end" ELSE "look")
  /\ found' = [found EXCEPT ![c] = 0]
  /\ met' = [met EXCEPT ![c] = 0]
  /\ UNCHANGED <<current, retired, shard, condition, completed>>

\* @says self: meets the mark: list {found[self]} is retired
MeetMark(c) ==
  /\ pc[c] = "insert"
  /\ found[c] \in retired /\ "ignores-mark" \notin Defects
  /\ met' = [met EXCEPT ![c] = found[c]]
  /\ found' = [found EXCEPT ![c] = 0]
  /\ Goto(c, IF "retired-and-helped" \in Features THEN "help" ELSE "fetch")
  /\ UNCHANGED <<current, members, retired, shard, condition, completed>>

\* @says self: takes list {met[self]} out of the map, if there
Help(c) ==
  /\ pc[c] = "help"
  /\ current' = IF current = met[c] THEN 0 ELSE current
  /\ Goto(c, "fetch")
  /\ UNCHANGED <<members, retired, shard, condition, completed, found, met>>

\* @says self: gives the map's lock back
UnlockInserted(c) ==
  /\ c \in Callers
  /\ pc[c] = "unlock"
  /\ shard' = "nobody"
  /\ Goto(c, "look")
  /\ UNCHANGED <<current, members, retired, condition, completed, found, met>>

\* @says self: looks once more: condition is {condition}
LookOnceMore(c) ==
  /\ pc[c] = "look"
  /\ completed' = IF condition THEN completed \union {c} ELSE completed
  /\ Goto(c, "end")
  /\ UNCHANGED <<current, members, retired, shard, condition, found, met>>

-----------------------------------------------------------------------------
(* Steps: completers and sweepers                                          *)

\* @says self: the awaited event happens
Happen(d) ==
  /\ pc[d] = "event"
  /\ condition' = TRUE
  /\ Goto(d, "find")
  /\ UNCHANGED <<current, members, retired, shard, completed, found, met>>

\* The end of a dropper's round.
Finish(d) ==
  /\ Goto(d, IF d \in Completers THEN "end" ELSE "find")
  /\ found' = [found EXCEPT ![d] = 0]

\* @says self: finds no list in the map
FindNone(d) ==
  /\ pc[d] = "find"
  /\ d \in Completers
  /\ current = 0
  /\ Finish(d)
  /\ UNCHANGED <<current, members, retired, shard, condition, completed, met>>

\* @says self: finds list {current} in the map
Find(d) ==
  /\ pc[d] = "find"
  /\ current # 0
  /\ found' = [found EXCEPT ![d] = current]
  /\ Goto(d, "walk")
  /\ UNCHANGED <<current, members, retired, shard, condition, completed, met>>

\* A completer completes what is in the list; a sweeper only takes out what is completed.
\* @says self: walks list {found[self]}
Walk(d) ==
  /\ pc[d] = "walk"
  /\ completed' = IF d \in Completers THEN completed \union members[found[d]] ELSE completed
  /\ members' = [members EXCEPT ![found[d]] = members[found[d]] \ completed']
  /\ IF "never-drops" \in Defects
     THEN Finish(d)
     ELSE /\ Goto(d, IF Locked /\ "dropper-skips-lock" \notin Defects THEN "lock" ELSE "test")
          /\ UNCHANGED found
  /\ UNCHANGED <<current, retired, shard, condition, met>>

\* @says self: takes the map's lock
LockToDrop(d) ==
  /\ d \in Droppers
  /\ pc[d] = "lock"
  /\ shard = "nobody"
  /\ shard' = d
  /\ Goto(d, "test")
  /\ UNCHANGED <<current, members, retired, condition, completed, found, met>>

\* @says self: list {found[self]} is empty
FindEmpty(d) ==
  /\ pc[d] = "test"
  /\ members[found[d]] = {}
  /\ retired' = IF Marking THEN retired \union {found[d]} ELSE retired
  /\ Goto(d, "remove")
  /\ UNCHANGED <<current, members, shard, condition, completed, found, met>>

\* @says self: list {found[self]} is not empty
FindInUse(d) ==
  /\ pc[d] = "test"
  /\ members[found[d]] # {}
  /\ IF shard = d THEN Goto(d, "unlock") /\ UNCHANGED found ELSE Finish(d)
  /\ UNCHANGED <<current, members, retired, shard, condition, completed, met>>

\* @says self: takes list {found[self]} out of the map, if there
Remove(d) ==
  /\ pc[d] = "remove"
  /\ current' = IF current = found[d] \/ "removes-whatever-is-there" \in Defects
                THEN 0 ELSE current
  /\ IF shard = d THEN Goto(d, "unlock") /\ UNCHANGED found ELSE Finish(d)
  /\ UNCHANGED <<members, retired, shard, condition, completed, met>>

\* @says self: gives the map's lock back
UnlockDropped(d) ==
  /\ d \in Droppers
  /\ pc[d] = "unlock"
  /\ shard' = "nobody"
  /\ Finish(d)
  /\ UNCHANGED <<current, members, retired, condition, completed, met>>

-----------------------------------------------------------------------------
InWatch(c) ==
  \/ LockToInsert(c) \/ Fetch(c) \/ Make(c) \/ Insert(c) \/ MeetMark(c) \/ Help(c)
  \/ UnlockInserted(c) \/ LookOnceMore(c)
InRound(d) ==
  \/ FindNone(d) \/ Find(d) \/ Walk(d) \/ LockToDrop(d)
  \/ FindEmpty(d) \/ FindInUse(d) \/ Remove(d) \/ UnlockDropped(d)

Next ==
  \/ \E c \in Callers :
       \/ Begin(c) \/ LockToInsert(c) \/ Fetch(c) \/ Make(c) \/ Insert(c) \/ MeetMark(c)
       \/ Help(c) \/ UnlockInserted(c) \/ LookOnceMore(c)
  \/ \E d \in Droppers :
       \/ Happen(d) \/ FindNone(d) \/ Find(d) \/ Walk(d) \/ LockToDrop(d)
       \/ FindEmpty(d) \/ FindInUse(d) \/ Remove(d) \/ UnlockDropped(d)

Spec == Init /\ [][Next]_vars

\* What has begun goes on, and the sweeper goes on for ever.  Nobody has to watch, and the event need
\* not happen.
FairSpec ==
  /\ Spec
  /\ \A c \in Callers : WF_vars(InWatch(c))
  /\ \A d \in Droppers : WF_vars(InRound(d))

\* Beyond that: a caller that waits for a lock that becomes free again and again has it at last (a
\* lock with a queue promises this) ...
FairLockSpec == FairSpec /\ \A c \in Callers : SF_vars(LockToInsert(c))

\* ... or: who could insert again and again does so at last (nothing promises this).
LuckySpec == FairSpec /\ \A c \in Callers : SF_vars(Insert(c))

-----------------------------------------------------------------------------
(* Claims                                                                  *)

TypeOK ==
  /\ current \in 0..MostLists
  /\ members \in [Lists -> SUBSET Callers]
  /\ retired \in SUBSET Lists
  /\ shard \in Threads \union {"nobody"}
  /\ condition \in BOOLEAN
  /\ completed \in SUBSET Callers
  /\ found \in [Threads -> 0..MostLists]
  /\ met \in [Callers -> 0..MostLists]

\* The instance is large enough: nobody is stopped for want of a number for a list.
ListsSuffice == \A c \in Callers : (pc[c] = "fetch" /\ current = 0) => Unused # {}

\* The event has happened, its completers and all callers have returned: every operation is completed.
AllOver == condition /\ \A t \in Callers \union Completers : pc[t] = "end"
\* Rules: PURGATORY-NOT-LOST.
NoLostCompletion == AllOver => completed = Callers

\* Lists that are not in the map are empty: none leaks, and none holds an operation that no event
\* can find.
\* Rules: PURGATORY-EMPTY-LISTS.
OnlyCurrentHolds == \A list \in Lists : list # current => members[list] = {}

\* An operation whose caller has inserted it, and that is not completed, is found from the map.
Inserted(c) == pc[c] \in {"unlock", "look", "end"}
\* Rules: PURGATORY-WATCH-WAITS.
Reachable ==
  \A c \in Callers :
    (Inserted(c) /\ c \notin completed) => (current # 0 /\ c \in members[current])

\* Nothing is ever inserted into a retired list.
RetiredStaysEmpty == \A list \in retired : members[list] = {}

\* A caller never fetches again the list that it has found retired: it fetches again at most once
\* for each list that is dropped.
FetchesAnother == \A c \in Callers : met[c] # 0 => found[c] # met[c]

\* An empty list in the map goes: it is filled, or it is dropped.
\* Rules: PURGATORY-EMPTY-LISTS.
EmptyListsAreDropped ==
  \A list \in Lists :
    (current = list /\ members[list] = {}) ~> (current # list \/ members[list] # {})

\* Every watch that has begun returns.
Busy(c) == pc[c] \notin {"idle", "end"}
EveryWatchReturns == \A c \in Callers : Busy(c) ~> ~Busy(c)

-----------------------------------------------------------------------------
(* False, and why                                                          *)

\* NoLostCompletion, Reachable, OnlyCurrentHolds with "racy": a list is dropped between a caller's
\* fetch and its insertion.
\* FetchesAnother with "retired-mark": between the mark and the removal the caller fetches the same
\* list again; it waits, busily, for the dropper.
\* EveryWatchReturns with FairSpec, a sweeper without end, and "retired-and-helped" or "shard-lock":
\* the sweeper drops each new list before it is filled, or takes the lock again before the caller.

-----------------------------------------------------------------------------
(* Witnesses                                                               *)

\* The antecedent of NoLostCompletion.
NeverAllOver == ~AllOver

\* An operation waits in a list that is not the first.
NeverWaitsInSecondList == ~\E c \in Callers : current > 1 /\ Inserted(c) /\ c \notin completed

\* A caller meets a retired list.
NeverMeetsMark == \A c \in Callers : met[c] = 0

\* A dropper is about to drop the list that a caller has fetched.
NeverFetchedBeforeDrop ==
  ~\E c \in Callers, d \in Droppers :
     pc[c] = "insert" /\ pc[d] = "remove" /\ found[c] = found[d]

\* A caller waits for the map's lock, which a dropper has.
NeverWaitsForDropper == ~\E c \in Callers : pc[c] = "lock" /\ shard \in Droppers

\* Somebody wants to remove a list, but the map leads to another one by now.
NeverReplaced == ~\E d \in Droppers : pc[d] = "remove" /\ current # 0 /\ current # found[d]

\* The map leads to an empty list.
NeverEmptyInMap == ~(current # 0 /\ members[current] = {})

\* The map leads nowhere after somebody's operation was completed.
NeverDropped == ~(current = 0 /\ completed # {})
=============================================================================
