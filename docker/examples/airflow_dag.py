"""Airflow: an audit every night, and after each load of the warehouse where you make it a downstream task.

qidsql stands in an environment of its own (/opt/qidsql), so that its libraries and Airflow's do not meet. The exit
codes become Airflow's states: 1 (violation) and 2 (error) fail the task, 3 (inconclusive) too: nothing passes unseen.
The connection's URL is an Airflow connection or variable, and reaches the process as an environment variable only.
"""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG(
    dag_id="qidsql",
    schedule="0 3 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,  # a night that was missed is not audited afterwards: the tables are no longer what they were
    max_active_runs=1,  # never two at once
    tags=["privacy"],
):
    BashOperator(
        task_id="audit",
        bash_command="/opt/qidsql/bin/qidsql run /etc/qidsql/qidsql.toml --quiet",
        env={"CLINIC_URL": "{{ conn.clinic.get_uri() }}"},
        append_env=True,
        retries=0,  # a violation stays one
        execution_timeout=timedelta(hours=6),
    )
