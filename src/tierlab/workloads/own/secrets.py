"""What of a recording, a log or a server's variables nobody is to read who reads a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tierlab.workloads.own.origins import is_token

NAMES = re.compile(
    r"pass(word|wd|phrase)?|pwd|pw|secret|token|auth|authorization|credential|session|sess|sid|"
    r"api[_-]?key|access[_-]?key|key|csrf|xsrf|nonce|signature|sig|otp|pin|card|cvv|cvc|iban|ssn|jwt"
)
_WORDS = re.compile(r"[A-Za-z][a-z]*|[0-9]+")
_NAMES_OF_VARIABLES = re.compile(
    r"(?:^|_)(?:PASS|PASSWD|PASSPHRASE|PWD|PW|SECRETS?|CREDENTIALS?|(?:API|ACCESS|PRIVATE|SIGNING|"
    r"ENCRYPTION|MASTER|LICENSE)_?KEY|KEY|SALT|DSN|JWT|PIN)(?:$|_)|PASSWORD|TOKEN"
)
_IN_AN_ADDRESS = re.compile(
    r"//[^/\s:@]*:(?!\{)[^/\s@]+@|(?:password|passwd|pwd)=(?!\{)[^\s;&]", re.I
)
"""A password in an address, or in a list of settings; not one that is filled in for each trial."""
_LEFT_OPEN = re.compile(r"\$[A-Za-z_]\w*|\{\w+\.\w+\}")
"""A variable of where Tierlab runs, or what a trial fills in: no secret itself."""
_TOLD = re.compile(r"(?:pass(?:word|wd|phrase)|pwd|secret|token|api_?key)[\"'\\]*\s*[:=]", re.I)
"""A secret within a text, as in JSON that a form's field has."""
LONG = 16


def is_sensitive(name: str, value: str) -> bool:
    """Whether a value is a secret, by its name or by its looks."""
    words = [word.lower() for word in _WORDS.findall(name)]
    said = NAMES.fullmatch(name.lower()) or any(NAMES.fullmatch(word) for word in words)
    joined = "".join(words)
    named = bool(said) or "password" in joined or "token" in joined
    return named or is_token(value) or _TOLD.search(value) is not None


def is_secret_variable(name: str, value: str) -> bool:
    """Whether a variable of a server's is a secret, by its name or by what is in it."""
    if not value or _LEFT_OPEN.fullmatch(value):
        return False
    if _NAMES_OF_VARIABLES.search(name.upper()) or _IN_AN_ADDRESS.search(value):
        return True
    return len(value) >= LONG and not set(value) & set("/: ") and is_token(value)


def without_secrets(tables: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of an experiment's tables in which secret variables of servers are asked of where
    Tierlab runs (`"$NAME"`).
    """
    system = tables.get("system")
    if isinstance(system, list):
        return {**tables, "system": [_system(each) for each in system]}
    return {**tables, "system": _system(system)} if isinstance(system, dict) else dict(tables)


def _system(system: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _server(each) for name, each in system.items()}


def _server(table: Any) -> Any:
    if not isinstance(table, dict):
        return table
    if isinstance(table.get("first"), list):
        table = {**table, "first": [_server(each) for each in table["first"]]}
    variables = table.get("environment")
    if not isinstance(variables, dict):
        return table
    told = {
        name: f"${name}" if is_secret_variable(name, value) else value
        for name, value in variables.items()
    }
    return {**table, "environment": told}
