---------------------------- MODULE ChannelMuting ----------------------------
(***************************************************************************)
(* Channels that wait for memory.                                          *)
(*                                                                         *)
(* A network thread reads requests from channels, and the memory for them  *)
(* comes from one bounded pool.  A channel whose request is refused is     *)
(* muted: nothing is read from it until memory has come back.  A channel   *)
(* whose request is being handled is muted as well, for order: its next    *)
(* request waits for the response.  These are two reasons, and a channel   *)
(* is read only when there is none.                                        *)
(*                                                                         *)
(* The thread goes round: Poll looks at the pool, Select at the sockets,   *)
(* Read reads what Select has found, channel by channel, Done begins anew. *)
(* A handler may give memory back at any moment, also between Select and   *)
(* Read; there the worst faults lie.                                       *)
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
(*   line       the channels that wait, in the order of their refusals     *)
(*   phase      where the thread is in its round                           *)
(*   keys       what Select has found and Read has not yet read            *)
(*                                                                         *)
(* A request has Size bytes.  The pool is not strict: it grants as long as *)
(* one byte is left.                                                       *)
(*                                                                         *)
(* Left out.  Several network threads on one pool; ends of connections,    *)
(* idle limits and throttling; sizes that differ.  A client has sent one   *)
(* request at the most that is not received: it may send the next before   *)
(* the response has come.                                                  *)
(*                                                                         *)
(* Features (legal choices, and what clients do)                           *)
(*   "tls"      what is sent with a header is taken from the socket with   *)
(*              it, before anybody knows whether there is memory           *)
(*   "queue"    memory that comes back is given to the channels that wait, *)
(*              first come first served; else all of them are read again,  *)
(*              and whoever is read first has it                           *)
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
(*   "fixed-order"       the channels are read in one order for ever       *)
(*   "silent-client"     a client may send a header and then nothing       *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  \* @type: Set(Int);
  Channels,
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

ASSUME 1 <= Size /\ Size <= PoolSize /\ Requests >= 1

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
  \* @type: Str;
  phase,
  \* @type: Set(Int);
  keys

vars == <<left, sent, buffered, receive, muted, handled, available, line, phase, keys>>
client == <<left, sent>>

-----------------------------------------------------------------------------
(* Words                                                                   *)

Tls == "tls" \in Features
Queued == "queue" \in Features

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
  /\ phase = "poll"
  /\ keys = {}

\* @says client: announces a request: {sent'}
Announce(c) ==
  /\ sent[c] = "nothing" /\ left[c] > 0
  /\ sent' = [sent EXCEPT ![c] = "header"]
  /\ left' = IF "endless" \in Features THEN left ELSE [left EXCEPT ![c] = @ - 1]
  /\ UNCHANGED <<buffered, receive, muted, handled, available, line, phase, keys>>

\* @says client: sends the rest of a request: {sent'}
SendRest(c) ==
  /\ sent[c] = "header"
  /\ sent' = [sent EXCEPT ![c] = "whole"]
  /\ UNCHANGED <<left, buffered, receive, muted, handled, available, line, phase, keys>>

-----------------------------------------------------------------------------
(* The network thread                                                      *)

\* How many of those who wait can be given memory.
\* @type: (Int, Int) => Int;
RECURSIVE Grants(_, _)
Grants(bytes, count) == IF count = 0 \/ bytes < 1 THEN 0 ELSE 1 + Grants(bytes - Size, count - 1)

\* Memory goes to the first of the line.
GiveToTheFirst ==
  LET count == Grants(available, Len(line))
      given == {line[i] : i \in 1..count}
  IN /\ available' = available - count * Size
     /\ line' = SubSeq(line, count + 1, Len(line))
     /\ receive' = [c \in Channels |-> IF c \in given THEN "holds" ELSE receive[c]]
     /\ muted' = [c \in Channels |-> IF c \in given THEN muted[c] \ {"memory"} ELSE muted[c]]

\* Whoever waits is read again.
UnmuteAll ==
  /\ muted' = [c \in Channels |->
       IF available < 1 THEN muted[c]
       ELSE IF "forgets-order" \in Defects THEN {}
       ELSE IF "unmutes-unfilled" \in Defects /\ receive[c] = "holds" THEN muted[c]
       ELSE muted[c] \ {"memory"}]
  /\ UNCHANGED <<available, line, receive>>

\* @says thread: looks at the pool: {available} bytes; {muted'}
Poll ==
  /\ phase = "poll"
  /\ phase' = "select"
  /\ IF "never-unmutes" \in Defects THEN UNCHANGED <<available, line, receive, muted>>
     ELSE IF Queued THEN GiveToTheFirst ELSE UnmuteAll
  /\ UNCHANGED <<client, buffered, handled, keys>>

\* @says thread: selects {keys'}
Select ==
  /\ phase = "select"
  /\ phase' = "read"
  /\ keys' = {c \in Channels :
       \/ muted[c] = {} /\ (IF "forgets-buffered" \in Defects THEN SocketSays(c) ELSE HasBytes(c))
       \/ "reads-buffered" \in Defects /\ c \in buffered /\ "order" \notin muted[c] /\ HasBytes(c)}
  /\ UNCHANGED <<client, buffered, receive, muted, handled, available, line>>

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
  /\ line' = IF Queued THEN Append(line, c) ELSE line
  /\ buffered' = IF Tls /\ sent[c] = "whole" THEN buffered \cup {c} ELSE buffered
  /\ muted' = [d \in Channels |->
       IF d = c \/ ("mutes-holders" \in Defects /\ receive[d] = "holds")
       THEN muted[d] \cup {"memory"} ELSE muted[d]]
  /\ UNCHANGED <<sent, handled, available>>

\* Who comes while others wait goes to the end of their line.
MayHave == available >= 1 /\ (Queued => line = <<>>)

\* @says thread: reads channel {self}; {available'} bytes are left
Read(c) ==
  /\ phase = "read"
  /\ c \in keys
  /\ "fixed-order" \in Defects => \A d \in keys : c <= d
  /\ keys' = keys \ {c}
  /\ IF receive[c] = "holds" THEN Complete(c) /\ UNCHANGED <<available, line>>
     ELSE IF MayHave THEN Granted(c) ELSE Refused(c)
  /\ UNCHANGED <<left, phase>>

\* @says thread: has read everything
Done ==
  /\ phase = "read" /\ keys = {}
  /\ phase' = "poll"
  /\ UNCHANGED <<client, buffered, receive, muted, handled, available, line, keys>>

-----------------------------------------------------------------------------
(* Handlers                                                                *)

\* @says handler: gives the memory of a request back; {available'} bytes are left
Release(c) ==
  /\ c \in handled
  /\ handled' = handled \ {c}
  /\ available' = available + (IF "credits-twice" \in Defects THEN 2 * Size ELSE Size)
  /\ UNCHANGED <<client, buffered, receive, muted, line, phase, keys>>

\* @says thread: has sent a response; {muted'}
Respond(c) ==
  /\ phase = "poll"
  /\ "order" \in muted[c] /\ c \notin handled
  /\ muted' = [muted EXCEPT ![c] = @ \ {"order"}]
  /\ UNCHANGED <<client, buffered, receive, handled, available, line, phase, keys>>

ReadSome == \E c \in Channels : Read(c)

Next ==
  \/ \E c \in Channels : Announce(c) \/ SendRest(c) \/ Read(c) \/ Release(c) \/ Respond(c)
  \/ Poll
  \/ Select
  \/ Done

Spec == Init /\ [][Next]_vars

\* Clients send what they announce, the thread goes round, handlers end: each of them weakly fair.
\* A response goes out between two rounds, which come and go: it needs strong fairness.  Nothing is
\* assumed of the order in which channels are read.
FairSpec ==
  /\ Spec
  /\ WF_vars(Poll) /\ WF_vars(Select) /\ WF_vars(ReadSome) /\ WF_vars(Done)
  /\ \A c \in Channels : WF_vars(Announce(c)) /\ WF_vars(Release(c)) /\ SF_vars(Respond(c))
  /\ "silent-client" \notin Defects => \A c \in Channels : WF_vars(SendRest(c))

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
  /\ phase \in {"poll", "select", "read"}
  /\ keys \subseteq Channels

\* No byte is lost or made: what is not available is with a channel or with a handler.
Conservation ==
  available + Size * (Cardinality(Holding) + Cardinality(handled)) = PoolSize

\* The buffers of all channels and handlers never exceed the limit by a whole request.
Bound == Size * (Cardinality(Holding) + Cardinality(handled)) <= PoolSize + Size - 1

\* A channel that holds memory never waits for memory.
HoldersAreNotMuted == \A c \in Holding : "memory" \notin muted[c]

\* Nothing is read of a channel while its request is being handled.
OneAtATime ==
  \A c \in Channels : "order" \in muted[c] \/ c \in handled => receive[c] = "none" /\ c \notin keys

\* The line is of those who wait, each once.
LineIsWhoWaits == Queued => Members(line) = Waiting /\ Len(line) = Cardinality(Waiting)

-----------------------------------------------------------------------------
(* Liveness, under FairSpec                                                *)

\* A request that was sent to its end is received.
Served == \A c \in Channels : sent[c] = "whole" ~> sent[c] = "nothing"

\* A channel that waits does not wait for ever.
WaitingEnds == \A c \in Channels : receive[c] = "waits" ~> receive[c] # "waits"

\* When the clients have sent all that they had, all memory comes back.
MemoryComesBack == <>[](available = PoolSize)

-----------------------------------------------------------------------------
(* Witnesses: situations that must occur, or the claims say nothing        *)

NeverWaiting == Waiting = {}
NeverBeyond == available >= 0
NeverBufferedWaiting == buffered \cap Waiting = {}
NeverTwoWaiting == Cardinality(Waiting) < 2
NeverHandled == handled = {}
NeverReleasedInSelect == ~(phase = "select" /\ Waiting # {} /\ available >= 1)
=============================================================================
