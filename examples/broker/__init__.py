"""A small broker, as a user of the purgatory and the server would write one.

Begin with ``broker``: what a produce and a fetch wait for, and who lets them go on. ``protocol``
has the messages, ``log`` the records of a partition, ``client`` the other side of the protocol.
``follower`` is a replica: a thread that fetches as any client does. ``metrics`` are read by
Prometheus. ``python -m broker`` starts it all, and ``python -m broker.client`` talks to it.

It keeps records in memory, for as long as it runs, and has no elections: a partition's leader is
the broker, and its followers are those that the broker was started with.
"""
