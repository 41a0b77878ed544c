"""Record what other programs make of the same figures: recorded.json, beside this file.

    pip install statsmodels hmmlearn && python tests/analysis/oracles/record.py

They are larger than all that the tests need otherwise, so that their answers are kept instead.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from hmmlearn.hmm import GaussianHMM
from statsmodels.stats.multitest import multipletests

PARTS = {
    "congested first": [(90, 60.0), (90, 10.0)],
    "congested twice": [(30, 8.0), (20, 40.0), (40, 8.0), (15, 40.0), (30, 8.0)],
    "close together": [(60, 12.0), (45, 30.0), (60, 12.0)],
}
"""Seconds, and the geometric mean of the response times in them, in milliseconds."""


def main() -> None:
    """Draw, ask, write."""
    dice = np.random.default_rng(7)
    tests = [[round(float(p), 6) for p in dice.beta(0.4, 2, n)] for n in (1, 2, 5, 40)]
    tests.append([0.01, 0.01, 0.04, 0.04, 1.0, 0.0])
    levels = {
        name: [round(float(x), 4) for at in parts for x in dice.normal(np.log(at[1]), 0.25, at[0])]
        for name, parts in PARTS.items()
    }
    recorded = {
        "by": {name: version(name) for name in ("statsmodels", "hmmlearn")},
        "holm": [{"p": p, "adjusted": holm(p)} for p in tests],
        "two states": {name: {"level": level, **two(level)} for name, level in levels.items()},
    }
    Path(__file__).with_name("recorded.json").write_text(json.dumps(recorded) + "\n")


def holm(p: list[float]) -> list[float]:
    """Adjusted by statsmodels."""
    return [float(each) for each in multipletests(p, method="holm")[1]]


def two(level: list[float]) -> dict[str, object]:
    """Fitted by hmmlearn, without priors; the higher state's windows and both means."""
    series = np.array(level)[:, None]
    model = GaussianHMM(
        2, covars_prior=0, covars_weight=0, n_iter=500, tol=1e-6, init_params="c", min_covar=1e-4
    )
    model.startprob_ = np.full(2, 0.5)
    model.transmat_ = np.array([[0.95, 0.05], [0.05, 0.95]])
    model.means_ = np.quantile(series, [0.25, 0.9])[:, None]
    model.fit(series)
    order = np.argsort(model.means_[:, 0])
    high = model.predict_proba(series)[:, order[1]] > 0.5
    return {
        "high": [int(each) for each in high],
        "means": [float(model.means_[at, 0]) for at in order],
        "log likelihood": float(model.score(series)),
    }


if __name__ == "__main__":
    main()
