"""Campaigns: many seeded runs of generated steps, on one machine or many, that can be taken up.

Theory of operation. A campaign has numbers 0, 1, 2, ... for each component. A number and the
campaign's seed draw a configuration and a list of operations, by the generator of
``purgatory check`` (``drawing``). What is drawn has an id, the digest of its component, profile,
configuration and operations: what is equal is one run, however often it was drawn, and a run that
is on record is not carried out again (``folder``).

The work goes in waves (``waves``): draw the cases of some numbers, leave out the runs that are on
record, carry out the others, put the rows on record. The two steps with work in them are functions
from Arrow batches to Arrow batches (``work``). An engine (``engines``) maps them over a table: in
this process, or as tasks of Spark. Nothing else differs between the two, so that rows do not
depend on the engine, nor on how many tasks there are.

The subject of a run lives in a child process, an adapter in any case, anything else behind
``serving``: whatever ends it or makes it hang costs one run and a new process. The judge stays
where the work is done.

When all runs are on record, their rows become the final tables (``tables``, ``merging``); first
failures are drawn once more, carried out and shrunk (``first_failures``), and what was found is
told by the reports of ``purgatory check`` (``telling``).
"""
