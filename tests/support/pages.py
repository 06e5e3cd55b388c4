"""HTML pages in tests: their data and their tables."""

import json
import zlib
from base64 import b64decode
from html.parser import HTMLParser

import attrs

from kubeclassic.cli.report.page.document import About, environment, page_html
from tests.support.program import ran

VOID = {"meta", "input", "br", "hr", "img", "col", "link"}


@attrs.define
class _Reader(HTMLParser):
    """The data of a page; every element has to be closed."""

    data: dict = attrs.field(factory=dict)
    _open: list = attrs.field(factory=list)

    def __attrs_pre_init__(self):
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self._open.append((tag, {name: value or "" for name, value in attrs}, []))

    def handle_endtag(self, tag):
        name, found, texts = self._open.pop()
        assert name == tag, f"<{name}> is closed by </{tag}>"
        text = "".join(texts)
        if tag == "script" and found.get("type") == "application/json":
            self.data[found["id"]] = _unpacked(json.loads(text))
        elif self._open:
            self._open[-1][2].extend(texts)

    def handle_data(self, data):
        if self._open:
            self._open[-1][2].append(data)


def _unpacked(data):
    packed = data.get("packed") if isinstance(data, dict) else None
    return data if packed is None else json.loads(zlib.decompress(b64decode(packed)))


def data_of_page(html):
    """Id of a script element -> its JSON."""
    reader = _Reader()
    reader.feed(html)
    return reader.data


def table_of_page(html, name):
    """All rows of the long table *name*: title of a column -> value."""
    data = data_of_page(html)[f"{name}-data"]
    columns = {column["title"]: list(_values(column)) for column in data["columns"]}
    assert {len(values) for values in columns.values()} == {data["count"]}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _values(column):
    texts = column.get("texts")
    return (texts[value] if texts is not None else value for value in column["values"])


def page_of(found):
    """The page of a result, without its origin."""
    return page_html(found.view(), About())


def part_html(part):
    """The HTML of a part of a view."""
    return str(environment().get_template("parts.html").module.part(part, About()))  # type: ignore[attr-defined]


def with_page(folder, *words, status=0):
    """The page of a command, which is written in *folder*, and its output with ``-o json``."""
    page = folder / "page.html"
    record = ran(*words, "--report", page, "-o", "json", status=status).document
    return page.read_text(), record
