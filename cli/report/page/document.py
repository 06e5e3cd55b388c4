"""A whole page: one HTML file with its style and scripts inside, which fetches nothing."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

import attrs
from jinja2 import Environment, FunctionLoader
from markupsafe import Markup

from ....api.view import CHANGES, MEANINGS, Amount, Item, Matrix, Paragraph, RuleScore, Section, Table, View
from ....api.words import count_of, percent, rounded
from ..tables import shown
from .about import About, discreet
from .charts import drawn_bands, drawn_chart, numbers
from .clustermap import SHOWN, DrawnMap

FIRST = 50
"""That many rows stand in the HTML."""


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
    found = {
        "noun": table.noun,
        "several": table.plural,
        "count": len(table.rows),
        "columns": columns,
        "sort": table.sort,
    }
    if table.details is None:
        return found
    return {**found, "shows": table.shows, "details": list(table.details), "shared": table.shared}


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
"""Of every page."""
SCRIPTS = {
    "table": ("format", "tables"),
    "map": ("format", "nodetiles", "clustermap"),
    "aligned": ("format", "aligned"),
}
"""The kind of part, as its ``data-part`` says -> the scripts that it needs, in order."""
_PART = re.compile(r' data-part="([a-z]+)"')
NAMED = 16
"""That many pods are named; the others are counted."""
MOST_LINES = 200
"""Of a matrix; a line may stand for many nodes."""
PACKED = 1 << 16
"""Data longer than this many characters is packed."""
WHOLE = 36
SHORT = 14
"""A name of at most that many characters is never broken in a table, nor are several words of the second
length."""


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
    """*view* as an HTML file; *about*: of what it speaks."""
    sections = page_sections(view.sections)
    counts = {
        name: value
        for name, value in view.facts.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    told = {share.name for share in view.shares}
    body = (
        environment()
        .get_template("page.html")
        .render(
            view=view,
            about=about,
            sections=sections,
            title=about.title,
            numbers={name: counts[name] for name in counts if name not in told},
        )
    )
    wanted = dict.fromkeys(script for part in _PART.findall(body) for script in SCRIPTS.get(part, ()))
    script = "\n" + "".join(asset(f"{name}.js") for name in ("page", *wanted))
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
    """The sections of a page that have anything to show; one without a heading goes on with the one before."""
    found = []
    for section in sections:
        if section.title:
            found.append(PageSection(section.title, section.key, section.lead, []))
        for part in section.shown("page") if found else ():
            if part.rows if isinstance(part, Table) else not isinstance(part, Paragraph) or str(part.text):
                found[-1].parts.append(part)
    return [section for section in found if section.parts]


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
    made = Environment(loader=FunctionLoader(asset), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters.update(
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
        most_points=lambda found: (
            max((sum(max(one.points, 0) for one in line.scores) for line in found.lines), default=0) or 1
        ),
    )
    made.globals.update(first_rows=FIRST, named_pods=NAMED, tile_pods=SHOWN, matrix_lines=MOST_LINES)
    return made


def scoring(found: Matrix) -> list[str]:
    """The scoring rules that any line has."""
    return list(dict.fromkeys(score.rule for line in found.lines for score in line.scores))


def weighed(one: RuleScore) -> str:
    """A score in words.

    >>> weighed(RuleScore("ImageLocality", 5, 2))
    'ImageLocality 5 x 2 = 10'
    """
    return f"{one.rule} {one.score:,}" + ("" if one.weight == 1 else f" x {one.weight:,} = {one.points:,}")


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
