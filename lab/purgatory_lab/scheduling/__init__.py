"""Scheduling real code: every interleaving of its threads on purpose, none by chance.

Theory of operation. A *run* lets some threads carry out their programs on the implementation
itself. The threads are real, but only one of them moves at a time: at a *yield point* the running
thread asks a *strategy* who goes on, and hands over if that is another one. So a run is determined
by the choices that were made, its *schedule*, and can be had again from it.

Yield points are declared in one table (``bundled.table``) and injected: while a context
manager is active, the modules of the implementation see other locks and threads in ``threading``,
and the fields of the table report when they are used without their lock. Nothing in the
implementation knows of it, and nothing is left behind.

Between two yield points a thread does at most one thing that another thread can notice: it takes a
lock, or touches a shared field without one. What is done under a lock cannot be told apart from
being done all at once, so no interleaving of these threads is missed that makes a difference.

    schedule, errors      the choices as text; what may go wrong with a run
    run, scheduler        logical threads, their obstacles, the record; hand-over, deadlock
    controlled            locks and conditions; controlled_threading: threads, and the namespace
    yield_points          the rows of the table; injection
    search                who goes on; all schedules up to a number of preemptions, or random ones
    scenario, history     programs on a world; what they called and what came back
    model_outcomes        every end that a concurrent model comes to with the same programs
    strangers             other people's code, without a table
    bundled               the table, worlds, scenarios and seeded races of the bundled code
"""
