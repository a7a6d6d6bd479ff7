---------------------------- MODULE OperationLock ----------------------------
(***************************************************************************)
(* Who may try to complete a delayed operation, and when?                  *)
(*                                                                         *)
(* Several threads change what an operation waits for.  Each looks at the  *)
(* operation after its change, and completes it if enough changes have     *)
(* been made.  To look is a read and a decision, two steps.  What guards   *)
(* them has changed several times in the history of Apache Kafka; each     *)
(* guard is a feature here.                                                *)
(*                                                                         *)
(* One more thread may complete the operation without looking: its         *)
(* time-out.  The operation's callback runs in the thread that completes   *)
(* it, while that thread still has the guard.                              *)
(*                                                                         *)
(* Variables                                                               *)
(*   pc         where each thread is (see the steps); return is the point  *)
(*              from which a call leaves, end is rest for good             *)
(*   changes    how many changes have been made; completable from Goal on  *)
(*   completed  the operation's mark                                       *)
(*   callbacks  how often its callback has begun                           *)
(*   owner      who has the operation's lock, or "nobody"                  *)
(*   outer      who has a lock of the caller's own (think of a consumer    *)
(*              group's), or "nobody"                                      *)
(*   flag       "look again", raised by those who found the lock taken     *)
(*   seen       what a thread has read of changes; 0 outside a look        *)
(*   reached    observer: the thread's own change was the Goal-th or later *)
(*                                                                         *)
(* Features: exactly one guard                                             *)
(*   "blocking"        wait for the lock                                   *)
(*   "try-lock"        leave where the lock is taken                       *)
(*   "flag"            as try-lock, but raise the flag before; the owner   *)
(*                     looks at the flag once it has unlocked              *)
(*   "flag-and-retry"  as flag, but who raised it first tries again once   *)
(*   "no-lock"         no guard at all; completed is set by an atomic swap *)
(* and any of these                                                        *)
(*   "reentrant"       an owner may lock again                             *)
(*   "callback-looks"  the callback looks at its own operation again       *)
(*   "callback-needs-outer"  the callback takes the caller's own lock      *)
(*   "expiry-skips-lock"     the time-out completes without the guard      *)
(*                                                                         *)
(* Defects                                                                 *)
(*   "test-then-set"   completed is tested and set in two steps            *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  \* threads that change the condition and look
  \* @type: Set(Str);
  Changers,
  \* threads that complete the operation because its time is over
  \* @type: Set(Str);
  Expirers,
  \* changers that have the caller's own lock during their look
  \* @type: Set(Str);
  OuterHolders,
  \* changers that look again and again, without another change
  \* @type: Set(Str);
  Repeaters,
  \* @type: Int;
  Goal,
  \* @type: Set(Str);
  Features,
  \* @type: Set(Str);
  Defects

Guards == {"blocking", "try-lock", "flag", "flag-and-retry", "no-lock"}

ASSUME Cardinality(Features \cap Guards) = 1

VARIABLES
  \* @type: Str -> Str;
  pc,
  \* @type: Int;
  changes,
  \* @type: Bool;
  completed,
  \* @type: Int;
  callbacks,
  \* @type: Str;
  owner,
  \* @type: Str;
  outer,
  \* @type: Bool;
  flag,
  \* @type: Str -> Int;
  seen,
  \* @type: Str -> Bool;
  reached

vars == <<pc, changes, completed, callbacks, owner, outer, flag, seen, reached>>

Threads == Changers \union Expirers
Flagged == Features \cap {"flag", "flag-and-retry"} # {}
Goto(t, label) == pc' = [pc EXCEPT ![t] = label]

\* Where a look begins.
Entry == IF "no-lock" \in Features THEN "read" ELSE "lock"

\* Does this thread complete without the guard?
Unguarded(t) ==
  \/ "no-lock" \in Features
  \/ t \in Expirers /\ ("blocking" \notin Features \/ "expiry-skips-lock" \in Features)

Init ==
  /\ pc = [t \in Threads |-> IF t \in Expirers THEN "due" ELSE "change"]
  /\ changes = 0
  /\ completed = FALSE
  /\ callbacks = 0
  /\ owner = "nobody"
  /\ outer = "nobody"
  /\ flag = FALSE
  /\ seen = [t \in Threads |-> 0]
  /\ reached = [t \in Threads |-> FALSE]

-----------------------------------------------------------------------------
(* Steps: a look                                                           *)

\* @says self: makes change {changes'}
MakeChange(t) ==
  /\ pc[t] = "change"
  /\ changes' = changes + 1
  /\ reached' = [reached EXCEPT ![t] = changes + 1 >= Goal]
  /\ Goto(t, IF t \in OuterHolders THEN "outer" ELSE Entry)
  /\ UNCHANGED <<completed, callbacks, owner, outer, flag, seen>>

\* @says self: takes the lock of its own
TakeOuter(t) ==
  /\ pc[t] = "outer"
  /\ outer = "nobody"
  /\ outer' = t
  /\ Goto(t, Entry)
  /\ UNCHANGED <<changes, completed, callbacks, owner, flag, seen, reached>>

\* @says self: takes the operation's lock
Lock(t) ==
  /\ pc[t] = "lock"
  /\ owner = "nobody"
  /\ owner' = t
  /\ Goto(t, IF t \in Expirers THEN "force" ELSE IF Flagged THEN "clear" ELSE "read")
  /\ UNCHANGED <<changes, completed, callbacks, outer, flag, seen, reached>>

\* @says self: finds the lock taken by {owner}
FailToLock(t) ==
  /\ pc[t] = "lock"
  /\ owner # "nobody"
  /\ "blocking" \notin Features
  /\ Goto(t, IF Flagged THEN "raise" ELSE "return")
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, flag, seen, reached>>

\* @says self: raises the flag, which was {flag}
Raise(t) ==
  /\ pc[t] = "raise"
  /\ flag' = TRUE
  /\ Goto(t, IF ~flag /\ "flag-and-retry" \in Features THEN "again" ELSE "return")
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, seen, reached>>

\* @says self: takes the flag down
Clear(t) ==
  /\ pc[t] = "clear"
  /\ flag' = FALSE
  /\ Goto(t, "read")
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, seen, reached>>

\* @says self: begins to look: {changes} changes so far
Read(t) ==
  /\ pc[t] = "read"
  /\ seen' = [seen EXCEPT ![t] = changes]
  /\ Goto(t, "decide")
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, flag, reached>>

\* @says self: decides on {seen[self]}: not yet
Decline(t) ==
  /\ pc[t] = "decide"
  /\ seen[t] < Goal
  /\ seen' = [seen EXCEPT ![t] = 0]
  /\ Goto(t, IF "no-lock" \in Features THEN "return" ELSE "unlock")
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, flag, reached>>

\* Where a thread goes that was too late to complete.
Leave(t) == Goto(t, IF Unguarded(t) THEN "return" ELSE "unlock")

\* Set the mark, or see that it is set; the swap that does both at once.
Win(t) ==
  IF completed
  THEN /\ Leave(t)
       /\ UNCHANGED <<completed, callbacks>>
  ELSE IF "test-then-set" \in Defects
  THEN /\ Goto(t, "set")
       /\ UNCHANGED <<completed, callbacks>>
  ELSE /\ completed' = TRUE
       /\ callbacks' = callbacks + 1
       /\ Goto(t, "callback")

\* @says self: decides on {seen[self]}: completed is {completed}
Decide(t) ==
  /\ pc[t] = "decide"
  /\ seen[t] >= Goal
  /\ Win(t)
  /\ seen' = [seen EXCEPT ![t] = 0]
  /\ UNCHANGED <<changes, owner, outer, flag, reached>>

\* @says self: sets completed
Set(t) ==
  /\ pc[t] = "set"
  /\ completed' = TRUE
  /\ callbacks' = callbacks + 1
  /\ Goto(t, "callback")
  /\ UNCHANGED <<changes, owner, outer, flag, seen, reached>>

\* @says self: unlocks
Unlock(t) ==
  /\ pc[t] = "unlock"
  /\ owner' = "nobody"
  /\ Goto(t, IF Flagged THEN "look" ELSE "return")
  /\ UNCHANGED <<changes, completed, callbacks, outer, flag, seen, reached>>

\* @says self: looks at the flag: {flag}
LookAtFlag(t) ==
  /\ pc[t] = "look"
  /\ Goto(t, IF flag THEN "again" ELSE "return")
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, flag, seen, reached>>

\* @says self: tries again unless completed: {completed}
Again(t) ==
  /\ pc[t] = "again"
  /\ Goto(t, IF completed THEN "return" ELSE "lock")
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, flag, seen, reached>>

\* @says self: returns
Return(t) ==
  /\ pc[t] = "return"
  /\ outer' = IF outer = t THEN "nobody" ELSE outer
  /\ Goto(t, IF t \in Repeaters THEN "repeat" ELSE "end")
  /\ UNCHANGED <<changes, completed, callbacks, owner, flag, seen, reached>>

\* @says self: looks once more
Repeat(t) ==
  /\ pc[t] = "repeat"
  /\ Goto(t, IF t \in OuterHolders THEN "outer" ELSE Entry)
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, flag, seen, reached>>

-----------------------------------------------------------------------------
(* Steps: the time-out                                                     *)

\* @says self: the operation is due
BecomeDue(t) ==
  /\ pc[t] = "due"
  /\ Goto(t, IF Unguarded(t) THEN "force" ELSE "lock")
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, flag, seen, reached>>

\* @says self: completes it without looking: was {completed}
Force(t) ==
  /\ pc[t] = "force"
  /\ Win(t)
  /\ UNCHANGED <<changes, owner, outer, flag, seen, reached>>

-----------------------------------------------------------------------------
(* Steps: the callback, in the thread that completes                       *)

\* @says self: runs the callback
Call(t) ==
  /\ pc[t] = "callback"
  /\ Goto(t, IF "callback-looks" \in Features THEN "lock again"
             ELSE IF "callback-needs-outer" \in Features THEN "outer again"
             ELSE "called")
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, flag, seen, reached>>

\* The lock is free only where this thread completed without it.  A look at an operation that is
\* completed finds nothing to do, so that a nested look is this one step.
\* @says self: its callback looks at the operation
LookAgain(t) ==
  /\ pc[t] = "lock again"
  /\ \/ "no-lock" \in Features
     \/ owner = "nobody"
     \/ owner = t /\ "reentrant" \in Features
     \/ "blocking" \notin Features
  /\ Goto(t, "called")
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, flag, seen, reached>>

\* @says self: its callback takes the caller's lock
TakeOuterAgain(t) ==
  /\ pc[t] = "outer again"
  /\ outer \in {"nobody", t}
  /\ outer' = t
  /\ Goto(t, "give outer")
  /\ UNCHANGED <<changes, completed, callbacks, owner, flag, seen, reached>>

\* @says self: its callback is done with the caller's lock
GiveOuter(t) ==
  /\ pc[t] = "give outer"
  /\ outer' = IF t \in OuterHolders THEN outer ELSE "nobody"
  /\ Goto(t, "called")
  /\ UNCHANGED <<changes, completed, callbacks, owner, flag, seen, reached>>

\* @says self: the callback has returned
EndCallback(t) ==
  /\ pc[t] = "called"
  /\ Leave(t)
  /\ UNCHANGED <<changes, completed, callbacks, owner, outer, flag, seen, reached>>

-----------------------------------------------------------------------------
(* Everything a thread does once its call has begun, and everything together. *)
InCall(t) ==
  \/ TakeOuter(t) \/ Lock(t) \/ FailToLock(t) \/ Raise(t) \/ Clear(t) \/ Read(t)
  \/ Decline(t) \/ Decide(t) \/ Set(t) \/ Unlock(t) \/ LookAtFlag(t) \/ Again(t)
  \/ Return(t) \/ Force(t) \/ Call(t) \/ LookAgain(t) \/ TakeOuterAgain(t)
  \/ GiveOuter(t) \/ EndCallback(t)

\* Rest: without this step the end of all calls would be reported as a deadlock.
AllEnded == \A t \in Threads : pc[t] = "end"
Rest == AllEnded /\ UNCHANGED vars

Next ==
  \/ \E t \in Threads :
       \/ MakeChange(t) \/ TakeOuter(t) \/ Lock(t) \/ FailToLock(t) \/ Raise(t)
       \/ Clear(t) \/ Read(t) \/ Decline(t) \/ Decide(t) \/ Set(t) \/ Unlock(t)
       \/ LookAtFlag(t) \/ Again(t) \/ Return(t) \/ Repeat(t)
       \/ BecomeDue(t) \/ Force(t)
       \/ Call(t) \/ LookAgain(t) \/ TakeOuterAgain(t) \/ GiveOuter(t) \/ EndCallback(t)
  \/ Rest

Spec == Init /\ [][Next]_vars

\* A thread whose call has begun goes on whenever it can go on for good (weak fairness); those that
\* look again and again do so.  Nobody has to make a change.
FairSpec ==
  /\ Spec
  /\ \A t \in Threads : WF_vars(InCall(t)) /\ WF_vars(Repeat(t))

\* Beyond that, whoever waits for a lock that becomes free again and again has it at last: what a
\* fair lock (one with a queue) promises.
FairLockSpec == FairSpec /\ \A t \in Threads : SF_vars(Lock(t))

-----------------------------------------------------------------------------
(* Claims                                                                  *)

TypeOK ==
  /\ changes \in 0..Cardinality(Changers)
  /\ completed \in BOOLEAN
  /\ callbacks \in 0..1
  /\ owner \in Threads \union {"nobody"}
  /\ outer \in Threads \union {"nobody"}
  /\ flag \in BOOLEAN
  /\ seen \in [Threads -> 0..Cardinality(Changers)]
  /\ reached \in [Threads -> BOOLEAN]

\* Enough changes have been made and everybody has returned: the operation is completed.
\* Rules: PURGATORY-NOT-LOST.
NoLostCompletion == (AllEnded /\ changes >= Goal) => completed

\* The callback begins at most once.
\* Rules: PURGATORY-EXACTLY-ONCE.
CalledAtMostOnce == callbacks <= 1

\* When all is over, the callback has begun exactly where the operation is completed.
\* Rules: PURGATORY-EXACTLY-ONCE.
CalledIfCompleted == AllEnded => (completed <=> callbacks = 1)

\* While a callback runs, no other thread is in the middle of a look.
InCallback(t) == pc[t] \in {"callback", "lock again", "outer again", "give outer", "called"}
InLook(t) == pc[t] \in {"read", "decide", "set"}
CompletionExcludesLook ==
  \A t, u \in Threads : (t # u /\ InCallback(t)) => ~InLook(u)

\* Whose own change was the last that was needed, or a later one, returns to a completed operation:
\* nobody is left to wait for the next event.
\* Rules: PURGATORY-NOT-LOST.
ReturnedMeansCompleted ==
  \A t \in Changers : (pc[t] = "end" /\ reached[t]) => completed

InTheCall(t) == pc[t] \notin {"change", "due", "repeat", "end"}

\* A call that has begun returns.
\* Rules: PURGATORY-NO-CIRCLE.
EveryCallReturns == \A t \in Threads : InTheCall(t) ~> ~InTheCall(t)

-----------------------------------------------------------------------------
(* False, and why                                                          *)

\* NoLostCompletion with "try-lock": the owner has read before the last change, who made it finds the
\* lock taken and leaves, and nobody looks again.
\* NoLostCompletion with "flag": as before; the flag goes up after the owner has looked at it.
\* ReturnedMeansCompleted with "flag-and-retry": the second to raise the flag leaves the work to
\* others, who may take any time over it.
\* EveryCallReturns with "flag-and-retry", weak fairness, while the operation cannot be completed:
\* two threads keep each other going.  The owner finds the flag up and locks again; the other finds
\* the lock taken, raises the flag, which the owner has just taken down, and tries again.
\* EveryCallReturns with "blocking", weak fairness and somebody who looks for ever: the lock is free
\* again and again, but never when the waiting thread comes.
\* CompletionExcludesLook with "no-lock" or "expiry-skips-lock": nothing keeps them apart.
\* No deadlock with "blocking" where a callback needs what its thread, or a waiting thread, has.

-----------------------------------------------------------------------------
(* Witnesses                                                               *)

\* All is over and enough changes were made.
NeverEnough == ~(AllEnded /\ changes >= Goal)

\* Somebody finds the lock taken, and with enough changes made.
NeverLockTaken == ~\E t \in Threads : pc[t] = "lock" /\ owner # "nobody" /\ changes >= Goal

\* A look that says "not yet" is overtaken by the last change.
NeverOutOfDate == ~\E t \in Threads : pc[t] = "decide" /\ seen[t] < Goal /\ changes >= Goal

\* A callback runs while another thread wants to look.
NeverWaitsForCallback ==
  ~\E t, u \in Threads : t # u /\ InCallback(t) /\ pc[u] \in {"lock", "read"}

\* The time-out comes too late.
NeverExpiresTooLate == ~\E t \in Expirers : pc[t] = "end" /\ \E u \in Changers : InCallback(u)

\* The callback locks again, as the lock's owner.
NeverLocksAgain == ~\E t \in Threads : pc[t] = "lock again" /\ owner = t
=============================================================================
