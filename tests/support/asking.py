"""Plugins called directly: one plugin, one cycle, all nodes or a trial of some."""

import numpy as np

from kubeclassic.algorithmprovider.gates import resolved_gates
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.plugin import Handle, Status
from kubeclassic.framework.releases import FRAMEWORK_RELEASES


def handle(release="1.27", /, **gates):
    """The handle for a plugin of *release*; *gates*: feature gates that differ from the defaults."""
    found = FRAMEWORK_RELEASES[release]
    return Handle(gates=resolved_gates(found, gates), cells=found.framework)


def cycle_of(new, *objects, release="1.27"):
    """A cycle of *release* for *new* in a cluster of *objects*."""
    engine = framework_engine(read_configuration(release=FRAMEWORK_RELEASES[release]))
    feed = EventFeed(engine)
    for item in objects:
        feed.put(item)
    return engine.begin(new)


def found_by(plugin, cycle, nodes):
    """Node -> the plugin's reasons to reject it, joined; None where it fits."""
    failures = plugin.filter(cycle.template, nodes, cycle)
    reasons = {
        nodes.name(i): failures.reasons(i) if failures is not None else ()
        for i in range(nodes.n)
        if nodes.has_node[i]
    }
    return {name: " ".join(reason.text for reason in given) or None for name, given in reasons.items()}


def refusals(plugin, new, *objects):
    """The reasons of :func:`found_by` for all nodes of a cluster of *objects*; PreFilter must let the pod
    through."""
    cycle = cycle_of(new, *objects)
    status = plugin.pre_filter(cycle.template, cycle)
    assert not isinstance(status, Status), status
    return found_by(plugin, cycle, Batch(cycle.table))


def scores(plugin, new, *objects, raw=False):
    """Node -> score, raw or normalised, over all nodes, as if no plugin ever skipped."""
    cycle = cycle_of(new, *objects)
    batch = Batch(cycle.table, np.flatnonzero(cycle.table.has_node))
    status = plugin.pre_score(cycle.template, batch, cycle)
    assert status is None or status.is_skip, status
    found = plugin.score(cycle.template, batch, cycle)
    if not raw:
        found = plugin.normalize_score(cycle.template, found, batch, cycle)
    return {batch.name(i): int(score) for i, score in enumerate(found)}
