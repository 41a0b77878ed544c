"""The words of stories, comments and searches: made up, with the frequency law of a language.

The published data came with a dictionary of 4,563 words and their counts. Ours has 4,500 words of
our own making whose frequencies follow Zipf's law (the r-th word's share is proportional to 1/r;
G. K. Zipf, "Human Behavior and the Principle of Least Effort", 1949); frequent words are short, as
in a language.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

WORDS = 4_500
_SEED = 4_563
_ONSETS = ("b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "pl")
_VOWELS = ("a", "e", "i", "o", "u", "ea", "ou")
_CODAS = ("", "", "n", "r", "s", "t", "l", "nd")


@dataclass(frozen=True)
class Dictionary:
    """Lower-case ASCII words, most frequent first, and each one's share of running text."""

    words: tuple[str, ...]
    shares: npt.NDArray[np.float64]

    def draw(self, random: np.random.Generator, count: int) -> list[str]:
        """Running text of `count` words."""
        return [self.words[i] for i in random.choice(len(self.words), size=count, p=self.shares)]


@cache
def dictionary() -> Dictionary:
    """The one dictionary, the same for every data set, so that searches find what was written."""
    random = np.random.default_rng(_SEED)
    words: dict[str, None] = {}
    while len(words) < WORDS:
        # One syllable for the first hundred words, four for the last ones.
        longest = 1 + min(3, len(words) // 100)
        words.setdefault(_word(random, int(random.integers(1, longest + 1))))
    shares = 1.0 / np.arange(1, WORDS + 1)
    return Dictionary(tuple(words), shares / shares.sum())


def _word(random: np.random.Generator, syllables: int) -> str:
    parts = (_ONSETS, _VOWELS) * syllables + (_CODAS,)
    return "".join(part[int(random.integers(len(part)))] for part in parts)
