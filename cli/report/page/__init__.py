"""The parts that all pages are made of: one design, one file that needs no other.

A page is made from the same record as ``-o json``, so that both say the same.

>>> from kubeclassic.api.view import Column, Table
>>> from kubeclassic.cli.report.page.about import About
>>> from kubeclassic.cli.report.page.document import Page, page_html
>>> from kubeclassic.cli.report.page.markup import number, sentence
>>> from kubeclassic.cli.report.page.parts import GOOD, StackItem, card, fact, facts, section, stack
>>> from kubeclassic.cli.report.page.tables import list_html
>>> record = {"summary": {"placed": 9, "unschedulable": 1}, "pods": [{"pod": "default/a", "host": "n1"}]}
>>> placed, waiting = (number(record["summary"][key]) for key in ("placed", "unschedulable"))
>>> about = About(inputs=("cluster/",), releases=("1.16",), command=("kubeclassic", "simulate", "cluster/"))
>>> pods = Table("pods", (Column("pod", "name"), Column("node", "name")), [[p["pod"], p["host"]] for p in record["pods"]], noun="pod")
>>> page = Page(
...     title="simulate: cluster/",
...     verdict=sentence(placed, " pods get a node, ", waiting, " does not."),
...     about=about,
...     sections=(
...         section("Pods", facts(fact(placed, "placed"), fact(waiting, "without a node")), list_html(pods)),
...         section("In one bar", card("Where pods end", stack("pods", [StackItem("placed", 9, GOOD)]))),
...     ),
... )
>>> html = page_html(page)

What there is:

* ``markup``: text to HTML. ``named``, ``number``, ``share``, ``sentence``.
* ``parts``: ``section``, ``facts``, ``card``, ``grid``, ``stack``, ``track``, ``tag``, ``note``, ``folded``, ``plain_table``.
* ``tables``: long lists, with search, filters, CSV and details of a row.
* ``outcome``: who fares how, by name, and what to do next.
* ``clustermap``: nodes, few as tiles with their pods, many as squares.
* ``charts``: columns and lines.
* ``matrix``: nodes by rules.
* ``about``: of what the page speaks; ``document``: the whole.

A part says with ``data-part`` which script of ``assets`` it needs, and the page takes in just those.
"""
