"""The executable model: what may follow each step, as values and pure functions.

This folder is the core. It is read in one evening, in this order:

    step                what an operation may lead to: expectations, and the two faces made of them
    arithmetic          rounding, levels and buckets, as functions of integers
    pending_tasks       what a timer keeps its tasks in, as an interface, and the most liberal one
    timer               what may expire when
    timing_wheel        how tasks lie in buckets of several levels, and that this is a timer
    watcher_lists       the lists of a purgatory, also in the middle of a call
    purgatory_state     what the future of a purgatory depends on
    call                a call under way: what it has done so far, and what was seen of it
    walk                a walk through a watcher list
    purgatory_faces     the two faces of a purgatory, made of its calls
    kafka_purgatory     watch, check, force, cancel, time-outs and the purge, as Kafka has them
    purgatory           the purgatory of any profile: the class of every legal choice
    memory_pool         grants, releases, dry spells; its numbers in ``memory_pool_arithmetic``
    channel_muting      which channels a poll reads, and which wait for memory

A model has two faces. ``accept`` takes a state, an operation and what was observed, and gives the
states in which that leaves the component; an empty set means that the rules do not allow it.
``successors`` gives every outcome with its state. Both come from one function, ``expectations``.

Three shelves stand above the core. Each may import what is below it and nothing above:

    concurrent      every access to shared memory is a step: the exact accounting, the proposal's,
                    the memory pool, channel muting; the TLA+ modules have the same state graphs
    overlapping     calls that overlap: programs of threads, the histories they leave, whether the
                    sequential rules explain a history
    claims          small instances, invariants, the explorer, variants that follow known deviations

Nothing here has I/O, a clock, randomness or inheritance. A function names the rules that it states
in the last line of its docstring.
"""
