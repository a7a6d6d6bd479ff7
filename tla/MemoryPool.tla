----------------------------- MODULE MemoryPool -----------------------------
(***************************************************************************)
(* A pool of memory, shared by threads, that counts bytes and hands out    *)
(* buffers.                                                                *)
(*                                                                         *)
(* A thread asks for a buffer of some size.  A size outside 1..MaxSingle   *)
(* is an error of the caller.  Otherwise the thread reads the count of     *)
(* available bytes.  Too little: the call returns nothing, it never waits. *)
(* Enough: it subtracts its size by compare-and-swap; where another thread *)
(* has changed the count since the read, it reads again.  Whoever has a    *)
(* buffer gives it back in one atomic addition.                            *)
(*                                                                         *)
(* What is enough?  In a strict pool, as many bytes as are asked for.  In  *)
(* a non-strict pool one available byte is enough for any legal size: the  *)
(* count may so fall below 0, once, by less than the largest legal size.   *)
(*                                                                         *)
(* Variables                                                               *)
(*   available  the shared count; the only thing the threads share         *)
(*   pc         where each thread is: idle, reject (the size is illegal),  *)
(*              read, swap, refuse (too little was read), holds, disown    *)
(*              (gives back what the pool has not handed out)              *)
(*   request    the size a thread asks for; 0 outside a call               *)
(*   seen       what a thread has read of the count; 0 outside a call      *)
(*   held       bytes of the buffer a thread has; 0 for none               *)
(*   spent      bytes of a buffer that a thread has given back and still   *)
(*              refers to; only with the defect "double-release"           *)
(*   releases   how often a thread's latest buffer has been credited       *)
(*   enough     observer, no part of the pool: while a thread's request is *)
(*              being decided, whether the memory sufficed all the time    *)
(*                                                                         *)
(* Left out.  A thread has one buffer at a time: one that has several acts *)
(* like several threads, of which all but one are at rest.  Buffers are    *)
(* lengths only.  Time without memory is not measured.                     *)
(*                                                                         *)
(* Features (legal choices)                                                *)
(*   "strict"    admit a request only if its whole size is available       *)
(*   "identity"  a release is checked against the buffers handed out       *)
(*                                                                         *)
(* Defects                                                                 *)
(*   "split-test-and-subtract"  subtract without comparing with what the   *)
(*                              test has read                              *)
(*   "blind-store"              store what was read minus the size         *)
(*   "swap-gives-up"            refuse when the compare-and-swap fails     *)
(*   "never-reads-again"        repeat a failed compare-and-swap with the  *)
(*                              same expected value                        *)
(*   "admits-at-zero"           a non-strict pool admits at 0 as well      *)
(*   "strict-ignores-size"      a strict pool tests like a non-strict one  *)
(*   "unchecked-size"           illegal sizes are not rejected             *)
(*   "loses-failed-buffers"     the buffer cannot be created after the     *)
(*                              subtraction; nobody adds the bytes again   *)
(*   "double-release"           callers give a buffer back twice           *)
(*   "foreign-release"          callers give back what is not the pool's   *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  \* @type: Set(Str);
  Threads,
  \* bytes in the pool, at least MaxSingle
  \* @type: Int;
  PoolSize,
  \* the largest legal request in bytes, at least 1
  \* @type: Int;
  MaxSingle,
  \* @type: Set(Str);
  Features,
  \* @type: Set(Str);
  Defects

ASSUME MaxSingle >= 1 /\ PoolSize >= MaxSingle

VARIABLES
  \* @type: Int;
  available,
  \* @type: Str -> Str;
  pc,
  \* @type: Str -> Int;
  request,
  \* @type: Str -> Int;
  seen,
  \* @type: Str -> Int;
  held,
  \* @type: Str -> Int;
  spent,
  \* @type: Str -> Int;
  releases,
  \* @type: Str -> Bool;
  enough

vars == <<available, pc, request, seen, held, spent, releases, enough>>

\* Legal sizes, and one or two on either side.
Asked == (-1)..(MaxSingle + 1)
Legal(size) == 1 <= size /\ size <= MaxSingle

\* The admission test: is a count of `bytes` enough for a request of `size`?
Sufficient(bytes, size) ==
  IF "strict" \in Features /\ "strict-ignores-size" \notin Defects
  THEN bytes >= size
  ELSE IF "admits-at-zero" \in Defects THEN bytes >= 0 ELSE bytes > 0

\* What the pool answers to "are you out of memory?"
OutOfMemory == available <= 0

\* The sum of held, as the number of pairs (thread, byte).
Outstanding ==
  Cardinality({pair \in Threads \X (1..(MaxSingle + 1)) : pair[2] <= held[pair[1]]})

Deciding(t) == pc[t] \in {"read", "swap"}

Init ==
  /\ available = PoolSize
  /\ pc = [t \in Threads |-> "idle"]
  /\ request = [t \in Threads |-> 0]
  /\ seen = [t \in Threads |-> 0]
  /\ held = [t \in Threads |-> 0]
  /\ spent = [t \in Threads |-> 0]
  /\ releases = [t \in Threads |-> 0]
  /\ enough = [t \in Threads |-> TRUE]

-----------------------------------------------------------------------------
(* Steps                                                                   *)

Goto(t, label) == pc' = [pc EXCEPT ![t] = label]

\* The shared count becomes `bytes`; the observer looks at all undecided requests but that of t.
Change(t, bytes) ==
  /\ available' = bytes
  /\ enough' = [u \in Threads |->
       IF u # t /\ Deciding(u) THEN enough[u] /\ Sufficient(bytes, request[u]) ELSE enough[u]]

\* The thread's call is over: its local values are forgotten.
Forget(t) ==
  /\ request' = [request EXCEPT ![t] = 0]
  /\ seen' = [seen EXCEPT ![t] = 0]

\* @says self: asks for {request'[self]} bytes
Ask(t) ==
  /\ pc[t] = "idle"
  /\ \E size \in Asked :
       /\ request' = [request EXCEPT ![t] = size]
       /\ Goto(t, IF Legal(size) \/ "unchecked-size" \in Defects THEN "read" ELSE "reject")
       /\ enough' = [enough EXCEPT ![t] = Sufficient(available, size)]
  /\ spent' = [spent EXCEPT ![t] = 0]
  /\ releases' = [releases EXCEPT ![t] = 0]
  /\ UNCHANGED <<available, seen, held>>

\* @says self: raises an error: {request[self]} bytes is no legal size
Reject(t) ==
  /\ pc[t] = "reject"
  /\ Goto(t, "idle")
  /\ Forget(t)
  /\ enough' = [enough EXCEPT ![t] = TRUE]
  /\ UNCHANGED <<available, held, spent, releases>>

\* @says self: reads {available} available, wants {request[self]}
Read(t) ==
  /\ pc[t] = "read"
  /\ seen' = [seen EXCEPT ![t] = available]
  /\ Goto(t, IF Sufficient(available, request[t]) THEN "swap" ELSE "refuse")
  /\ UNCHANGED <<available, request, held, spent, releases, enough>>

\* @says self: returns nothing: {seen[self]} was too little
Refuse(t) ==
  /\ pc[t] = "refuse"
  /\ Goto(t, "idle")
  /\ Forget(t)
  /\ enough' = [enough EXCEPT ![t] = TRUE]
  /\ UNCHANGED <<available, held, spent, releases>>

\* The bytes are the thread's own; the shared count becomes `bytes`.
Take(t, bytes) ==
  /\ Change(t, bytes)
  /\ held' = [held EXCEPT ![t] = request[t]]
  /\ Goto(t, "holds")
  /\ Forget(t)
  /\ UNCHANGED <<spent, releases>>

Compares == Defects \cap {"split-test-and-subtract", "blind-store"} = {}

\* @says self: swaps {seen[self]} for {available'}, has its buffer
Swap(t) ==
  /\ pc[t] = "swap"
  /\ Compares
  /\ available = seen[t]
  /\ Take(t, available - request[t])

\* @says self: swap fails: {available}, no longer {seen[self]}
FailToSwap(t) ==
  /\ pc[t] = "swap"
  /\ Compares
  /\ available # seen[t]
  /\ Goto(t, IF "swap-gives-up" \in Defects THEN "refuse"
             ELSE IF "never-reads-again" \in Defects THEN "swap" ELSE "read")
  /\ UNCHANGED <<available, request, seen, held, spent, releases, enough>>

\* @says self: subtracts {request[self]} unseen, has its buffer
Subtract(t) ==
  /\ pc[t] = "swap"
  /\ "split-test-and-subtract" \in Defects
  /\ Take(t, available - request[t])

\* @says self: stores {available'}, has its buffer
Store(t) ==
  /\ pc[t] = "swap"
  /\ "blind-store" \in Defects
  /\ Take(t, seen[t] - request[t])

\* @says self: gives {held[self]} bytes back
Release(t) ==
  /\ pc[t] = "holds"
  /\ Change(t, available + held[t])
  /\ held' = [held EXCEPT ![t] = 0]
  /\ spent' = [spent EXCEPT ![t] = IF "double-release" \in Defects THEN held[t] ELSE 0]
  /\ releases' = [releases EXCEPT ![t] = releases[t] + 1]
  /\ Goto(t, "idle")
  /\ UNCHANGED <<request, seen>>

\* @says self: cannot create its {held[self]} bytes, raises an error
LoseBuffer(t) ==
  /\ "loses-failed-buffers" \in Defects
  /\ pc[t] = "holds"
  /\ held' = [held EXCEPT ![t] = 0]
  /\ Goto(t, "idle")
  /\ UNCHANGED <<available, request, seen, spent, releases, enough>>

\* A release of `bytes` that are not outstanding: found out, or credited all the same.
Credit(t, bytes) ==
  IF "identity" \in Features
  THEN /\ Goto(t, "disown")
       /\ UNCHANGED <<available, enough, releases>>
  ELSE /\ Change(t, available + bytes)
       /\ releases' = [releases EXCEPT ![t] = releases[t] + 1]
       /\ UNCHANGED pc

\* @says self: gives the same {spent[self]} bytes back again
ReleaseAgain(t) ==
  /\ "double-release" \in Defects
  /\ pc[t] = "idle" /\ spent[t] > 0
  /\ Credit(t, spent[t])
  /\ UNCHANGED <<request, seen, held, spent>>

\* @says self: gives back bytes that are not the pool's
ReleaseForeign(t, bytes) ==
  /\ "foreign-release" \in Defects
  /\ pc[t] = "idle"
  /\ Credit(t, bytes)
  /\ UNCHANGED <<request, seen, held, spent>>

\* @says self: raises an error: not handed out by this pool
Disown(t) ==
  /\ pc[t] = "disown"
  /\ Goto(t, "idle")
  /\ spent' = [spent EXCEPT ![t] = 0]
  /\ UNCHANGED <<available, request, seen, held, releases, enough>>

\* What a thread does inside a call.
InCall(t) ==
  \/ Reject(t) \/ Read(t) \/ Refuse(t) \/ Swap(t) \/ FailToSwap(t)
  \/ Subtract(t) \/ Store(t) \/ Disown(t)

Next ==
  \E t \in Threads :
    \/ Ask(t) \/ Reject(t) \/ Read(t) \/ Refuse(t)
    \/ Swap(t) \/ FailToSwap(t) \/ Subtract(t) \/ Store(t)
    \/ Release(t) \/ LoseBuffer(t)
    \/ ReleaseAgain(t) \/ (\E bytes \in 1..MaxSingle : ReleaseForeign(t, bytes)) \/ Disown(t)

Spec == Init /\ [][Next]_vars

\* A thread inside a call goes on.  Nobody has to ask, and nobody has to give back.
FairSpec == Spec /\ \A t \in Threads : WF_vars(InCall(t))

\* Beyond that, a compare-and-swap that could succeed again and again does so at last.  No
\* processor promises this; it is what would be needed for every single call to return.
LuckySpec == FairSpec /\ \A t \in Threads : SF_vars(Swap(t))

-----------------------------------------------------------------------------
(* Claims                                                                  *)

TypeOK ==
  /\ available \in (1 - MaxSingle)..PoolSize
  /\ pc \in [Threads -> {"idle", "reject", "read", "swap", "refuse", "holds", "disown"}]
  /\ request \in [Threads -> Asked]
  /\ seen \in [Threads -> (1 - MaxSingle)..PoolSize]
  /\ held \in [Threads -> 0..MaxSingle]
  /\ spent \in [Threads -> 0..MaxSingle]
  /\ releases \in [Threads -> 0..1]
  /\ enough \in [Threads -> BOOLEAN]

\* Every byte of the pool is either available or in somebody's hands.
\* Rules: POOL-CONSERVATION.
Conservation == available + Outstanding = PoolSize

\* Non-strict: the pool never hands out more than its size and one byte less than a largest buffer.
\* Rules: POOL-BOUND, POOL-NON-STRICT.
Bound == Outstanding <= PoolSize + MaxSingle - 1

\* Non-strict, the same seen from the count: it never falls further than that below 0.
\* Rules: POOL-BOUND.
NeverFarBelowZero == available >= 1 - MaxSingle

\* Strict: the pool never hands out more than it has.
\* Rules: POOL-BOUND, POOL-STRICT.
StrictBound == Outstanding <= PoolSize

\* Strict: the count is never negative.
\* Rules: POOL-STRICT.
StrictNeverNegative == available >= 0

\* Bytes do not come from nowhere: never more available than the pool has.
\* Rules: POOL-CONSERVATION.
NeverMoreThanSize == available <= PoolSize

\* A buffer is credited at most once.
\* Rules: POOL-RELEASE, POOL-RELEASE-AGAIN.
ReleasedAtMostOnce == \A t \in Threads : releases[t] <= 1

\* Only legal sizes are handed out.
\* Rules: POOL-ZERO-REQUEST, POOL-NEGATIVE-REQUEST, POOL-OVERSIZE-REQUEST.
OnlyLegalSizes == \A t \in Threads : pc[t] = "holds" => Legal(held[t])

\* An illegal size is rejected before the pool is looked at, and a legal one never is.
\* Rules: POOL-ZERO-REQUEST, POOL-NEGATIVE-REQUEST, POOL-OVERSIZE-REQUEST.
RejectedMeansIllegal ==
  \A t \in Threads :
    /\ pc[t] = "reject" => ~Legal(request[t])
    /\ pc[t] \in {"read", "swap", "refuse"} => Legal(request[t])

\* A call that returns nothing has its reason: at some instant of the call the memory did not
\* suffice.  (Not necessarily when it returns: see RefusalIsCurrent.)
\* Rules: POOL-REFUSAL, POOL-STRICT, POOL-NON-STRICT.
RefusedForAReason == \A t \in Threads : pc[t] = "refuse" => ~enough[t]

\* "Out of memory" says the same in both kinds of pool: at this instant every size would be refused.
\* Rules: POOL-OUT-OF-MEMORY.
OutOfMemoryRefusesAll ==
  OutOfMemory <=> \A size \in 1..MaxSingle : ~Sufficient(available, size)

\* Non-strict only: while the pool is not out of memory, every legal size is admitted.
\* Rules: POOL-OUT-OF-MEMORY, POOL-NON-STRICT.
NotOutOfMemoryAdmitsAll ==
  ~OutOfMemory => \A size \in 1..MaxSingle : Sufficient(available, size)

\* Seen from outside, the loop is atomic: the count and the buffers change only in a successful
\* test-and-subtract of one legal size at one instant, or in a release.
TakeAtOnce(t) ==
  \E size \in 1..MaxSingle :
    /\ held[t] = 0
    /\ Sufficient(available, size)
    /\ available' = available - size
    /\ held' = [held EXCEPT ![t] = size]
GiveAtOnce(t) ==
  /\ held[t] > 0
  /\ available' = available + held[t]
  /\ held' = [held EXCEPT ![t] = 0]
LooksAtomic == [][\E t \in Threads : TakeAtOnce(t) \/ GiveAtOnce(t)]_<<available, held>>

\* The loop is lock-free: while somebody is in it, again and again some call or release is done.
Progress == \E t \in Threads : Reject(t) \/ Refuse(t) \/ Swap(t) \/ Release(t)
LockFree ==
  \/ []<><<Progress>>_vars
  \/ <>[](\A t \in Threads : ~Deciding(t))

\* Each single call returns.  True with LuckySpec only: see below.
\* Rules: POOL-REFUSAL.
EveryCallReturns == \A t \in Threads : Deciding(t) ~> ~Deciding(t)

-----------------------------------------------------------------------------
(* False, and why                                                          *)

\* One byte less than the bound is too little: with one byte available the largest size is admitted.
BoundMinusOne == Outstanding <= PoolSize + MaxSingle - 2

\* The same for a strict pool: all of it can be handed out.
StrictBoundMinusOne == Outstanding <= PoolSize - 1

\* A refusal may be stale: a buffer comes back between the read and the return.
RefusalIsCurrent ==
  \A t \in Threads : pc[t] = "refuse" => ~Sufficient(available, request[t])

\* Also false: EveryCallReturns with FairSpec.  A thread's swap can fail for ever, because others
\* take and give back between each of its reads and swaps.
\* Also false: NotOutOfMemoryAdmitsAll in a strict pool, which refuses large sizes before it is empty.

-----------------------------------------------------------------------------
(* Witnesses: situations that must occur, or the claims say nothing        *)

\* The count falls below 0.
NeverNegative == available >= 0

\* A swap meets a changed count.
NeverContended == ~\E t \in Threads : pc[t] = "swap" /\ seen[t] # available

\* Somebody is refused.
NeverRefused == ~\E t \in Threads : pc[t] = "refuse"

\* Somebody is refused although there is something available: strict pools only.
NeverRefusedWithSomeLeft == ~\E t \in Threads : pc[t] = "refuse" /\ seen[t] > 0

\* Somebody asks for an illegal size.
NeverRejected == ~\E t \in Threads : pc[t] = "reject"

\* Somebody is caught giving back what is not outstanding.
NeverDisowned == ~\E t \in Threads : pc[t] = "disown"

\* Several buffers are out at once.
NeverTwoHolders == Cardinality({t \in Threads : held[t] > 0}) <= 1

\* A buffer comes back.
NeverReleased == \A t \in Threads : releases[t] = 0

\* Nothing is available.
NeverOutOfMemory == ~OutOfMemory
=============================================================================
