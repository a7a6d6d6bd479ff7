----------------------- MODULE PurgatoryExactRefinement -----------------------
(***************************************************************************)
(* Every step of PurgatoryExact is a step of ExactAccounting, or leaves    *)
(* its counts alone.  So what is proved there for any number of            *)
(* operations, keys and threads holds here, as far as this refinement has  *)
(* been checked: with arming and cancelling in one step each.              *)
(***************************************************************************)
EXTENDS PurgatoryExact

Count(holds) == IF holds THEN 1 ELSE 0

Accounting == INSTANCE ExactAccounting WITH
  Most <- Largest,
  balances <- Balances,
  in_lists <- [o \in Operations |-> InLists(o)],
  promised <- [o \in Operations |-> PromisedEntries(o)],
  detached <- [o \in Operations |-> DetachedEntries(o)],
  in_timer <- [o \in Operations |-> Count(o \in timer)],
  queued <- [o \in Operations |-> Count(o \in queue)],
  deciding <- [o \in Operations |-> Count(pc[Executor] = "decide" /\ operation[Executor] = o)],
  to_call <- [o \in Operations |-> Count(completed[o]) - callbacks[o]],
  called <- callbacks

CountsTypeOK == Accounting!TypeOK

(* Every behaviour of the purgatory is one of the counts. *)
Refines == Accounting!Spec

=============================================================================
