"""Failures of a Spark job, told as one sentence."""

import re

from purgatory_traces.errors import OutOfOrder, PipelineError

_OUT_OF_ORDER = re.compile(rf"{re.escape(OutOfOrder.__module__)}\.OutOfOrder: (.+)")
_RAISED = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)): (.+)$", re.MULTILINE)
_LACKING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_LOST = re.compile(r"Some data may have been lost.*?^Reason: (.+?)$", re.MULTILINE | re.DOTALL)
_NO_TOPIC = "UnknownTopicOrPartitionException"
_CRASHED = "Python worker exited unexpectedly"


def job_failure(error: Exception) -> PipelineError:
    """Return the failure of a job: ``OutOfOrder`` where a worker raised that, else a plain one.

    Spark tells of an exception in a worker by a long text, which holds the worker's traceback; the
    text differs between a Spark of this process and Spark Connect.
    """
    if isinstance(error, PipelineError):
        return error
    text = str(error)
    if (found := _OUT_OF_ORDER.search(text)) is not None:
        return OutOfOrder(found[1])
    if _NO_TOPIC in text:
        return PipelineError("the broker has no such topic: make it, or name another")
    if (lost := _LOST.search(text)) is not None:
        return PipelineError(
            f"records went from the topic before they were read ({lost[1]}): the runs in them "
            "cannot be judged to their ends; `purgatory trace watch --skip-lost` goes on behind"
        )
    if _CRASHED in text:
        return PipelineError(
            "a Python worker of Spark died; out of memory, or killed from outside, as a rule"
        )
    if (lacking := _LACKING.search(text)) is not None:
        return PipelineError(
            f"a Python worker of Spark has no module {lacking[1]}: this package has to be "
            "installed, with its extra spark, for the Python of every worker"
        )
    if "Traceback (most recent call last)" in text:
        traceback = text.rpartition("Traceback (most recent call last)")[2]
        if (raised := _RAISED.search(traceback)) is not None:
            return PipelineError(f"a Python worker of Spark raised {raised[1]}: {raised[2]}")
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return PipelineError(f"the job on Spark failed: {type(error).__name__}: {first}")
