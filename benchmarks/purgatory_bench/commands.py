"""The benchmarks' commands: ``purgatory bench``."""

import click

from purgatory_bench.bench.bench_command import bench
from purgatory_bench.bench.workload_command import workload


def register(root: click.Group) -> None:
    """Add the commands to the command line."""
    bench.add_command(workload)
    root.add_command(bench)
