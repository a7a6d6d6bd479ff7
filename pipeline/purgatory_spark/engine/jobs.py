"""The command line as an application of spark-submit.

Its arguments are those of ``purgatory``::

    spark-submit path/to/jobs.py trace check --engine spark /shared/traces --out /shared/result

Spark is the one that spark-submit has started, with its master and its settings. The package has to
be installed for the Python of the driver and of every worker. See
``docs/how-to/check-traces-on-a-cluster.md``.
"""

from purgatory_conformance.command_line import main

if __name__ == "__main__":
    main()
