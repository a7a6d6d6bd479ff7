---------------------------- MODULE TimingWheel ----------------------------
(***************************************************************************)
(* The hierarchical timing wheel: how pending tasks are kept in buckets of *)
(* several levels.                                                         *)
(*                                                                         *)
(* Level i, counted from 1, has WheelSize buckets of the tick              *)
(* Tick * WheelSize^(i-1); its interval is WheelSize of these ticks.  A    *)
(* bucket is named by its expiry, the first time that falls into it, and   *)
(* its level.  The wheel has one clock of its own, the expiry of the last  *)
(* bucket popped, which lags behind the clock while nothing is popped.  A  *)
(* task that is due by the own clock expires when it is added; any other   *)
(* goes to the lowest level that covers it, into the bucket of its due     *)
(* tick, and that bucket enters the delay queue if it is not there.        *)
(*                                                                         *)
(* An advance pops the due buckets, earliest first; the tasks of a popped  *)
(* bucket expire or cascade: they are inserted anew, by an own clock that  *)
(* is nearer.  Here a whole advance is one step, and where the tasks come  *)
(* to rest is said directly, without a loop: a task comes down to the      *)
(* highest level on which its bucket is not due yet.  The module           *)
(* TimingWheelSteps.tla has the loop, bucket by bucket and task by task,   *)
(* with the threads that come in between, and ends where this one does.    *)
(*                                                                         *)
(* Variables                                                               *)
(*   now, due, queue, closed  those of Timer.tla                           *)
(*   ownClock  the wheel's own clock                                       *)
(*   levels    how many levels exist                                       *)
(*   places    for each pending task its bucket, <<expiry, level>>         *)
(*   buckets   the delay queue: the buckets that wait to be popped         *)
(*                                                                         *)
(* Left out.  The order inside a bucket, so any order within one tick is   *)
(* possible here.  A clock per level: see LevelClock.  What Timer.tla      *)
(* leaves out.                                                             *)
(*                                                                         *)
(* Features: those of Timer.tla                                            *)
(*                                                                         *)
(* Defects                                                                 *)
(*   "interval-inclusive"    a level takes a delay of exactly its interval *)
(*   "span-from-own-clock"   a level covers its interval from the own      *)
(*                           clock on, not from its present tick           *)
(*   "two-turns"             a level covers two of its intervals           *)
(*   "due-by-the-clock"      a task that is due by the clock expires when  *)
(*                           it is added, whatever the own clock           *)
(*   "bucket-not-queued"     a bucket that was emptied by cancels is taken *)
(*                           for one that is queued                        *)
(*   "emptied-leaves"        the last cancel takes a bucket out of the     *)
(*                           delay queue                                   *)
(*   "cascade-drops"         a popped upper bucket forgets its tasks that  *)
(*                           are not due                                   *)
(*   "upper-expires-whole"   all tasks of a popped upper bucket expire     *)
(*   "cascade-once"          a bucket filled by a cascade waits for the    *)
(*                           next advance, also when it is due             *)
(*   "cascade-sideways"      tasks of a popped bucket are put into the     *)
(*                           next bucket of its own level                  *)
(*   "own-clock-follows"     an advance sets the own clock to the reading  *)
(*   "own-clock-stands"      an advance does not move the own clock        *)
(*   "own-clock-ahead"       an advance sets the own clock to the end of   *)
(*                           the last bucket popped                        *)
(*   "own-clock-elapses"     the own clock goes with the clock             *)
(*   "bucket-unrounded"      a bucket is named by its first task's tick    *)
(*   "bucket-by-its-end"     a bucket is popped when its span is over      *)
(*   "next-level-only"       one add creates one level at most             *)
(*   "levels-ahead"          a level is created before a task needs it     *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  \* @type: Set(Str);
  Tasks,
  \* @type: Set(Int);
  Delays,
  \* the tick of level 1
  \* @type: Int;
  Tick,
  \* buckets of one level, at least 2
  \* @type: Int;
  WheelSize,
  \* more levels than the delays need
  \* @type: Int;
  MostLevels,
  \* @type: Int;
  Start,
  \* @type: Int;
  Last,
  \* @type: Int;
  MostQueued,
  \* @type: Int;
  LargestDelay,
  \* @type: Set(Str);
  Features,
  \* @type: Set(Str);
  Defects

VARIABLES
  \* @type: Int;
  now,
  \* @type: Str -> Int;
  due,
  \* @type: Seq(Str);
  queue,
  \* @type: Bool;
  closed,
  \* @type: Int;
  ownClock,
  \* @type: Int;
  levels,
  \* @type: Str -> <<Int, Int>>;
  places,
  \* @type: Set(<<Int, Int>>);
  buckets

timerVars == <<now, due, queue, closed>>
wheelVars == <<ownClock, levels, places, buckets>>
vars == <<now, due, queue, closed, ownClock, levels, places, buckets>>

\* The timer that the wheel is to be.
Abstract == INSTANCE Timer

-----------------------------------------------------------------------------
(* Levels and buckets                                                      *)

Floor(time, tick) == time - (time % tick)

DueTick(expiry) ==
  IF "rounds-up" \in Features THEN Floor(expiry + Tick - 1, Tick) ELSE Floor(expiry, Tick)

Levels == 1..MostLevels
TickOf(level) == Tick * (WheelSize ^ (level - 1))
Interval(level) == TickOf(level) * WheelSize

\* The clock of a level: the own clock, rounded down to the level's tick.
LevelClock(level) == Floor(ownClock, TickOf(level))

\* The first time that a level does not cover.
LevelEnd(level) ==
  (IF "span-from-own-clock" \in Defects THEN ownClock ELSE LevelClock(level))
    + (IF "two-turns" \in Defects THEN 2 ELSE 1) * Interval(level)

Covers(level, tick) ==
  IF "interval-inclusive" \in Defects THEN tick <= LevelEnd(level) ELSE tick < LevelEnd(level)

\* The lowest level that covers a tick: what a level covers, every higher one covers as well.
LevelFor(tick) == 1 + Cardinality({level \in Levels : ~Covers(level, tick)})

\* The bucket of a tick on a level.
\* @type: (Int, Int) => <<Int, Int>>;
Bucket(tick, level) ==
  <<IF "bucket-unrounded" \in Defects THEN tick
    ELSE IF "bucket-by-its-end" \in Defects THEN Floor(tick, TickOf(level)) + TickOf(level) - Tick
    ELSE Floor(tick, TickOf(level)), level>>

\* Where in the ring of its level a bucket has its place.
\* @type: <<Int, Int>> => <<Int, Int>>;
Slot(bucket) == <<(bucket[1] \div TickOf(bucket[2])) % WheelSize, bucket[2]>>

\* The tasks in a bucket.
Held(bucket) == {t \in DOMAIN places : places[t] = bucket}

\* A clock so far behind that the topmost level does not reach the last delay does not occur.
ASSUME
  /\ Tick >= 1 /\ WheelSize >= 2
  /\ \A delay \in Delays :
       Last + delay + Tick < Floor(Floor(Start, Tick), TickOf(MostLevels)) + Interval(MostLevels)

Pending == DOMAIN due

\* @type: (Str -> Int, Set(Str)) => Str -> Int;
WithoutTicks(ticks, tasks) == [t \in DOMAIN ticks \ tasks |-> ticks[t]]
\* @type: (Str -> <<Int, Int>>, Set(Str)) => Str -> <<Int, Int>>;
WithoutPlaces(where, tasks) == [t \in DOMAIN where \ tasks |-> where[t]]

-----------------------------------------------------------------------------
(* Steps                                                                   *)

Init ==
  /\ now = Start
  /\ due = [t \in {} |-> 0]
  /\ queue = <<>>
  /\ closed = FALSE
  /\ ownClock = Floor(Start, Tick)
  /\ levels = 1
  /\ places = [t \in {} |-> <<0, 0>>]
  /\ buckets = {}

\* What becomes of the delay queue when a task is cancelled or moved: it stays as it is.
Vacated(task) ==
  IF "emptied-leaves" \in Defects
  THEN {b \in buckets : Held(b) \ {task} # {}}
  ELSE buckets

\* Where an added task goes.  A task that was pending leaves its bucket first.
\* @says wheel: puts {places'} (own clock {ownClock})
Insert(task, delay) ==
  LET tick == DueTick(now + delay)
      level == LevelFor(tick)
      bucket == Bucket(tick, level)
      dueAlready == IF "due-by-the-clock" \in Defects THEN tick <= now ELSE tick <= ownClock
  IN
  /\ Abstract!Addable(task) /\ ~Abstract!Refused(delay)
  /\ ~dueAlready
  /\ due' = [t \in Pending \cup {task} |-> IF t = task THEN tick ELSE due[t]]
  /\ places' = [t \in Pending \cup {task} |-> IF t = task THEN bucket ELSE places[t]]
  /\ buckets' = IF "bucket-not-queued" \in Defects /\ levels >= level /\ ownClock > Start
                THEN Vacated(task) ELSE Vacated(task) \cup {bucket}
  /\ levels' = IF level > levels
               THEN IF "next-level-only" \in Defects THEN levels + 1 ELSE level
               ELSE IF "levels-ahead" \in Defects /\ level = levels /\ levels < MostLevels
                    THEN levels + 1 ELSE levels
  /\ UNCHANGED <<now, queue, closed, ownClock>>

\* An added task is due by the wheel's own clock.
\* @says wheel: expires an added task at once: {queue'}
InsertExpires(task, delay) ==
  LET tick == DueTick(now + delay) IN
  /\ Abstract!Addable(task) /\ ~Abstract!Refused(delay)
  /\ IF "due-by-the-clock" \in Defects THEN tick <= now ELSE tick <= ownClock
  /\ due' = WithoutTicks(due, {task})
  /\ places' = WithoutPlaces(places, {task})
  /\ buckets' = Vacated(task)
  /\ queue' = Append(queue, task)
  /\ UNCHANGED <<now, closed, ownClock, levels>>

\* The task leaves its bucket; the bucket stays in the delay queue.
\* @says wheel: cancels, {places'} remain
Cancel(task) ==
  /\ "cancel" \in Features
  /\ task \in Pending
  /\ due' = WithoutTicks(due, {task})
  /\ places' = WithoutPlaces(places, {task})
  /\ buckets' = Vacated(task)
  /\ UNCHANGED <<now, queue, closed, ownClock, levels>>

\* @says clock: reads {now'}
Elapse ==
  /\ now < Last
  /\ now' = now + 1
  /\ ownClock' = IF "own-clock-elapses" \in Defects /\ Pending = {}
                 THEN Floor(now', Tick) ELSE ownClock
  /\ UNCHANGED <<due, queue, closed, levels, places, buckets>>

\* Whether an advance to a reading pops the bucket in which a task is.
Comes(task, to) == places[task][1] <= to /\ places[task] \in buckets

\* The bucket in which a task that is not due comes to rest: on its way down it meets, level by
\* level, the buckets that its tick has on them, and stays in the first that is not due.
\* @type: (Str, Int) => <<Int, Int>>;
RestingPlace(task, to) ==
  LET waiting == {level \in 1..places[task][2] : Bucket(due[task], level)[1] > to}
  IN  IF "cascade-sideways" \in Defects
      THEN <<places[task][1] + TickOf(places[task][2]), places[task][2]>>
      ELSE Bucket(due[task], Cardinality(waiting))

\* The tasks that expire in an advance: those that are due.
Expiring(to) ==
  {t \in Pending :
     IF "upper-expires-whole" \in Defects THEN Comes(t, to)
     ELSE IF "cascade-once" \in Defects THEN Comes(t, to) /\ due[t] = places[t][1]
     ELSE Comes(t, to) /\ due[t] <= to}

Forgotten(to) ==
  IF "cascade-drops" \in Defects THEN {t \in Pending \ Expiring(to) : Comes(t, to)} ELSE {}

\* The expiries of all buckets that an advance pops: those that wait, and those on the way of a
\* task that comes down.
Popped(to) ==
  {expiry \in {b[1] : b \in buckets} \cup
      UNION {{Bucket(due[t], level)[1] : level \in 1..places[t][2]} :
               t \in {u \in Pending : Comes(u, to)}} :
     expiry <= to}

\* @says wheel: advances at {now'}, own clock {ownClock'}
Advance(to) ==
  LET gone == Expiring(to) \cup Forgotten(to)
      stays == Pending \ gone
  IN
  /\ now <= to /\ to <= Last
  /\ now' = to
  /\ due' = WithoutTicks(due, gone)
  /\ places' = [t \in stays |-> IF Comes(t, to) /\ "cascade-once" \notin Defects
                                THEN RestingPlace(t, to) ELSE places[t]]
  /\ buckets' = {b \in buckets : b[1] > to} \cup {places'[t] : t \in {u \in stays : Comes(u, to)}}
  /\ \E clock \in Popped(to) \cup {ownClock} :
       /\ \A other \in Popped(to) \cup {ownClock} : other <= clock
       /\ ownClock' = IF "own-clock-follows" \in Defects THEN Floor(to, Tick)
                      ELSE IF "own-clock-stands" \in Defects THEN ownClock
                      ELSE IF "own-clock-ahead" \in Defects /\ clock # ownClock THEN clock + Tick
                      ELSE clock
  /\ \E handed \in Abstract!InTickOrder(due, Expiring(to)) : queue' = queue \o handed
  /\ UNCHANGED <<closed, levels>>

\* @says executor: runs a task; {queue'} wait
RunOne ==
  /\ queue # <<>>
  /\ queue' = Tail(queue)
  /\ UNCHANGED <<now, due, closed>>
  /\ UNCHANGED wheelVars

\* Drops what is pending; levels and own clock remain.
\* @says wheel: is shut down
Shutdown ==
  /\ "shutdown" \in Features
  /\ ~closed
  /\ closed' = TRUE
  /\ due' = WithoutTicks(due, Pending)
  /\ places' = WithoutPlaces(places, Pending)
  /\ buckets' = {}
  /\ UNCHANGED <<now, queue, ownClock, levels>>

Next ==
  \/ \E task \in Tasks, delay \in Delays : Insert(task, delay) \/ InsertExpires(task, delay)
  \/ \E task \in Tasks : Cancel(task)
  \/ Elapse
  \/ \E to \in Start..Last : Advance(to)
  \/ RunOne
  \/ Shutdown

Spec == Init /\ [][Next]_vars

\* The clock goes on, somebody advances the timer, and the executor works.
FairSpec == Spec /\ WF_vars(Elapse) /\ WF_vars(Advance(now)) /\ WF_vars(RunOne)

-----------------------------------------------------------------------------
(* Claims about states                                                     *)

TypeOK ==
  /\ now \in Start..Last
  /\ Pending \subseteq Tasks
  /\ DOMAIN places \subseteq Tasks
  /\ \A t \in DOMAIN places : places[t][2] \in Levels
  /\ \A b \in buckets : b[2] \in Levels
  /\ levels \in Levels
  /\ closed \in BOOLEAN

\* The own clock never runs ahead of the clock, and shows whole ticks.  Rules: TIMER-OWN-CLOCK.
OwnClockLags == ownClock <= now /\ ownClock % Tick = 0

\* What is pending is not due by the own clock.  Rules: TIMER-OWN-CLOCK, TIMER-NOT-LATE.
PendingIsNotDueByOwnClock == \A t \in Pending : due[t] > ownClock

\* Every pending task is in a bucket, the bucket waits in the delay queue, and nothing else is in
\* any: no task is lost on its way.  Rules: TIMER-EXACTLY-ONCE, TIMER-CASCADE.
PendingIsInAQueuedBucket ==
  /\ DOMAIN places = Pending
  /\ \A t \in DOMAIN places : places[t] \in buckets

\* A bucket holds the tasks of one tick of its level, its expiry.
\* Rules: TIMER-CASCADE, TIMER-BUCKET-REUSE.
OneTickPerBucket ==
  \A t \in Pending \cap DOMAIN places : places[t][1] = Floor(due[t], TickOf(places[t][2]))

\* No task's bucket is popped after the task is due: the delay queue wakes the timer in time.
\* Rules: TIMER-WAKE-UP, TIMER-NOT-LATE.
WokenInTime == \A t \in Pending \cap DOMAIN places : places[t][1] <= due[t]

\* A bucket that waits lies within the window of its level: after the present tick, and before the
\* level's end.  So WheelSize - 1 buckets of a level can be used.  Rules: TIMER-SPAN.
WithinWindow ==
  \A b \in buckets :
    /\ b[2] <= levels
    /\ b[1] % TickOf(b[2]) = 0
    /\ LevelClock(b[2]) + TickOf(b[2]) <= b[1]
    /\ b[1] < LevelClock(b[2]) + Interval(b[2])

\* No two buckets that wait have one place in the ring of their level: a bucket serves one turn at
\* a time.  Rules: TIMER-BUCKET-REUSE.
OwnSlot == \A b, c \in buckets : Slot(b) = Slot(c) => b = c

\* The delay queue never holds more than the usable buckets.  Rules: TIMER-DELAY-QUEUE-BOUND.
DelayQueueBound == Cardinality(buckets) <= levels * (WheelSize - 1)

\* One level more than a delay needs is never created: the highest level is or was needed, as the
\* one below it ends before the longest delay.  Rules: TIMER-OVERFLOW-ON-DEMAND.
NoSpareLevel ==
  levels > 1 => \E delay \in Delays : delay + Last - Floor(Start, Tick) >= Interval(levels - 1)

-----------------------------------------------------------------------------
(* Claims about steps                                                      *)

\* The wheel is a timer: every step is one that Timer.tla allows, or changes nothing that it knows.
\* Rules: TIMER-NOT-EARLY, TIMER-NOT-LATE, TIMER-TICK-ORDER, TIMER-EXACTLY-ONCE, TIMER-CASCADE.
RefinesTimer == Abstract!Spec

\* An add expires a task at once exactly where its tick is not later than the own clock; otherwise
\* the task is pending, even if it is due by the clock.  Rules: TIMER-OWN-CLOCK.
AtOnceByOwnClock ==
  [][\A t \in Tasks, delay \in Delays :
       /\ Insert(t, delay) => DueTick(now + delay) > ownClock
       /\ InsertExpires(t, delay) => DueTick(now + delay) <= ownClock]_vars

\* An added task goes to the lowest level that covers it.  Rules: TIMER-SPAN.
LowestLevel ==
  [][\A t \in Tasks, delay \in Delays :
       Insert(t, delay) =>
         LET level == places'[t][2]
             distance(i) == due'[t] - Floor(ownClock, TickOf(i))
         IN  /\ distance(level) < Interval(level)
             /\ level > 1 => distance(level - 1) >= Interval(level - 1)]_vars

\* A level is created by an add that puts a task on it, and stays.  Rules: TIMER-OVERFLOW-ON-DEMAND.
LevelsOnDemand ==
  [][/\ levels' >= levels
     /\ levels' > levels => \E t \in DOMAIN places' : places'[t][2] = levels']_vars

\* A task that changes its bucket without being added comes down, into a bucket that is not due,
\* and keeps its tick.  Rules: TIMER-CASCADE.
CascadeComesDown ==
  [][\A t \in DOMAIN places \cap DOMAIN places' :
       places'[t] # places[t] /\ ~(\E delay \in Delays : Insert(t, delay)) =>
         /\ places'[t][2] < places[t][2]
         /\ due'[t] = due[t]
         /\ places[t][1] <= now' /\ now' < places'[t][1]]_vars

\* A bucket leaves the delay queue by being popped when it is due, and in no other way, though all
\* its tasks may be cancelled.  Rules: TIMER-EMPTIED-BUCKET.
LeavesWhenPopped ==
  [][~closed' => \A b \in buckets \ buckets' : b[1] <= now' /\ b[1] <= ownClock']_vars

\* The own clock is moved by popping alone: by an advance that finds a bucket due, to the expiry of
\* a bucket.  That it moves is what the advance's result says.
\* Rules: TIMER-OWN-CLOCK, TIMER-ADVANCE-RESULT, TIMER-EMPTIED-BUCKET.
OwnClockIsLastPopped ==
  [][\A to \in Start..Last :
       Advance(to) =>
         /\ (ownClock' # ownClock) <=> (\E b \in buckets : b[1] <= to)
         /\ ownClock' # ownClock => ownClock' <= to /\ ownClock' \in Popped(to)]_vars

\* No step but an advance moves the own clock.  Rules: TIMER-OWN-CLOCK.
OnlyAdvanceMovesOwnClock ==
  [][ownClock' # ownClock => \E to \in Start..Last : Advance(to)]_vars

\* While no bucket in the delay queue is due there is nothing to do: an advance changes nothing but
\* the clock.  Rules: TIMER-WAKE-UP, TIMER-IDLE-ADVANCE.
NothingToDoBeforeFirstExpiry ==
  [][\A to \in Start..Last :
       Advance(to) /\ (\A b \in buckets : b[1] > to) =>
         UNCHANGED <<due, queue, closed, ownClock, levels, places, buckets>>]_vars

\* Before the first bucket is due no task is either.  Rules: TIMER-WAKE-UP.
FirstBucketIsFirst ==
  \A t \in Pending : \E b \in buckets : b[1] <= due[t]

\* The time-outs come: a task that is due while the clock still goes does not stay pending.
\* Rules: TIMER-EXACTLY-ONCE, TIMER-BUCKET-REUSE.
ArmingEnds ==
  \A t \in Tasks, tick \in Start..Last :
    (t \in Pending /\ due[t] = tick) ~> ~(t \in Pending /\ due[t] = tick)

\* Without cancels and second thoughts: what is due in time expires, and what expired runs.
\* Rules: TIMER-EXACTLY-ONCE.
Runs ==
  \A t \in Tasks :
    /\ (t \in Pending /\ due[t] <= Last) ~> (\E i \in DOMAIN queue : queue[i] = t)
    /\ (\E i \in DOMAIN queue : queue[i] = t) ~> (\A i \in DOMAIN queue : queue[i] # t)

\* The delay queue empties by itself when nothing is added any more: also emptied buckets leave.
\* Rules: TIMER-EMPTIED-BUCKET.
BucketsLeave ==
  \A level \in Levels, expiry \in Start..Last :
    (<<expiry, level>> \in buckets) ~> (<<expiry, level>> \notin buckets)

-----------------------------------------------------------------------------
(* Values for configurations, which cannot name a number below zero        *)

BelowZero == -3
FromMinusTwo == {-2, 3}

-----------------------------------------------------------------------------
(* Witnesses: each of these is violated, so the situation does occur       *)

NeverThreeLevels == levels < 3

\* A task waits on level 3.
NeverOnLevelThree == \A t \in DOMAIN places : places[t][2] < 3

\* A bucket waits whose tasks were cancelled.
NeverEmptiedBucket == \A b \in buckets : Held(b) # {}

\* A bucket of level 3 waits whose tasks were cancelled.
NeverEmptiedUpperBucket == \A b \in buckets : b[2] < 3 \/ Held(b) # {}

\* A task passes from an upper bucket to a lower one.
NeverCascades ==
  [][\A to \in Start..Last, t \in Pending : Advance(to) /\ t \in DOMAIN places' =>
       places'[t] = places[t]]_vars

\* A task passes from level 3 to level 1, or through it, in one advance.
NeverTwoLevelsDown ==
  [][\A to \in Start..Last, t \in Pending : Advance(to) /\ t \in DOMAIN places' =>
       places'[t][2] >= places[t][2] - 1]_vars

\* An upper bucket with a task left in it that was cancelled in part passes the rest down: here two
\* tasks shared it.
NeverSharedCascade ==
  [][\A to \in Start..Last, t, u \in Pending :
       Advance(to) /\ t # u /\ {t, u} \subseteq DOMAIN places' /\ places[t] = places[u] =>
         places'[t] = places[u] \/ places'[t] = places'[u]]_vars

\* An advance pops only emptied buckets: it moves the own clock, and no task expires.
NeverPoppedEmpty ==
  [][ownClock' # ownClock => queue' # queue \/ places' # places]_vars

\* An emptied upper bucket is popped while a task of another bucket cascades.
NeverCancelledCascade ==
  [][\A b \in buckets \ buckets' :
       b[2] = 1 \/ Held(b) # {} \/ places' = places]_vars

\* The own clock lags so far that a delay of one tick goes to a level above the first.
NeverHighByLag ==
  [][\A t \in Tasks : Insert(t, Tick) => places'[t][2] = 1]_vars

\* A task that is due waits in a bucket, since the own clock lags.
NeverDueInBucket == \A t \in Pending : due[t] > now

\* An add expires at once.
NeverAtOnce == [][\A t \in Tasks : ~InsertExpires(t, 0)]_vars

\* One advance takes a task from level 3 to the executor.
NeverOneAdvanceForAll ==
  [][\A t \in Pending : places[t][2] = 3 /\ Len(queue') > Len(queue) => t \in DOMAIN due']_vars

\* A slot serves again: a bucket waits whose slot an earlier expiry used.
NeverReused == \A b \in buckets : ~(b[2] = 1 /\ b[1] >= Floor(Start, Tick) + Interval(1))

\* Two buckets of different levels have one expiry.
NeverSameExpiry == \A b, c \in buckets : b[1] = c[1] => b = c

\* A window is used from its first to its last bucket.
NeverFullWindow ==
  \A level \in Levels :
    WheelSize > 1 /\ levels >= level =>
      Cardinality({b \in buckets : b[2] = level}) < WheelSize - 1

\* An advance hands over tasks of different ticks.
NeverTwoTicks ==
  [][\A t, u \in Pending : due[t] # due[u] => t \in DOMAIN due' \/ u \in DOMAIN due']_vars

\* The timer is advanced to a later reading while buckets wait, and none is due.
NeverIdle == [][now' > now => buckets = {} \/ \E b \in buckets : b[1] <= now']_vars

\* A bucket is due and not popped yet.
NeverWoken == \A b \in buckets : b[1] > now

\* The executor has work after shutdown.
NeverClosedWithQueue == ~(closed /\ queue # <<>>)

-----------------------------------------------------------------------------
(* False, and why                                                          *)

\* One bucket less than the bound is too little: with three levels every usable bucket may wait.
DelayQueueBoundMinusOne == levels >= 3 => Cardinality(buckets) < levels * (WheelSize - 1)

\* The own clock is not the clock rounded down: it stands still while nothing is popped.
OwnClockFollows == [][\A to \in Start..Last : Advance(to) => ownClock' = Floor(to, Tick)]_vars

\* The result of an advance does not say that a task expired: an emptied bucket is popped as well.
TrueMeansExpired == [][ownClock' # ownClock => Len(queue') > Len(queue)]_vars

\* A zero delay does not always expire at once: the own clock may lag behind the clock.
ZeroDelayExpiresAtOnce == [][\A t \in Tasks : ~Insert(t, 0)]_vars

\* A delay of exactly one interval does not fit into the lowest level, and a lagging own clock puts
\* even shorter ones higher.
LevelCoversInterval ==
  [][\A t \in Tasks, delay \in Delays :
       Insert(t, delay) /\ delay <= Interval(1) => places'[t][2] = 1]_vars

\* An upper bucket and a lower one may begin with the same tick.
ExpiriesDiffer == \A b, c \in buckets : b[1] = c[1] => b = c

\* The delay queue does not hold just the buckets with tasks.
EveryQueuedBucketHoldsATask == \A b \in buckets : Held(b) # {}

\* A cancelled task leaves a trace: its bucket moves the own clock, which decides what expires at
\* once.  So the own clock is not always at a tick at which a task expired or cascaded.
CancelLeavesNoTrace ==
  [][ownClock' # ownClock => \E t \in Pending : places[t] \notin buckets']_vars
=============================================================================
