"""A comparison as one page that stands by itself: tables and pictures, nothing to be fetched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from .compare import against_line, cause_table, cause_text, correlation_table, decision_text, difference_table, headline, use_table
from .text import shown

Record = dict[str, Any]
MOST = 200
"""Of so many differences the page shows both tables; all stand in the list."""
COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#4a5568", "#975a16", "#285e61")
STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:72em;margin:2em auto;padding:0 1em;color:#1a202c}"
    "table{border-collapse:collapse;margin:.6em 0 1.4em}th,td{padding:.25em .7em;border-bottom:1px solid #e2e8f0;text-align:left}"
    "th{background:#f7fafc}td.n{text-align:right;font-variant-numeric:tabular-nums}summary{cursor:pointer;padding:.2em 0}"
    "h1{font-size:1.5em}h2{font-size:1.2em;margin-top:1.6em}.pair{display:flex;flex-wrap:wrap;gap:2em}svg text{font-size:12px}"
)


def comparison_html(record: Record) -> str:
    """``Comparison.record()`` as a page."""
    body = "\n".join(_sections(record))
    head = f'<meta charset="utf-8"><title>kubeclassic compare</title><style>{STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _sections(record: Record) -> Iterator[str]:
    yield f"<h1>{escape(headline(record))}</h1>"
    yield _table(["", "configuration", "release"], [[c["name"], c["text"], c["release"]] for c in record["configurations"]])
    yield "<h2>Use, imbalance, fragmentation</h2>"
    yield _bars(record)
    yield _table(*use_table(record))
    for against in record["against"]:
        yield from _against(against)
    if record["differences"]:
        yield from _differences(record)


def _against(against: Record) -> Iterator[str]:
    yield f"<h2>{escape(against_line(against))}</h2>"
    yield _stack(against)
    for title, key in (("Elsewhere", "elsewhere"), *((f"Placed by {against[s]} alone", f"{s}Alone") for s in ("first", "second"))):
        if against[key]:
            rows = [[found["pod"], found["first"], found["second"]] for found in against[key]]
            table = _table(["pod", against["first"], against["second"]], rows)
            yield f"<details><summary>{escape(title)}: {len(rows)}</summary>{table}</details>"
    if against["causes"]:
        yield "<h3>Why</h3>" + _table(*cause_table(against))
    yield "<h3>Scores</h3>" + _table(*correlation_table(against))


def _differences(record: Record) -> Iterator[str]:
    yield "<h2>Decisions that differ</h2>" + _table(*difference_table(record))
    shown_now, count = record["differences"][:MOST], len(record["differences"])
    rest = f" (the first {MOST} of {count})" if count > MOST else ""
    yield f"<h2>Both tables{rest}</h2>"
    for found in shown_now:
        why = "; ".join(cause_text(cause) for cause in found["causes"].values())
        tables = "".join(_decision(name, decision) for name, decision in found["decisions"].items())
        title = f"{found['cycle']} {found['pod']}: {why}"
        yield f'<details><summary>{escape(title)}</summary><div class="pair">{tables}</div></details>'


def _decision(name: str, decision: Record) -> str:
    return f"<div><b>{escape(name)}: {escape(decision_text(decision))}</b>{_nodes(decision)}</div>"


def _nodes(decision: Record) -> str:
    """One side's view of the nodes in question: a column a node."""
    nodes = decision["nodes"]
    rules = list(dict.fromkeys(rule for node in nodes for rule in node["scores"]))
    rows: list[list[object]] = [["state", *(_state(node) for node in nodes)]]
    rows += [[rule, *(_score(node["scores"].get(rule)) for node in nodes)] for rule in rules]
    if rules:
        rows.append(["total", *(node["total"] for node in nodes)])
    return _table(["", *(node["node"] for node in nodes)], rows)


def _state(node: Record) -> str:
    told = "; ".join(node["reasons"])
    return f"{node['state']} by {', '.join(node['rules'])}: {told}" if node["rules"] else ": ".join(filter(None, [node["state"], told]))


def _score(score: Record | None) -> str | None:
    return None if score is None else f"{score['score']} x {score['weight']} = {score['total']}"


def _table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(header)}</th>" for header in headers)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    mark = ' class="n"' if isinstance(value, int | float) else ""
    return f"<td{mark}>{escape(shown(value))}</td>"


# --- pictures -------------------------------------------------------------------------------------------------------


def _bars(record: Record) -> str:
    """The use of each resource, a bar a configuration."""
    bars = [
        (f"{usage['resource']} {c['name']}", usage["use"], COLOURS[at % len(COLOURS)])
        for at, c in enumerate(record["configurations"])
        for usage in c["summary"]["resources"]
    ]
    bars.sort(key=lambda bar: bar[0].rsplit(" ", 1)[0])
    lines = [_bar(20 * at, *bar) for at, bar in enumerate(bars)]
    return f'<svg role="img" aria-label="use" width="720" height="{20 * len(bars) + 4}">{"".join(lines)}</svg>'


def _bar(y: int, label: str, share: float, colour: str) -> str:
    width = round(400 * min(max(share, 0.0), 1.0), 1)
    text = f'<text x="190" y="{y + 14}" text-anchor="end">{escape(label)}</text>'
    value = f'<text x="{204 + width}" y="{y + 14}">{100 * share:.1f} %</text>'
    return f'{text}<rect x="198" y="{y + 3}" width="{width}" height="14" fill="{colour}"/>{value}'


def _stack(against: Record) -> str:
    """The pods as one bar: alike, elsewhere, placed by one alone."""
    names = ("alike", "elsewhere", f"{against['first']} alone", f"{against['second']} alone")
    counts = [against["alike"], *(len(against[key]) for key in ("elsewhere", "firstAlone", "secondAlone"))]
    total, x, found = max(sum(counts), 1), 0.0, []
    for at, (name, count) in enumerate(zip(names, counts, strict=True)):
        width = round(700 * count / total, 1)
        colour = ("#a0aec0", "#dd6b20", COLOURS[0], COLOURS[2])[at]
        found.append(f'<rect x="{x:.1f}" y="2" width="{width}" height="22" fill="{colour}"><title>{escape(name)}: {count}</title></rect>')
        found.append(f'<rect x="{175 * at}" y="32" width="12" height="12" fill="{colour}"/>')
        found.append(f'<text x="{175 * at + 17}" y="43">{escape(name)}: {count}</text>')
        x += width
    return f'<svg role="img" aria-label="pods" width="720" height="50">{"".join(found)}</svg>'
