"""The studies: what a paper published, and the same measured here, claim by claim.

A study is an experiment file in ``studies/`` with the published table beside it
(``NAME.published.toml``). Each claim names a measure of :mod:`tierlab.studies.measures`; what of it
counts as agreeing stands in the table too, never in code. A claim is about one trial, or, where the
table lists the paper's cases, about all trials of the study together.
"""

from tierlab.studies.compare import Comparison, Row, compare, compare_cases
from tierlab.studies.published import Published

__all__ = ["Comparison", "Published", "Row", "compare", "compare_cases"]
