"""Small clusters for tests: objects from few words, engines from objects, rules called directly."""

import numpy as np

from kubeclassic.algorithmprovider import resolve
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.objects import Pod
from kubeclassic.api.reading.decode import decode
from kubeclassic.core.arrays.batch import Batch, Overlay
from kubeclassic.core.classic import classic_engine
from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.simulate import Scenario
from tests.support import manifests
from tests.support.manifests import dumped, manifest, owned_by, policy_of

__all__ = ["dumped", "manifest", "owned_by", "policy_of"]
"""The helpers of ``manifests`` that are often used beside these."""


def obj(document):
    """An object from its JSON form, taken as it stands: no defaults, odd values kept."""
    made = decode(document, "test", strict=False)
    assert made is not None
    return made


def node(*words, **fields):
    """A node; *words* and *fields*: as in its :func:`manifest <tests.support.manifests.node>`."""
    return obj(manifests.node(*words, **fields))


def pod(*words, **fields):
    """A pod; *words* and *fields*: as in its :func:`manifest <tests.support.manifests.pod>`."""
    return obj(manifests.pod(*words, **fields))


def scenario(*objects):
    """A scenario of *objects* in their order; pods without a node are pending."""
    waiting = tuple(item for item in objects if isinstance(item, Pod) and not item.spec.node_name)
    return Scenario(tuple(item for item in objects if item not in waiting), waiting)


def engine(*objects, release="1.16", gates=None, **options):
    """A scheduler of *release* fed with *objects* in their order; *options* go to ``resolve``."""
    made = classic_engine(resolve(RELEASES[release], gates=gates, **{"percentage": 100, **options}))
    feed = EventFeed(made)
    for item in objects:
        feed.put(item)
    return made


def ask(rule, incoming, *objects, **options):
    """Node -> the reasons of *rule* to reject it (empty: fits), or the text of an error. *options* as for
    :func:`engine`."""
    cycle = engine(*objects, **options).begin(incoming)
    return answers(rule, cycle, Batch(cycle.table))


def answers(rule, cycle, nodes):
    """The answers of :func:`ask` for a batch of an existing cycle."""
    failures = rule.check(cycle.template, nodes, cycle)
    found = {}
    for i in range(nodes.n):
        if nodes.has_node[i]:
            error = error_text(failures, i) if failures is not None else None
            found[nodes.name(i)] = (
                error if error is not None else [r.text for r in (failures.reasons(i) if failures else ())]
            )
    return found


def error_text(failures, i):
    """The error of a predicate for node *i*, or None."""
    code = int(failures.errors_or_zero[i])
    return failures.texts[code - 1] if code else None


def scored(rule, incoming, *objects, reduced=True, **options):
    """Node -> score of *rule* over all nodes in their order, after its reduce step or only after its map
    step."""
    cycle = engine(*objects, **options).begin(incoming)
    nodes = Batch(cycle.table, np.flatnonzero(cycle.table.has_node))
    scores = rule.score(cycle.template, nodes, cycle)
    if reduced and rule.reduce is not None:
        scores = rule.reduce(cycle.template, scores, nodes, cycle)
    return {nodes.name(i): int(score) for i, score in enumerate(scores)}


def overlay(cycle, *names):
    """A what-if copy of the named nodes (all, in the table's order, where none is named)."""
    rows = [cycle.table.row_of[name] for name in names] or np.flatnonzero(cycle.table.has_node).tolist()
    return Overlay.of(cycle.table, np.array(rows, np.intp))
