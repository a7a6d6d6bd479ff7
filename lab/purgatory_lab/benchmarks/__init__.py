"""Measurements: what the implementation costs beside its peers, and what the tools cost.

    bench                     ``purgatory bench``: peers in interleaved rounds, goals, plots
    network                   ``purgatory bench network``: the server under load
    python_peer               the peers in Python, behind the protocol of all peers
    baselines                 the design of the purgatory before the timing wheel
    cost_shares               where the time of an operation goes
    purge_shares              what purges take of the processor
    conformance_throughput    steps a second of the conformance suite
    trace_pipeline, trace_recording, record_corpora   the pipeline and its recorder
    mass_expiry               the mass expiry of Kafka and of Fluss, counted
    flipped_bits              what a check says of damaged files
    kafka_muting              Kafka's channels that wait for memory, on a selector or a broker

Begin with ``bench.catalogue``: what is measured.
"""
