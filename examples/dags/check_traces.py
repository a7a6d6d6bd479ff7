"""An Airflow DAG that judges the traces of each day, and fails where a run diverges.

The folder of results is the day's own, so that a day may be judged again: its results are replaced
whole. The command has an environment of its own; Airflow's need not have the package. Values reach
the shell as variables, never as words of its script. See
``docs/how-to/check-traces-on-a-cluster.md``.
"""

import pendulum
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG(
    "check_traces",
    schedule="@daily",
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    max_active_runs=1,  # one Spark at a time
    params={
        "purgatory": "/opt/purgatory/bin/purgatory",
        "traces": "/shared/traces",
        "results": "/shared/results",
        "master": "",
    },
):
    BashOperator(
        task_id="trace_check",
        # A verdict does not change by a second try, so that none is made: 1 is a run that diverges.
        retries=0,
        append_env=True,
        env={
            "PURGATORY": "{{ params.purgatory }}",
            "TRACES": "{{ params.traces }}/{{ ds }}",
            "RESULTS": "{{ params.results }}/{{ ds }}",
            "MASTER": "{{ params.master }}",
            "PURGATORY_LOG_LEVEL": "info",
        },
        bash_command=(
            'exec "$PURGATORY" trace check "$TRACES" --out "$RESULTS" ${MASTER:+--master "$MASTER"}'
        ),
    )
