"""How many calls, one after the other, an audit on a Spark Connect server waits for.

    python -m tests.benchmarks sail [--record]

The server is Sail, on this machine, made far away by LATENCY. Where each call takes long, an audit takes as long as its
longest chain of calls each of which begins after the last one ended. CPU seconds are those of client and server; the
peer is the server's own COUNT of the classes of all columns.
"""

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import grpc
import psutil

import qidsql
from qidsql.engines.spark import session
from tests.benchmarks.recorded import record
from tests.spark_server import SailProcess

CLINIC = """
SELECT hash(i // 5) % 10000000 AS patient_id, DATE '1925-01-01' + (hash(i // 5, 1) % 36000)::INTEGER AS birth_date,
  'Z' || floor(4000 * pow(hash(i // 5, 2) / 18446744073709551616.0, 4))::INTEGER AS zip_code,
  CASE WHEN hash(i // 5, 3) % 200 = 0 THEN 'X' WHEN hash(i // 5, 3) % 2 = 0 THEN 'F' ELSE 'M' END AS sex,
  CASE WHEN hash(i, 4) % 25 > 0 THEN 'occupation ' || hash(i // 5, 5) % 120 END AS occupation,
  DATE '2024-01-01' + (hash(i, 6) % 700)::INTEGER AS visit_date, (hash(i, 7) % 24)::INTEGER AS ward,
  'region ' || hash(i // 5, 8) % 9 AS region,
  'D' || floor(900 * pow(hash(i, 9) / 18446744073709551616.0, 5))::INTEGER AS diagnosis
FROM range(1000000) AS numbers(i)
"""

LATENCY = 0.3  # seconds before each call, as of a server that is far away


class Calls(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):  # type: ignore[misc]
    """Beginning and end of each call."""

    def __init__(self) -> None:
        self.times: list[tuple[float, float]] = []

    def intercept_unary_unary(self, go_on: Callable[..., Any], details: Any, request: Any) -> Any:
        began = time.monotonic()
        time.sleep(LATENCY)
        answer = go_on(details, request)
        answer.result()
        self.times.append((began, time.monotonic()))
        return answer

    def intercept_unary_stream(self, go_on: Callable[..., Any], details: Any, request: Any) -> Any:
        self.times.append((began := time.monotonic(), began))
        place = len(self.times) - 1
        time.sleep(LATENCY)
        answer = go_on(details, request)
        answer.add_done_callback(lambda _: self.times.__setitem__(place, (began, time.monotonic())))
        return answer

    @property
    def in_sequence(self) -> int:
        chain, ended = 0, 0.0
        for began, end in sorted(self.times, key=lambda each: each[1]):
            if began >= ended:
                chain, ended = chain + 1, end
        return chain


def main(keep: bool = False) -> None:
    calls, channel = Calls(), session._channel
    session._channel = lambda address: grpc.intercept_channel(channel(address), calls)
    with TemporaryDirectory() as folder, SailProcess() as server:
        path = Path(folder) / "clinic.parquet"
        duckdb.execute(f"COPY ({CLINIC}) TO '{path}'")

        def spent() -> float:
            of_server = psutil.Process(server.process.pid).cpu_times()
            return of_server.user + of_server.system + time.process_time()

        table = f"parquet.`{path}`"
        qidsql.audit(server.url, table, max_size=1)  # code that is loaded once
        before = spent()
        with qidsql.connect(server.url) as engine:
            columns = ", ".join(column.name for column in engine.describe(table).columns[1:])
            counted = f"SELECT COUNT(*), MIN(n) FROM (SELECT COUNT(*) AS n FROM {table} GROUP BY {columns})"
            list(engine.run(qidsql.sql.templates.Statement(counted, "all columns", list)))
        scan, before = spent() - before, spent()
        calls.times.clear()
        began = time.monotonic()
        account = qidsql.audit(server.url, table).account
        cpu, seconds = spent() - before, time.monotonic() - began
        peak = psutil.Process(server.process.pid).memory_info().rss // 2**20
    print(
        f"{account.statements} statements, {account.rounds} rounds, {len(calls.times)} calls, "
        f"{calls.in_sequence} in sequence, {cpu:.1f} CPU s, {seconds:.1f} s, {peak} MB of the server; "
        f"all columns {scan:.2f} CPU s"
    )
    if keep:
        row = {"cpu": round(cpu, 2), "seconds": round(seconds, 1), "megabytes": peak, "statements": account.statements}
        row |= {"rounds": account.rounds, "calls": calls.in_sequence, "peer": "GROUP BY of all columns"}
        row |= {"peer_cpu": round(scan, 2), "ratio": round(cpu / scan, 2), "scan": round(scan, 2)}
        record({"Sail: audit clinic 1M x 9": row})
