"""Dagster: an asset check that audits every night, in ten lines. qidsql is installed in an environment of its own."""

import subprocess

import dagster as dg


@dg.asset_check(asset="patients", blocking=True)  # what is made of it waits for the check
def may_be_shared() -> dg.AssetCheckResult:
    run = ["/opt/qidsql/bin/qidsql", "run", "/etc/qidsql/qidsql.toml", "--only", "*.patients", "--min-count", "11"]
    code = subprocess.run([*run, "--quiet", "--output", "/tmp/qidsql.md"], check=False).returncode
    return dg.AssetCheckResult(passed=code == 0, metadata={"exit code": code})  # 1 violation, 2 error, 3 inconclusive


definitions = dg.Definitions(
    assets=[dg.AssetSpec("patients")],
    asset_checks=[may_be_shared],
    schedules=[
        dg.ScheduleDefinition("audit", cron_schedule="0 3 * * *", target=dg.AssetSelection.checks(may_be_shared))
    ],
)
