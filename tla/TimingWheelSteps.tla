-------------------------- MODULE TimingWheelSteps --------------------------
(***************************************************************************)
(* The timing wheel step by step, with the threads that use it.            *)
(*                                                                         *)
(* Callers add and cancel tasks.  One thread, the reaper, advances the     *)
(* timer: it waits until a bucket is due, polls it from the delay queue,   *)
(* moves the clocks to the bucket's expiry, flushes the bucket task by     *)
(* task (each expires, is dropped if it was cancelled, or is put into a    *)
(* lower bucket), and goes on as long as a bucket is due.  Adds hold the   *)
(* read side of a lock, so they overlap with each other; polling, moving   *)
(* clocks and flushing hold the write side.  A cancel holds neither.       *)
(*                                                                         *)
(* The first poll must hold the write side as well.  Kafka polls first and *)
(* takes the lock then; see "polls-before-lock" and PollsInOrder.          *)
(*                                                                         *)
(* Here buckets are what they are in memory: WheelSize of them a level,    *)
(* used in turn, each with a stamp, the expiry it serves now, or Idle.     *)
(* Who changes the stamp puts the bucket into the delay queue; the flush   *)
(* ends by resetting it to Idle.  Each level has a clock of its own and is *)
(* created when the first task needs it.                                   *)
(*                                                                         *)
(* Variables                                                               *)
(*   now      what the clock reads                                         *)
(*   levels   how many levels exist                                        *)
(*   clock    each level's own clock; 0 where there is no level yet        *)
(*   stamp    each bucket's expiry, or Idle; a bucket is <<level, index>>  *)
(*   line     the tasks in each bucket, oldest first                       *)
(*   queued   how often each bucket is in the delay queue                  *)
(*   size     the counter of the tasks in buckets                          *)
(*   queue    the executor's queue                                         *)
(*   ran      how often each task has run                                  *)
(*   expiry   the reading at the add, plus the delay; Unarmed before       *)
(*   forgotten  tasks whose cancel is over (the task knows its entry no    *)
(*            longer): a flush or an add that looks drops them             *)
(*   readers  callers that hold the read side; writer: who holds the other *)
(*   pc       where each thread is                                         *)
(*   task     the task that a thread has in hand                           *)
(*   level    the level at which a caller is looking                       *)
(*   bucket   the bucket that the reaper has popped                        *)
(*   reading  what the reaper's clock read when it found no more bucket    *)
(*   removed  observer: tasks that a cancel took out of a bucket           *)
(*   before   observer: the wheel when the latest advance began            *)
(*                                                                         *)
(* Left out.  A task is added once: adding it again is a cancel and the    *)
(* add of another entry.  A line and the counter change together: the      *)
(* change of the counter commutes with everything but reading it.  Taking  *)
(* a task out of a line and putting one in are atomic: the line has a      *)
(* lock, which the flush holds from beginning to end, so that the cancel   *)
(* of a task still in the flushed line waits.  The clocks move together:   *)
(* nobody reads them without the lock.  Start is 0.                        *)
(*                                                                         *)
(* Features                                                                *)
(*   "cancel"         callers cancel tasks                                 *)
(*   "one-at-a-time"  no two calls overlap: the wheel of TimingWheel.tla   *)
(*                                                                         *)
(* Defects                                                                 *)
(*   "polls-before-lock"    the first bucket is polled before the write    *)
(*                          side is taken, as Kafka's timer does it        *)
(*   "offers-always"        each add puts the bucket into the delay queue  *)
(*   "never-offers-again"   a cascade does not queue the bucket it fills   *)
(*   "stamp-not-reset"      the flush leaves the stamp                     *)
(*   "upper-clocks-stand"   an advance moves the clock of level 1 alone    *)
(*   "level-starts-at-zero" a new level does not take over a clock         *)
(*   "level-created-twice"  who finds no level above creates one without   *)
(*                          looking again, and replaces another's          *)
(*   "add-without-lock"     adds do not take the read side                 *)
(*   "cascade-drops"        a flush drops what is not due                  *)
(*   "flush-expires-all"    a flush expires what is not due                *)
(*   "flush-copies"         a flush leaves the task in its line's bucket,  *)
(*                          so that it is flushed once more                *)
(*   "cancel-not-checked"   a flush does not look whether a task was       *)
(*                          cancelled                                      *)
(*   "cancel-leaves-it"     a cancel leaves the task in its bucket         *)
(*   "clocks-go-ahead"      an advance moves the clocks one tick too far   *)
(*   "size-not-decremented" a cancel does not count down                   *)
(*   "interval-inclusive"   a level takes a delay of exactly its interval  *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  \* @type: Set(Str);
  Callers,
  \* @type: Set(Str);
  Tasks,
  \* @type: Set(Int);
  Delays,
  \* @type: Int;
  Tick,
  \* @type: Int;
  WheelSize,
  \* @type: Int;
  MostLevels,
  \* @type: Int;
  Last,
  \* @type: Set(Str);
  Features,
  \* @type: Set(Str);
  Defects

VARIABLES
  \* @type: Int;
  now,
  \* @type: Int;
  levels,
  \* @type: Int -> Int;
  clock,
  \* @type: <<Int, Int>> -> Int;
  stamp,
  \* @type: <<Int, Int>> -> Seq(Str);
  line,
  \* @type: <<Int, Int>> -> Int;
  queued,
  \* @type: Int;
  size,
  \* @type: Seq(Str);
  queue,
  \* @type: Str -> Int;
  ran,
  \* @type: Str -> Int;
  expiry,
  \* @type: Set(Str);
  forgotten,
  \* @type: Set(Str);
  readers,
  \* @type: Str;
  writer,
  \* @type: Str -> Str;
  pc,
  \* @type: Str -> Str;
  task,
  \* @type: Str -> Int;
  level,
  \* @type: <<Int, Int>>;
  bucket,
  \* @type: Int;
  reading,
  \* @type: Set(Str);
  removed,
  \* @type: { due: Str -> Int, places: Str -> <<Int, Int>>, buckets: Set(<<Int, Int>>),
  \*          ownClock: Int };
  before

wheel == <<levels, clock, stamp, line, queued>>
lock == <<readers, writer>>
observed == <<removed, before>>
vars == <<now, levels, clock, stamp, line, queued, size, queue, ran, expiry, forgotten, readers,
          writer, pc, task, level, bucket, reading, removed, before>>

Idle == -1
Unarmed == -1
Nobody == "nobody"
None == "none"
NoBucket == <<0, 0>>
Threads == Callers \cup {"reaper"}

Levels == 1..MostLevels
Buckets == Levels \X (0..(WheelSize - 1))

Floor(time, tick) == time - (time % tick)
TickOf(l) == Tick * (WheelSize ^ (l - 1))
Interval(l) == TickOf(l) * WheelSize

\* The bucket of level l that serves a time, and the stamp that it then has.
\* @type: (Int, Int) => <<Int, Int>>;
BucketFor(l, time) == <<l, (time \div TickOf(l)) % WheelSize>>
StampFor(l, time) == Floor(time, TickOf(l))

\* Is a time due by a level's clock, does the level cover it?
IsDue(l, time) == time < clock[l] + TickOf(l)
Covers(l, time) ==
  IF "interval-inclusive" \in Defects THEN time <= clock[l] + Interval(l)
  ELSE time < clock[l] + Interval(l)

Goto(t, where) == pc' = [pc EXCEPT ![t] = where]

\* Between calls: nobody is inside one.
Quiet == \A t \in Threads : pc[t] = "idle"
MayBegin == "one-at-a-time" \in Features => Quiet

\* The bucket of a task that is in one.
\* @type: Str => Set(<<Int, Int>>);
Homes(t) == {b \in Buckets : \E i \in DOMAIN line[b] : line[b][i] = t}

\* @type: (Str, Seq(Str)) => Int;
Times(t, tasks) == Cardinality({i \in DOMAIN tasks : tasks[i] = t})

Init ==
  /\ now = 0
  /\ levels = 1
  /\ clock = [l \in Levels |-> 0]
  /\ stamp = [b \in Buckets |-> Idle]
  /\ line = [b \in Buckets |-> <<>>]
  /\ queued = [b \in Buckets |-> 0]
  /\ size = 0
  /\ queue = <<>>
  /\ ran = [t \in Tasks |-> 0]
  /\ expiry = [t \in Tasks |-> Unarmed]
  /\ forgotten = {}
  /\ readers = {}
  /\ writer = Nobody
  /\ pc = [t \in Threads |-> "idle"]
  /\ task = [t \in Threads |-> None]
  /\ level = [c \in Callers |-> 0]
  /\ bucket = NoBucket
  /\ reading = 0
  /\ removed = {}
  /\ before = [due |-> [t \in {} |-> 0], places |-> [t \in {} |-> <<0, 0>>], buckets |-> {},
               ownClock |-> 0]

-----------------------------------------------------------------------------
(* Callers: add                                                            *)

\* @says self: adds {task'[self]}, expiry {expiry'}
BeginAdd(c) ==
  /\ pc[c] = "idle" /\ MayBegin
  /\ \E t \in Tasks, delay \in Delays :
       /\ expiry[t] = Unarmed
       /\ expiry' = [expiry EXCEPT ![t] = now + delay]
       /\ task' = [task EXCEPT ![c] = t]
  /\ Goto(c, "lock")
  /\ UNCHANGED <<now, size, queue, ran, forgotten, level, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED lock /\ UNCHANGED observed

\* @says self: takes the read side
Lock(c) ==
  /\ pc[c] = "lock"
  /\ writer # Nobody => "add-without-lock" \in Defects
  /\ readers' = IF "add-without-lock" \in Defects THEN readers ELSE readers \cup {c}
  /\ level' = [level EXCEPT ![c] = 1]
  /\ Goto(c, "look")
  /\ UNCHANGED <<now, size, queue, ran, expiry, forgotten, writer, task, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED observed

\* @says self: level {level[self]}, own clock {clock}
Look(c) ==
  /\ pc[c] = "look"
  /\ Goto(c, IF task[c] \in forgotten THEN "unlock"
             ELSE IF IsDue(level[c], expiry[task[c]]) THEN "submit"
             ELSE IF Covers(level[c], expiry[task[c]]) THEN "append" ELSE "up")
  /\ UNCHANGED <<now, size, queue, ran, expiry, forgotten, task, level, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED lock /\ UNCHANGED observed

\* @says self: looks above level {level[self]}
Up(c) ==
  /\ pc[c] = "up"
  /\ IF level[c] < levels
     THEN level' = [level EXCEPT ![c] = level[c] + 1] /\ Goto(c, "look")
     ELSE Goto(c, "create") /\ UNCHANGED level
  /\ UNCHANGED <<now, size, queue, ran, expiry, forgotten, task, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED lock /\ UNCHANGED observed

\* Looks again first, all under a lock: another caller may have created the level meanwhile.
\* @says self: there are {levels'} levels now
Create(c) ==
  LET new == level[c] + 1 IN
  /\ pc[c] = "create"
  /\ IF level[c] < levels /\ "level-created-twice" \notin Defects
     THEN UNCHANGED <<levels, clock, stamp, line>>
     ELSE /\ levels' = new
          /\ clock' = [clock EXCEPT ![new] =
               IF "level-starts-at-zero" \in Defects THEN 0
               ELSE Floor(clock[level[c]], TickOf(new))]
          /\ stamp' = [b \in Buckets |-> IF b[1] = new THEN Idle ELSE stamp[b]]
          /\ line' = [b \in Buckets |-> IF b[1] = new THEN <<>> ELSE line[b]]
  /\ level' = [level EXCEPT ![c] = new]
  /\ Goto(c, "look")
  /\ UNCHANGED <<now, queued, size, queue, ran, expiry, forgotten, task, bucket, reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

\* A task goes to the end of a bucket's line.
\* @type: (<<Int, Int>>, Str) => Bool;
PutInto(b, t) ==
  /\ line' = [line EXCEPT ![b] = Append(line[b], t)]
  /\ size' = size + 1

CallersBucket(c) == BucketFor(level[c], expiry[task[c]])

\* The flush holds the line's lock; a caller comes here during a flush only without the read side.
\* @says self: puts {task[self]} into a bucket of level {level[self]}
Put(c) ==
  /\ pc[c] = "append"
  /\ PutInto(CallersBucket(c), task[c])
  /\ Goto(c, "stamp")
  /\ UNCHANGED <<now, levels, clock, stamp, queued, queue, ran, expiry, forgotten, task, level,
                 bucket, reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

\* @says self: stamps the bucket
Stamp(c) ==
  LET new == StampFor(level[c], expiry[task[c]]) IN
  /\ pc[c] = "stamp"
  /\ stamp' = [stamp EXCEPT ![CallersBucket(c)] = new]
  /\ Goto(c, IF stamp[CallersBucket(c)] # new \/ "offers-always" \in Defects
             THEN "offer" ELSE "unlock")
  /\ UNCHANGED <<now, levels, clock, line, queued, size, queue, ran, expiry, forgotten, task,
                 level, bucket, reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

\* @says self: queues the bucket
Offer(c) ==
  /\ pc[c] = "offer"
  /\ queued' = [queued EXCEPT ![CallersBucket(c)] = @ + 1]
  /\ Goto(c, "unlock")
  /\ UNCHANGED <<now, levels, clock, stamp, line, size, queue, ran, expiry, forgotten, task,
                 level, bucket, reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

\* @says self: {task[self]} is due: to the executor
Submit(c) ==
  /\ pc[c] = "submit"
  /\ queue' = Append(queue, task[c])
  /\ Goto(c, "unlock")
  /\ UNCHANGED <<now, size, ran, expiry, forgotten, task, level, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED lock /\ UNCHANGED observed

\* @says self: returns
Unlock(c) ==
  /\ pc[c] = "unlock"
  /\ readers' = readers \ {c}
  /\ task' = [task EXCEPT ![c] = None]
  /\ level' = [level EXCEPT ![c] = 0]
  /\ Goto(c, "idle")
  /\ UNCHANGED <<now, size, queue, ran, expiry, forgotten, writer, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED observed

-----------------------------------------------------------------------------
(* Callers: cancel                                                         *)

\* @says self: cancels {task'[self]}
BeginCancel(c) ==
  /\ "cancel" \in Features
  /\ pc[c] = "idle" /\ MayBegin
  /\ \E t \in Tasks :
       /\ expiry[t] # Unarmed /\ t \notin forgotten
       /\ task' = [task EXCEPT ![c] = t]
  /\ Goto(c, "detach")
  /\ UNCHANGED <<now, size, queue, ran, expiry, forgotten, level, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED lock /\ UNCHANGED observed

\* Whether the reaper is inside a flush, and so holds the lock of its bucket's line.
Flushing == pc["reaper"] \in {"flush", "again", "hand", "put", "restamp", "requeue"}

\* @says self: takes {task[self]} out of its bucket
Detach(c) ==
  /\ pc[c] = "detach"
  /\ Homes(task[c]) # {}
  /\ Flushing => bucket \notin Homes(task[c])
  /\ line' = IF "cancel-leaves-it" \in Defects THEN line
             ELSE [b \in Buckets |-> SelectSeq(line[b], LAMBDA t : t # task[c])]
  /\ size' = IF "size-not-decremented" \in Defects THEN size ELSE size - 1
  /\ removed' = removed \cup {task[c]}
  /\ Goto(c, "forget")
  /\ UNCHANGED <<now, levels, clock, stamp, queued, queue, ran, expiry, forgotten, task, level,
                 bucket, reading, before>>
  /\ UNCHANGED lock

\* @says self: finds {task[self]} in no bucket
DetachNothing(c) ==
  /\ pc[c] = "detach"
  /\ Homes(task[c]) = {}
  /\ Goto(c, "forget")
  /\ UNCHANGED <<now, size, queue, ran, expiry, forgotten, task, level, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED lock /\ UNCHANGED observed

\* @says self: {task[self]} is cancelled
Forget(c) ==
  /\ pc[c] = "forget"
  /\ forgotten' = forgotten \cup {task[c]}
  /\ task' = [task EXCEPT ![c] = None]
  /\ Goto(c, "idle")
  /\ UNCHANGED <<now, size, queue, ran, expiry, level, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED lock /\ UNCHANGED observed

-----------------------------------------------------------------------------
(* The reaper: advance                                                     *)

\* The buckets that the delay queue gives out: due ones, the earliest first.
\* @type: Set(<<Int, Int>>);
Ready ==
  {b \in Buckets :
     /\ queued[b] > 0 /\ stamp[b] <= now
     /\ \A other \in Buckets : queued[other] > 0 => stamp[b] <= stamp[other]}

\* The wheel as TimingWheel.tla sees it: pending tasks, their buckets, and the delay queue.
InBuckets == {t \in Tasks : Homes(t) # {}}
\* @type: Str => <<Int, Int>>;
Place(t) ==
  LET l == Cardinality({m \in Levels : \A b \in Homes(t) : m <= b[1]})
  IN  <<StampFor(l, expiry[t]), l>>
\* @type: Set(<<Int, Int>>);
DelayQueue == {<<stamp[b], b[1]>> : b \in {c \in Buckets : queued[c] > 0}}

\* The wait ends when a bucket is due.  Only the defect takes the bucket at once.
\* @says reaper: wakes: a bucket is due
Wake ==
  /\ pc["reaper"] = "idle" /\ MayBegin
  /\ \E b \in Ready :
       IF "polls-before-lock" \in Defects
       THEN bucket' = b /\ queued' = [queued EXCEPT ![b] = @ - 1]
       ELSE UNCHANGED <<bucket, queued>>
  /\ Goto("reaper", "write-lock")
  /\ before' = IF "one-at-a-time" \in Features
               THEN [due |-> [t \in InBuckets |-> Floor(expiry[t], Tick)],
                     places |-> [t \in InBuckets |-> Place(t)],
                     buckets |-> DelayQueue, ownClock |-> clock[1]]
               ELSE before
  /\ UNCHANGED <<now, levels, clock, stamp, line, size, queue, ran, expiry, forgotten, task, level,
                 reading, removed>>
  /\ UNCHANGED lock

\* @says reaper: takes the write side
WriteLock ==
  /\ pc["reaper"] = "write-lock"
  /\ readers = {}
  /\ writer' = "reaper"
  /\ Goto("reaper", IF bucket = NoBucket THEN "poll" ELSE "clocks")
  /\ UNCHANGED <<now, size, queue, ran, expiry, forgotten, readers, task, level, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED observed

\* @says reaper: moves the clocks to {clock'}
MoveClocks ==
  /\ pc["reaper"] = "clocks"
  /\ clock' = [l \in Levels |->
       IF l > levels \/ (l > 1 /\ "upper-clocks-stand" \in Defects) THEN clock[l]
       ELSE IF stamp[bucket] >= clock[l] + TickOf(l)
       THEN Floor(stamp[bucket] + IF "clocks-go-ahead" \in Defects THEN Tick ELSE 0, TickOf(l))
       ELSE clock[l]]
  /\ Goto("reaper", "flush")
  /\ UNCHANGED <<now, levels, stamp, line, queued, size, queue, ran, expiry, forgotten, task,
                 level, bucket, reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

\* @says reaper: takes {task'[self]} out of the bucket
Take ==
  /\ pc["reaper"] = "flush"
  /\ line[bucket] # <<>>
  /\ task' = [task EXCEPT !["reaper"] = Head(line[bucket])]
  /\ line' = [line EXCEPT ![bucket] = Tail(line[bucket])]
  /\ size' = size - 1
  /\ Goto("reaper", "again")
  /\ UNCHANGED <<now, levels, clock, stamp, queued, queue, ran, expiry, forgotten, level, bucket,
                 reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

InHand == task["reaper"]

\* The lowest level that covers the task in hand.
ReapersLevel == 1 + Cardinality({l \in 1..(levels - 1) : ~Covers(l, expiry[InHand])})
ReapersBucket == BucketFor(ReapersLevel, expiry[InHand])

\* @says reaper: looks where {task[self]} belongs
Again ==
  /\ pc["reaper"] = "again"
  /\ Goto("reaper",
       IF InHand \in forgotten /\ "cancel-not-checked" \notin Defects THEN "flush"
       ELSE IF IsDue(1, expiry[InHand]) \/ "flush-expires-all" \in Defects THEN "hand"
       ELSE IF "cascade-drops" \in Defects THEN "flush" ELSE "put")
  /\ task' = IF pc'["reaper"] = "flush" THEN [task EXCEPT !["reaper"] = None] ELSE task
  /\ UNCHANGED <<now, size, queue, ran, expiry, forgotten, level, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED lock /\ UNCHANGED observed

\* @says reaper: {task[self]} is due: to the executor
Hand ==
  /\ pc["reaper"] = "hand"
  /\ queue' = Append(queue, InHand)
  /\ line' = IF "flush-copies" \in Defects /\ Len(queue) = 0
             THEN [line EXCEPT ![bucket] = Append(line[bucket], InHand)] ELSE line
  /\ task' = [task EXCEPT !["reaper"] = None]
  /\ Goto("reaper", "flush")
  /\ UNCHANGED <<now, levels, clock, stamp, queued, size, ran, expiry, forgotten, level, bucket,
                 reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

\* @says reaper: puts {task[self]} into a lower bucket
PutDown ==
  /\ pc["reaper"] = "put"
  /\ PutInto(ReapersBucket, InHand)
  /\ Goto("reaper", "restamp")
  /\ UNCHANGED <<now, levels, clock, stamp, queued, queue, ran, expiry, forgotten, task, level,
                 bucket, reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

\* @says reaper: stamps that bucket
Restamp ==
  LET new == StampFor(ReapersLevel, expiry[InHand]) IN
  /\ pc["reaper"] = "restamp"
  /\ stamp' = [stamp EXCEPT ![ReapersBucket] = new]
  /\ IF stamp[ReapersBucket] # new /\ "never-offers-again" \notin Defects
     THEN Goto("reaper", "requeue") /\ UNCHANGED task
     ELSE Goto("reaper", "flush") /\ task' = [task EXCEPT !["reaper"] = None]
  /\ UNCHANGED <<now, levels, clock, line, queued, size, queue, ran, expiry, forgotten, level,
                 bucket, reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

\* @says reaper: queues that bucket
Requeue ==
  /\ pc["reaper"] = "requeue"
  /\ queued' = [queued EXCEPT ![ReapersBucket] = @ + 1]
  /\ task' = [task EXCEPT !["reaper"] = None]
  /\ Goto("reaper", "flush")
  /\ UNCHANGED <<now, levels, clock, stamp, line, size, queue, ran, expiry, forgotten, level,
                 bucket, reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

\* @says reaper: the bucket is empty: resets its stamp
Reset ==
  /\ pc["reaper"] = "flush"
  /\ line[bucket] = <<>>
  /\ stamp' = IF "stamp-not-reset" \in Defects THEN stamp ELSE [stamp EXCEPT ![bucket] = Idle]
  /\ bucket' = NoBucket
  /\ Goto("reaper", "poll")
  /\ UNCHANGED <<now, levels, clock, line, queued, size, queue, ran, expiry, forgotten, task,
                 level, reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

\* @says reaper: polls the bucket {bucket'}
Poll ==
  /\ pc["reaper"] = "poll"
  /\ \E b \in Ready :
       /\ bucket' = b
       /\ queued' = [queued EXCEPT ![b] = @ - 1]
  /\ Goto("reaper", "clocks")
  /\ UNCHANGED <<now, levels, clock, stamp, line, size, queue, ran, expiry, forgotten, task, level,
                 reading>>
  /\ UNCHANGED lock /\ UNCHANGED observed

\* @says reaper: finds no due bucket at {now}
PollNone ==
  /\ pc["reaper"] = "poll"
  /\ Ready = {}
  /\ reading' = now
  /\ Goto("reaper", "release")
  /\ UNCHANGED <<now, size, queue, ran, expiry, forgotten, task, level, bucket>>
  /\ UNCHANGED wheel /\ UNCHANGED lock /\ UNCHANGED observed

\* @says reaper: releases the write side
Release ==
  /\ pc["reaper"] = "release"
  /\ writer' = Nobody
  /\ reading' = 0
  /\ Goto("reaper", "idle")
  /\ UNCHANGED <<now, size, queue, ran, expiry, forgotten, readers, task, level, bucket>>
  /\ UNCHANGED wheel /\ UNCHANGED observed

-----------------------------------------------------------------------------
(* The executor and the clock                                              *)

\* @says executor: runs a task; {queue'} wait
RunOne ==
  /\ queue # <<>> /\ MayBegin
  /\ ran' = [ran EXCEPT ![Head(queue)] = @ + 1]
  /\ queue' = Tail(queue)
  /\ UNCHANGED <<now, size, expiry, forgotten, pc, task, level, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED lock /\ UNCHANGED observed

\* @says clock: reads {now'}
Elapse ==
  /\ now < Last /\ MayBegin
  /\ now' = now + 1
  /\ UNCHANGED <<size, queue, ran, expiry, forgotten, pc, task, level, bucket, reading>>
  /\ UNCHANGED wheel /\ UNCHANGED lock /\ UNCHANGED observed

Adding(c) ==
  \/ Lock(c) \/ Look(c) \/ Up(c) \/ Create(c) \/ Put(c) \/ Stamp(c) \/ Offer(c) \/ Submit(c)
  \/ Unlock(c)
Cancelling(c) == Detach(c) \/ DetachNothing(c) \/ Forget(c)
Advancing ==
  \/ Wake \/ WriteLock \/ MoveClocks \/ Take \/ Again \/ Hand \/ PutDown \/ Restamp \/ Requeue
  \/ Reset \/ Poll \/ PollNone \/ Release

Next ==
  \/ \E c \in Callers :
       \/ BeginAdd(c) \/ Lock(c) \/ Look(c) \/ Up(c) \/ Create(c) \/ Put(c) \/ Stamp(c)
       \/ Offer(c) \/ Submit(c) \/ Unlock(c)
       \/ BeginCancel(c) \/ Detach(c) \/ DetachNothing(c) \/ Forget(c)
  \/ Wake \/ WriteLock \/ MoveClocks \/ Take \/ Again \/ Hand \/ PutDown \/ Restamp \/ Requeue
  \/ Reset \/ Poll \/ PollNone \/ Release
  \/ RunOne
  \/ Elapse

Spec == Init /\ [][Next]_vars

\* Every thread goes on inside its call, the reaper polls, the executor works, the clock goes.
\* Nobody has to begin a call.
FairSpec ==
  /\ Spec
  /\ \A c \in Callers : WF_vars(Adding(c)) /\ WF_vars(Cancelling(c))
  /\ WF_vars(Advancing) /\ WF_vars(RunOne) /\ WF_vars(Elapse)

-----------------------------------------------------------------------------
(* Words for claims                                                        *)

Armed == {t \in Tasks : expiry[t] # Unarmed}

\* How often a task was handed to the executor.
HandedOver(t) == ran[t] + Times(t, queue)

\* Threads that have a task in hand to put it somewhere: adds before the put, and the flush.
Carriers(t) ==
  {c \in Callers : task[c] = t /\ pc[c] \in {"lock", "look", "up", "create", "append", "submit"}}
    \cup (IF InHand = t /\ pc["reaper"] \in {"again", "hand", "put"} THEN {"reaper"} ELSE {})

\* Threads between putting a task into a bucket and queueing the bucket.
\* @type: <<Int, Int>> => Set(Str);
Stampers(b) ==
  {c \in Callers : pc[c] \in {"stamp", "offer"} /\ CallersBucket(c) = b}
    \cup (IF pc["reaper"] \in {"restamp", "requeue"} /\ ReapersBucket = b THEN {"reaper"} ELSE {})
\* @type: <<Int, Int>> => Set(Str);
Offerers(b) ==
  {c \in Callers : pc[c] = "offer" /\ CallersBucket(c) = b}
    \cup (IF pc["reaper"] = "requeue" /\ ReapersBucket = b THEN {"reaper"} ELSE {})

-----------------------------------------------------------------------------
(* Claims                                                                  *)

TypeOK ==
  /\ now \in 0..Last /\ levels \in Levels
  /\ \A t \in Threads : task[t] \in Tasks \cup {None}
  /\ readers \subseteq Callers /\ writer \in {Nobody, "reaper"}
  /\ \A b \in Buckets : queued[b] \in 0..2
  /\ bucket \in Buckets \cup {NoBucket}

\* No task is handed to the executor twice, whichever threads overlap.  Rules: TIMER-EXACTLY-ONCE.
NeverTwice == \A t \in Tasks : HandedOver(t) <= 1

\* An added task is in one place: in a bucket, in the hands of one thread, or handed over.  Only a
\* cancelled one may be in none.  Rules: TIMER-EXACTLY-ONCE, TIMER-CASCADE.
NeverLost ==
  \A t \in Armed :
    LET count == Cardinality(Homes(t)) + Cardinality(Carriers(t)) + HandedOver(t)
    IN  IF t \in removed \cup forgotten THEN count <= 1 ELSE count = 1

\* No task is handed over before its due tick.  Rules: TIMER-NOT-EARLY, TIMER-ROUNDING.
NeverEarly == \A t \in Armed : HandedOver(t) > 0 => Floor(expiry[t], Tick) <= now

\* When the reaper has found no more bucket, no task is in a bucket that was due at that reading.
\* Rules: TIMER-NOT-LATE, TIMER-CASCADE.
NeverLate ==
  pc["reaper"] = "release" =>
    \A t \in Armed : Homes(t) # {} => Floor(expiry[t], Tick) > reading

\* A task that a cancel took out of a bucket is never handed over.  Rules: TIMER-CANCEL.
RemovedNeverRuns == \A t \in removed : HandedOver(t) = 0

\* A flush that looks at a cancelled task drops it.  Rules: TIMER-CANCEL.
FlushDropsCancelled ==
  [][\A t \in forgotten :
       pc["reaper"] = "again" /\ InHand = t => pc'["reaper"] \notin {"hand", "put"}]_vars

\* The counter is the number of tasks in buckets.  Rules: TIMER-SIZE.
SizeIsInBuckets ==
  size = Cardinality({p \in Buckets \X (1..Cardinality(Tasks)) : p[2] <= Len(line[p[1]])})

\* Between calls the tasks in buckets are the pending ones, and what a cancel missed: tasks that
\* were cancelled on their way from one bucket to the next.  Rules: TIMER-SIZE.
QuietSizeIsPendingAndMissed ==
  Quiet => size = Cardinality({t \in Armed \ forgotten : HandedOver(t) = 0})
                    + Cardinality({t \in forgotten : Homes(t) # {}})

\* The clocks of all levels are one number, rounded: so it cannot be seen when a level was created.
\* Rules: TIMER-OWN-CLOCK, TIMER-OVERFLOW-ON-DEMAND.
ClocksAgree == \A l \in 1..levels : clock[l] = Floor(clock[1], TickOf(l))

\* The own clock does not run ahead of the clock.  Rules: TIMER-OWN-CLOCK.
ClockLags == clock[1] <= now

\* A bucket is in the delay queue at most once.  Rules: TIMER-DELAY-QUEUE-BOUND.
QueuedAtMostOnce == \A b \in Buckets : queued[b] + Cardinality(Offerers(b)) <= 1

\* A bucket has a stamp exactly while it is in the delay queue, on its way into it, or popped and
\* being flushed.  Rules: TIMER-DELAY-QUEUE-BOUND, TIMER-BUCKET-REUSE.
StampMeansQueued ==
  \A b \in Buckets :
    stamp[b] # Idle <=> queued[b] > 0 \/ Offerers(b) # {} \/ bucket = b

\* A bucket that holds a task is in the delay queue, or on its way into it, or being flushed: no
\* task is in a bucket that nobody will pop.  Rules: TIMER-EMPTIED-BUCKET, TIMER-EXACTLY-ONCE.
HoldsMeansQueued ==
  \A b \in Buckets : line[b] # <<>> => queued[b] > 0 \/ Stampers(b) # {} \/ bucket = b

\* The delay queue never holds more than the usable buckets, WheelSize - 1 a level, whichever
\* threads overlap.  Rules: TIMER-DELAY-QUEUE-BOUND.
DelayQueueBound ==
  Cardinality({p \in Buckets \X (1..2) : p[2] <= queued[p[1]]}) <= levels * (WheelSize - 1)

\* A queued bucket lies within its level's window.  Rules: TIMER-SPAN.
WithinWindow ==
  \A b \in Buckets :
    queued[b] > 0 =>
      /\ b[1] <= levels
      /\ clock[b[1]] + TickOf(b[1]) <= stamp[b]
      /\ stamp[b] < clock[b[1]] + Interval(b[1])

\* All tasks in a bucket that is stamped have the stamp's tick.
\* Rules: TIMER-CASCADE, TIMER-BUCKET-REUSE.
OneTickPerBucket ==
  \A b \in Buckets :
    stamp[b] # Idle =>
      \A i \in DOMAIN line[b] : StampFor(b[1], expiry[line[b][i]]) = stamp[b]

\* While the reaper has a bucket, no bucket in the delay queue, and none on its way into it, is due
\* earlier: buckets are popped in the order of their expiry.  Rules: TIMER-TICK-ORDER.
\* With the defect "polls-before-lock" this fails, and with it NeverLate, QueuedAtMostOnce and
\* OneTickPerBucket: a caller that has stamped a bucket and not queued it is overtaken by a later
\* bucket, and a cascade may then put tasks of another turn into the one that was left behind.
PollsInOrder ==
  pc["reaper"] = "clocks" =>
    \A b \in Buckets : queued[b] > 0 \/ Offerers(b) # {} => stamp[bucket] <= stamp[b]

\* A flush never puts a task into the bucket that it is flushing.  Rules: TIMER-CASCADE.
NeverIntoItself == pc["reaper"] = "put" => ReapersBucket # bucket

\* Adds and flushes exclude each other.
LockExcludes == writer # Nobody => \A c \in Callers : pc[c] \notin {"look", "append", "stamp"}

\* The wheel of TimingWheel.tla as it was when the advance began.
AtOnce == INSTANCE TimingWheel WITH
  due <- before.due, places <- before.places, buckets <- before.buckets,
  ownClock <- before.ownClock, closed <- FALSE, Start <- 0, MostQueued <- 1, LargestDelay <- Last

\* Where calls do not overlap, the loop ends where TimingWheel.tla says that an advance ends: the
\* same tasks are handed over, the others rest in the same buckets, with the same own clock and the
\* same delay queue.  Rules: TIMER-CASCADE, TIMER-OWN-CLOCK, TIMER-EMPTIED-BUCKET.
LoopEndsWhereAdvanceEnds ==
  pc["reaper"] = "release" /\ "one-at-a-time" \in Features =>
    LET popped == AtOnce!Popped(reading)
        stays == DOMAIN before.due \ AtOnce!Expiring(reading)
        rest(t) == IF AtOnce!Comes(t, reading)
                   THEN AtOnce!RestingPlace(t, reading) ELSE before.places[t]
    IN  /\ \A t \in AtOnce!Expiring(reading) : HandedOver(t) = 1
        /\ InBuckets = stays
        /\ \A t \in stays : Place(t) = rest(t)
        /\ clock[1] \in popped /\ \A e \in popped : e <= clock[1]
        /\ DelayQueue = {b \in before.buckets : b[1] > reading} \cup {rest(t) : t \in stays}

\* A task that is due while the clock still goes, and is not cancelled, runs.
\* Rules: TIMER-EXACTLY-ONCE.
Runs ==
  \A t \in Tasks :
    (expiry[t] # Unarmed /\ expiry[t] <= Last) ~> (ran[t] > 0 \/ t \in forgotten \cup removed)

\* Every call returns, and every advance ends.
CallsReturn == \A t \in Threads : pc[t] # "idle" ~> pc[t] = "idle"

-----------------------------------------------------------------------------
(* Witnesses: each of these is violated, so the situation does occur       *)

NeverThreeLevels == levels < 3

\* Two callers find no level above at the same time.
NeverTwoCreators ==
  \A c, d \in Callers : pc[c] = "create" /\ pc[d] = "create" => c = d

\* Two callers have put tasks into one bucket, and neither has stamped it.
NeverTwoStampers ==
  \A c, d \in Callers :
    pc[c] = "stamp" /\ pc[d] = "stamp" /\ CallersBucket(c) = CallersBucket(d) => c = d

\* A flush puts a task down.
NeverPutsDown == pc["reaper"] # "put"

\* A task is cancelled while the flush has it in hand.
NeverCancelledInHand == ~(pc["reaper"] = "put" /\ InHand \in forgotten)

\* A task that was cancelled is in a bucket.
NeverMissed == \A t \in forgotten : Homes(t) = {}

\* The flush drops a task that was cancelled.
NeverDrops == ~(pc["reaper"] = "again" /\ InHand \in forgotten)

\* A bucket waits whose tasks were cancelled.
NeverEmptiedBucket ==
  \A b \in Buckets : queued[b] > 0 /\ line[b] = <<>> => removed = {}

\* An upper bucket is flushed that was emptied by cancels.
NeverFlushesEmptied ==
  ~(pc["reaper"] = "flush" /\ bucket[1] > 1 /\ line[bucket] = <<>> /\ removed = Armed)

\* The reaper wants the write side while a caller has not queued its bucket yet.
NeverWaitsForOffer ==
  pc["reaper"] = "write-lock" => \A c \in Callers : pc[c] # "offer"

\* A cancel waits for the flush of the bucket in which its task is.
NeverCancelWaits ==
  \A c \in Callers : ~(pc[c] = "detach" /\ Flushing /\ bucket \in Homes(task[c]))

\* A task is handed over by an add, and one by a flush.
NeverSubmits == \A c \in Callers : pc[c] # "submit"
NeverHands == pc["reaper"] # "hand"

\* An advance goes on to a second bucket.
NeverSecondBucket == ~(pc["reaper"] = "clocks" /\ queue # <<>>)

\* An advance ends while tasks remain in buckets.
NeverLeavesSome == pc["reaper"] = "release" => InBuckets = {}

\* A bucket is stamped again after it was flushed.
NeverReused == \A b \in Buckets : stamp[b] < Interval(b[1])

-----------------------------------------------------------------------------
(* False, and why                                                          *)

\* A cancel that comes while its task is in the hands of a thread finds it in no bucket.  Afterwards
\* the task is put into one all the same, and counts until that bucket is flushed.
QuietSizeIsPending ==
  Quiet => size = Cardinality({t \in Armed \ forgotten : HandedOver(t) = 0})

\* A cancel does not take back what a thread was about to hand over.
CancelledNeverRuns == \A t \in forgotten : pc["reaper"] = "idle" => HandedOver(t) = 0

\* Tasks of one tick do not expire in the order in which they were added: one that comes down is put
\* behind those that were added directly to the lower bucket.  Rules: TIMER-SAME-TICK-ORDER.
\* (Here tasks are added in the order of their names, by one caller: see InNameOrder.)
SameTickInOrderOfAdding ==
  \A i, j \in DOMAIN queue :
    i < j /\ expiry[queue[i]] = expiry[queue[j]] => ~(queue[i] = "b" /\ queue[j] = "a")
InNameOrder == expiry["b"] # Unarmed => expiry["a"] # Unarmed

\* A bucket that is queued need not hold a task.
QueuedMeansHolds == \A b \in Buckets : queued[b] > 0 => line[b] # <<>>

\* One bucket less than the bound is too little, also with threads that overlap.
DelayQueueBoundMinusOne ==
  levels >= 2 =>
    Cardinality({p \in Buckets \X (1..2) : p[2] <= queued[p[1]]}) < levels * (WheelSize - 1)
=============================================================================
