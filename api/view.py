"""What a result looks like, as plain values: a verdict, facts, shares, tables, a map of nodes, lines.

A result makes one :class:`View`; text, CSV, pages, data frames and notebooks print it. Notebooks draw it with the parts of the pages
(``cli/report/page/notebook.py``), which are loaded when a notebook first asks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

import attrs

from ..exceptions import KubeclassicError, UnknownNameError
from .words import is_bytes, rounded

Row: TypeAlias = "Mapping[str, Any]"
MOST_COLUMNS = 64
"""A field with more fields inside than that, such as one for each node, is left out."""


def rows_of(record: Row) -> dict[str, list[dict[str, Any]]]:
    """Name -> rows, for each list of objects in *record*.

    >>> rows_of({"pods": [{"pod": "a", "requests": {"cpu": 1}, "victims": ["b", "c"]}], "count": 1})
    {'pods': [{'pod': 'a', 'requests.cpu': 1, 'victims': 'b, c'}]}
    """
    lists = {name: value for name, value in record.items() if isinstance(value, Sequence) and not isinstance(value, str) and value}
    objects = {name: value for name, value in lists.items() if all(isinstance(each, Mapping) for each in value)}
    return {name: _flat_rows(value) for name, value in objects.items()}


def _flat_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    flat = [dict(_flat("", row)) for row in rows]
    inside: dict[str, set[str]] = {}
    for row in flat:
        for name in row:
            inside.setdefault(name.partition(".")[0], set()).add(name)
    kept = {name for names in inside.values() if len(names) <= MOST_COLUMNS for name in names}
    return [{name: value for name, value in row.items() if name in kept} for row in flat]


def _flat(start: str, row: Row) -> Iterator[tuple[str, Any]]:
    """The fields of an object, those of objects inside it under both names; lists of objects are tables of their own and left out."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{start}{name}.", value)
        elif not isinstance(value, Sequence) or isinstance(value, str):
            yield f"{start}{name}", value
        elif not any(isinstance(each, Mapping) for each in value):
            yield f"{start}{name}", ", ".join(map(str, value))


LIBRARIES = ("pandas", "polars")
"""The first that is installed is taken."""


def make_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], library: str | None = None) -> Any:
    """A DataFrame with a row for each of *rows* and exactly these *columns*; what a row lacks is missing there.

    *library* is one of :data:`LIBRARIES`; None: the first that is installed. Raises
    :class:`~kubeclassic.exceptions.KubeclassicError` if it is not installed.
    """
    made = {column: [row.get(column) for row in rows] for column in columns}
    found = _library(library)
    return found.DataFrame(made, strict=False) if found.__name__ == "polars" else found.DataFrame(made, columns=list(columns))


def _library(wanted: str | None) -> Any:
    if wanted is not None and wanted not in LIBRARIES:
        raise UnknownNameError(f'library: got "{wanted}", wanted {" or ".join(LIBRARIES)}')
    for name in LIBRARIES if wanted is None else (wanted,):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise KubeclassicError(f"to_frame needs {wanted or 'pandas or polars'}, which is not installed: pip install 'kubeclassic[frames]'")


MOST_ROWS = 50
"""The rows of a table that a notebook shows; the others are counted."""
LONGEST = 160
"""Longer texts are shortened in a ``repr``, and in cells."""
MEANINGS = {"good": "var(--good)", "same": "var(--same)", "near": "var(--near)", "bad": "var(--far)", "held": "var(--held)"}
"""What a share or a word stands for -> its colour: fine, nothing new, worth a look, worse, not tried."""
CHANGES: Mapping[str, tuple[str, str]] = {
    "lost": ("no longer fits", "bad"), "waits": ("waits", "bad"), "evicted": ("has to leave", "bad"), "moved": ("moves", "near"),
    "makes room": ("has to make room", "near"),
    "gained": ("finds a node", "good"),
}  # fmt: skip
"""What becomes of a pod -> what pages and text call it, and its meaning among :data:`MEANINGS`."""
KINDS = ("text", "name", "names", "tag", "tags", "host", "bar", "amount", "count", "decimal", "share", "cores", "bytes", "seconds")
"""What a column holds: texts, names and lists of them, words in frames, a node or none, a share of 1 as a bar; numbers: an
:class:`Amount`, pieces, shares of 1, millicores, bytes, seconds."""
NUMBERS = KINDS[7:]
EVERYWHERE = ("table", "wide", "page", "data", "csv")
"""The forms that a table or a column may have: short and wide text, a page, data (frames and notebooks), and CSV."""
TEXT = ("table", "wide")
_DRAWING = "..cli.report.page.notebook"


def shortened(text: str, longest: int = LONGEST) -> str:
    """*text* on one line, with an ellipsis for what is beyond *longest* characters.

    >>> shortened("0/3 nodes are available: 3 Insufficient cpu.", 20)
    '0/3 nodes are avail…'
    """
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


@attrs.frozen
class Amount:
    """A number of millicores, bytes or pieces of a resource."""

    resource: str
    number: int

    @property
    def kind(self) -> str:
        """The kind of a column of such numbers."""
        return kind_of(self.resource)


def kind_of(resource: str) -> str:
    """The kind of a column with amounts of *resource*.

    >>> kind_of("cpu"), kind_of("hugepages-2Mi"), kind_of("nvidia.com/gpu")
    ('cores', 'bytes', 'count')
    """
    if resource == "cpu":
        return "cores"
    return "bytes" if is_bytes(resource) else "count"


@attrs.frozen
class Column:
    """A column. Values are plain: str, a list or tuple of them, a bool, a number, an :class:`Amount`, or None."""

    title: str
    kind: str = attrs.field(default="text", validator=attrs.validators.in_(KINDS))
    filter: bool = attrs.field(default=False, kw_only=True)
    """Whether readers of a page choose among its values, which are few."""
    colours: Mapping[str, str] = attrs.field(factory=dict, kw_only=True)
    """Tags: value -> colour; of a bar for ``bar``, and for ``less`` where it is below zero."""
    forms: Sequence[str] = attrs.field(default=EVERYWHERE, kw_only=True)
    """The forms that have it."""
    field: str = attrs.field(default="", kw_only=True)
    """Its name in data, if that is not the title."""
    csv: str = attrs.field(default="", kw_only=True)
    """Its name in CSV, if that is not the one in data."""

    @property
    def name(self) -> str:
        """Its name in data."""
        return self.field or self.title

    @property
    def key(self) -> str:
        """What stands for it in links."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    @property
    def is_number(self) -> bool:
        """Whether its values are aligned at their right."""
        return self.kind in NUMBERS


@attrs.frozen
class Table:
    """Rows with a value for each column. A page shows it as a list that can be sorted, searched and filtered."""

    name: str
    """In a page its id; links to a view of it begin ``#name?``, and it is the name of its CSV file."""
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    noun: str = attrs.field(default="row", kw_only=True)
    """What one row is."""
    several: str = attrs.field(default="", kw_only=True)
    """More than one of it, unless that takes an s."""
    details: Sequence[Any] | None = attrs.field(default=None, kw_only=True)
    """For each row what shows when it is opened, or None: pairs of a name and a text, or what *shows* wants."""
    shows: str = attrs.field(default="facts", kw_only=True)
    """Which script shows details: ``facts``, or ``aligned`` (``cli/report/questions/comparisonpods.py``)."""
    shared: Any = attrs.field(default=None, kw_only=True)
    """What all details have in common."""
    sort: str = attrs.field(default="", kw_only=True)
    """The title of the column that rows are sorted by at first, ``-`` before it: the highest first. Empty: as they come."""
    forms: Sequence[str] = attrs.field(default=EVERYWHERE, kw_only=True)
    """The forms that have it."""
    most: int | None = attrs.field(default=None, kw_only=True)
    """How many rows short text has; None: all."""
    minor: Collection[int] = attrs.field(default=(), kw_only=True)
    """The rows, by number, that short text leaves out."""

    @property
    def plural(self) -> str:
        """More than one row, in words."""
        return self.several or f"{self.noun}s"

    def of_form(self, form: str) -> Table:
        """The same with the columns that *form* has.

        >>> Table("t", [Column("a"), Column("b", forms=("wide",))], [(1, 2)]).of_form("page").rows
        [[1]]
        """
        kept = [at for at, column in enumerate(self.columns) if form in column.forms]
        return attrs.evolve(self, columns=[self.columns[at] for at in kept], rows=[[row[at] for at in kept] for row in self.rows])

    def records(self, form: str = "data") -> list[dict[str, Any]]:
        """The rows as data: the name of a column -> its value."""
        found, names = self.of_form(form), self.names(form)
        return [dict(zip(names, (_as_data(value, form) for value in row), strict=True)) for row in found.rows]

    def names(self, form: str = "data") -> list[str]:
        """The names of the columns as data."""
        return [column.csv or column.name if form == "csv" else column.name for column in self.columns if form in column.forms]


def _as_data(value: Any, form: str) -> Any:
    """*value* as *form* has it: a tuple is one text, and in CSV true and false are words."""
    if isinstance(value, tuple):
        return (";" if form == "csv" else ", ").join(value)
    if isinstance(value, bool) and form == "csv":
        return str(value).lower()
    return value.number if isinstance(value, Amount) else value


def table_of(
    name: str, records: Sequence[Mapping[str, Any]], first: Sequence[str] = (), *, forms: Sequence[str] = ("data",), noun: str = "row"
) -> Table:
    """A table of *records*, which may lack fields: a column a field, those of *first* before all others."""
    names = list(dict.fromkeys([*first, *(name for record in records for name in record)]))
    rows = [[record.get(name) for name in names] for record in records]
    return Table(name, [Column(name) for name in names], rows, forms=forms, noun=noun)


@attrs.frozen
class Number:
    """A number in a sentence.

    >>> print(Number(1500, "cpu"), Number(1500))
    1.5 1,500
    """

    value: float
    resource: str = ""
    """Of which it is an amount."""
    text: str = ""
    """How it is written, where that is not in full."""

    def __str__(self) -> str:
        if self.text:
            return self.text
        return str(rounded(self.resource, int(self.value))) if self.resource else f"{self.value:,}"


@attrs.frozen
class Name:
    """A name of the input or of a release in a sentence, which pages do not break."""

    text: str

    def __str__(self) -> str:
        return self.text


@attrs.frozen(init=False)
class Words:
    """A sentence of texts, names and numbers.

    >>> str(Words(Number(1200), " copies of ", Name("web-2"), " fit."))
    '1,200 copies of web-2 fit.'
    """

    parts: tuple[Part, ...]

    def __init__(self, *parts: Part) -> None:
        object.__setattr__(self, "parts", parts)

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


Part: TypeAlias = "str | Number | Name | Words"


def counting(number: int, one: str, several: str = "") -> Words:
    """*number*, and what stands after it where there is *one*, or *several*: by default the same with an s.

    >>> print(counting(1, "pod moves", "pods move"), counting(2, "node"))
    1 pod moves 2 nodes
    """
    return Words(Number(number), f" {one if number == 1 else several or f'{one}s'}")


@attrs.frozen
class Paragraph:
    """A sentence or several, which text shows before all tables; an empty one is an empty line."""

    text: str
    forms: Sequence[str] = TEXT
    hanging: str = "  "
    """What its further lines begin with."""
    wraps: bool = True
    """Whether it is broken where it is too long."""


@attrs.frozen
class Share:
    """A count of one whole, with its *meaning* among :data:`MEANINGS`."""

    name: str
    count: int
    meaning: str = attrs.field(default="same", validator=attrs.validators.in_(MEANINGS))


@attrs.frozen
class NodeMap:
    """Nodes as squares, grouped by zone; empty for a node without a zone."""

    nodes: Sequence[str]
    uses: Mapping[str, Sequence[float | None]]
    """Resource -> the share of each node in use; the first one gives the colour."""
    zones: Sequence[str] = ()


@attrs.frozen
class LineChart:
    """Values over something that goes on, a line for each."""

    title: str
    across: str
    """What :attr:`places` are."""
    up: str
    """What the values are."""
    places: Sequence[float]
    values: Mapping[str, Sequence[float | None]]


@attrs.frozen(kw_only=True)
class View:
    """What is shown of an object. Facts that are None are left out; all texts are escaped.

    >>> "n&lt;1&gt;" in View(title="Pod a/b", facts={"host": "n<1>", "error": None}).html()
    True
    """

    title: str
    verdict: Part = ""
    """The outcome in one sentence."""
    facts: Mapping[str, object] = attrs.field(factory=dict)
    """The outcome in a few words."""
    shares: Sequence[Share] = ()
    """The outcome as parts of one whole; empty where it is none."""
    paragraphs: Sequence[Paragraph] = ()
    """What text says before its tables."""
    tables: Sequence[Table] = ()
    """In the order of text and pages."""
    text: Sequence[Sequence[Paragraph | Table]] = ()
    """The parts of text, with an empty line between two of them; empty: the paragraphs, then each table."""
    main: str = ""
    """The table that a notebook shows and that is the default of data; the others open on a click. Empty: the first."""
    map: NodeMap | None = None
    lines: LineChart | None = None
    """What changes over time; drawn where matplotlib is installed."""

    def html(self) -> str:
        """The whole as one ``div`` with its style, without scripts: for a notebook."""
        return str(import_module(_DRAWING, __package__).view_html(self))

    def table(self, name: str) -> Table:
        """The table of that name."""
        return next(table for table in self.tables if table.name == name)

    def parts_of(self, form: str) -> list[list[Paragraph | Table]]:
        """The parts of text that *form* has, each table with the columns that it has there."""
        parts = self.text or [self.paragraphs, *([table] for table in self.tables)]
        shown = ([item for item in part if form in item.forms] for part in parts)
        return [[item if isinstance(item, Paragraph) else item.of_form(form) for item in part] for part in shown if part]

    def tables_of(self, form: str) -> list[Table]:
        """The tables that *form* has, each with the columns that it has there."""
        found = [table.of_form(form) for table in self.tables if form in table.forms]
        return sorted(found, key=lambda table: table.name != self.main) if form == "data" else found

    def csv(self) -> Table:
        """The table that CSV has."""
        return self.tables_of("csv")[0]

    def frame(self, name: str | None = None, library: str | None = None, record: Mapping[str, Any] | None = None) -> Any:
        """A table as a DataFrame: by default the first. The lists of *record* are tables too, and their fields columns.

        *library* is ``pandas`` or ``polars``; by default the first of them that is installed. Raises
        :class:`~kubeclassic.exceptions.KubeclassicError` if there is no such table, or none of them is installed.
        """
        from .view import rows_of

        tables = {table.name: (table.records(), [column.name for column in table.columns]) for table in self.tables_of("data")}
        name = next(iter(tables)) if name is None else name
        lists = {} if record is None else rows_of(record)
        if name not in tables and name not in lists:
            raise UnknownNameError(f'table: got "{name}", wanted {" or ".join(dict.fromkeys([*tables, *lists]))}')
        rows, columns = tables.get(name, ([{} for _ in lists.get(name, ())], []))
        more, key = lists.get(name, []), columns[:1]
        if [[row[one] for one in key] for row in rows] == [[other.get(one) for one in key] for other in more]:
            rows = [{**other, **row} for row, other in zip(rows, more, strict=True)]
            columns = list(dict.fromkeys([*columns, *(key for other in more for key in other)]))
        return make_frame(rows, columns, library)
