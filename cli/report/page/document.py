"""A whole page: one HTML file with its style and scripts inside, which fetches nothing, and with its origin;
and its parts in a notebook."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import attrs
from jinja2 import Environment, FunctionLoader
from markupsafe import Markup

from ....api.view import (
    CHANGES,
    LONGEST,
    MEANINGS,
    MOST_ROWS,
    Amount,
    Chart,
    CodeText,
    Item,
    Matrix,
    NodeMap,
    Paragraph,
    Part,
    RuleScore,
    Section,
    Table,
    View,
    shortened,
)
from ....api.words import count_of, listed, percent, rounded
from ....framework.options import FIELDS, declared_of
from ....framework.releases import ALL_RELEASES, patch_level_in_words
from ..tables import shown
from .clustermap import SHOWN, DrawnMap, drawn_bands, drawn_chart, numbers

# --- the origin of a page -----------------------------------------------------------------------------------


Texts = tuple[str, ...]
SHARED = {
    "--pods": "texts",
    "--order": "text",
    "--set": "texts",
    "--cron-jobs": "flag",
    "--no-defaults": "flag",
    "--kubeconfig": "file",
    "--context": "text",
    "--allow-missing": "texts",
}
"""The options that say what the cluster is, besides those of the scheduler -> what they take."""
_ABSOLUTE = re.compile(r"(?<![^\s=,:'\"(>])/(?:[^/\s=,:'\"<]+/)+[^/\s=,:'\"<]+")


def discreet(text: str) -> str:
    """*text* without the folders of its author: a path below the current folder as it is from there, of
    others the name alone.

    >>> discreet(f"{Path.cwd()}/b.yaml: unknown field"), discreet("zone example.com/zone")
    ('b.yaml: unknown field', 'zone example.com/zone')
    """

    def nearer(match: re.Match[str]) -> str:
        path = Path(match[0])
        if not os.path.isdir(path.parent):  # that of Path raises for a folder that may not be read
            return match[0]
        cwd = Path.cwd()
        return str(path.relative_to(cwd)) if path.is_relative_to(cwd) and path != cwd else path.name

    return _ABSOLUTE.sub(nearer, text)


def _discreet_texts(texts: Iterable[str]) -> Texts:
    return tuple(map(discreet, texts))


@attrs.frozen(kw_only=True, repr=False)
class About:
    """The origin of a page; empty parts are left out. Pages are sent around: no text has a folder of their
    author."""

    inputs: Texts = attrs.field(default=(), converter=_discreet_texts)
    """The paths of the cluster, as they were given."""
    files: Texts = attrs.field(default=(), converter=_discreet_texts)
    """Other paths that were read."""
    counts: str = ""
    """The input in numbers: nodes, pods that run, pods that wait."""
    warnings: Texts = attrs.field(default=(), converter=_discreet_texts)
    unread: Texts = attrs.field(default=(), converter=_discreet_texts)
    """Parts of the input that do not count, in sentences under the outcome."""
    releases: Texts = ()
    rules: tuple[Part, ...] = ()
    """Policies, profiles, gates and other options that choose the rules, as given."""
    version: str = ""
    """The version of kubeclassic."""
    date: datetime | None = None
    """The time when the page was made."""
    command: Texts = attrs.field(default=(), converter=_discreet_texts)
    """The words of the command line that repeats the outcome."""

    def asking(self, question: str, *words: str) -> Texts:
        """The command line that asks another *question* of the same cluster and scheduler.

        >>> about = About(inputs=("c/",), command=("kubeclassic", "simulate", "c/", "--release", "1.27", "--details"))
        >>> " ".join(about.asking("explain", "shop/web-0"))
        'kubeclassic explain c/ shop/web-0 --release 1.27'
        """
        program = (self.command or ("kubeclassic",))[0]
        arguments = [*self.command[2:], ""]
        declared = map(declared_of, FIELDS.values())
        shared = {flag: field.takes for field in declared for flag in field.flags} | SHARED
        kept = []
        for word, following in pairwise(arguments):
            flag, _, value = word.partition("=")
            if flag in shared:
                kept += [word] if value or shared[flag] in ("flag", "no-flag") else [word, following]
        return (program, question, *self.inputs, *words, *kept)

    @property
    def read(self) -> Texts:
        """Everything that was read, each once."""
        return tuple(dict.fromkeys([*self.inputs, *self.files]))

    @property
    def title(self) -> str:
        """The title of the window: the program and its question."""
        return " ".join(self.command[: 3 if "policy" in self.command[1:2] else 2]) or "kubeclassic"

    def short(self) -> list[str]:
        """The origin in a line, for right under the outcome."""
        releases = ""
        if self.releases:
            releases = ("release " if len(self.releases) == 1 else "releases ") + listed(self.releases)
        day = f"{self.date:%Y-%m-%d}" if self.date else ""
        return [part for part in (" ".join(self.read), self.counts, releases, day) if part]

    def lines(self) -> Iterator[tuple[str, str, Sequence[Part]]]:
        """The last part of the page, line by line: a name, ``list``, ``text`` or ``command``, and what stands
        there."""
        if self.read:
            yield "Read", "list", [CodeText(path) for path in self.read]
        if self.releases:
            releases = (
                f"{name} ({patch_level_in_words(name)})" if name in ALL_RELEASES else name
                for name in self.releases
            )
            yield "Release", "list", list(releases)
        if self.rules:
            yield "Rules", "list", [discreet(rule) if isinstance(rule, str) else rule for rule in self.rules]
        yield "Warnings", "list" if self.warnings else "text", self.warnings or ["none"]
        if self.date is not None:
            yield (
                "Made",
                "text",
                [
                    f"{self.date:%Y-%m-%d %H:%M} UTC"
                    + (f" by kubeclassic {self.version}" if self.version else "")
                ],
            )
        if self.command:
            yield "Repeat it with", "command", [shlex.join(self.command)]


def made_at(environment: Mapping[str, str] | None = None) -> datetime:
    """Now in UTC, or what ``SOURCE_DATE_EPOCH`` says."""
    epoch = (os.environ if environment is None else environment).get("SOURCE_DATE_EPOCH", "")
    is_time = epoch.isascii() and epoch.isdecimal() and len(epoch) <= 11  # up to the year 5138
    return datetime.fromtimestamp(int(epoch), UTC) if is_time else datetime.now(UTC)


# --- lists --------------------------------------------------------------------------------------------------


FIRST = 50
"""The number of rows in the HTML."""


# Long lists: sorted, searched, filtered, saved as CSV, with details of a row on demand; thousands of rows
# stay quick. The first rows stand in the HTML; all rows are data in the page, of which ``assets/tables.js``
# shows what is looked at.


def list_data(table: Table) -> dict[str, Any]:
    """The data of the script: columns with all values, and details."""
    columns = []
    for at, column in enumerate(table.columns):
        # Texts that come again and again stand once each, by number.
        values = [row[at] for row in table.rows]
        packed = {"values": values}
        places = dict[str | None, int]()
        if all(value is None or isinstance(value, str) for value in values):
            numbers = [places.setdefault(value, len(places)) for value in values]
            packed = {"texts": list(places), "values": numbers} if 2 * len(places) < len(values) else packed
        colours = {"colours": dict(column.colours)} if column.colours else {}
        kind = "name" if column.kind == "host" else column.kind
        columns.append(
            {
                "title": column.title,
                "key": column.key,
                "kind": kind,
                "filter": column.filter,
                **colours,
                **packed,
            }
        )
    data = {
        "noun": table.noun,
        "several": table.plural,
        "count": len(table.rows),
        "columns": columns,
        "sort": table.sort,
    }
    if table.details is None:
        return data
    return {**data, "shows": table.shows, "details": list(table.details), "shared": table.shared}


def written(value: Any, kind: str) -> str:
    """A value as the table shows it; ``assets/format.js`` writes the same.

    >>> written(0.125, "share"), written(1500, "cores"), written(Amount("memory", None), "amount")
    ('12.5 %', '1.5', '-')
    """
    if isinstance(value, Amount):
        return "-" if value.number is None else str(rounded(value.resource, value.number))
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    match kind, value:
        case _, bool():
            return "yes" if value else "no"
        case "share", _:
            return str(percent(value))
        case "cores" | "bytes", int():
            return str(rounded("cpu" if kind == "cores" else "memory", value))
        case "decimal", float():
            return f"{value:,.3f}"
        case "seconds", _:
            return f"{value:,.1f} s"
        case _, int():
            return f"{value:,}"
    return shown(value)


POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'; img-src data:"
"""The browser enforces it: of scripts it runs the page's own alone, known by its hash."""
STYLES = ("base", "parts", "tables", "pictures", "tiles", "print")
"""The style sheets of every page."""
SCRIPTS = {
    "table": ("format", "tables"),
    "map": ("format", "nodetiles", "clustermap"),
    "aligned": ("format", "aligned"),
}
"""The kind of part, as its ``data-part`` says -> the scripts that it needs, in order."""
_PART = re.compile(r' data-part="([a-z]+)"')
NAMED = 16
"""The most pods that are named; the others are counted."""
MOST_LINES = 200
"""The most lines of a matrix; a line may stand for many nodes."""
PACKED = 1 << 16
"""Data longer than this many characters is packed."""
WHOLE = 36
SHORT = 14
"""The longest name, and the longest text of several words, that a table never breaks."""


@attrs.frozen(repr=False)
class PageSection:
    """The parts under one heading of a page."""

    title: str
    key: str
    lead: Any
    parts: list[Item]

    def groups(self) -> Iterator[tuple[str, list[Item]]]:
        """Parts of one kind that follow each other: charts stand side by side."""
        return (
            (kind, list(members))
            for kind, members in groupby(self.parts, key=lambda part: type(part).__name__)
        )


def page_html(view: View, about: About) -> str:
    """*view* as an HTML file; *about*: its origin."""
    sections = page_sections(view.sections)
    counts = {
        name: value
        for name, value in view.facts.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    share_names = {share.name for share in view.shares}
    body = (
        environment()
        .get_template("page.html")
        .render(
            view=view,
            about=about,
            sections=sections,
            title=about.title,
            numbers={name: counts[name] for name in counts if name not in share_names},
        )
    )
    scripts = dict.fromkeys(script for part in _PART.findall(body) for script in SCRIPTS.get(part, ()))
    script = "\n" + "".join(asset(f"{name}.js") for name in ("page", *scripts))
    policy = POLICY.format(script=b64encode(hashlib.sha256(script.encode()).digest()).decode())
    return f"""<!DOCTYPE html>
<html lang="en"><head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{Markup.escape(about.title)}</title>
<style>
{style()}</style>
</head><body>
{body}
<script>{script}</script>
</body></html>
"""


def page_sections(sections: Sequence[Section]) -> list[PageSection]:
    """The sections of a page that have anything to show; one without a heading goes on with the one
    before."""
    titled = []
    for section in sections:
        if section.title:
            titled.append(PageSection(section.title, section.key, section.lead, []))
        for part in section.shown("page") if titled else ():
            if part.rows if isinstance(part, Table) else not isinstance(part, Paragraph) or str(part.text):
                titled[-1].parts.append(part)
    return [section for section in titled if section.parts]


def style() -> str:
    """The style of all pages."""
    return "".join(asset(f"{name}.css") for name in STYLES)


def asset(name: str) -> str:
    """A file of ``assets``."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


# --- for the templates --------------------------------------------------------------------------------------


@cache
def environment() -> Environment:
    """The templates of ``assets``, which escape every text."""
    templates = Environment(
        loader=FunctionLoader(asset), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters.update(
        kind=lambda value: type(value).__name__,
        is_whole=lambda text: len(text) <= (SHORT if " " in text else WHOLE),
        zip=zip,
        number=lambda value: f"{value:,}",
        count_of=count_of,
        listed=lambda value: [value] if isinstance(value, str) else value,
        written=written,
        list_data=list_data,
        data=data_script,
        change=lambda name: (CHANGES[name][0], MEANINGS[CHANGES[name][1]]),
        shell=shlex.join,
        discreet=discreet,
        digest=lambda text: hashlib.sha256(text.encode()).hexdigest(),
        drawn_map=DrawnMap,
        drawn_chart=drawn_chart,
        chart_rows=numbers,
        drawn_bands=drawn_bands,
        scoring=scoring,
        weighed=weighed,
        most_points=lambda matrix: (
            max((sum(max(score.points, 0) for score in line.scores) for line in matrix.lines), default=0) or 1
        ),
    )
    templates.globals.update(first_rows=FIRST, named_pods=NAMED, tile_pods=SHOWN, matrix_lines=MOST_LINES)
    return templates


def scoring(matrix: Matrix) -> list[str]:
    """The scoring rules that any line has."""
    return list(dict.fromkeys(score.rule for line in matrix.lines for score in line.scores))


def weighed(score: RuleScore) -> str:
    """A score in words.

    >>> weighed(RuleScore("ImageLocality", 5, 2))
    'ImageLocality 5 x 2 = 10'
    """
    return f"{score.rule} {score.score:,}" + (
        "" if score.weight == 1 else f" x {score.weight:,} = {score.points:,}"
    )


def data_script(data: Any, name: str) -> Markup:
    """*data* as JSON in the page, under the id of the part *name*; no text in it can end the script.

    What is long is packed, so that pages stay small: ``{"packed": TEXT}``, the JSON as zlib packs it, in
    base64.
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    if len(text) > PACKED:
        text = json.dumps(
            {"packed": b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode("ascii")}
        )
    inside = Markup(text.replace("<", "\\u003c"))
    return Markup('<script type="application/json" id="{}-data">{}</script>').format(name, inside)


# --- notebooks ----------------------------------------------------------------------------------------------


NOTEBOOK_STYLES = ("base", "parts", "pictures", "notebook")
MOST_SQUARES = 2_000
"""A map of more nodes would make a notebook's file large."""
MOST_POINTS = 200
"""The most points of a line."""
MOST_CELLS = 400
"""The most cells of a table."""
LONG_FACT = 24
"""A fact with a longer text is a line of its own."""


def view_html(view: View) -> str:
    """*view* for a cell of a notebook: a ``div`` with its own style, light or dark as the notebook is."""
    facts = {
        name: _plain(value, 10 * LONG_FACT)
        for name, value in view.facts.items()
        if value is not None and value != ""
    }
    short = {name: value for name, value in facts.items() if len(str(value)) <= LONG_FACT}
    return (
        environment()
        .get_template("notebook.html")
        .render(
            view=view,
            style=_style(),
            short=short,
            long={name: value for name, value in facts.items() if name not in short},
            pictures=list(_pictures(view)),
            tables=[_first_rows(table) for table in view.tables_of("data") if table.rows],
            most_squares=MOST_SQUARES,
        )
    )


@cache
def _style() -> Markup:
    """The style of pages, which here holds for the inside of the ``div`` alone."""
    text = "".join(map(asset, (f"{name}.css" for name in NOTEBOOK_STYLES)))
    return Markup(".kubeclassic {\n" + text.replace(":root {", "& {", 1) + "}\n")


def _pictures(view: View) -> Iterator[NodeMap | Chart]:
    """The last state of a map as squares, and charts of as many points as the eye can separate."""
    for part in (part for section in view.sections for part in section.shown("data")):
        if isinstance(part, NodeMap) and part.sides:
            yield attrs.evolve(
                part, sides=[attrs.evolve(part.sides[-1], title="", pods=(), states=(), notes=())], colours={}
            )
        elif isinstance(part, Chart):
            count = len(part.labels)
            most = min(count, MOST_POINTS)
            places = sorted({round(at * (count - 1) / max(most - 1, 1)) for at in range(most)})
            series = {name: [values[at] for at in places] for name, values in part.series.items()}
            yield attrs.evolve(part, labels=[part.labels[at] for at in places], series=series)


def _first_rows(table: Table) -> tuple[Table, int]:
    """The first rows of a table, and how many more there are."""
    most = min(MOST_ROWS, max(MOST_CELLS // max(len(table.columns), 1), 1))
    rows = [[_plain(value, LONGEST) for value in row] for row in table.rows[:most]]
    columns = []
    for at, column in enumerate(table.columns):
        # A column of numbers without a kind of its own is aligned at its right, too.
        values = [row[at] for row in rows if row[at] is not None]
        numbers = values and all(
            isinstance(value, int | float) and not isinstance(value, bool) for value in values
        )
        kind = column.kind if column.is_number else "count" if numbers else "text"
        columns.append(attrs.evolve(column, title=column.name, kind=kind))
    return attrs.evolve(table, columns=columns, rows=rows), len(table.rows) - len(rows)


def _plain(value: object, longest: int) -> object:
    """Numbers and what has a unit as they are, all else as a short text."""
    if value is None or isinstance(value, bool | int | float | Amount):
        return value
    return shortened(
        ", ".join(map(str, value))
        if isinstance(value, Sequence) and not isinstance(value, str)
        else str(value),
        longest,
    )
