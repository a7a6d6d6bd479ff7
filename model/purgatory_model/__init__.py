"""The executable model: what may follow each step, as values and pure functions.

Kafka's purgatory comes first. Read in this order, with the lines of each module to the nearest ten:

    step                     160  what an operation may lead to: expectations, and their two faces
    kafka_purgatory          380  Kafka's watch, check, force, cancel, time-outs and purge
    walk                      80  a check's walk through a list
    call                     200  a call under way: what it has done, and what was seen of it
    watcher_lists            100  the lists of a purgatory, also in the middle of a call
    purgatory_state          110  what the future of a purgatory depends on
    purgatory_faces          140  the two faces of a purgatory, made of its calls

Then the timer below it:

    kafka_timer              290  what expires when
    pending_tasks            120  what keeps a timer's tasks: an interface, and the simplest
    timing_wheel             190  tasks in buckets of several levels, and that this is a timer
    arithmetic               100  rounding, levels and buckets, as functions of integers

Then the memory of requests:

    memory_pool              450  grants, releases, dry spells
    memory_pool_arithmetic   120  the numbers of a pool
    channel_state            200  what the future of a server's channels depends on
    kafka_channels           670  which channels a poll reads, and which wait for memory

What Kafka does not do and the rules allow is in ``choices``: classes that extend Kafka's, each in a
module named after what it allows. Three short modules make of them the model of any profile:

    choices                1,420  other walks, watches, executors, counts, timers, channels
    purgatory                 30  the purgatory of any profile
    timer                     70  the timer of any profile
    channel_muting           120  the channels of any profile, and known faults to follow
    replacing                 10  ``replace`` of the fields of a state

A model has two faces. ``accept`` takes a state, an operation and what was observed, and gives the
states in which that leaves the component; an empty set means that the rules do not allow it.
``successors`` gives every outcome with its state. Both come from one function, ``expectations``.

Three shelves stand above. Each may import what is below it and nothing above:

    claims                 1,750  small instances, invariants, the explorer, known deviations
    overlapping            1,540  overlapping calls, and whether rules explain their history
    concurrent             4,070  every access to shared memory is a step, as in TLA+

Nothing here has I/O, a clock or randomness, and a class is extended in ``choices``, by a model of
any profile and by a variant alone. A function names the rules that it states in the last line of
its docstring.
"""
