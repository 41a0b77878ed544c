"""What of a recording or a log nobody is to read who reads a run."""

from __future__ import annotations

import re

from tierlab.workloads.own.origins import is_token

NAMES = re.compile(
    r"pass(word|wd|phrase)?|pwd|pw|secret|token|auth|authorization|credential|session|sess|sid|"
    r"api[_-]?key|access[_-]?key|key|csrf|xsrf|nonce|signature|sig|otp|pin|card|cvv|cvc|iban|ssn|jwt"
)
_WORDS = re.compile(r"[A-Za-z][a-z]*|[0-9]+")


def is_sensitive(name: str, value: str) -> bool:
    """Whether a value is a secret, by its name or by its looks."""
    words = [word.lower() for word in _WORDS.findall(name)]
    said = NAMES.fullmatch(name.lower()) or any(NAMES.fullmatch(word) for word in words)
    joined = "".join(words)
    return bool(said) or "password" in joined or "token" in joined or is_token(value)
