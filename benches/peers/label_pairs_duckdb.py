"""Adjusted homophily and label informativeness by DuckDB's GROUP BY over label pairs: label_pairs_duckdb.py FILE MODE

FILE is a Parquet file with the integer columns a, b; MODE is `parquet` (read in every query) or `memory` (a table, filled
before). Prints the values and the seconds of one query, run once before.
"""

import json
import sys
import time

import duckdb

# p(a, b) over both directions of a row; shares of the ends; I / H and (h - sum p^2) / (1 - sum p^2).
QUERY = """
WITH pairs AS (SELECT a, b, count(*) AS n FROM labelled GROUP BY a, b),
ways AS (SELECT a, b, n FROM pairs UNION ALL SELECT b, a, n FROM pairs),
joint AS (SELECT a, b, sum(n)::DOUBLE AS n FROM ways GROUP BY a, b),
total AS (SELECT sum(n) AS n FROM joint),
ends AS (SELECT a, sum(n) AS n FROM joint GROUP BY a)
SELECT
    ((SELECT sum(n) FROM joint WHERE a = b) / total.n - (SELECT sum((n / total.n) ** 2) FROM ends))
        / (1 - (SELECT sum((n / total.n) ** 2) FROM ends)) AS adjusted,
    (SELECT sum(j.n / total.n * ln(j.n * total.n / (s.n * t.n)))
        FROM joint j JOIN ends s ON s.a = j.a JOIN ends t ON t.a = j.b)
        / (SELECT -sum(n / total.n * ln(n / total.n)) FROM ends) AS informativeness
FROM total
"""


def main():
    file, mode = sys.argv[1], sys.argv[2]
    connection = duckdb.connect()
    source = f"read_parquet('{file}')"
    kind = "VIEW" if mode == "parquet" else "TABLE"
    connection.execute(f"CREATE {kind} labelled AS SELECT a, b FROM {source}")
    values = connection.execute(QUERY).fetchone()
    start, busy = time.perf_counter(), time.process_time()
    connection.execute(QUERY).fetchone()
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    print(json.dumps({"values": values, "seconds": seconds, "processor_seconds": processor}))


if __name__ == "__main__":
    main()
