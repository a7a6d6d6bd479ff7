"""Recorders: objects of ours that write down what is asked of them, for ``purgatory trace check``.

``RecordedTimer``, ``RecordedPurgatory`` and ``RecordedMemoryPool`` take the place of the object
that they record and behave as it does. Each has a ``Recorder`` of its own, since a run is one
instance; ``RecordedInstance`` records a subject behind the step vocabulary.
"""
