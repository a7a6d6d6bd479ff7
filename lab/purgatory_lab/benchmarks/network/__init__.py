"""The load proof of the network: ``purgatory bench network``.

The server and its clients are processes of their own, so that processor time and resident memory
are the server's alone. Begin with ``plan``: the measurements.

    orders      who is let on when memory comes back: first come, random, Kafka's order
    messages    what the processes are told, and what they answer
    serving     the server's process, with a counter of bytes and a server that spins: the controls
    asking      the clients' process
    pairs       starts both, and ends both in any case
    plan        the settings, and the rounds in which they are taken
    results     the file
    tables      aims, verdicts, tables: they follow from the file
    command     the command
    raw_records a client that writes records of TLS itself
    floods      ``purgatory bench floods``: honest pings beside peers that send without end
"""
