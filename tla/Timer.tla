------------------------------- MODULE Timer -------------------------------
(***************************************************************************)
(* A timer: what may expire when.                                          *)
(*                                                                         *)
(* A task is added with a delay; until it has expired or was cancelled it  *)
(* is pending, and all that counts is its due tick: the reading of the     *)
(* clock at the add, plus the delay, rounded to the tick.  An advance at a *)
(* reading lets every pending task expire whose due tick has come, tick by *)
(* tick.  To expire is to be appended to the executor's queue; the         *)
(* executor runs the head of that queue in a step of its own.              *)
(*                                                                         *)
(* This is the most liberal timer: a task that is due when it is added may *)
(* expire at once or wait for the next advance, and within one tick any    *)
(* order is right.  How pending tasks are kept is left open;               *)
(* TimingWheel.tla says how a hierarchical wheel does it, and refines this *)
(* module.                                                                 *)
(*                                                                         *)
(* Variables                                                               *)
(*   now     what the clock reads                                          *)
(*   due     the pending tasks, each with its due tick                     *)
(*   queue   the executor's queue: tasks that have expired and not yet run *)
(*   closed  whether the timer was shut down                               *)
(*                                                                         *)
(* There is no history: that a task expires once, or in time, is said of   *)
(* the single steps (a step hands over what it appends to the queue).      *)
(*                                                                         *)
(* Left out.  A running task that adds, cancels or advances does so in     *)
(* steps that look like anybody's; what it throws is seen by nobody.  The  *)
(* clock goes by whole units and stops at Last, and MostQueued bounds how  *)
(* many runs of one task wait: both only make the states finitely many.    *)
(*                                                                         *)
(* Features (legal choices, and what callers do)                           *)
(*   "readd"             pending tasks are added again                     *)
(*   "cancel"            tasks are cancelled                               *)
(*   "shutdown"          the timer is shut down                            *)
(*   "rounds-up"         the due tick is the expiry rounded up, not down   *)
(*   "rejects-negative"  a negative delay is an error                      *)
(*                                                                         *)
(* Defects                                                                 *)
(*   "one-tick-early"     an advance takes the next tick as well           *)
(*   "strictly-later"     a task expires only after its due tick           *)
(*   "drops-one"          an advance drops a task that is due              *)
(*   "hands-over-twice"   a task that expires is still pending             *)
(*   "hands-over-doubly"  what expires is appended to the queue two times  *)
(*   "any-order"          an advance ignores the order of the ticks        *)
(*   "rounds-nearest"     the due tick is the nearest multiple             *)
(*   "rounds-from-start"  the multiples are counted from the start         *)
(*   "rounds-past"        the due tick is beyond the expiry, and no        *)
(*                        multiple is the due tick of itself               *)
(*   "idle-advance-runs"  an advance with nothing due runs a task          *)
(*   "add-disarms"        adding a pending task ends its arming, no more   *)
(*   "moves-early"        adding a pending task moves it a tick too early  *)
(*   "moves-late"         adding a pending task moves it a tick too late   *)
(*   "add-overwrites"     an added task takes the place of those that are  *)
(*                        pending for its tick                             *)
(*   "expires-anything"   a task expires when it is added, due or not      *)
(*   "add-unqueues"       adding a task takes its earlier run out of the   *)
(*                        executor's queue                                 *)
(*   "both-armings"       adding a pending task that is due already        *)
(*                        expires it and leaves the earlier arming         *)
(*   "drops-already-due"  a task that is due when added is dropped         *)
(*   "negative-is-zero"   a negative delay is taken for zero               *)
(*   "refusal-disarms"    a refused add ends the earlier arming            *)
(*   "takes-after-close"  a task is taken after shutdown                   *)
(*   "expires-closed"     a task that is due when it is added expires,     *)
(*                        although the timer is closed                     *)
(*   "cancel-takes-tick"  cancel ends all armings of the task's tick       *)
(*   "cancel-from-queue"  cancel takes a task out of the executor's queue  *)
(*   "last-in-first-out"  the executor runs the last task of the queue     *)
(*   "run-disarms"        a task that runs is pending no longer            *)
(*   "throw-ends-queue"   a task that throws takes the queue with it       *)
(*   "close-forgets"      shutdown keeps what is pending                   *)
(*   "close-empties"      shutdown empties the executor's queue            *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  \* three at most: see Lines
  \* @type: Set(Str);
  Tasks,
  \* the delays that callers give
  \* @type: Set(Int);
  Delays,
  \* the smallest unit of time that the timer tells apart
  \* @type: Int;
  Tick,
  \* the first reading of the clock
  \* @type: Int;
  Start,
  \* the last reading of the clock
  \* @type: Int;
  Last,
  \* how many runs of one task may wait in the queue for it to be added again
  \* @type: Int;
  MostQueued,
  \* a larger delay is an error
  \* @type: Int;
  LargestDelay,
  \* @type: Set(Str);
  Features,
  \* @type: Set(Str);
  Defects

ASSUME Tick >= 1 /\ Start <= Last /\ MostQueued >= 1 /\ Cardinality(Tasks) <= 3

VARIABLES
  \* @type: Int;
  now,
  \* @type: Str -> Int;
  due,
  \* @type: Seq(Str);
  queue,
  \* @type: Bool;
  closed

vars == <<now, due, queue, closed>>

-----------------------------------------------------------------------------
(* Words                                                                   *)

\* The largest multiple of tick that is not larger than time, also below zero.
Floor(time, tick) == time - (time % tick)

\* The due tick of an expiry.
DueTick(expiry) ==
  IF "rounds-nearest" \in Defects THEN Floor(expiry + (Tick \div 2), Tick)
  ELSE IF "rounds-from-start" \in Defects THEN Start + Floor(expiry - Start, Tick)
  ELSE IF "rounds-up" \in Features
  THEN Floor(expiry + Tick - (IF "rounds-past" \in Defects THEN 0 ELSE 1), Tick)
  ELSE Floor(expiry - (IF "rounds-past" \in Defects THEN 1 ELSE 0), Tick)

Pending == DOMAIN due

\* @type: (Str -> Int, Set(Str)) => Str -> Int;
Without(ticks, tasks) == [t \in DOMAIN ticks \ tasks |-> ticks[t]]

\* @type: (Str -> Int, Str, Int) => Str -> Int;
With(ticks, task, tick) ==
  [t \in DOMAIN ticks \cup {task} |-> IF t = task THEN tick ELSE ticks[t]]

\* How often a task stands in a line.
\* @type: (Str, Seq(Str)) => Int;
Times(task, line) == Cardinality({i \in DOMAIN line : line[i] = task})

\* Every line of different tasks.
\* @type: Set(Seq(Str));
Lines ==
  {line \in {<<>>} \cup {<<a>> : a \in Tasks} \cup {<<a, b>> : a, b \in Tasks}
              \cup {<<a, b, c>> : a, b, c \in Tasks} :
     \A t \in Tasks : Times(t, line) <= 1}

\* The ways in which tasks may be handed over: each once, earlier ticks first.
\* @type: (Str -> Int, Set(Str)) => Set(Seq(Str));
InTickOrder(ticks, tasks) ==
  {line \in Lines :
     /\ {line[i] : i \in DOMAIN line} = tasks
     /\ \A i, j \in DOMAIN line :
          i < j /\ "any-order" \notin Defects => ticks[line[i]] <= ticks[line[j]]}

\* The tasks of a line as they are appended to the executor's queue.
\* @type: Seq(Str) => Seq(Str);
Doubly(line) == IF "hands-over-doubly" \in Defects THEN line \o line ELSE line

\* Why an add is refused.
Refused(delay) ==
  \/ closed
  \/ delay > LargestDelay
  \/ delay < 0 /\ "rejects-negative" \in Features

\* Whether callers add a task now.
Addable(task) ==
  /\ Times(task, queue) < MostQueued
  /\ task \in Pending => "readd" \in Features

-----------------------------------------------------------------------------
(* Steps                                                                   *)

Init ==
  /\ now = Start
  /\ due = [t \in {} |-> 0]
  /\ queue = <<>>
  /\ closed = FALSE

\* The due tick that an add with this delay gives.
AddedTick(delay) ==
  DueTick(now + IF delay < 0 /\ "negative-is-zero" \in Defects THEN 0 ELSE delay)

\* The due ticks after an add.
\* @type: (Str, Int) => Str -> Int;
Armed(task, tick) ==
  LET moved ==
        IF task \in Pending /\ "moves-early" \in Defects THEN tick - Tick
        ELSE IF task \in Pending /\ "moves-late" \in Defects THEN tick + Tick
        ELSE tick
      gone == IF "add-overwrites" \in Defects THEN {t \in Pending : due[t] = tick} ELSE {}
  IN  With(Without(due, gone), task, moved)

\* @says timer: {due'} pending after an add
AddPending(task, delay) ==
  /\ Addable(task)
  /\ Refused(delay) => closed /\ "takes-after-close" \in Defects
  /\ due' = IF task \in Pending /\ "add-disarms" \in Defects THEN Without(due, {task})
            ELSE Armed(task, AddedTick(delay))
  /\ queue' = IF "add-unqueues" \in Defects THEN SelectSeq(queue, LAMBDA t : t # task) ELSE queue
  /\ UNCHANGED <<now, closed>>

\* @says timer: an added task expires at once: {queue'}
AddExpires(task, delay) ==
  /\ Addable(task)
  /\ Refused(delay) => closed /\ "expires-closed" \in Defects
  /\ AddedTick(delay) > now => "expires-anything" \in Defects
  /\ due' = IF "both-armings" \in Defects THEN due ELSE Without(due, {task})
  /\ queue' = IF "drops-already-due" \in Defects THEN queue ELSE queue \o Doubly(<<task>>)
  /\ UNCHANGED <<now, closed>>

Add(task, delay) == AddPending(task, delay) \/ AddExpires(task, delay)

\* @says timer: refuses an add
Refuse(task, delay) ==
  /\ Addable(task)
  /\ Refused(delay)
  /\ due' = IF "refusal-disarms" \in Defects THEN Without(due, {task}) ELSE due
  /\ UNCHANGED <<now, queue, closed>>

\* @says timer: after a cancel {due'} pending
Cancel(task) ==
  /\ "cancel" \in Features
  /\ due' = IF task \in Pending /\ "cancel-takes-tick" \in Defects
            THEN Without(due, {t \in Pending : due[t] = due[task]}) ELSE Without(due, {task})
  /\ queue' = IF "cancel-from-queue" \in Defects
              THEN SelectSeq(queue, LAMBDA t : t # task) ELSE queue
  /\ UNCHANGED <<now, closed>>

\* @says clock: reads {now'}
Elapse ==
  /\ now < Last
  /\ now' = now + 1
  /\ UNCHANGED <<due, queue, closed>>

\* The tasks that an advance at a reading takes.
Taken(to) ==
  {t \in Pending :
     IF "strictly-later" \in Defects THEN due[t] < to
     ELSE due[t] <= (IF "one-tick-early" \in Defects THEN to + Tick ELSE to)}

\* @says timer: advances at {now'}; the queue is {queue'}
Advance(to) ==
  /\ now <= to /\ to <= Last
  /\ now' = to
  /\ IF closed /\ "close-forgets" \notin Defects THEN UNCHANGED <<due, queue>>
     ELSE \E handed \in InTickOrder(due, Taken(to)) :
            /\ due' = IF "hands-over-twice" \in Defects THEN due ELSE Without(due, Taken(to))
            /\ queue' = IF handed # <<>> /\ "drops-one" \in Defects THEN queue \o Tail(handed)
                        ELSE IF handed = <<>> /\ queue # <<>> /\ "idle-advance-runs" \in Defects
                        THEN Tail(queue) ELSE queue \o Doubly(handed)
  /\ UNCHANGED closed

\* @says executor: runs a task; {queue'} wait
RunOne ==
  /\ queue # <<>>
  /\ queue' = IF "throw-ends-queue" \in Defects THEN <<>>
              ELSE IF "last-in-first-out" \in Defects THEN SubSeq(queue, 1, Len(queue) - 1)
              ELSE Tail(queue)
  /\ due' = IF "run-disarms" \in Defects THEN Without(due, {Head(queue)}) ELSE due
  /\ UNCHANGED <<now, closed>>

\* @says timer: is shut down
Shutdown ==
  /\ "shutdown" \in Features
  /\ closed' = TRUE
  /\ due' = IF "close-forgets" \in Defects THEN due ELSE Without(due, Pending)
  /\ queue' = IF "close-empties" \in Defects THEN <<>> ELSE queue
  /\ UNCHANGED now

Next ==
  \/ \E task \in Tasks, delay \in Delays :
       AddPending(task, delay) \/ AddExpires(task, delay) \/ Refuse(task, delay)
  \/ \E task \in Tasks : Cancel(task)
  \/ Elapse
  \/ \E to \in Start..Last : Advance(to)
  \/ RunOne
  \/ Shutdown

Spec == Init /\ [][Next]_vars

\* The clock goes on, somebody advances the timer, and the executor works.
FairSpec == Spec /\ WF_vars(Elapse) /\ WF_vars(Advance(now)) /\ WF_vars(RunOne)

-----------------------------------------------------------------------------
(* Words for what a step does                                              *)

\* What a step appends to the executor's queue.  (The executor appends nothing.)
Handed ==
  IF Len(queue') > Len(queue) THEN SubSeq(queue', Len(queue) + 1, Len(queue')) ELSE <<>>

Expires(task) == Times(task, Handed) > 0

\* Whether an add of this task may be the step.
Adds(task) == \E delay \in Delays : Add(task, delay)

-----------------------------------------------------------------------------
(* Claims about states                                                     *)

TypeOK ==
  /\ now \in Start..Last
  /\ Pending \subseteq Tasks
  /\ \A t \in Pending : due[t] \in Int
  /\ \A i \in DOMAIN queue : queue[i] \in Tasks
  /\ \A t \in Tasks : Times(t, queue) <= MostQueued + 1
  /\ closed \in BOOLEAN

\* A due tick is a multiple of the tick, counted from zero, also below zero.
\* Rules: TIMER-ROUNDING, TIMER-NEGATIVE-CLOCK.
DueTicksAreMultiples == \A t \in Pending : due[t] % Tick = 0

\* After shutdown nothing is pending.  Rules: TIMER-SHUTDOWN-DROPS.
ClosedMeansNothingPending == closed => Pending = {}

-----------------------------------------------------------------------------
(* Claims about steps                                                      *)

\* An added task's due tick is its expiry rounded: less than one tick away from it, below it under
\* rounding down and above it under rounding up.  A delay of zero or below is counted like any
\* other.  Rules: TIMER-ROUNDING, TIMER-ZERO-DELAY, TIMER-NEGATIVE-DELAY.
RoundedToTheTick ==
  [][\A t \in Tasks :
       t \in DOMAIN due' /\ (t \notin Pending \/ due'[t] # due[t]) =>
         \E delay \in Delays :
           IF "rounds-up" \in Features
           THEN now + delay <= due'[t] /\ due'[t] < now + delay + Tick
           ELSE due'[t] <= now + delay /\ now + delay < due'[t] + Tick]_vars

\* No task expires before its due tick.  Rules: TIMER-NOT-EARLY.
NotEarly ==
  [][\A t \in Pending : Expires(t) /\ ~Adds(t) => due[t] <= now']_vars

\* An advance leaves nothing pending that is due at its reading.  Rules: TIMER-NOT-LATE.
NotLate ==
  [][\A to \in Start..Last : Advance(to) => \A t \in DOMAIN due' : due'[t] > to]_vars

\* What one step hands over stands in the order of the due ticks.  Rules: TIMER-TICK-ORDER.
TickOrder ==
  [][\A i, j \in DOMAIN Handed :
       i < j => due[Handed[i]] <= due[Handed[j]]]_vars

\* A step hands each task over once at most, and only one that is pending or being added; and
\* thereby its arming ends.  Rules: TIMER-EXACTLY-ONCE.
NeverTwice ==
  [][\A t \in Tasks :
       /\ Times(t, Handed) <= 1
       /\ Expires(t) => (t \in Pending \/ Adds(t)) /\ t \notin DOMAIN due']_vars

\* An arming ends only by expiring, or by a cancel, an add of the same task or the shutdown.
\* Rules: TIMER-EXACTLY-ONCE, TIMER-CANCEL.
NeverLost ==
  [][\A t \in Pending :
       t \in DOMAIN due' \/ Expires(t) \/ Cancel(t) \/ closed']_vars

\* An advance with nothing due changes nothing but the clock.  Rules: TIMER-IDLE-ADVANCE.
IdleAdvance ==
  [][now' > now /\ (\A t \in Pending : due[t] > now') => due' = due /\ queue' = queue]_vars

\* An add that is not refused has an effect: after it the task is pending or waits for the executor
\* once more, whatever the delay.
\* Rules: TIMER-ALREADY-DUE, TIMER-ZERO-DELAY, TIMER-NEGATIVE-DELAY, TIMER-LARGEST-DELAY.
AddIsNotLost ==
  [][\A t \in Tasks, delay \in Delays :
       Add(t, delay) /\ ~Refused(delay) =>
         t \in DOMAIN due' \/ Times(t, queue') = Times(t, queue) + 1]_vars

\* A task that expires at once on being added is due by the clock.
\* Rules: TIMER-ALREADY-DUE, TIMER-NOT-EARLY.
AtOnceMeansDue ==
  [][\A t \in Tasks :
       Expires(t) /\ Adds(t) /\ now' = now /\ t \notin Pending =>
         \E delay \in Delays : DueTick(now + delay) <= now]_vars

\* A refused add changes nothing; an earlier arming stays.
\* Rules: TIMER-LARGEST-DELAY, TIMER-NEGATIVE-DELAY, TIMER-SHUTDOWN-CLOSED.
RefusalChangesNothing ==
  [][\A t \in Tasks, delay \in Delays :
       Refused(delay) /\ (AddPending(t, delay) \/ Refuse(t, delay)) => UNCHANGED vars]_vars

\* Adding a pending task moves it: one arming before, one after, with the tick of the later add.
\* Rules: TIMER-READD-PENDING.
AddingAgainMoves ==
  [][\A t \in Pending, delay \in Delays :
       AddPending(t, delay) =>
         DOMAIN due' = Pending /\ due'[t] = DueTick(now + delay)]_vars

\* Adding arms a task also after a cancel, after it ran, or while it still waits for the executor:
\* it then is pending, and the run that waits is untouched.
\* Rules: TIMER-READD-CANCELLED, TIMER-READD-FIRED.
AddingArms ==
  [][\A t \in Tasks \ Pending :
       t \in DOMAIN due' => queue' = queue /\ DOMAIN due' = Pending \cup {t}]_vars

\* A cancel ends the arming of that task and touches nothing else; where there is none it has no
\* effect, so neither a second time, nor for a task that ran, waits for the executor or was never
\* added.  Rules: TIMER-CANCEL, TIMER-CANCEL-AGAIN, TIMER-CANCEL-FIRED, TIMER-CANCEL-TOO-LATE,
\* TIMER-CANCEL-UNKNOWN.
CancelEndsOneArming ==
  [][\A t \in Tasks :
       Cancel(t) =>
         /\ due' = Without(due, {t})
         /\ queue' = queue \/ RunOne]_vars

\* The number of pending tasks grows by one where a task becomes pending, and shrinks by one for
\* each task that expires or is cancelled.  Rules: TIMER-SIZE.
SizeIsPending ==
  [][~closed' =>
       LET began == {t \in Tasks : t \notin Pending /\ t \in DOMAIN due'}
           ended == {t \in Pending : Expires(t) \/ (Cancel(t) /\ due' # due)}
       IN  Cardinality(DOMAIN due') = Cardinality(Pending) + Cardinality(began)
             - Cardinality(ended)]_vars

\* The queue is first in, first out: a step appends, or runs the head and leaves all else alone,
\* whatever the task that runs may throw.  Rules: TIMER-EXECUTOR-ORDER, TIMER-THROWING-TASK.
RunsInOrder ==
  [][\/ Len(queue') >= Len(queue) /\ SubSeq(queue', 1, Len(queue)) = queue
     \/ queue # <<>> /\ queue' = Tail(queue) /\ due' = due /\ now' = now]_vars

\* Shutting down drops what is pending and leaves the executor's queue alone; later nothing more
\* expires, nothing is added, and the timer stays closed.
\* Rules: TIMER-SHUTDOWN-DROPS, TIMER-SHUTDOWN-QUEUE, TIMER-SHUTDOWN-CLOSED, TIMER-SHUTDOWN-AGAIN.
ClosedStaysClosed ==
  [][/\ closed => closed' /\ Handed = <<>> /\ DOMAIN due' = {}
     /\ closed' # closed => queue' = queue]_vars

\* A pending task does not stay pending when the clock goes by its tick: it expires, or is cancelled
\* or moved.  Rules: TIMER-EXACTLY-ONCE, TIMER-NOT-LATE.
ArmingEnds ==
  \A t \in Tasks, tick \in Start..Last :
    (t \in Pending /\ due[t] = tick) ~> ~(t \in Pending /\ due[t] = tick)

\* Without cancels, shutdown and second thoughts: a task that is due in time expires, and what
\* expired runs.  Rules: TIMER-EXACTLY-ONCE.
Runs ==
  \A t \in Tasks :
    /\ (t \in Pending /\ due[t] <= Last) ~> Times(t, queue) > 0
    /\ Times(t, queue) > 0 ~> Times(t, queue) = 0

-----------------------------------------------------------------------------
(* Values for configurations, which cannot name a number below zero        *)

BelowZero == -3
AroundZero == {-2, 0, 3}
FromMinusOne == {-1, 0, 1, 3}
OnlyNegative == {-3}

-----------------------------------------------------------------------------
(* Witnesses: each of these is violated, so the situation does occur       *)

\* A task expires at once on being added.
NeverAtOnce == [][\A t \in Tasks : ~(AddExpires(t, 0) /\ Expires(t))]_vars

\* A task that is due is pending.
NeverDueAndPending == \A t \in Pending : due[t] > now

\* An advance expires tasks of different ticks.
NeverTwoTicks ==
  [][\A i, j \in DOMAIN Handed : i < j => due[Handed[i]] = due[Handed[j]]]_vars

\* A task is pending while an earlier run of it waits.
NeverPendingAndQueued == \A t \in Pending : Times(t, queue) = 0

\* Two runs of one task wait.
NeverQueuedTwice == \A t \in Tasks : Times(t, queue) <= 1

\* A pending task is moved to another tick.
NeverMoved == [][\A t \in Pending : t \in DOMAIN due' => due'[t] = due[t]]_vars

\* A due tick lies below zero.
NeverBelowZero == \A t \in Pending : due[t] >= 0

\* A pending task could be added again, and the add would be refused.
NeverRefusedWhilePending ==
  \A t \in Pending, delay \in Delays : Addable(t) => ~Refused(delay)

\* The clock goes on while nothing is due and something is pending.
NeverIdle == [][now' > now => Pending = {} \/ due' # due \/ \E t \in Pending : due[t] <= now']_vars

\* The executor has work after shutdown.
NeverClosedWithQueue == ~(closed /\ queue # <<>>)

\* A task is cancelled.
NeverCancelled == [][\A t \in Pending : Cancel(t) => due' = due]_vars

-----------------------------------------------------------------------------
(* False, and why                                                          *)

\* The abstract timer leaves free when an overdue task expires; only an advance has to take it.
NothingDueIsPending == \A t \in Pending : due[t] > now

\* The size is not the number of unfinished tasks: those that wait for the executor do not count.
SizeIsUnfinished ==
  Cardinality(Pending) = Cardinality(Pending \cup {queue[i] : i \in DOMAIN queue})
=============================================================================
