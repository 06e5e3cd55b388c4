"""Pages in tests: every number that a page says, held to the record that it is made from."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Callable, Collection, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import attrs

from tests.support.program import ran

VOID = {"meta", "input", "br", "hr", "img", "col", "link"}
SCALES = {"%": 0.01, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50, "s": 1, "": 1}
"""What one of a unit is in the record."""
_NUMBER = re.compile(r"(-?[\d,]+(?:\.(\d+))?) ?([A-Za-z%]*)")
Units = Mapping[str, Callable[[Any], str]]


@attrs.frozen
class Told:
    """A text of a page that is marked with its place in the record."""

    path: str
    text: str
    unit: str


@attrs.define
class _Reader(HTMLParser):
    """Marks, numbers without a mark where they have to have one, and data."""

    told: list[Told] = attrs.field(factory=list)
    bare: list[str] = attrs.field(factory=list)
    data: dict[str, Any] = attrs.field(factory=dict)
    _open: list[tuple[str, dict[str, str], list[str]]] = attrs.field(factory=list)

    def __attrs_pre_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self._open.append((tag, {name: value or "" for name, value in attrs}, []))

    def handle_endtag(self, tag: str) -> None:
        name, found, texts = self._open.pop()
        assert name == tag, f"<{name}> is closed by </{tag}>"
        text = "".join(texts)
        if "data-json" in found:
            self.told.append(Told(found["data-json"], text, found.get("data-unit", "")))
        elif tag == "script" and found.get("type") == "application/json":
            self.data[found["id"]] = _unpacked(json.loads(text))
        elif self._open:
            self._open[-1][2].extend(texts)

    def handle_data(self, data: str) -> None:
        if not self._open:
            return
        self._open[-1][2].append(data)
        if any(letter.isdigit() for letter in data) and self._must_be_told():
            self.bare.append(data.strip())

    def _must_be_told(self) -> bool:
        """Whether a number here has to be marked: in the verdict, in facts and in cells of tables, but not in names or data."""
        counts = False
        for tag, found, _ in self._open:
            classes = found.get("class", "").split()
            if "data-json" in found or found.get("data-part") == "table" or tag in ("code", "script", "style"):
                return False
            if {"name", "derived"} & {*classes}:
                return False
            counts = counts or tag == "td" or bool({"verdict", "fact"} & {*classes})
        return counts


def _unpacked(data: Any) -> Any:
    packed = data.get("packed") if isinstance(data, dict) else None
    return data if packed is None else json.loads(zlib.decompress(b64decode(packed)))


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    return reader


def numbers_of_page(html: str) -> list[Told]:
    """Every text that is marked with its place in the record."""
    return _read(html).told


def bare_numbers(html: str) -> list[str]:
    """Texts with a number in the verdict, in facts or in cells of short tables that no mark holds to the record."""
    return _read(html).bare


def data_of_page(html: str) -> dict[str, Any]:
    """Id -> the JSON that the page has under it."""
    return _read(html).data


def table_of_page(html: str, name: str) -> list[dict[str, Any]]:
    """All rows of the long table *name*: title of a column -> value."""
    data = data_of_page(html)[f"{name}-data"]
    columns = {column["title"]: list(_values(column)) for column in data["columns"]}
    assert {len(values) for values in columns.values()} == {data["count"]}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _values(column: Mapping[str, Any]) -> Iterator[Any]:
    texts = column.get("texts")
    return (texts[value] if texts is not None else value for value in column["values"])


# --- what a mark means ----------------------------------------------------------------------------------------------


def value_at(record: Any, path: str) -> Any:
    """What *path* stands for: a value of the record, or the sum of several with `` + `` and `` - `` between them."""
    first, *rest = re.split(r" ([+-]) ", path)
    value = _single(record, first)
    for sign, other in zip(rest[::2], rest[1::2], strict=True):
        value += _single(record, other) * (1 if sign == "+" else -1)
    return value


def _single(record: Any, path: str) -> Any:
    for step in path.split("."):
        if step == "length":
            return len(record)
        record = record[int(step)] if isinstance(record, list) else record[step.replace("%2E", ".")]
    return record


def says(text: str, value: Any, unit: str = "", units: Units | None = None) -> bool:
    """Whether *text* is what people write for *value*: rounded to the digits that it has, in the unit that it names.

    A text for None has no digit. *units*: unit of a mark -> what writes its values.
    """
    if units is not None and unit in units:
        return text == units[unit](value)
    if value is None or isinstance(value, str | bool):
        return text == value if isinstance(value, str) else not any(letter.isdigit() for letter in text)
    found = _NUMBER.fullmatch(text)
    if found is None or found[3] not in SCALES:
        return False
    exact = value / SCALES[found[3]] / (1000 if unit == "milli" else 1)
    return abs(float(found[1].replace(",", "")) - exact) <= 0.5 * 10.0 ** -len(found[2] or "") * (1 + 1e-9) * bool(exact % 1)


def with_page(folder: Path, *words: object, status: int | Collection[int] = 0) -> tuple[str, Any]:
    """The page of a command, which is written in *folder*, and what ``-o json`` says beside it."""
    page = folder / "page.html"
    record = ran(*words, "--report", page, "-o", "json", status=status).document
    return page.read_text(encoding="utf-8"), record


def assert_told(html: str, record: Any, units: Units | None = None) -> None:
    """Every mark of the page says what stands at its place in *record*, and no number that has to have a mark lacks one."""
    wrong = {told.path: told.text for told in numbers_of_page(html) if not says(told.text, value_at(record, told.path), told.unit, units)}
    assert not wrong
    assert not bare_numbers(html)
