"""Airflow: an audit every night, and after each load of the warehouse if you make it a downstream task.

qidsql is installed in a separate environment (/opt/qidsql), so that its libraries do not conflict with Airflow's. Exit
codes 1 (violation), 2 (error) and 3 (inconclusive) fail the task, so that none goes unnoticed. The URL is stored as an
Airflow connection, and is passed to the process only as an environment variable.
"""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

with DAG(
    dag_id="qidsql",
    schedule="0 3 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,  # a missed night is not audited later: the tables have changed since
    max_active_runs=1,  # never two runs at once
    tags=["privacy"],
):
    BashOperator(
        task_id="audit",
        bash_command="/opt/qidsql/bin/qidsql run /etc/qidsql/qidsql.toml --quiet",
        env={"CLINIC_URL": "{{ conn.clinic.get_uri() }}"},
        append_env=True,
        retries=0,  # a violation does not go away by retrying
        execution_timeout=timedelta(hours=6),
    )
