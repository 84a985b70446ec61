"""Heterophily along paper-author-paper by SciPy's sparse product: metapath_scipy.py PAPERS ROWS FIRST LEVELS

The rows are those of compare.py's tables: row i joins paper i % PAPERS to one of the first FIRST x 2^level authors, level and
author by multiplicative hashes of i; the label of a paper is another such hash. Prints pairs, adjusted heterophily, and seconds of the product and the counting.
"""

import json
import sys
import time

import numpy as np
import scipy.sparse as sparse


def main():
    papers, rows, first, levels = map(int, sys.argv[1:5])
    i = np.arange(rows, dtype=np.int64)
    level = i * 2246822519 % 4294967296 // (2**32 // levels)
    paper, author = i % papers, i * 2654435761 % 4294967296 % np.minimum(papers, first << level)
    label = np.arange(papers, dtype=np.int64) * 40503 % 65536 % 5
    matrix = sparse.csr_matrix((np.ones(rows, dtype=np.float32), (paper, author)), shape=(papers, papers))
    start, busy = time.perf_counter(), time.process_time()
    product = matrix @ matrix.T
    source = np.repeat(np.arange(papers), np.diff(product.indptr))
    kept = source < product.indices
    source, target = source[kept], product.indices[kept]
    equal = np.count_nonzero(label[source] == label[target])
    ends = np.bincount(label[source], minlength=5) + np.bincount(label[target], minlength=5)
    chance = np.sum((ends / ends.sum()) ** 2)
    value = 1 - (equal / len(source) - chance) / (1 - chance)
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    print(json.dumps({"pairs": len(source), "value": value, "seconds": seconds, "processor_seconds": processor}))


if __name__ == "__main__":
    main()
