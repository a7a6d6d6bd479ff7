"""One sentence out of the long texts of Spark."""

import pytest

from purgatory_spark.engine.errors import job_failure
from purgatory_traces.errors import OutOfOrder, PipelineError

TRACEBACK = """An error occurred while calling o75.parquet.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in main
    process()
{raised}

\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:1)
Caused by: java.io.IOException: something else
"""


def test_out_of_order_is_found_in_the_text() -> None:
    text = TRACEBACK.format(raised="purgatory_traces.errors.OutOfOrder: line 3 after line 4")
    failure = job_failure(RuntimeError(text))
    assert type(failure) is OutOfOrder
    assert str(failure) == "line 3 after line 4"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            TRACEBACK.format(raised="ValueError: no such value"),
            "a Python worker of Spark raised ValueError: no such value",
        ),
        (
            TRACEBACK.format(raised="package.module.OddException: odd: very"),
            "a Python worker of Spark raised package.module.OddException: odd: very",
        ),
        (
            "x\norg.apache.spark.SparkException: Python worker exited unexpectedly (crashed)",
            "a Python worker of Spark died; out of memory, or killed from outside, as a rule",
        ),
        (
            TRACEBACK.format(raised="ModuleNotFoundError: No module named 'purgatory_traces'"),
            "a Python worker of Spark has no module purgatory_traces: this package has to be "
            "installed, with its extra spark, for the Python of every worker",
        ),
        ("\n disk full\nmore", "the job on Spark failed: RuntimeError: disk full"),
        ("", "the job on Spark failed: RuntimeError: "),
    ],
)
def test_other_failures_are_one_sentence(text: str, sentence: str) -> None:
    failure = job_failure(RuntimeError(text))
    assert type(failure) is PipelineError
    assert str(failure) == sentence


def test_a_failure_of_ours_stays_what_it_is() -> None:
    ours = OutOfOrder("line 3 after line 4")
    assert job_failure(ours) is ours
