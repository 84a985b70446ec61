"""Rank correlations by SciPy, and the exact regrouping test as a loop over partitions in NumPy.

    python rank_scipy.py ROWS.csv PAIRS.csv

ROWS.csv has the header x,y; PAIRS.csv has the header a,b,value with items numbered from 0 and every pair once: items i and j
are in one group where i // 3 == j // 3. Prints one line of JSON: seconds and answers of spearmanr, kendalltau and the
regrouping test. The rows are in memory when the clock starts.
"""

import itertools
import json
import sys
import time

import numpy as np
from scipy import stats


def timed(work):
    wall, processor = time.perf_counter(), time.process_time()
    answer = work()
    return {"answer": answer, "ms": 1e3 * (time.perf_counter() - wall), "processor_ms": 1e3 * (time.process_time() - processor)}


def partitions(items):
    """Every partition into unnamed groups of three, each as a list of groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for pair in itertools.combinations(rest, 2):
        left = [item for item in rest if item not in pair]
        for others in partitions(left):
            yield [(first, *pair), *others]


def regrouping(values):
    n = len(values)
    total = values.sum() / 2
    within = n // 3 * 3
    across = n * (n - 1) // 2 - within

    def statistic(groups):
        inside = sum(values[a, b] + values[a, c] + values[b, c] for a, b, c in groups)
        return inside / within - (total - inside) / across

    observed = statistic([(i, i + 1, i + 2) for i in range(0, n, 3)])
    found = [statistic(groups) >= observed - 1e-12 for groups in partitions(list(range(n)))]
    return sum(found) / len(found)


def main():
    rows = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1)
    pairs = np.loadtxt(sys.argv[2], delimiter=",", skiprows=1)
    n = int(pairs[:, :2].max()) + 1
    values = np.zeros((n, n))
    for a, b, value in pairs:
        values[int(a), int(b)] = values[int(b), int(a)] = value
    x, y = rows.T.copy()
    print(json.dumps({
        "spearman": timed(lambda: float(stats.spearmanr(x, y).statistic)),
        "kendall_tau": timed(lambda: float(stats.kendalltau(x, y).statistic)),
        "regrouping": timed(lambda: regrouping(values)),
    }))


if __name__ == "__main__":
    main()
