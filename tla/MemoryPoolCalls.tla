--------------------------- MODULE MemoryPoolCalls ---------------------------
(***************************************************************************)
(* The memory pool as its callers see it: one call after the other.        *)
(*                                                                         *)
(* A call is one step.  How several threads share the count is said in     *)
(* MemoryPool.tla; this module says the rest: which requests are granted,  *)
(* refused or illegal, what a pool makes of a buffer that is not its own,  *)
(* what becomes of a buffer that is lost, and when a dry spell begins and  *)
(* ends.  A dry spell is the time in which the pool is known to have too   *)
(* little: from the first refusal on, until a buffer is granted or comes   *)
(* back.                                                                   *)
(*                                                                         *)
(* Variables                                                               *)
(*   now        what the clock reads                                       *)
(*   available  the bytes that the pool believes to have                   *)
(*   held       the buffers that are out, each with its bytes              *)
(*   returned   the buffers that were given back, each with its bytes      *)
(*   since      the reading at which the dry spell began, NoSpell if none  *)
(*   spells     how many dry spells have ended                             *)
(*   depleted   how long they were, all together                           *)
(*                                                                         *)
(* The pool tells its own buffers from others.                             *)
(*                                                                         *)
(* Left out.  A pool that does not tell its own buffers from others may    *)
(* credit anything, and nothing bounds what it then believes to have.  The *)
(* clock stops at Last, and MostSpells bounds the dry spells: both only    *)
(* make the states finitely many.                                          *)
(*                                                                         *)
(* Features (legal choices)                                                *)
(*   "strict"     a request is granted where there is as much as it asks   *)
(*                for, not already where there is something                *)
(*   "unbounded"  every request is granted, and no byte is counted         *)
(*                                                                         *)
(* Defects                                                                 *)
(*   "grants-from-nothing"    a request is granted with nothing left       *)
(*   "grants-illegal"         a request of more than the largest size is   *)
(*                            taken for a legal one                        *)
(*   "credits-one"            a release is credited with one byte          *)
(*   "credits-others"         a buffer that is not the pool's is credited  *)
(*   "forgets-the-lost"       a lost buffer is not credited                *)
(*   "spell-begins-anew"      every refusal begins the dry spell again     *)
(*   "grant-ends-no-spell"    a dry spell goes on behind a grant           *)
(*   "release-ends-no-spell"  a dry spell goes on behind a release         *)
(*   "counts-no-time"         a dry spell ends without being measured      *)
(*   "begins-when-empty"      a dry spell begins with the grant that       *)
(*                            leaves nothing                               *)
(*   "lends-one-more"         a strict pool grants a byte more than it has *)
(*   "debits-refused"         a request that is refused is debited         *)
(*   "begins-at-zero"         a dry spell is counted from the first        *)
(*                            reading, whenever it begins                  *)
(*   "spell-begins-late"      a dry spell begins at the next reading       *)
(*   "refusal-moves-back"     a refusal in a dry spell moves its beginning *)
(*                            back                                         *)
(*   "forgets-spells"         a refusal forgets the dry spells that have   *)
(*                            ended                                        *)
(*   "forgets-time"           a refusal forgets how long they were         *)
(*   "counts-refusals"        every refusal counts as a dry spell          *)
(*   "counts-no-spell"        a dry spell ends without being counted       *)
(*   "counts-spells-twice"    a dry spell that ends counts twice           *)
(*   "counts-time-twice"      the time of a dry spell counts twice         *)
(*   "counts-while-dry"       time counts before the dry spell has ended   *)
(*   "counts-the-unbounded"   a pool without a bound counts its bytes      *)
(*   "credits-the-unbounded"  a pool without a bound credits releases      *)
(*   "refuses-the-unbounded"  a pool without a bound refuses requests of   *)
(*                            more than its size                           *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  \* @type: Set(Str);
  Buffers,
  \* how many bytes the pool has
  \* @type: Int;
  PoolSize,
  \* the largest legal request
  \* @type: Int;
  MaxSingle,
  \* the bytes that callers ask for, beside -1, and the sizes of foreign buffers
  \* @type: Set(Int);
  Sizes,
  \* the last reading of the clock; the first is zero
  \* @type: Int;
  Last,
  \* how many dry spells there are at the most
  \* @type: Int;
  MostSpells,
  \* @type: Set(Str);
  Features,
  \* @type: Set(Str);
  Defects

ASSUME 1 <= MaxSingle /\ MaxSingle <= PoolSize /\ Last >= 0

VARIABLES
  \* @type: Int;
  now,
  \* @type: Int;
  available,
  \* @type: Str -> Int;
  held,
  \* @type: Str -> Int;
  returned,
  \* @type: Int;
  since,
  \* @type: Int;
  spells,
  \* @type: Int;
  depleted

vars == <<now, available, held, returned, since, spells, depleted>>

-----------------------------------------------------------------------------
(* Words                                                                   *)

NoSpell == -1
Asked == Sizes \cup {-1}
Bounded == "unbounded" \notin Features

\* @type: (Str -> Int, Str) => Str -> Int;
Without(sizes, buffer) == [b \in DOMAIN sizes \ {buffer} |-> sizes[b]]

\* @type: (Str -> Int, Str, Int) => Str -> Int;
With(sizes, buffer, size) ==
  [b \in DOMAIN sizes \cup {buffer} |-> IF b = buffer THEN size ELSE sizes[b]]

\* @type: (Str -> Int) => Int;
RECURSIVE Sum(_)
Sum(sizes) ==
  IF DOMAIN sizes = {} THEN 0
  ELSE LET b == CHOOSE b \in DOMAIN sizes : TRUE IN sizes[b] + Sum(Without(sizes, b))

Outstanding == Sum(held)

\* Which requests may be made at all.
Legal(size) ==
  IF Bounded THEN 1 <= size /\ (size <= MaxSingle \/ "grants-illegal" \in Defects) ELSE size >= 0

\* Whether a legal request is granted.
Enough(size) ==
  IF ~Bounded THEN "refuses-the-unbounded" \in Defects => size <= PoolSize
  ELSE IF "strict" \in Features
  THEN available >= size - (IF "lends-one-more" \in Defects THEN 1 ELSE 0)
  ELSE available >= (IF "grants-from-nothing" \in Defects THEN 0 ELSE 1)

\* The dry spell under way ends, if there is one.
EndSpell ==
  IF since = NoSpell THEN UNCHANGED <<since, spells, depleted>>
  ELSE /\ since' = NoSpell
       /\ spells' = spells + (IF "counts-no-spell" \in Defects THEN 0
                              ELSE IF "counts-spells-twice" \in Defects THEN 2 ELSE 1)
       /\ depleted' = depleted + (now - since) * (IF "counts-no-time" \in Defects THEN 0
                                                  ELSE IF "counts-time-twice" \in Defects THEN 2
                                                  ELSE 1)

\* The same, unless a defect has it go on.
EndSpellUnless(defect) ==
  IF defect \in Defects THEN UNCHANGED <<since, spells, depleted>> ELSE EndSpell

-----------------------------------------------------------------------------
(* Steps                                                                   *)

Init ==
  /\ now = 0
  /\ available = PoolSize
  /\ held = [b \in {} |-> 0]
  /\ returned = [b \in {} |-> 0]
  /\ since = NoSpell
  /\ spells = 0
  /\ depleted = 0

\* @says pool: grants a buffer; {available'} bytes are left
Grant(buffer, size) ==
  /\ buffer \notin DOMAIN held
  /\ Legal(size) /\ Enough(size)
  /\ available' = IF Bounded \/ "counts-the-unbounded" \in Defects
                  THEN available - size ELSE available
  /\ held' = With(held, buffer, size)
  /\ IF "begins-when-empty" \in Defects /\ available' < 1 /\ since = NoSpell
     THEN since' = now /\ UNCHANGED <<spells, depleted>>
     ELSE EndSpellUnless("grant-ends-no-spell")
  /\ UNCHANGED <<now, returned>>

\* @says pool: refuses a request
Refuse(buffer, size) ==
  /\ buffer \notin DOMAIN held
  /\ Legal(size) /\ ~Enough(size)
  /\ since = NoSpell => spells < MostSpells
  /\ since' = IF since # NoSpell /\ "spell-begins-anew" \notin Defects
              THEN since - (IF "refusal-moves-back" \in Defects /\ since > 0 THEN 1 ELSE 0)
              ELSE IF "begins-at-zero" \in Defects THEN 0
              ELSE now + (IF "spell-begins-late" \in Defects THEN 1 ELSE 0)
  /\ available' = IF "debits-refused" \in Defects THEN available - size ELSE available
  /\ spells' = IF "counts-refusals" \in Defects THEN spells + 1
               ELSE IF "forgets-spells" \in Defects THEN 0 ELSE spells
  /\ depleted' = IF "forgets-time" \in Defects THEN 0 ELSE depleted
  /\ UNCHANGED <<now, held, returned>>

\* @says pool: rejects a request of an illegal size
Reject(buffer, size) ==
  /\ buffer \notin DOMAIN held
  /\ ~Legal(size)
  /\ UNCHANGED vars

\* @says pool: takes a buffer back; {available'} bytes are left
Release(buffer) ==
  /\ buffer \in DOMAIN held
  /\ available' =
       IF ~Bounded /\ "credits-the-unbounded" \notin Defects THEN available
       ELSE available + (IF "credits-one" \in Defects THEN 1 ELSE held[buffer])
  /\ held' = Without(held, buffer)
  /\ returned' = With(returned, buffer, held[buffer])
  /\ EndSpellUnless("release-ends-no-spell")
  /\ UNCHANGED now

\* What a pool makes of something that is not a buffer of its own, of so many bytes.
Disown(size) ==
  /\ available' = IF "credits-others" \in Defects THEN available + size ELSE available
  /\ UNCHANGED <<now, held, returned, since, spells, depleted>>

\* @says caller: gives a buffer back a second time
ReleaseAgain(buffer) ==
  /\ buffer \in DOMAIN returned \ DOMAIN held
  /\ Disown(returned[buffer])

\* @says caller: gives a slice of a buffer, or a copy of it
ReleaseOther(form, buffer) ==
  /\ buffer \in DOMAIN held \cup DOMAIN returned
  /\ Disown(IF buffer \in DOMAIN held THEN held[buffer] ELSE returned[buffer])

\* @says caller: gives a buffer that is not the pool's
ReleaseForeign(size) == size > 0 /\ Disown(size)

\* @says caller: gives no buffer
ReleaseNothing == UNCHANGED vars

\* A buffer is dropped without being released, and the pool finds out.  Whether that ends a dry
\* spell is left open.
\* @says caller: loses a buffer; {available'} bytes are left
Lose(buffer) ==
  /\ buffer \in DOMAIN held
  /\ available' = IF Bounded /\ "forgets-the-lost" \notin Defects
                  THEN available + held[buffer] ELSE available
  /\ held' = Without(held, buffer)
  /\ EndSpell \/ UNCHANGED <<since, spells, depleted>>
  /\ UNCHANGED <<now, returned>>

\* Whether a pool of these sizes can be made.
Constructible(size, single) == 1 <= single /\ single <= size

\* @says caller: makes another pool
Construct(size, single) == UNCHANGED vars

\* @says clock: reads {now'}
Elapse ==
  /\ now < Last
  /\ now' = now + 1
  /\ depleted' = IF since # NoSpell /\ "counts-while-dry" \in Defects THEN depleted + 1 ELSE depleted
  /\ UNCHANGED <<available, held, returned, since, spells>>

Forms == {"slice", "copy"}

Next ==
  \/ \E buffer \in Buffers, size \in Asked :
       Grant(buffer, size) \/ Refuse(buffer, size) \/ Reject(buffer, size)
  \/ \E buffer \in Buffers : Release(buffer) \/ ReleaseAgain(buffer) \/ Lose(buffer)
  \/ \E buffer \in Buffers, form \in Forms : ReleaseOther(form, buffer)
  \/ \E size \in Sizes : ReleaseForeign(size)
  \/ ReleaseNothing
  \/ \E size, single \in Sizes : Construct(size, single)
  \/ Elapse

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Claims about states                                                     *)

TypeOK ==
  /\ now \in 0..Last
  /\ available \in Int
  /\ DOMAIN held \subseteq Buffers
  /\ DOMAIN returned \subseteq Buffers
  /\ since \in {NoSpell} \cup 0..now
  /\ spells \in 0..MostSpells
  /\ depleted \in 0..Last

\* No byte is lost or made.  Rules: POOL-CONSERVATION, POOL-RELEASE, POOL-LEAK.
Conserved == Bounded => available + Outstanding = PoolSize

\* One byte is enough for the largest request, so that less than a largest buffer may be out in
\* excess; a strict pool never lends more than it has.  Rules: POOL-BOUND.
WithinBound ==
  Bounded => Outstanding <= PoolSize + (IF "strict" \in Features THEN 0 ELSE MaxSingle - 1)

\* Only buffers of a legal size are out.  Rules: POOL-ZERO-REQUEST, POOL-OVERSIZE-REQUEST.
OnlyLegalSizes == Bounded => \A b \in DOMAIN held : held[b] \in 1..MaxSingle

\* Of an unbounded pool no byte is counted, and it is never short of any.
\* Rules: POOL-UNBOUNDED-GRANTS, POOL-UNBOUNDED-RELEASE.
UnboundedCountsNothing == ~Bounded => available = PoolSize /\ since = NoSpell

-----------------------------------------------------------------------------
(* Claims about steps                                                      *)

\* Which buffers are granted by a step, and how many bytes.
Granted == {b \in DOMAIN held' : b \notin DOMAIN held}

\* Whether a step may be the release of a buffer that is out.
Releases == \E b \in Buffers : Release(b)

\* Without a byte left nothing is granted, and without enough nothing by a strict pool.
\* Rules: POOL-STRICT, POOL-NON-STRICT, POOL-REFUSAL.
GrantedFromSomething ==
  [][\A b \in Granted :
       Bounded => IF "strict" \in Features THEN available >= held'[b] ELSE available >= 1]_vars

\* A dry spell begins with a refusal: with nothing granted and nothing changed.
\* Rules: POOL-SPELL-BEGINS.
BeginsWithARefusal ==
  [][since = NoSpell /\ since' # NoSpell =>
       \E b \in Buffers, size \in Asked : Refuse(b, size) /\ since' = now]_vars

\* A dry spell that goes on keeps its beginning.  Rules: POOL-SPELL-BEGINS.
KeepsItsBeginning ==
  [][since # NoSpell /\ since' # NoSpell => since' = since]_vars

\* Behind a grant and behind a release there is no dry spell.  Rules: POOL-SPELL-ENDS.
NoSpellBehind == [][Granted # {} \/ Releases => since' = NoSpell]_vars

\* A dry spell that ends is counted, with its time, and nothing else is.
\* Rules: POOL-SPELL-ENDS, POOL-DEPLETED-TIME.
SpellsAreMeasured ==
  [][IF since # NoSpell /\ since' = NoSpell
     THEN spells' = spells + 1 /\ depleted' = depleted + (now - since)
     ELSE spells' = spells /\ depleted' = depleted]_vars

\* A buffer that is not the pool's own changes nothing: what is available changes with the buffers
\* that are out, and never else.  Rules: POOL-RELEASE-FOREIGN, POOL-RELEASE-AGAIN,
\* POOL-RELEASE-SLICE, POOL-RELEASE-COPY, POOL-RELEASE-NOTHING, POOL-CONSTRUCT.
OthersChangeNothing == [][held' = held => available' = available]_vars

-----------------------------------------------------------------------------
(* Witnesses: situations that must occur, or the claims say nothing        *)

NeverInDebt == available >= 0
NeverOut == Cardinality(DOMAIN held) < 2
NeverReturned == DOMAIN returned = {}
NeverDry == since = NoSpell
NeverMeasured == depleted = 0
=============================================================================
