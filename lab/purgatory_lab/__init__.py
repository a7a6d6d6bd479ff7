"""The lab: measurements and long checks, for contributors and the curious; no wheel holds it.

    commands      ``purgatory schedule`` and ``purgatory study``
    benchmarks    the costs of the implementation and of the tools; ``purgatory bench``
    scheduling    the bundled code under chosen interleavings of its threads
    studies       the published workload on a virtual clock, in several designs
    mutation      the automatic mutants of the implementation that the conformance suite finds, and
                  a reviewed list of the others; ``python -m purgatory_lab.mutation``
    stress        timer, purgatory and memory pools under many real threads, with planted races
                  that the run must find; ``python -m purgatory_lab.stress``
    site_pages    the pages of the site that follow from the sources
    verdicts      stored verdicts on other people's systems, as a table
    museum        bugs that people reported, and what finds each of them
    pairs_of_faults  the pairs of wrong subjects of which ``check`` shows both faults
    documents     the tables, files of results and regions of pages of all these

Benchmarks and studies end with figures, the others with a verdict: exit code 1 says that something
is wrong. Begin with ``benchmarks.bench.catalogue`` or ``stress.harness``.
"""
