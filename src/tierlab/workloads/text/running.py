"""Titles and bodies, cut from one long running text.

Unless asked otherwise, a body's length follows Zipf's law between 1 and 8 KiB (density proportional
to length^-2), as the published RUBBoS data's "Zipf-like towards short"; a title is as long as its
published client's.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tierlab.workloads.text.dictionary import Dictionary

BODY_LEAST = 1_024
BODY_MOST = 8_192
TITLE_MOST = 99
_WORDS_OF_TEXT = 500_000
_PUNCTUATION = (", ", ". ", "? ", "! ", ": ", "; ", " ", " ", " ", " ")

Integers = npt.NDArray[np.int64]


class RunningText:
    """Half a million words to cut from; plain for titles, with punctuation for bodies."""

    def __init__(self, words: Dictionary, random: np.random.Generator) -> None:
        drawn = words.draw(random, _WORDS_OF_TEXT)
        marks = random.integers(len(_PUNCTUATION), size=_WORDS_OF_TEXT)
        self._random = random
        self._plain, self._plain_starts = _joined([word + " " for word in drawn])
        self._marked, self._marked_starts = _joined(
            [word + _PUNCTUATION[mark] for word, mark in zip(drawn, marks, strict=True)]
        )

    def bodies(self, count: int) -> Iterator[str]:
        """Texts of 1 to 8 KiB, less at most a word, of whole words."""
        uniform = self._random.random(count)
        # Inverse of the distribution function of a density x^-2 on [least, most].
        lengths = 1.0 / (1.0 / BODY_LEAST - uniform * (1.0 / BODY_LEAST - 1.0 / BODY_MOST))
        return self.texts(lengths.astype(np.int64))

    def texts(self, lengths: Integers) -> Iterator[str]:
        """Texts of whole words as long as asked, less at most a word; a word at least."""
        return self._cut(self._marked, self._marked_starts, lengths)

    def titles(self, count: int) -> Iterator[str]:
        """Texts of one word to 99 characters."""
        lengths = self._random.integers(0, TITLE_MOST + 1, size=count)
        return self._cut(self._plain, self._plain_starts, lengths)

    def _cut(self, text: str, starts: Integers, lengths: Integers) -> Iterator[str]:
        """Pieces from random words on, ended by the word that reaches the length or before it."""
        last = int(np.searchsorted(starts, len(text) - 2 * BODY_MOST))
        first_words = self._random.integers(last, size=len(lengths))
        begins = starts[first_words]
        end_words = np.searchsorted(starts, begins + lengths, side="right") - 1
        ends = starts[np.maximum(end_words, first_words + 1)]
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            yield text[begin:end].rstrip()


def _joined(pieces: list[str]) -> tuple[str, Integers]:
    """The pieces as one text, and where each begins."""
    lengths = np.fromiter((len(piece) for piece in pieces), np.int64, len(pieces))
    return "".join(pieces), np.concatenate(([0], np.cumsum(lengths)[:-1]))
