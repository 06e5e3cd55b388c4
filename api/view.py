"""The view of a result, as plain values: a verdict, facts, and sections of parts, such as tables and maps of
nodes.

A result makes one :class:`View`; text, CSV, pages, data frames and notebooks print it, each by the kind of a
part. Notebooks draw it with the templates of the pages (``cli/report/page/document.py``), which are loaded
when a notebook first asks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

import attrs

from ..exceptions import KubeclassicError, UnknownNameError
from .objects import JsonDict
from .words import is_bytes

Row: TypeAlias = "Mapping[str, Any]"
MOST_COLUMNS = 64
"""The most inner fields of a field; one with more, such as one for each node, is left out."""


def rows_of(record: Row) -> dict[str, list[JsonDict]]:
    """Name -> rows, for each list of objects in *record*.

    >>> rows_of({"pods": [{"pod": "a", "requests": {"cpu": 1}, "victims": ["b", "c"]}], "count": 1})
    {'pods': [{'pod': 'a', 'requests.cpu': 1, 'victims': 'b, c'}]}
    """
    tables: dict[str, list[JsonDict]] = {}
    for table, value in record.items():
        if (
            not isinstance(value, Sequence)
            or isinstance(value, str)
            or not all(isinstance(item, Mapping) for item in value)
        ):
            continue
        flat = [dict(_flat("", row)) for row in value]
        fields: dict[str, set[str]] = {}
        for name in (name for row in flat for name in row):
            fields.setdefault(name.partition(".")[0], set()).add(name)
        kept_names = {name for names in fields.values() if len(names) <= MOST_COLUMNS for name in names}
        tables[table] = [{name: value for name, value in row.items() if name in kept_names} for row in flat]
    return tables


def _flat(start: str, row: Row) -> Iterator[tuple[str, Any]]:
    """The fields of an object, those of objects inside it under both names; lists of objects are tables of
    their own and left out."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{start}{name}.", value)
        elif not isinstance(value, Sequence) or isinstance(value, str):
            yield f"{start}{name}", value
        elif not any(isinstance(item, Mapping) for item in value):
            yield f"{start}{name}", ", ".join(map(str, value))


LIBRARIES = ("pandas", "polars")
"""The first that is installed is taken."""


def make_frame(rows: Sequence[Row], columns: Sequence[str], library: str | None = None) -> Any:
    """A DataFrame with a row for each of *rows* and exactly these *columns*; absent values are missing there.

    *library* is one of :data:`LIBRARIES`; None: the first that is installed. Raises
    :class:`~kubeclassic.exceptions.KubeclassicError` if it is not installed.
    """
    if library is not None and library not in LIBRARIES:
        raise UnknownNameError(f'library: expected {" or ".join(LIBRARIES)}, got "{library}"')
    values_by_column = {column: [row.get(column) for row in rows] for column in columns}
    for name in LIBRARIES if library is None else (library,):
        try:
            module = import_module(name)
        except ImportError:
            continue
        if name == "polars":
            return module.DataFrame(values_by_column, strict=False)
        return module.DataFrame(values_by_column, columns=list(columns))
    raise KubeclassicError(
        f"to_frame needs {library or 'pandas or polars'}, which is not installed: pip install 'kubeclassic[frames]'"
    )


MOST_ROWS = 50
"""The rows of a table that a notebook shows; the others are counted."""
LONGEST = 160
"""Longer texts are shortened in a ``repr``, and in cells."""
MEANINGS = {
    "good": "var(--good)",
    "same": "var(--same)",
    "near": "var(--near)",
    "bad": "var(--far)",
    "held": "var(--held)",
}
"""Meaning of a share or a word -> its colour: fine, nothing new, worth a look, worse, not tried."""


def coloured(words: Mapping[str, str]) -> Mapping[str, str]:
    """*words* with the colours of their meanings; colours stay.

    >>> coloured({"placed": "good", "b alone": "var(--c1)"})
    {'placed': 'var(--good)', 'b alone': 'var(--c1)'}
    """
    return {word: MEANINGS.get(meaning, meaning) for word, meaning in words.items()}


CHANGES: Mapping[str, tuple[str, str]] = {
    "lost": ("no longer fits", "bad"),
    "waits": ("waits", "bad"),
    "evicted": ("has to leave", "bad"),
    "moved": ("moves", "near"),
    "makes room": ("has to make room", "near"),
    "gained": ("finds a node", "good"),
}
"""Change of a pod -> the words for it on pages and in text, and its meaning among :data:`MEANINGS`."""
KINDS = (
    "text",
    "name",
    "names",
    "tag",
    "tags",
    "host",
    "bar",
    "amount",
    "count",
    "decimal",
    "share",
    "cores",
    "bytes",
    "seconds",
)
"""The kinds of columns: texts, names and lists of them, words in frames, a node or none, a share of 1 as a
bar; numbers: an :class:`Amount`, pieces, shares of 1, millicores, bytes, seconds."""
NUMBERS = KINDS[7:]
_EVERYWHERE = ("table", "wide", "page", "data", "csv")
FORMS: Mapping[str, Sequence[str]] = {
    **{form: (form,) for form in _EVERYWHERE},
    "text": ("table", "wide"),
    "seen": ("table", "wide", "page"),
    "rest": ("page", "data"),
    "all": _EVERYWHERE,
    "none": (),
}
"""Word -> forms that a part or a column may have: short and wide text, a page, data (frames and notebooks),
and CSV."""


def forms_of(words: str | Sequence[str]) -> tuple[str, ...]:
    """The forms that *words* of :data:`FORMS` stand for.

    >>> forms_of("text data")
    ('table', 'wide', 'data')
    """
    names = words.split() if isinstance(words, str) else words
    return tuple(form for word in names for form in FORMS[word])


def slug(title: str) -> str:
    """*title* as it stands in a link."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"


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
    """A column. Values are plain: str, a list or tuple of them, a bool, a number, an :class:`Amount`, or
    None."""

    title: str
    kind: str = attrs.field(default="text", validator=attrs.validators.in_(KINDS))
    filter: bool = False
    """Whether readers of a page choose among its values, which are few."""
    colours: Mapping[str, str] = attrs.field(factory=dict, converter=coloured)
    """Tags: value -> colour; of a bar for ``bar``, and for ``less`` where it is below zero."""
    forms: Sequence[str] = attrs.field(default="all", converter=forms_of)
    """The forms that have it."""
    field: str = ""
    """Its name in data, if that is not the title."""
    csv: str = ""
    """Its name in CSV, if that is not the one in data."""

    @property
    def name(self) -> str:
        """Its name in data."""
        return self.field or self.title

    @property
    def key(self) -> str:
        """Its name in links."""
        return slug(self.title)

    @property
    def is_number(self) -> bool:
        """Whether its values are aligned at their right."""
        return self.kind in NUMBERS


def columns_of(table: str, colours: Mapping[str, str] | None = None, **texts: str) -> list[Column]:
    """The columns of *table*, one a line or between semicolons: the title, its kind and words, with bars
    between.

    The words are ``filter``, the forms that have it (:data:`FORMS`), ``field=`` and ``csv=`` with a name, and
    of a bar its meaning, perhaps with that of negative ones. *colours* are those of tags. Names out of
    manifests are *texts* in braces, in titles and in names of fields: they may have any character.

    >>> [(one.title, one.kind, one.filter, one.forms) for one in columns_of("node | name | filter; why || text")]
    [('node', 'name', True, ('table', 'wide', 'page', 'data', 'csv')), ('why', 'text', False, ('table', 'wide'))]
    >>> [one.title for one in columns_of("{odd} free; {odd}", odd="a|b; c=d")]
    ['a|b; c=d free', 'a|b; c=d']
    """
    columns = []
    for line in filter(str.strip, re.split("[;\n]", table)):
        title, kind, text = (*map(str.strip, line.split("|")), "", "")[:3]
        words = text.split()
        forms = [word for word in words if word in FORMS] or ["page" if kind == "bar" else "all"]
        meanings = [word for word in words if word in MEANINGS]
        meaning = (
            dict(zip(("bar", "less"), meanings, strict=False)) or (kind in ("tag", "tags") and colours) or {}
        )
        names = {key: name.format(**texts) for key, by, name in (word.partition("=") for word in words) if by}
        title = title.format(**texts)
        columns.append(Column(title, kind or "text", "filter" in words, meaning, forms, **names))
    return columns


def _columns(columns: str | Sequence[Column]) -> Sequence[Column]:
    return columns_of(columns) if isinstance(columns, str) else columns


@attrs.frozen
class Table:
    """Rows with a value for each column. A page shows it as a list that can be sorted, searched and
    filtered."""

    name: str
    """In a page its id; links to a view of it begin ``#name?``, and it is the name of its CSV file."""
    columns: Sequence[Column] = attrs.field(converter=_columns)
    """The columns, or a text for :func:`columns_of`."""
    rows: Sequence[Sequence[Any]]
    noun: str = "row"
    """The noun for one row; without one a page shows the table as it is, without search and filters."""
    several: str = ""
    """The plural of the noun, unless it just takes an s."""
    details: Sequence[Any] | None = None
    """The details of each row, shown when it is opened, or None: pairs of a name and a text, or the form that
    *shows* expects."""
    shows: str = "facts"
    """The script that shows details: ``facts``, or ``aligned`` (``questions/compare/ask.py``)."""
    shared: Any = None
    """Data that all details have in common."""
    sort: str = ""
    """The title of the column that rows are sorted by at first, ``-`` before it: the highest first. Empty: as
    they come."""
    forms: Sequence[str] = attrs.field(default="all", converter=forms_of)
    """The forms that have it."""
    most: int | None = None
    """The most rows of short text; None: all."""
    minor: Collection[int] = ()
    """The rows, by number, that short text leaves out."""
    caption: str = ""
    """Its heading on a page, beside others in a section."""

    @property
    def is_short(self) -> bool:
        """Whether a page shows it as it is."""
        return self.noun == "row"

    @property
    def plural(self) -> str:
        """More than one row, in words."""
        return self.several or f"{self.noun}s"

    def of_form(self, form: str) -> Table:
        """The same with the columns that *form* has.

        >>> Table("t", [Column("a"), Column("b", forms="wide")], [(1, 2)]).of_form("page").rows
        [[1]]
        """
        indexes = [at for at, column in enumerate(self.columns) if form in column.forms]
        return attrs.evolve(
            self,
            columns=[self.columns[at] for at in indexes],
            rows=[[row[at] for at in indexes] for row in self.rows],
        )

    def records(self, form: str = "data") -> list[JsonDict]:
        """The rows as data: the name of a column -> its value."""

        def plain(value: Any) -> Any:
            # A tuple is one text, and in CSV true and false are words.
            if isinstance(value, tuple):
                return (";" if form == "csv" else ", ").join(value)
            if isinstance(value, bool) and form == "csv":
                return str(value).lower()
            return value.number if isinstance(value, Amount) else value

        names = self.names(form)
        return [dict(zip(names, map(plain, row), strict=True)) for row in self.of_form(form).rows]

    def names(self, form: str = "data") -> list[str]:
        """The names of the columns as data."""
        return [
            column.csv or column.name if form == "csv" else column.name
            for column in self.columns
            if form in column.forms
        ]


def table_of(name: str, records: Sequence[Row], leading: Sequence[str] = ()) -> Table:
    """A table of *records*, which may lack fields: a column a field, those of *leading* before all others."""
    names = list(dict.fromkeys([*leading, *(name for record in records for name in record)]))
    return Table(
        name,
        [Column(name) for name in names],
        [[record.get(name) for name in names] for record in records],
        forms="data",
    )


@attrs.frozen
class CodeText:
    """Code in a sentence."""

    text: str

    def __str__(self) -> str:
        return self.text


@attrs.frozen(init=False)
class Words:
    """A sentence with code in it.

    >>> str(Words("Try it with ", CodeText("--set"), "."))
    'Try it with --set.'
    """

    parts: tuple[Part, ...]

    def __init__(self, *parts: Part) -> None:
        object.__setattr__(self, "parts", parts)

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


Part: TypeAlias = "str | CodeText | Words"


# --- what sections are made of ------------------------------------------------------------------------------


@attrs.frozen
class Paragraph:
    """A sentence or several; in text an empty one is an empty line."""

    text: Part
    forms: Sequence[str] = attrs.field(default="text", converter=forms_of)
    hanging: str = "  "
    """The beginning of its further lines."""
    wraps: bool = True
    """Whether it is broken where it is too long."""
    look: str = ""
    """The look on a page: ``soft`` for explanations, ``note`` for what must not be missed."""


def on_page(*texts: Part, look: str = "soft") -> list[Paragraph]:
    """A paragraph of a page for each of *texts* that is not empty."""
    return [Paragraph(text, "page", look=look) for text in texts if str(text)]


@attrs.frozen(kw_only=True)
class BulletList:
    """Sentences as a list; pages alone have them."""

    items: Sequence[Part]
    title: str = ""
    start: int | None = None
    """The number of the first; None: they have none."""
    folded: bool = False
    """Whether they only show on a click."""


@attrs.frozen
class Verbatim:
    """A text as it is, such as a file, with its fingerprint; pages alone have it."""

    title: str
    text: str


@attrs.frozen
class Share:
    """A count of one whole, with its *meaning* among :data:`MEANINGS`, or a colour."""

    name: str
    count: int
    meaning: str = "same"

    @property
    def colour(self) -> str:
        """Its colour on a page."""
        return MEANINGS.get(self.meaning, self.meaning)


@attrs.frozen
class ShareBar:
    """One whole as a bar with its legend; pages alone have it."""

    title: Part
    shares: Sequence[Share]


@attrs.frozen
class PodOutcome:
    """A pod, its change, one of :data:`CHANGES`, and the reason."""

    pod: str
    change: str = attrs.field(validator=attrs.validators.in_(CHANGES))
    why: Part = ""


@attrs.frozen
class PodOutcomes:
    """Pods by name with their outcomes; a page shows the first of them."""

    title: str
    pods: Sequence[PodOutcome]
    rest: str = ""
    """The fragment, after ``#``, of the place on the page that has all of them."""


@attrs.frozen
class NextStep:
    """Something to do next, and the question that does it: its name and words, of the same cluster and
    scheduler."""

    text: Part
    words: Sequence[str] = ()


@attrs.frozen(repr=False)
class MapSide:
    """One state of the nodes of a map; each list has an entry for each node, or none at all."""

    title: str
    uses: Mapping[str, Sequence[float | None]]
    """Resource -> the share of each node's capacity in use; None where the node has none of it."""
    pods: Sequence[Sequence[str]] = ()
    states: Sequence[str] = ()
    """A word on each node, such as ``drained``; empty for nodes without."""
    notes: Sequence[str] = ()
    """A note on each node, such as ``3 copies``."""


@attrs.frozen(repr=False)
class NodeMap:
    """Nodes in one state or more: few as tiles with their pods, many as squares; a notebook has the last
    state."""

    nodes: Sequence[str]
    sides: Sequence[MapSide]
    labels: Mapping[str, Sequence[str]] = attrs.Factory(dict)
    """Label -> its value on each node, empty where it has none: readers choose by which of them nodes are
    grouped."""
    colours: Mapping[str, str] = attrs.field(factory=dict, converter=coloured)
    """State -> the colour of its mark."""
    follows: bool = False
    """Whether each side follows from the one before it. Of two sides, tiles show only the last, with the pods
    that came and left."""
    name: str = "map"
    """Its place in links."""


@attrs.frozen(kw_only=True, repr=False)
class Chart:
    """Columns beside each other, or lines over something that goes on."""

    title: str
    description: str
    """A sentence on what the chart shows, for readers who cannot see it."""
    kind: str = attrs.field(default="columns", validator=attrs.validators.in_(("columns", "lines", "steps")))
    labels: Sequence[Any] = ()
    """The names of the columns, or the numbers that lines are over."""
    series: Mapping[str, Sequence[float | None]]
    across: str = attrs.field(validator=attrs.validators.min_len(1))
    """The name of the labels, with their unit."""
    up: str = attrs.field(validator=attrs.validators.min_len(1))
    """The name of the values, with their unit."""
    percent: bool = False
    """Whether values are shares of 1."""


@attrs.frozen
class RuleScore:
    """A rule's score of a node, before its weight."""

    rule: str
    score: int
    weight: int

    @property
    def points(self) -> int:
        """Its points in the total."""
        return self.score * self.weight


@attrs.frozen(kw_only=True)
class MatrixLine:
    """One node, or several that fare alike."""

    node: Part
    failed: Mapping[str, str] = attrs.Factory(dict)
    """Rule that turned it down -> why."""
    passed: Collection[str] = ()
    """Rules that it passed; it was not asked about the others."""
    state: str = ""
    """In a word or two where it neither fits nor was turned down: ``not reached``."""
    scores: Sequence[RuleScore] = ()
    total: int | None = None
    winner: bool = False


@attrs.frozen
class Matrix:
    """A pod's nodes by rules, the winner first: marks for filtering rules, one bar of all scores."""

    rules: Sequence[str]
    """The filtering rules in running order."""
    lines: Sequence[MatrixLine]
    deciding: str = ""
    """The rule without which another node would have won, or which turned down most; it is marked."""


@attrs.frozen
class Bands:
    """Pods on their way from one column to the next, such as a release."""

    names: Sequence[str]
    colours: Mapping[str, str] = attrs.field(converter=coloured)
    """State -> its colour, in the order from above."""
    counts: Sequence[Mapping[str, int]]
    """State -> pods in it, for each column."""
    flows: Sequence[Mapping[tuple[str, str], int]]
    """(state, next state) -> pods, for each column and the next."""


Item: TypeAlias = "Paragraph | Table | BulletList | Verbatim | ShareBar | PodOutcomes | NextStep | NodeMap | Chart | Matrix | Bands"
"""A part of a section."""


@attrs.frozen
class Section:
    """The parts under one heading of a page; in text they follow each other without an empty line."""

    title: str = ""
    """Empty: on a page it goes on with the section before."""
    parts: Sequence[Item] = ()
    lead: Part = ""
    """A sentence of a page on what the section shows."""
    forms: Sequence[str] = attrs.field(default="all", converter=forms_of)
    name: str = ""
    """Its place in links, by default from the title."""

    @property
    def key(self) -> str:
        """The fragment after ``#`` in a link to it."""
        return self.name or slug(self.title)

    def shown(self, form: str) -> list[Item]:
        """The parts that *form* has, tables with the columns that they have there."""
        parts = [
            part
            for part in self.parts
            if form in self.forms and form in getattr(part, "forms", FORMS["rest"])
        ]
        return [part.of_form(form) if isinstance(part, Table) else part for part in parts]


def block(*parts: Item | str) -> Section:
    """A section of text alone; a plain text is a paragraph."""
    return Section(parts=[Paragraph(part) if isinstance(part, str) else part for part in parts], forms="text")


def tables(*contents: Table) -> list[Section]:
    """A section without a heading for each table."""
    return [Section(parts=[table]) for table in contents]


@attrs.frozen(kw_only=True)
class View:
    """The view of an object. Facts that are None are left out; all texts are escaped.

    >>> "n&lt;1&gt;" in View(title="Pod a/b", facts={"host": "n<1>", "error": None}).html()
    True
    """

    title: str = ""
    verdict: Part = ""
    """The outcome in one sentence."""
    lead: Sequence[Part] = ()
    """Sentences of a page right under the verdict."""
    facts: Mapping[str, object] = attrs.Factory(dict)
    """The outcome in a few words; a page has the numbers among them."""
    shares: Sequence[Share] = ()
    """The outcome as parts of one whole; empty where it is none."""
    who: PodOutcomes | None = None
    """The outcomes of pods by name, on the first sheet of a page."""
    next: Sequence[NextStep] = ()
    """The suggested next steps."""
    sections: Sequence[Section] = ()
    """In the order of text and pages."""
    main: str = ""
    """The table that a notebook shows and that is the default of data; the others open on a click. Empty: the
    first."""

    def html(self) -> str:
        """The whole as one ``div`` with its style, without scripts: for a notebook."""
        return str(import_module("..cli.report.page.document", __package__).view_html(self))

    @property
    def tables(self) -> list[Table]:
        """All tables, in order."""
        return [part for section in self.sections for part in section.parts if isinstance(part, Table)]

    def table(self, name: str) -> Table:
        """The table of that name."""
        return next(table for table in self.tables if table.name == name)

    def tables_of(self, form: str) -> list[Table]:
        """The tables that *form* has, each with the columns that it has there."""
        shown = [part for section in self.sections for part in section.shown(form) if isinstance(part, Table)]
        return sorted(shown, key=lambda table: table.name != self.main) if form == "data" else shown

    def frame(self, name: str | None = None, library: str | None = None, record: Row | None = None) -> Any:
        """A table as a DataFrame: by default the first. The lists of *record* are tables too, and their
        fields columns.

        *library* is ``pandas`` or ``polars``; by default the first of them that is installed. Raises
        :class:`~kubeclassic.exceptions.KubeclassicError` if there is no such table, or none of them is
        installed.
        """
        tables = {
            table.name: (table.records(), [column.name for column in table.columns])
            for table in self.tables_of("data")
        }
        name = next(iter(tables)) if name is None else name
        lists = {} if record is None else rows_of(record)
        if name not in tables and name not in lists:
            raise UnknownNameError(
                f'table: expected {" or ".join(dict.fromkeys([*tables, *lists]))}, got "{name}"'
            )
        rows, columns = tables.get(name, ([{} for _ in lists.get(name, ())], []))
        records = lists.get(name, [])
        key = columns[:1]
        if [[row[c] for c in key] for row in rows] == [[record.get(c) for c in key] for record in records]:
            rows = [{**record, **row} for row, record in zip(rows, records, strict=True)]
            columns = list(dict.fromkeys([*columns, *(key for record in records for key in record)]))
        return make_frame(rows, columns, library)
