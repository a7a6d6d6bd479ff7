"""The contract of the specification as types: what an operation is, and what may come of it.

The rules are prose, one page for each component beside this package (``spec/timer.md`` and others);
what machines exchange is here, and imports nothing of ours.

    operations     what a subject is asked, by component; ``Script``: what a callback does
    outcomes       what came of it: a result, a rejection, events, observables
    reasons        why an operation is rejected: a closed list
    profiles       the legal choices of a subject, and the configuration of an instance
    choices        the values of a choice, which carry their own words
    requirements   the rules, read from the pages: id, level, condition, text
    installing     the command that adds an extra
    cases          a golden vector, or any stored case: a header and steps
    messages       the adapter protocol, line by line, and its schema
    jsonlines      strict reading and writing of lines
    nearest, misspelt   what was meant by a name, a field or a value that is none
    statements, seeded_defects   where a rule is stated or broken, as other packages tell it

Begin with ``operations`` and ``outcomes``: together they are a step.
"""
