"""Traces of running systems: recorded, judged and summed up on one machine.

A trace is what a running system wrote down of its calls. The shelves, each above what it uses:

    commands           ``purgatory trace``
    summary            what a check found: at a terminal, as a page
    engines            read, sort, judge and write: in this process; the choice of Spark
    replay             the one judge of a run, which every engine calls
    linearizability    whether an order of the overlapping calls of a run is allowed
    recording          traces of the bundled implementation and of Kafka, under load
    snapshots          what a snapshot line says, as a state of a model
    traces             the lines: their format, where they are read from, made-up ones
    results            the rows and tables that a check produces

Begin with ``traces.lines`` (what is written down) and ``replay`` (how it is judged).
"""
