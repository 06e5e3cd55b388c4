"""Random clusters in which a pod finds no room: pods of several priorities, sizes and start times, budgets,
nominations, taints."""

from itertools import chain

import attrs
from hypothesis import strategies as st

from kubeclassic.core.run import EventFeed
from kubeclassic.framework.cycle.feasible import run_pre_filter
from kubeclassic.framework.releases import find_any_release
from kubeclassic.simulation.conform import build
from tests.support.build import node, obj, pod
from tests.support.frameworkbuild import document

STARTS = (
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:10:00Z",
    "2026-01-02T00:00:00Z",
    None,
    "2026-01-01T01:00:00+01:00",
)
SIZES = [
    {},
    {"cpu": "500m"},
    {"cpu": "1", "memory": "1Gi"},
    {"memory": "3Gi"},
    {"example.com/gpu": "1"},
    {"cpu": "1", "example.com/gpu": "1"},
]
INCOMING = [{"cpu": "1"}, {"cpu": "3", "memory": "2Gi"}, {"cpu": "2", "example.com/gpu": "1"}, {}]
SELECTORS = [
    {"matchLabels": {"app": "a"}},
    {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
    {},
    None,
    {"matchExpressions": [{"key": "app", "operator": "Nonsense"}]},
]
APPS = ("a", "b", "c", "d")
HOSTNAME = "kubernetes.io/hostname"
NAMES = [f"n{i}" for i in range(4)]
RELEASES = ("1.12", "1.14", "1.15", "1.16", "1.27")


@attrs.frozen
class Crowd:
    """A cluster: nodes, the pods on each in order of arrival, pods nominated to a node, budgets, and a pod
    that finds no room."""

    nodes: list
    pods: dict
    nominated: list
    budgets: list
    incoming: object

    def engine(self, release, profile=None, **options):
        """A scheduler fed with the cluster, in 1.27 with a *profile*. *options*: fields of the engine."""
        gates = {"EvenPodsSpread": True} if "EvenPodsSpread" in find_any_release(release).gates else {}
        config = {
            "percentageOfNodesToScore": 100,
            "profile": None if profile is None else document(profile),
            "featureGates": gates,
        }
        made = build({"name": "crowd", "version": release, "config": config}, options)
        feed = EventFeed(made)
        for item in (*self.nodes, *chain.from_iterable(self.pods.values()), *self.budgets):
            feed.put(item)
        for name, waiting in self.nominated:
            made.nominations.add(waiting, name)
        return made


def begun(made, incoming):
    """A cycle of *made* for *incoming*, after PreFilter if there is one."""
    cycle = made.begin(incoming)
    for profile in made.flow.profiles.values():
        run_pre_filter(cycle, profile)
    return cycle


def _pods(draw, prefix, most, node_name="", *, with_terms=False, **more):
    return [
        pod(
            f"{prefix}{number}",
            on=node_name,
            affinity=draw(_affinities()) if with_terms and draw(st.integers(0, 7)) == 0 else None,
            namespace=draw(st.sampled_from(["default", "default", "other"])),
            requests=draw(st.sampled_from(SIZES)),
            labels=draw(st.sampled_from([{}, {"app": "a"}, {"app": "b"}])),
            priority=draw(st.integers(-1, 3)),
            uid=f"uid-{prefix}{number}",
            status={"startTime": draw(st.sampled_from(STARTS)), **more},
        )
        for number in range(draw(st.integers(0, most)))
    ]


def _nodes(draw):
    taint = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
    return [
        node(
            name,
            cpu="3",
            memory="4Gi",
            pods=draw(st.sampled_from(["3", "6"])),
            labels={HOSTNAME: name, "disk": draw(st.sampled_from(["ssd", "ssd", "hdd"]))},
            allocatable=draw(st.sampled_from([{}, {"example.com/gpu": "2"}])),
            taints=draw(st.sampled_from([[], [], [taint]])),
        )
        for name in NAMES
    ]


def _budgets(draw):
    found = []
    for number in range(draw(st.integers(0, 3))):
        disrupted = draw(st.lists(st.sampled_from([f"{name}-0" for name in NAMES]), max_size=2))
        status = {
            "disruptionsAllowed": draw(st.integers(-1, 2)),
            "disruptedPods": dict.fromkeys(disrupted, STARTS[0]),
        }
        meta = {"name": f"b{number}", "namespace": draw(st.sampled_from(["default", "other"]))}
        spec = {"selector": draw(st.sampled_from(SELECTORS))}
        found.append(obj({"kind": "PodDisruptionBudget", "metadata": meta, "spec": spec, "status": status}))
    return found


def _affinities():
    """Required terms about the pods of an app; some apps have no pods."""
    term = st.builds(
        lambda app, key: {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key},
        st.sampled_from(APPS),
        st.sampled_from([HOSTNAME, "disk"]),
    )
    kinds = st.sampled_from(["podAffinity", "podAntiAffinity", "podAntiAffinity"])
    return st.builds(
        lambda kind, found: {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [found]}}, kinds, term
    )


def _constraints():
    """A hard spread constraint over the pods of an app."""
    return st.builds(
        lambda app, key: {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app}},
        },
        st.sampled_from(APPS),
        st.sampled_from([HOSTNAME, "disk"]),
    )


@st.composite
def crowds(draw, *, with_terms=False):
    """Crowds of four nodes, up to eight pods on each, and up to two pods nominated to each; *with_terms*:
    some pods have affinity terms or spread constraints."""
    pods = {name: _pods(draw, f"{name}-", 8, name, with_terms=with_terms) for name in NAMES}
    waiting = {
        name: _pods(draw, f"w-{name}-", 2, with_terms=with_terms, nominatedNodeName=name) for name in NAMES
    }
    nominated = [(name, one) for name, pods_waiting in waiting.items() for one in pods_waiting]
    spec = {"nodeSelector": draw(st.sampled_from([None, None, {"disk": "ssd"}]))}
    if with_terms:
        spec |= {"labels": {"app": draw(st.sampled_from(APPS))}, "affinity": draw(st.none() | _affinities())}
        spec["topologySpreadConstraints"] = draw(st.lists(_constraints(), max_size=1))
    priority = draw(st.integers(0, 4))
    requests = draw(st.sampled_from(INCOMING))
    incoming = pod("p", requests=requests, priority=priority, uid="uid-p", **spec)
    return Crowd(_nodes(draw), pods, nominated, _budgets(draw), incoming)
