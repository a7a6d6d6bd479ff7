"""Spark: a session, a job, its progress, its errors; ``engine`` is the place to begin.

``preflight`` looks for what Spark needs before it is started, ``session`` starts or joins one,
``transport`` is what the Python workers run, ``progress`` watches and cancels jobs, ``errors``
makes one sentence of what went wrong. ``jobs`` is the command line as an application of
spark-submit.
"""
