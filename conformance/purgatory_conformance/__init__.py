"""The conformance suite: it drives an implementation step by step and judges it by the rules.

A *subject* is an implementation behind operations with names: a Python object, a program that
speaks the adapter protocol, or one of those that are bundled. The shelves, each above what it uses:

    stateful       Hypothesis state machines, for anybody's test suite
    commands       ``purgatory check``, ``doctor``, ``explain``, ``model`` and others
    pytest_plugin  ``pytest --purgatory SUBJECT``: a test for each rule
    checking       a check of an open subject, whoever asks for it
    doctor         an adapter tried line by line
    own_model      a model of one's own against the rules
    exploring      claims about the models, and the counterexamples to false ones
    opening        from a subject's name on the command line to the subject
    reporting      verdicts and stories, for terminals, pages and machines
    running        campaigns: golden vectors, generated cases, shrinking, causes, hints
    specimens      small implementations, right and wrong, that test the suite
    subjects       what is judged, and how it is reached
    support        the cases of each component: drawn, made simpler, pictured
    drawing        a failing case of a timer as a picture
    reducing       smaller cases of a failing one
    describing     operations, outcomes, profiles and states in words
    generation     cases, drawn from tables of situations

Begin with ``purgatory_judge.registry`` (the judge of one case) and ``running.campaign`` (the work
of ``purgatory check``).
"""
