"""The case for and against one cause, piece by piece of evidence."""

from __future__ import annotations

from tierlab.diagnosis.finding import Evidence, Suspect

UNSEEN = 0.75
"""What an exclusion that could not be checked leaves of a cause's least support: less than one that
was checked and holds, more than one that does not."""

HALF = 0.5
"""What its lack takes away, where other evidence already says most."""


def against(support: float | None) -> float | None:
    """Turn what speaks for into what speaks against."""
    return None if support is None else 1.0 - support


def weakened(support: float | None) -> float | None:
    """Have it speak for the cause, and its lack rule nothing out."""
    return None if support is None else 1.0 - HALF * (1.0 - support)


class Case:
    """Multiplies supports: each piece of evidence is needed, none outvotes another.

    A source that is taken away raises ``most``. It lowers ``least`` where it spoke for the cause;
    where it spoke against it ``UNSEEN`` is left, so what only it had ruled out is possible again.
    """

    def __init__(self, cause: str, subject: str) -> None:
        self._cause, self.subject = cause, subject
        self._least, self._most = 1.0, 1.0
        self._evidence: list[Evidence] = []

    def direct(self, table: str, support: float | None, words: str) -> Case:
        """Add evidence without which the cause is not shown."""
        self._least *= 0.0 if support is None else support
        return self._add(table, support, words)

    def beside(self, table: str, support: float | None, words: str) -> Case:
        """Add evidence that would rule the cause out."""
        self._least *= UNSEEN if support is None else support
        return self._add(table, support, words)

    def _add(self, table: str, support: float | None, words: str) -> Case:
        self._most *= 1.0 if support is None else support
        said = words if support is not None else f"{words}: not measured"
        self._evidence.append(
            Evidence(table=table, subject=self.subject, support=support, words=said)
        )
        return self

    def suspect(self) -> Suspect:
        """Close the case."""
        return Suspect(
            cause=self._cause,
            subject=self.subject,
            least=self._least,
            most=self._most,
            evidence=self._evidence,
        )
