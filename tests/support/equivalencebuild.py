"""Nodes, pods and queries for tests of the equivalence cache."""

import pytest

from kubeclassic.core.run import Run
from tests.support.build import node, pod

ZONE = "failure-domain.beta.kubernetes.io/zone"
WEB = {"app": "web"}
DISK = [{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]
CLAIM = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]

PLAIN = pod("p", labels=WEB)
ASKING = pod("p", cpu="2")

both_releases = pytest.mark.parametrize("release", ["1.12", "1.13"])


def keeping_away(**labels):
    """Required anti-affinity, by host, to pods with *labels*."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def host(name, **more):
    """A node with the label of its host name."""
    return node(name, labels={"kubernetes.io/hostname": name, **more.pop("labels", {})}, **more)


def place(made, incoming):
    """The host of one cycle, which is carried out; None where there is none."""
    return Run(made).cycle(incoming).host


def why(made, incoming):
    """The host of a cycle for *incoming*, or its error."""
    decision = made.schedule(incoming)
    return decision.host or decision.error or ""


def kept(made, *predicates):
    """Whether any result of each predicate is cached, on any node, for the first equivalence class that was
    seen."""
    found = (made.flow.equivalence.results(predicate).of(0, made.table.size) for predicate in predicates)
    return [rows is not None and bool(rows.any()) for rows in found]
