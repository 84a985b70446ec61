"""A million result rows in a thousand transactions, by DuckDB: insert_duckdb.py FOLDER MODE SELECT

SELECT gives the rows of one batch, `{batch}` stands for its number; it is run once for each of 1,000 batches, each in a
transaction of its own. MODE says where they go:

    database  a table of DuckDB's own file: INSERT, and the commit that follows it (its log, flushed to the disk)
    arrow     the same from rows that are in memory, as Arrow tables
    parquet   a Parquet file for each batch, by COPY, flushed to the disk as a commit would: no other guarantee
    lake      the same, and after it the file's name as a row of a table of DuckDB's own file: Parquet with transactions
    appended  the same from rows that are in memory, as Arrow tables

Then reads the rows: a sum over two columns, in seconds, run once before. Prints both, and the number of rows.
"""

import json
import os
import pathlib
import sys
import time

import duckdb

BATCHES = 1000


def flushed(path):
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def main():
    folder, mode, select = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    files, in_memory = mode in ("parquet", "lake", "appended"), mode in ("arrow", "appended")
    connection = duckdb.connect(str(folder / "results.duckdb") if mode != "parquet" else ":memory:")
    statement = [select.replace("{batch}", str(batch)) for batch in range(BATCHES)]
    if mode in ("lake", "appended"):
        connection.execute("CREATE TABLE files (name TEXT)")
    if not files:
        connection.execute(f"CREATE TABLE results AS {statement[0]} LIMIT 0")
    batches = [connection.execute(text).to_arrow_table() for text in statement] if in_memory else []
    start, busy = time.perf_counter(), time.process_time()
    for number, text in enumerate(statement):
        if in_memory:
            rows, text = batches[number], "SELECT * FROM rows"
        if not files:
            connection.execute(f"INSERT INTO results {text}")
        else:
            file = folder / f"part-{number}.parquet"
            connection.execute(f"COPY ({text}) TO '{file}' (FORMAT parquet)")
            flushed(file)
            if mode != "parquet":
                connection.execute("INSERT INTO files VALUES (?)", [str(file)])
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    source = "results" if not files else f"read_parquet('{folder}/part-*.parquet')"
    query = f"SELECT count(*), sum(test_accuracy), max(seed) FROM {source}"
    found = connection.execute(query).fetchone()
    start = time.perf_counter()
    connection.execute(query).fetchone()
    read = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "processor_seconds": processor, "read": read, "rows": found[0]}))


if __name__ == "__main__":
    main()
