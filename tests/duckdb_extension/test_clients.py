"""The extension where checks live: the hooks of a dbt project, and a client that is no Python and no shell."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.commandline import HOUSE, environment

pytestmark = pytest.mark.exhaustive

PROJECT = {
    "dbt_project.yml": 'name: shop\nversion: "1.0"\nprofile: shop\nmodels:\n  shop:\n    +materialized: table\n'
    "on-run-start: \"LOAD '{{ env_var('EXTENSION') }}'\"\n",
    "profiles.yml": "shop:\n  target: dev\n  outputs:\n    dev:\n      type: duckdb\n      path: shop.duckdb\n"
    "      config_options: {allow_unsigned_extensions: true}\n",
}
HERE = "'{{ this.schema }}.{{ this.identifier }}'"
IN_THE_TRANSACTION = (  # which sees the rows that are not published yet
    f"SELECT CASE WHEN verdict <> 'pass' THEN error('not anonymous') END FROM qidsql.anonymity({HERE}, ['age'], k := 5)"
)
AFTERWARDS = f"CALL qidsql.check({HERE}, k := 5)"
MODELS = {  # the hook, and the age of row i
    "good": (f'"{IN_THE_TRANSACTION}"', "i % 4"),
    "bad": (f'"{IN_THE_TRANSACTION}"', "i"),
    "checked": (f'{{"sql": "{AFTERWARDS}", "transaction": False}}', "i % 4"),
    "unseen": (f'"{AFTERWARDS}"', "i"),
}
RUN = """
import json
from dbt.cli.main import dbtRunner
done = dbtRunner().invoke(["run", "--profiles-dir", ".", "--threads", "1", "--quiet"])
print("RESULT" + json.dumps({each.node.name: [str(each.status), str(each.message)] for each in done.result}))
"""


def test_hooks_of_dbt_refuse_to_publish(extension: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    packages = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--target", str(site)]
    try:
        subprocess.run(
            [*packages, "dbt-duckdb==1.11.1", "dbt-core==1.12.0"], capture_output=True, timeout=300, check=True
        )
    except subprocess.SubprocessError:
        pytest.skip("dbt-duckdb cannot be had from the package index")
    for each in site.glob("*duckdb*"):  # this environment's is tested
        if each.name.startswith(("duckdb", "_duckdb")):
            shutil.rmtree(each) if each.is_dir() else each.unlink()
    project = tmp_path / "shop"
    (project / "models").mkdir(parents=True)
    for name, text in PROJECT.items():
        (project / name).write_text(text)
    for name, (hook, age) in MODELS.items():
        text = f"{{{{ config(post_hook={hook}) }}}}\nSELECT {age} AS age FROM range(40) AS r(i)\n"
        (project / "models" / f"{name}.sql").write_text(text)
    variables = {
        **environment(),
        "PYTHONPATH": f"{site}:{HOUSE}",
        "HOME": str(tmp_path),
        "EXTENSION": str(extension),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    }
    start = [sys.executable, "-c", RUN]
    done = subprocess.run(start, cwd=project, env=variables, capture_output=True, text=True, timeout=300, check=False)
    assert "RESULT" in done.stdout, (done.stdout, done.stderr)
    found = json.loads(done.stdout.rpartition("RESULT")[2])
    assert {name: status for name, (status, _) in found.items() if name in MODELS} == {
        "good": "success", "checked": "success", "bad": "error", "unseen": "error",
    }  # fmt: skip
    assert "not anonymous" in found["bad"][1]
    assert "nothing uncommitted" in found["unseen"][1]
    with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
        there = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
    assert there == [("checked",), ("good",)]


NODE = """
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const database = await DuckDBInstance.create(':memory:', {allow_unsigned_extensions: 'true'});
  const connection = await database.connect();
  for (const statement of JSON.parse(process.argv[2])) {
    const cancelling = statement.includes('endless') && setTimeout(() => connection.interrupt(), 1000);
    try {
      const rows = (await connection.runAndReadAll(statement)).getRows();
      console.log(JSON.stringify(rows, (_, value) => typeof value === 'bigint' ? Number(value) : value));
    } catch (error) {
      console.log(JSON.stringify(error.message.split('\\n')[0]));
    }
    clearTimeout(cancelling);
  }
})();
"""


def test_node(extension: Path, tmp_path: Path) -> None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("Node is not installed")
    try:
        install = [npm, "install", "--silent", "@duckdb/node-api@1.5.6-r.1"]
        subprocess.run(install, cwd=tmp_path, capture_output=True, timeout=300, check=True)
    except subprocess.SubprocessError:
        pytest.skip("@duckdb/node-api cannot be had from the npm registry")
    (tmp_path / "asked.js").write_text(NODE)
    statements = [
        f"LOAD '{extension}'",
        "CREATE TABLE p AS SELECT i % 2 AS a, i AS b FROM range(40) AS r(i)",
        "SELECT verdict, smallest FROM qidsql.verdict('SELECT a FROM p')",
        "CALL qidsql.check('SELECT b FROM p', roles := 'none', keep_identifiers := true)",
        "SELECT verdict FROM qidsql.anonymity('p', ['a'])",
        "FROM qidsql.audit('SELECT hash(i) % 1000 AS a, hash(i + 1) % 99 AS b FROM range(20000000000) AS endless(i)')",
        "SELECT 42",
    ]
    start = [node, "asked.js", json.dumps(statements)]
    done = subprocess.run(start, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    *_, verdict, checked, anonymity, cancelled, last = map(json.loads, done.stdout.splitlines())
    assert (verdict, anonymity, last) == ([["pass", 20]], [["pass"]], [[42]])
    assert "qidsql: violation: " in checked
    assert cancelled == "INTERRUPT Error: Interrupted!"
