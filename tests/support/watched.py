"""Stand-ins for a rule's arguments, which record what the rule reads without declaring it in ``reads``."""

from types import SimpleNamespace

import attrs
import numpy as np

from kubeclassic.core.arrays.batch import Batch, Overlay
from kubeclassic.core.arrays.columns import Derived
from kubeclassic.core.cycle import Reads
from kubeclassic.core.pods.template import CycleState

FREE = Reads(0)
WIDE = Reads.DOMAIN | Reads.CLUSTER
COUNTED = Reads.COUNTS | WIDE


@attrs.define
class Watch:
    """The reads that a rule declares, and its reads beyond them."""

    declared: Reads
    undeclared: list = attrs.field(factory=list)


class Watched:
    """A stand-in for *real*: each attribute needs one of its flags in *needs* to be declared."""

    def __init__(self, real, watch, needs, wraps=None):
        self._real = real
        self._watch = watch
        self._needs = needs
        self._wraps = wraps or {}

    def __getattr__(self, name):
        self._require(name)
        found = getattr(self._real, name)
        wrap = self._wraps.get(name)
        return found if wrap is None else wrap(found)

    def _require(self, name):
        what = f"{type(self._real).__name__}.{name}"
        needed = self._needs.get(name)
        if needed is None:
            self._watch.undeclared.append(f"{what} is not known to need any declaration")
        elif needed and not needed & self._watch.declared:
            self._watch.undeclared.append(f"{what} needs one of {needed}, declared: {self._watch.declared}")


def _needing(**names):
    """Attribute -> flags, from names of flags with their attributes."""
    return {name: flags for written, flags in _WRITTEN.items() for name in names.get(written, "").split()}


_WRITTEN = {
    "free": FREE,
    "node": Reads.NODE,
    "requests": Reads.REQUESTS,
    "ports": Reads.PORTS,
    "pods": Reads.PODS,
    "counts": Reads.COUNTS,
    "volumes": Reads.VOLUMES,
    "domain": Reads.DOMAIN,
    "cluster": Reads.CLUSTER,
    "wide": WIDE,
    "listings": Reads.LISTINGS,
    "effects": Reads.EFFECTS,
    "counted": COUNTED,
}

TABLE = _needing(
    free="size resources places zone_key",
    node="row_of rows_of repeats names nodes limits allocatable max_pods has_node used labels taints conditions pressures "
    "unschedulable zone avoid attachable images recounted deleted_rows has_nodeless has_huge node_derived changed",
    requests="sums",
    ports="ports",
    pods="pods volumes",
    effects="transient has_transient",
    cluster="row_count",
    counted="census",
)
CENSUS = _needing(free="labels watch", counted="counter", domain="terms_about terms", wide="counters")
COUNTER = _needing(free="query of", counted="rows", wide="total revision", domain="domains by tracked")
LISTINGS = _needing(
    free="volumes claims classes csi_nodes csi_drivers csi_capacities attachments services controllers replica_sets stateful_sets "
    "namespaces",
    volumes="volumes_version volume_tick",
    listings="owner_tick",
)
VOLUME_LISTINGS = (
    "volumes",
    "claims",
    "classes",
    "csi_nodes",
    "csi_drivers",
    "csi_capacities",
    "attachments",
)
CACHE = _needing(free="node_count", node="node", cluster="infos")
CYCLE = _needing(
    free="pod template algorithm release enabled notes has_metadata answers details templates table listings binder cache as_described",
    cluster="listed",
)


class WatchedListing(Watched):
    """A listing that may be read only with one flag."""

    def __init__(self, real, watch, flag):
        names = ("version", "get", "within", "groups", "put", "drop")
        super().__init__(real, watch, dict.fromkeys((*names, "__len__", "__iter__"), flag))

    def __len__(self):
        self._require("__len__")
        return len(self._real)

    def __iter__(self):
        self._require("__iter__")
        return iter(self._real)


class WatchedCycle(Watched):
    """A cycle; ``asked_pod``: whether the rule read the pod itself, which no key covers."""

    asked_pod = False

    def __getattr__(self, name):
        if name == "pod":
            self.asked_pod = True
        return super().__getattr__(name)


def watched_cycle(cycle, watch, table):
    """A stand-in for *cycle*, with its own notes."""
    kinds = {name: _listing(watch, name) for name in LISTINGS if not name.endswith(("version", "tick"))}
    listings = Watched(cycle.listings, watch, LISTINGS, kinds)
    binder = Watched(
        cycle.binder,
        watch,
        dict.fromkeys(("enabled",), FREE) | dict.fromkeys(("find", "needs", "version"), Reads.VOLUMES),
    )
    parts = {
        "table": table,
        "listings": listings,
        "binder": binder,
        "cache": Watched(cycle.cache, watch, CACHE),
        "notes": CycleState(),
    }
    return WatchedCycle(cycle, watch, CYCLE, {name: _always(part) for name, part in parts.items()})


def watched_table(cycle, watch):
    """A stand-in for the table of *cycle*."""

    def counter(real):
        return Watched(real, watch, COUNTER)

    def census(real):
        def asked(query):
            return counter(real.counter(query))

        def terms(*about):
            return [(carrier, counter(found)) for carrier, found in real.terms_about(*about)]

        return Watched(real, watch, CENSUS, {"counter": lambda _: asked, "terms_about": lambda _: terms})

    nothing_derived = SimpleNamespace(derived=Derived())
    return Watched(
        cycle.table,
        watch,
        TABLE,
        {
            "census": census,
            "node_derived": _always(lambda key, make: make()),
            "changed": _always(nothing_derived),
        },
    )


def watched_batch(table, rows):
    """A batch of *rows* (None: all) of a watched table."""
    return Batch(table, None if rows is None else np.array(list(rows), np.intp))  # type: ignore[arg-type]  # it stands in for a table


def watched_overlay(table, rows, cycle):
    """An overlay of *rows*, made from the real table and watched from then on; unedited, as no answer about
    edited rows is cached."""
    made = Overlay.of(cycle.table, np.array(list(rows), np.intp), cycle.pod)
    made.table = table  # type: ignore[assignment]  # as above
    return made


def _always(part):
    return lambda real: part


def _listing(watch, name):
    flag = Reads.VOLUMES if name in VOLUME_LISTINGS else Reads.LISTINGS
    return lambda real: WatchedListing(real, watch, flag)
