"""Scheduling of other people's code: their timer, purgatory or memory pool, as ``check`` takes it.

Theory of operation. The class is imported anew for each run, while ``threading``, ``queue`` and
``time`` have stand-ins. So its locks are controlled wherever they are made, and its threads are
threads of the run. Callers then use one instance at the same time, and the thread that goes on is
chosen at each lock, wait, sleep and shared attribute. What the calls have returned is judged like a
trace: some order of them has to be allowed.

    primitives    locks, conditions, threads, clocks: who asks gets a controlled one
    opcodes       shared attributes as yield points; which of them need other schedules
    programs      what the callers call, by the profile
    runs          one run after another of a program on a subject
    judge         calls in some order, and nothing left in the end
    search        all programs: one preemption, then two, until the time is over
"""
