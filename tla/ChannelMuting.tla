---------------------------- MODULE ChannelMuting ----------------------------
(***************************************************************************)
(* Channels that wait for memory.                                          *)
(*                                                                         *)
(* Network threads read requests from channels, and the memory for them    *)
(* comes from one bounded pool.  A channel whose request is refused is     *)
(* muted: nothing is read from it until memory has come back.  A channel   *)
(* whose request is being handled is muted as well, for order: its next    *)
(* request waits for the response.  These are two reasons, and a channel   *)
(* is read only when there is none.                                        *)
(*                                                                         *)
(* Each thread has its own channels and goes round: Poll looks at the      *)
(* pool, Select at the sockets, Read reads what Select has found, channel  *)
(* by channel, Done begins anew.  A handler may give memory back at any    *)
(* moment, also between Select and Read; there the worst faults lie.       *)
(*                                                                         *)
(* Variables                                                               *)
(*   left       how many requests each client has still to send            *)
(*   sent       what there is to read of each channel: "nothing", the      *)
(*              "header" of a request, or the "whole" request              *)
(*   buffered   channels whose bytes TLS has already taken from the socket *)
(*   receive    "none", "waits" (header read, memory refused) or "holds"   *)
(*   muted      the reasons for which each channel is not read             *)
(*   handled    channels whose request is being handled, with its memory   *)
(*   available  the bytes that are left in the pool                        *)
(*   line       the channels that wait, in the order of their refusals:    *)
(*              one line for all threads                                   *)
(*   phase      where each thread is in its round                          *)
(*   keys       what each thread has found in Select and not yet read      *)
(*   looked     channels for which a thread has seen memory and not yet    *)
(*              taken it; only with the defect "looks-then-takes"          *)
(*   woken      threads whose present or next Select does not sleep; only  *)
(*              with the feature "sleeps"                                  *)
(*                                                                         *)
(* A request has Size bytes.  The pool is not strict: it grants as long as *)
(* one byte is left, and looks and takes in one step, as MemoryPool.tla    *)
(* shows that a pool can.                                                  *)
(*                                                                         *)
(* Left out.  Ends of connections, idle limits and throttling; sizes that  *)
(* differ.  A client has sent one request at the most that is not          *)
(* received: it may send the next before the response has come.            *)
(*                                                                         *)
(* Features (legal choices, and what clients do)                           *)
(*   "tls"      what is sent with a header is taken from the socket with   *)
(*              it, before anybody knows whether there is memory           *)
(*   "queue"    memory that comes back is given to the channels that wait, *)
(*              first come first served; else all of them are read again,  *)
(*              and whoever is read first has it                           *)
(*   "sleeps"   Select waits until there is something to read or to send,  *)
(*              or somebody wakes the thread: there is no time-out.  A     *)
(*              release wakes every thread that has waiting channels; with *)
(*              the line, the thread of the channel that is next           *)
(*   "endless"  clients go on sending                                      *)
(*                                                                         *)
(* Defects                                                                 *)
(*   "reads-buffered"    buffered bytes are read though the channel waits  *)
(*   "unmutes-unfilled"  channels are un-muted only as long as they have   *)
(*                       no memory (with "reads-buffered" this is what     *)
(*                       released Kafka does)                              *)
(*   "mutes-holders"     a refusal mutes channels that hold memory too     *)
(*   "forgets-buffered"  only the socket says what there is to read        *)
(*   "never-unmutes"     memory that comes back un-mutes nobody            *)
(*   "forgets-order"     memory that comes back ends every mute            *)
(*   "credits-twice"     a release is credited a second time               *)
(*   "credits-nothing"   a release is not credited                         *)
(*   "lines-twice"       a refusal puts the channel into the line twice    *)
(*   "fixed-order"       the channels are read in one order for ever       *)
(*   "silent-client"     a client may send a header and then nothing       *)
(*   "looks-then-takes"  a thread looks whether there is memory, and takes *)
(*                       it in a later step without looking again          *)
(*   "wakes-nobody"      a release wakes no thread                         *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  \* @type: Set(Int);
  Channels,
  \* how many network threads; the channels are dealt out to them in turn
  \* @type: Int;
  Threads,
  \* @type: Int;
  PoolSize,
  \* the bytes of a request
  \* @type: Int;
  Size,
  \* how many requests each client sends, where it is not endless
  \* @type: Int;
  Requests,
  \* @type: Set(Str);
  Features,
  \* @type: Set(Str);
  Defects

ASSUME 1 <= Size /\ Size <= PoolSize /\ Requests >= 1 /\ Threads >= 1

VARIABLES
  \* @type: Int -> Int;
  left,
  \* @type: Int -> Str;
  sent,
  \* @type: Set(Int);
  buffered,
  \* @type: Int -> Str;
  receive,
  \* @type: Int -> Set(Str);
  muted,
  \* @type: Set(Int);
  handled,
  \* @type: Int;
  available,
  \* @type: Seq(Int);
  line,
  \* @type: Int -> Str;
  phase,
  \* @type: Int -> Set(Int);
  keys,
  \* @type: Int -> Set(Int);
  looked,
  \* @type: Set(Int);
  woken

client == <<left, sent>>
channel == <<buffered, receive, muted, handled>>
pool == <<available, line>>
round == <<phase, keys, looked, woken>>
vars == <<client, channel, pool, round>>

-----------------------------------------------------------------------------
(* Words                                                                   *)

Tls == "tls" \in Features
Queued == "queue" \in Features

NetworkThreads == 1..Threads

\* The thread that reads a channel, and the channels that a thread reads.
ThreadOf(c) == 1 + ((c - 1) % Threads)
Own(t) == {c \in Channels : ThreadOf(c) = t}

Holding == {c \in Channels : receive[c] = "holds"}
Waiting == {c \in Channels : receive[c] = "waits"}

\* @type: Seq(Int) => Set(Int);
Members(of) == {of[i] : i \in DOMAIN of}

\* Whether there are bytes that the channel's receive can take now.
HasBytes(c) == sent[c] = "whole" \/ (sent[c] = "header" /\ receive[c] = "none")

\* Whether the socket says so: bytes that TLS has taken are not in it.
SocketSays(c) == HasBytes(c) /\ c \notin buffered

-----------------------------------------------------------------------------
(* Clients                                                                 *)

Init ==
  /\ left = [c \in Channels |-> Requests]
  /\ sent = [c \in Channels |-> "nothing"]
  /\ buffered = {}
  /\ receive = [c \in Channels |-> "none"]
  /\ muted = [c \in Channels |-> {}]
  /\ handled = {}
  /\ available = PoolSize
  /\ line = <<>>
  /\ phase = [t \in NetworkThreads |-> "poll"]
  /\ keys = [t \in NetworkThreads |-> {}]
  /\ looked = [t \in NetworkThreads |-> {}]
  /\ woken = {}

\* @self sent
\* @says client: {self} announces a request
Announce(c) ==
  /\ sent[c] = "nothing" /\ left[c] > 0
  /\ sent' = [sent EXCEPT ![c] = "header"]
  /\ left' = IF "endless" \in Features THEN left ELSE [left EXCEPT ![c] = @ - 1]
  /\ UNCHANGED <<channel, pool, round>>

\* @self sent
\* @says client: {self} sends the rest of its request
SendRest(c) ==
  /\ sent[c] = "header"
  /\ sent' = [sent EXCEPT ![c] = "whole"]
  /\ UNCHANGED <<left, channel, pool, round>>

-----------------------------------------------------------------------------
(* The network threads                                                     *)

\* Threads are woken: they do not sleep in their present or next Select.
\* @type: Set(Int) => Bool;
Wakes(threads) ==
  woken' = IF "sleeps" \in Features /\ "wakes-nobody" \notin Defects
           THEN woken \cup threads ELSE woken

\* The threads for whose channels there is memory.
\* @type: (Int, Seq(Int)) => Set(Int);
MeantFor(bytes, waiting) ==
  IF bytes < 1 THEN {}
  ELSE IF ~Queued THEN {ThreadOf(c) : c \in {d \in Channels : "memory" \in muted[d]}}
  ELSE IF waiting = <<>> THEN {} ELSE {ThreadOf(Head(waiting))}

\* How many at the head of the line are a thread's own and can be given memory.
\* @type: (Int, Int, Seq(Int)) => Int;
RECURSIVE Grants(_, _, _)
Grants(t, bytes, waiting) ==
  IF bytes < 1 \/ waiting = <<>> THEN 0
  ELSE IF ThreadOf(Head(waiting)) # t THEN 0
  ELSE 1 + Grants(t, bytes - Size, Tail(waiting))

\* Memory goes to the first of the line.  Where it is the channel of another thread, that thread
\* gives it, and is woken for it if there is some left.
GiveToTheFirst(t) ==
  LET count == Grants(t, available, line)
      given == {line[i] : i \in 1..count}
  IN /\ available' = available - count * Size
     /\ line' = SubSeq(line, count + 1, Len(line))
     /\ receive' = [c \in Channels |-> IF c \in given THEN "holds" ELSE receive[c]]
     /\ muted' = [c \in Channels |-> IF c \in given THEN muted[c] \ {"memory"} ELSE muted[c]]
     /\ Wakes(MeantFor(available', line'))

\* Whoever waits is read again.
UnmuteAll(t) ==
  /\ muted' = [c \in Channels |->
       IF available < 1 \/ c \notin Own(t) THEN muted[c]
       ELSE IF "forgets-order" \in Defects THEN {}
       ELSE IF "unmutes-unfilled" \in Defects /\ receive[c] = "holds" THEN muted[c]
       ELSE muted[c] \ {"memory"}]
  /\ UNCHANGED <<pool, receive, woken>>

\* @self phase
\* @says thread {self}: looks at the pool: {available} bytes
Poll(t) ==
  /\ phase[t] = "poll"
  /\ phase' = [phase EXCEPT ![t] = "select"]
  /\ IF "never-unmutes" \in Defects THEN UNCHANGED <<pool, receive, muted, woken>>
     ELSE IF Queued THEN GiveToTheFirst(t) ELSE UnmuteAll(t)
  /\ UNCHANGED <<client, buffered, handled, keys, looked>>

\* The channels of a thread that there is something to read of, and no reason against it.
Found(t) ==
  {c \in Own(t) :
     \/ muted[c] = {} /\ (IF "forgets-buffered" \in Defects THEN SocketSays(c) ELSE HasBytes(c))
     \/ "reads-buffered" \in Defects /\ c \in buffered /\ "order" \notin muted[c] /\ HasBytes(c)}

\* A handler has ended, and the response waits to be sent.
IsAnswering(c) == "order" \in muted[c] /\ c \notin handled
HasToSend(t) == \E c \in Own(t) : IsAnswering(c)

\* Select has nothing to return with.
Sleeps(t) ==
  /\ "sleeps" \in Features
  /\ phase[t] = "select"
  /\ Found(t) = {} /\ ~HasToSend(t) /\ t \notin woken

\* @self phase
\* @says thread {self}: selects {keys'[self]}
Select(t) ==
  /\ phase[t] = "select" /\ ~Sleeps(t)
  /\ phase' = [phase EXCEPT ![t] = "read"]
  /\ keys' = [keys EXCEPT ![t] = Found(t)]
  /\ woken' = woken \ {t}
  /\ UNCHANGED <<client, channel, pool, looked>>

\* The request of a channel that has memory is there to the end.
Complete(c) ==
  /\ receive' = [receive EXCEPT ![c] = "none"]
  /\ sent' = [sent EXCEPT ![c] = "nothing"]
  /\ buffered' = buffered \ {c}
  /\ handled' = handled \cup {c}
  /\ muted' = [muted EXCEPT ![c] = @ \cup {"order"}]

\* Memory is granted, and what there is of the body goes into it: all of it, but of a channel that
\* is muted only what TLS has taken; the rest is in the socket.
Granted(c) ==
  /\ available' = available - Size
  /\ line' = line
  /\ IF sent[c] = "whole" /\ "memory" \notin muted[c] THEN Complete(c)
     ELSE /\ receive' = [receive EXCEPT ![c] = "holds"]
          /\ buffered' = buffered \ {c}
          /\ UNCHANGED <<sent, handled, muted>>

\* Memory is refused, and the channel waits.
Refused(c) ==
  /\ receive' = [receive EXCEPT ![c] = "waits"]
  /\ line' = IF ~Queued THEN line
             ELSE Append(IF "lines-twice" \in Defects THEN Append(line, c) ELSE line, c)
  /\ buffered' = IF Tls /\ sent[c] = "whole" THEN buffered \cup {c} ELSE buffered
  /\ muted' = [d \in Channels |->
       IF d = c \/ ("mutes-holders" \in Defects /\ receive[d] = "holds")
       THEN muted[d] \cup {"memory"} ELSE muted[d]]
  /\ UNCHANGED <<sent, handled, available>>

\* Who comes while others wait goes to the end of their line.
MayHave == available >= 1 /\ (Queued => line = <<>>)

\* What has begun is ended first: a thread that has looked for a channel takes for it.
MayRead(c) ==
  /\ phase[ThreadOf(c)] = "read"
  /\ c \in keys[ThreadOf(c)]
  /\ looked[ThreadOf(c)] = {}
  /\ "fixed-order" \in Defects => \A d \in keys[ThreadOf(c)] : c <= d

IsRead(c) == keys' = [keys EXCEPT ![ThreadOf(c)] = @ \ {c}]

\* @self keys
\* @says thread {self}: reads channel {keys[self] - keys'[self]}; {available'} bytes are left
Read(c) ==
  /\ MayRead(c)
  /\ "looks-then-takes" \in Defects => receive[c] = "holds" \/ ~MayHave
  /\ IF receive[c] = "holds" THEN Complete(c) /\ UNCHANGED pool
     ELSE IF MayHave THEN Granted(c) ELSE Refused(c)
  /\ IsRead(c)
  /\ UNCHANGED <<left, phase, looked, woken>>

\* @self looked
\* @says thread {self}: reads channel {looked'[self] - looked[self]}, sees {available} bytes
Look(c) ==
  /\ "looks-then-takes" \in Defects
  /\ MayRead(c)
  /\ receive[c] # "holds" /\ MayHave
  /\ looked' = [looked EXCEPT ![ThreadOf(c)] = {c}]
  /\ UNCHANGED <<client, channel, pool, phase, keys, woken>>

\* @self keys
\* @says thread {self}: takes for channel {keys[self] - keys'[self]}; {available'} bytes are left
Take(c) ==
  /\ c \in looked[ThreadOf(c)]
  /\ Granted(c)
  /\ IsRead(c)
  /\ looked' = [looked EXCEPT ![ThreadOf(c)] = {}]
  /\ UNCHANGED <<left, phase, woken>>

\* @self phase
\* @says thread {self}: has read everything
Done(t) ==
  /\ phase[t] = "read" /\ keys[t] = {}
  /\ phase' = [phase EXCEPT ![t] = "poll"]
  /\ UNCHANGED <<client, channel, pool, keys, looked, woken>>

-----------------------------------------------------------------------------
(* Handlers                                                                *)

\* @says handler: gives the memory of request {handled - handled'} back; {available'} bytes are left
Release(c) ==
  /\ c \in handled
  /\ handled' = handled \ {c}
  /\ available' = available + (IF "credits-twice" \in Defects THEN 2 * Size
                               ELSE IF "credits-nothing" \in Defects THEN 0 ELSE Size)
  /\ Wakes(MeantFor(available', line))
  /\ UNCHANGED <<client, buffered, receive, muted, line, phase, keys, looked>>

\* @self muted
\* @says client: {self} gets its response
Respond(c) ==
  /\ phase[ThreadOf(c)] = "poll"
  /\ IsAnswering(c)
  /\ muted' = [muted EXCEPT ![c] = @ \ {"order"}]
  /\ UNCHANGED <<client, buffered, receive, handled, pool, round>>

ReadSome(t) == \E c \in Own(t) : Read(c)

OfChannel(c) ==
  \/ Announce(c) \/ SendRest(c) \/ Release(c) \/ Respond(c)
  \/ Read(c) \/ Look(c) \/ Take(c)
OfThread(t) == Poll(t) \/ Select(t) \/ Done(t)

Next == (\E c \in Channels : OfChannel(c)) \/ (\E t \in NetworkThreads : OfThread(t))

Spec == Init /\ [][Next]_vars

\* Clients send what they announce, threads go round, handlers end: each of them weakly fair.
\* A response goes out between two rounds, which come and go: it needs strong fairness.  Nothing is
\* assumed of the order in which channels are read.
FairSpec ==
  /\ Spec
  /\ \A t \in NetworkThreads : WF_vars(OfThread(t)) /\ WF_vars(ReadSome(t))
  /\ \A c \in Channels : WF_vars(Announce(c)) /\ WF_vars(Release(c)) /\ SF_vars(Respond(c))
  /\ "silent-client" \notin Defects => \A c \in Channels : WF_vars(SendRest(c))

\* And luck: a channel that is again and again to be read while there is memory is read then some
\* day.  That is no promise of a scheduler but one of the order in which channels are read.
LuckySpec == FairSpec /\ \A c \in Channels : SF_vars(available >= 1 /\ Read(c))

-----------------------------------------------------------------------------
(* Claims about states                                                     *)

TypeOK ==
  /\ left \in [Channels -> 0..Requests]
  /\ sent \in [Channels -> {"nothing", "header", "whole"}]
  /\ buffered \subseteq Channels
  /\ receive \in [Channels -> {"none", "waits", "holds"}]
  /\ muted \in [Channels -> SUBSET {"memory", "order"}]
  /\ handled \subseteq Channels
  /\ available \in Int
  /\ Members(line) \subseteq Channels
  /\ phase \in [NetworkThreads -> {"poll", "select", "read"}]
  /\ keys \in [NetworkThreads -> SUBSET Channels]
  /\ \A t \in NetworkThreads : keys[t] \subseteq Own(t)
  /\ looked \in [NetworkThreads -> SUBSET Channels]
  /\ woken \subseteq NetworkThreads

\* No byte is lost or made: what is not available is with a channel or with a handler.
\* Rules: MUTING-CONSERVATION, MUTING-RELEASE.
Conservation ==
  available + Size * (Cardinality(Holding) + Cardinality(handled)) = PoolSize

\* The buffers of all channels and handlers never exceed the limit by a whole request.
\* Rules: MUTING-BOUND.
Bound == Size * (Cardinality(Holding) + Cardinality(handled)) <= PoolSize + Size - 1

\* A channel that holds memory never waits for memory.
\* Rules: MUTING-NOT-WITH-MEMORY.
HoldersAreNotMuted == \A c \in Holding : "memory" \notin muted[c]

\* Nothing is read of a channel while its request is being handled.
\* Rules: MUTING-ONE-AT-A-TIME, MUTING-TWO-REASONS.
OneAtATime ==
  \A c \in Channels : "order" \in muted[c] \/ c \in handled =>
    receive[c] = "none" /\ c \notin keys[ThreadOf(c)]

\* The line is of those who wait, each once.
\* Rules: MUTING-FIRST-COME.
LineIsWhoWaits == Queued => Members(line) = Waiting /\ Len(line) = Cardinality(Waiting)

\* Select returns for no channel that waits: while nothing else is ready its thread is at rest.
\* Rules: MUTING-NO-TIGHT-LOOP, MUTING-WAIT.
WaitersAreNotSelected ==
  \A t \in NetworkThreads : \A c \in keys[t] : "memory" \notin muted[c]

\* No thread sleeps while there is memory for one of its channels.
\* Rules: MUTING-WAKE.
NobodySleepsBesideMemory ==
  \A t \in MeantFor(available, line) : ~Sleeps(t)

-----------------------------------------------------------------------------
(* Liveness, under FairSpec                                                *)

\* A request that was sent to its end is received.
\* Rules: MUTING-SERVED, MUTING-BUFFERED, MUTING-GRANTED-FINISHES.
Served == \A c \in Channels : sent[c] = "whole" ~> sent[c] = "nothing"

\* A channel that waits does not wait for ever.
\* Rules: MUTING-SERVED, MUTING-RECOVER, MUTING-FAIR-CHOICE.
WaitingEnds == \A c \in Channels : receive[c] = "waits" ~> receive[c] # "waits"

\* When the clients have sent all that they had, all memory comes back.
\* Rules: MUTING-IDLE-RETURNS.
MemoryComesBack == <>[](available = PoolSize)

-----------------------------------------------------------------------------
(* Witnesses: situations that must occur, or the claims say nothing        *)

NeverWaiting == Waiting = {}
NeverBeyond == available >= 0
NeverBufferedWaiting == buffered \cap Waiting = {}
NeverTwoWaiting == Cardinality(Waiting) < 2
NeverHandled == handled = {}
NeverReleasedInSelect ==
  ~\E c \in Waiting : phase[ThreadOf(c)] = "select" /\ available >= 1
NeverWoken == \A t \in woken : phase[t] # "select"
NeverTwoReading == \E t \in NetworkThreads : keys[t] = {}
NeverWaitingForOthers ==
  \A c \in Waiting : \E d \in Holding \cup handled : ThreadOf(d) = ThreadOf(c)
=============================================================================
