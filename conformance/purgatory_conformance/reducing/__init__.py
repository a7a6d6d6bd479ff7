"""The reducer for the cases of all components.

A reducer proposes; whoever shrinks (``running.shrinking``, a campaign, the state machines) asks the
subject and keeps what still fails. Begin with ``reducer``, which walks over the fields of a case;
``fields`` changes them wherever they stand, and ``usable`` decides what a subject can be asked.
"""
