"""Reading a page as a browser would: elements, text and scripts."""

import re
from html.parser import HTMLParser

LIBRARY = re.compile(r"(<script>)/\*\*\n\* plotly\.js.*?(</script>)", re.DOTALL)
"""Plotly's own text, which takes seconds to parse and has nothing of a run in it."""
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Every start tag with its attributes, and the text outside of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._open: list[str] = []
        self._text: list[str] = []
        self.feed(LIBRARY.sub(lambda found: found[1] + found[2], html))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif inside != "style":
            self._text.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._text).split())

    def first(self, tag: str, **attributes: str) -> dict[str, str | None]:
        for name, found in self.tags:
            if name == tag and attributes.items() <= found.items():
                return found
        raise AssertionError(f"no <{tag}> with {attributes}")
