"""The process from which Spark forks its Python workers, where Spark is started here.

Spark puts its own Python code first on the path, in a zip file, and Python compiles what it imports
from a zip file each time. Here the installed package counts, which is compiled already, and is the
same. What tasks import is imported before the workers are forked, once for all of them.

Run as a program, with the arguments that Spark gives to ``pyspark.daemon``.
"""

import sys
from importlib import import_module
from runpy import run_module

TASKS = ("pyarrow", "purgatory_spark.engine.replaying", "pyspark.sql.conversion")


def main() -> None:
    """Go on as Spark's own daemon."""
    sys.path[:] = [place for place in sys.path if not place.endswith("pyspark.zip")]
    for module in TASKS:
        import_module(module)
    run_module("pyspark.daemon", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
