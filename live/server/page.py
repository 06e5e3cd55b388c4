"""An explanation as a small page that needs no other files; all names from the cluster are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from ...simulation.explain import Explanation, NodeReport, NodeScore, NodeShortage

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The browser enforces it."""
STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #1c1c28; background: #fff; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid #ddd; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
@media (prefers-color-scheme: dark) { body { color: #e6e6ec; background: #16161d; } th, td { border-color: #3a3a46; } }
"""


def explanation_page(explanation: Explanation, behind: int = 0) -> str:
    """The decision, a table of the nodes that fit, and one of those that do not.

    *behind*: for how many seconds the API server could not be followed.
    """
    decision = explanation.decision
    title = f"{decision.pod.key}: {decision.host or 'no node'}"
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
    ]
    old = [f"<p>The API server has not answered for {behind} s: this is the cluster as it was then.</p>"] if behind else []
    body = [f"<h1>{escape(title)}</h1>", *old, *_parts(explanation)]
    lines = ["<!DOCTYPE html>", '<html lang="en"><head>', *head, "</head><body><main>", *body, "</main></body></html>"]
    return "\n".join(lines) + "\n"


def _parts(explanation: Explanation) -> Iterator[str]:
    decision = explanation.decision
    if decision.error:
        yield f"<p>{escape(decision.error)}</p>"
    plan = decision.preemption
    if plan is not None and plan.node is not None:
        victims = ", ".join(victim.key for victim in plan.victims) or "no pod"
        yield f"<p>It would preempt on {escape(plan.node)}: {escape(victims)}.</p>"
    scored = [node for node in explanation.nodes if node.scores]
    if scored:
        yield "<h2>Nodes that fit</h2>"
        yield _score_table(scored, "plugin" if explanation.by_plugins else "priority")
    others = [node for node in explanation.nodes if not node.scores]
    if others:
        yield "<h2>Other nodes</h2>" if scored else "<h2>Nodes</h2>"
        yield _reason_table(others, "plugin" if explanation.by_plugins else "predicate")


def _score_table(nodes: Sequence[NodeReport], rule: str) -> str:
    names = list(nodes[0].scores)
    rows = ([node.name, str(node.total), *(_score(node.scores[name]) for name in names)] for node in nodes)
    table = _table(["node", "total", *names], rows, numbers=range(1, len(names) + 2))
    return f"{table}\n<p>Each {rule}: its score x its weight. A node's total is their sum.</p>"


def _score(score: NodeScore) -> str:
    return f"{score.reduced} x {score.weight}"


def _reason_table(nodes: Sequence[NodeReport], rule: str) -> str:
    rows = ([node.name, ", ".join(node.rules), _reasons(node), "; ".join(map(_short, node.shortages))] for node in nodes)
    return _table(["node", rule, "reasons", "short of"], rows)


def _reasons(node: NodeReport) -> str:
    if node.fits:
        return "fits" if node.visited else "fits, but the search found enough nodes before it reached this one"
    return "; ".join(node.reasons)


def _short(short: NodeShortage) -> str:
    return f"{short.missing} of {short.resource} (asks {short.asked}, free {short.free})"


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table of texts; the columns *numbers* are aligned at their right."""
    marks = [' class="n"' if at in numbers else "" for at in range(len(headers))]
    head = "".join(f"<th{mark}>{escape(header)}</th>" for mark, header in zip(marks, headers, strict=True))
    lines = ("".join(f"<td{mark}>{escape(cell)}</td>" for mark, cell in zip(marks, row, strict=True)) for row in rows)
    inside = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{inside}\n</tbody></table></div>'
