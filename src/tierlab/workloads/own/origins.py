"""Where a value of a recorded request comes from: a reply that the browser had got before.

What is drawn or handed out anew at each visit (ids, tokens against forged requests) cannot be sent
as it was recorded. It is taken from the same place of the same reply when users get theirs.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tierlab.workloads.own.slots import FIRST, Slot, is_json

ENDS = "\"'&?#/<> ,}])\n"
"""Characters at which a value in a page or in JSON ends."""
QUOTED = r"[=:]\s*[\"']?/|[\"']/"
"""What an address begins with in a page or in JSON; a slash alone ends elements, too."""
LONGEST_LEAD = 60
TELLING = 5
"""A number of so many digits is no other thing's by chance."""
_NUMBER = re.compile(r"[0-9]{1,19}")
_MIXED = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_\-+/=.~:]{8,}")
_LONG = re.compile(r"[A-Za-z0-9_\-+/=.~]{24,}")
_NESTING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|[\[\]{}]")
_INPUT = re.compile(r"<input\b[^>]*>", re.I)
_TEXT = re.compile(
    r"<!(?=--).*?(?:-->|\Z)"
    r"|<(script|style|textarea)(?=[\s/>])[^>]*(?<!/)>.*?(?:</\1(?=[\s/>])|\Z)",
    re.I | re.DOTALL,
)
"""Comments, and elements in which nothing is a tag but their own end, as the driver has them."""
_ATTRIBUTE = re.compile(r"""\b(name|value)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.I)

Extract = dict[str, str]


def is_number(value: str) -> bool:
    """Whether it is a whole number, as ids are."""
    return _NUMBER.fullmatch(value) is not None


def is_token(value: str) -> bool:
    """Whether it looks as if it was made by chance: long, and no word."""
    return (_MIXED.fullmatch(value) or _LONG.fullmatch(value)) is not None


@dataclass
class Origins:
    """The replies of a visit so far, and what is taken from them; `texts` are theirs, in order."""

    texts: Sequence[str]
    extracts: dict[int, list[Extract]] = field(default_factory=dict)
    """By the number of the reply."""
    _known: dict[tuple[str, str], str] = field(default_factory=dict)
    """Names under which a value is remembered, by the value's name and itself."""

    def remembered(self, before: int, slot: Slot) -> str | None:
        """The name under which the value of a request is remembered, from a reply that came before
        the request number `before`; None where it is in none.
        """
        # Laravel's have a bar between their number and the rest.
        token = is_token(slot.value.replace("|", ""))
        if not token and not is_number(slot.value):
            return None
        alone = token or len(slot.value) >= TELLING
        if slot.place == "header" and not alone and not slot.name.lower().endswith("id"):
            # A switch, such as `RSC: 1`.
            return None
        key = ("" if alone else _stem(slot.name), slot.value)
        if key in self._known:
            return self._known[key]
        for number in reversed(range(before)):
            for extract in _places(self.texts[number], slot, token=token):
                if _gives(extract, self.texts[number], slot.value):
                    self._known[key] = self._add(number, extract)
                    return self._known[key]
        return None

    def _add(self, number: int, extract: Extract) -> str:
        listed = self.extracts.setdefault(number, [])
        same = (each for each in listed if {**each, "name": ""} == {**extract, "name": ""})
        if (there := next(same, None)) is not None:
            return there["name"]
        name = f"v{sum(map(len, self.extracts.values())) + 1}"
        listed.append(extract | {"name": name})
        return name


def _stem(name: str) -> str:
    """What ``items``, ``item``, ``item_id`` and ``itemId`` have in common."""
    return re.sub(r"(?:_?id|s|\[\])$", "", name.lower()) or name.lower()


def _places(text: str, slot: Slot, *, token: bool) -> Iterator[Extract]:
    """Where in a reply the value may be taken from, the surest first."""
    if slot.value not in text and html.escape(slot.value) not in text:
        return
    if slot.place in ("form", "body") and slot.name in _fields(text, slot.value):
        yield {"field": slot.name}
    value, shape = re.escape(slot.value), _shape(slot.value)
    if slot.place == "path" and not is_number(slot.name) and not is_token(slot.name):
        lead = QUOTED if slot.name == FIRST else rf"/{re.escape(slot.name)}/"
        if (found := re.search(rf"({lead}){value}(?![\w%-])", text)) is not None:
            yield {"after": found[1], "until": ENDS, "which": "any", "shape": shape}
    if slot.place in ("query", "form"):
        for found in re.finditer(
            rf"([^\"'\s<>]*[?&;]){re.escape(slot.name)}={value}(?![\w%-])", text
        ):
            lead = found[1][found[1].rfind("/") + 1 if found[1].endswith("?") else -1 :]
            after = f"{lead}{slot.name}="
            yield {"after": after, "until": ENDS, "which": "any", "shape": shape}
            break
    yield from _keyed(text, slot, token=token)
    if token:
        yield from _leads(text, slot.value)


def _shape(value: str) -> str:
    """What others look like that a user may take instead, in the driver's words."""
    return "digits" if is_number(value) else "token"


def _keyed(text: str, slot: Slot, *, token: bool) -> Iterator[Extract]:
    """Under a key of JSON's: the first, or any; but the ids of objects within objects are of other
    things than those of the objects of a list.
    """
    keys = r"\"[\w.-]+\"" if token else rf"\"(?:{re.escape(slot.name)}|id)\""
    value, until = re.escape(slot.value), '",}] \n'
    found = re.search(rf"((?:[,\[]\s*\{{\s*)?)({keys}\s*:\s*\"?){value}(?![\w-])", text)
    if found is None:
        return
    first = {"after": found[2], "until": until, "which": "first"}
    # A token may have no digit by chance: of one that is first, nothing is asked.
    yield first if token else first | {"shape": "digits"}
    nested = is_json(text)
    for after in dict.fromkeys((found[2], found[1] + found[2])):
        if not nested or len(_depths(text, after)) == 1:
            yield {"after": after, "until": until, "which": "any", "shape": _shape(slot.value)}


def _depths(text: str, lead: str) -> set[int]:
    """How deep in JSON that stands which follows a lead."""
    depth, found = 0, set[int]()
    places = iter([match.end() for match in re.finditer(re.escape(lead), text)])
    place = next(places, None)
    for mark in _NESTING.finditer(text):
        while place is not None and place <= mark.start():
            found.add(depth)
            place = next(places, None)
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(mark[0], 0)
    return found


def _leads(text: str, value: str) -> Iterator[Extract]:
    """What stands before a token that is handed out: the tag that it is in, else its line."""
    for shown in dict.fromkeys((value, html.escape(value))):
        for found in re.finditer(re.escape(shown), text):
            before = text[max(0, found.start() - LONGEST_LEAD) : found.start()]
            begin = max(before.rfind("<"), before.rfind("\n") + 1, 0)
            after = text[found.end() : found.end() + 1]
            if before[begin:] and after and not after.isalnum():
                yield {"after": before[begin:], "until": after, "which": "first"}


def _fields(text: str, value: str) -> list[str]:
    """The names of the page's fields that have this value."""
    found = []
    for tag in _INPUT.findall(_TEXT.sub(" ", text)):
        said = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(tag)}
        if html.unescape(said.get("value", "")) == value:
            found.append(html.unescape(said.get("name", "")))
    return found


def _gives(extract: Extract, text: str, value: str) -> bool:
    """Whether a user who got this reply would take this value from it, as the driver takes it."""
    if "field" in extract:
        return extract["field"] in _fields(text, value)
    found = list(_taken(extract, text))
    return value in found[:1] if extract["which"] == "first" else value in found


def _taken(extract: Extract, text: str) -> Iterator[str]:
    ends = re.escape(extract["until"])
    for match in re.finditer(rf"{re.escape(extract['after'])}([^{ends}]+)", text):
        if extract.get("shape") != "digits" or is_number(match[1]):
            yield html.unescape(match[1])
