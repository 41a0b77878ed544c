"""Showing a run: one self-contained HTML page, JSON and ten lines for the terminal."""

from tierlab.report.build import Report, build

__all__ = ["Report", "build"]
