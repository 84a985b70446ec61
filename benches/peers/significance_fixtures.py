"""Tests between runs by SciPy, statsmodels and scikit-posthocs on random inputs, for the tests of udfs/ranking:

    python benches/peers/significance_fixtures.py > udfs/ranking/src/significance/golden.txt

Needs scipy 1.17, statsmodels and scikit-posthocs. A line a row of answers, in the order of the inputs, which the tests draw
from the same generator; nan where the peer has no number:

    paired T P W P              ttest_rel and wilcoxon, statistic and p
    friedman CHI2 P P12         friedmanchisquare, and Nemenyi's p of the first pair of treatments, as scikit-posthocs has it
    bootstrap LOW HIGH LOW HIGH of a mean at 90 %, BCa and percentile, from resamples that the generator draws
    adjusted HOLM BH            sums of the adjusted p-values, each weighted by its place from 1
"""

import types
import warnings

import numpy as np
import scikit_posthocs
from scipy import stats
from statsmodels.stats.multitest import multipletests

warnings.simplefilter("ignore")


class Lcg:
    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 32) % bound


def line(kind, *values):
    print(kind, *(format(float(value), ".13g") for value in values))


def paired(lcg):
    n, bound = 2 + lcg.below(69), (3, 9, 100_000)[lcg.below(3)]
    shift = lcg.below(3)
    a = np.array([lcg.below(bound) + shift for _ in range(n)], float)
    b = np.array([lcg.below(bound) for _ in range(n)], float)
    t, w = stats.ttest_rel(a, b), stats.wilcoxon(a, b)
    line("paired", t.statistic, t.pvalue, w.statistic, w.pvalue)


def friedman(lcg):
    n, k = 2 + lcg.below(14), 3 + lcg.below(6)
    bound = 2 + lcg.below(30)
    table = np.array([lcg.below(bound) for _ in range(n * k)], float).reshape(n, k)
    found = stats.friedmanchisquare(*table.T)
    ranks = stats.rankdata(table, axis=1).mean(axis=0)
    q = abs(ranks[0] - ranks[1]) / np.sqrt(k * (k + 1) / (6 * n)) * np.sqrt(2)
    p = stats.studentized_range.sf(q, k, np.inf)
    # All pairs take scikit-posthocs an hour: a row of fifty shows that the first one's p is its.
    if lcg.state % 50 == 0:
        assert abs(scikit_posthocs.posthoc_nemenyi_friedman(table).iloc[0, 1] - p) < 1e-12
    line("friedman", found.statistic, found.pvalue, p)


def bootstrap(lcg):
    n = 2 + lcg.below(9)
    d = np.sort(np.array([lcg.below(13) - 5 for _ in range(n)], float))
    means = np.array([sum(d[lcg.below(n)] for _ in range(n)) / n for _ in range(99)])
    before = types.SimpleNamespace(bootstrap_distribution=means)
    ends = []
    for method in ("BCa", "percentile"):
        options = {"n_resamples": 0, "bootstrap_result": before, "confidence_level": 0.9, "method": method}
        ends.extend(stats.bootstrap((d,), np.mean, **options).confidence_interval)
    line("bootstrap", *ends)


def adjusted(lcg):
    m, bound = 1 + lcg.below(20), 5 + lcg.below(200)
    p = [lcg.below(bound + 1) / bound for _ in range(m)]
    places = np.arange(1, m + 1)
    line("adjusted", *(places @ multipletests(p, method=method)[1] for method in ("holm", "fdr_bh")))


for seed, rows in enumerate((paired, friedman, bootstrap, adjusted), 1):
    generator = Lcg(seed)
    for _ in range(1000):
        rows(generator)
