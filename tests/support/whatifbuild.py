"""Small clusters as manifests, with one pod in question, and plain trials of them, for tests of what-if."""

import copy

from hypothesis import strategies as st

import kubeclassic
from kubeclassic import Cluster, Scheduler
from tests.support import manifests
from tests.support.keywords import keywords_of

HOSTNAME = "kubernetes.io/hostname"
ASKED = "default/asked"
TAINTS = (("dedicated", "db", "NoSchedule"), ("broken", "", "NoExecute"), ("spot", "yes", "NoSchedule"))


def node(name, cpu=1000, memory=4, labels=None, **more):
    """A node with *cpu* millicores and *memory* GiB."""
    labels = {HOSTNAME: name, **(labels or {})}
    return manifests.node(name, f"{cpu}m", f"{memory}Gi", "10", labels=labels, **more)


def pod(name, cpu=0, memory=0, labels=None, port=0, **spec):
    """A pod with *cpu* millicores and *memory* GiB, perhaps with a host port."""
    found = manifests.pod(name, f"{cpu}m", requests={"memory": f"{memory}Gi"}, labels=labels, **spec)
    if port:
        found["spec"]["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port}]
    return found


def apart(app):
    """A required anti-affinity to pods of *app* on a node."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOSTNAME}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def taint(which):
    """A taint in a manifest's form."""
    key, value, effect = which
    return {"key": key, "effect": effect, **({"value": value} if value else {})}


# --- drawn --------------------------------------------------------------------------------------------------

_amounts = st.tuples(st.integers(0, 12).map(lambda number: number * 100), st.integers(0, 5))
_apps = st.sampled_from(["a", "b"])


@st.composite
def clusters(draw):
    """Clusters of two to four nodes, up to five pods on them, and at the end the pod in question."""
    names = [f"n{number}" for number in range(draw(st.integers(2, 4)))]
    items = [_node(draw, name) for name in names]
    hosts = [draw(st.sampled_from(names)) for _ in range(draw(st.integers(0, 5)))]
    # A kubelet rejects a second pod whose host port is taken.
    items += [
        _bound(draw, f"p{number}", host, is_first=host not in hosts[:number])
        for number, host in enumerate(hosts)
    ]
    cpu, memory = draw(_amounts)
    spec = {}
    if draw(st.integers(0, 3)) == 0:
        spec["nodeSelector"] = {"disk": "ssd", **({"pool": "x"} if draw(st.booleans()) else {})}
    if draw(st.integers(0, 3)) == 0:
        spec["affinity"] = apart(draw(_apps))
    if draw(st.booleans()):
        spec["tolerations"] = [{"key": "spot", "operator": "Exists"}]
    port = draw(st.sampled_from([0, 0, 80]))
    return [
        *items,
        pod(
            "asked",
            cpu + 300,
            memory,
            {"app": draw(_apps)},
            port,
            priority=draw(st.sampled_from([0, 5])),
            **spec,
        ),
    ]


def _node(draw, name):
    labels = draw(st.sampled_from([{}, {"disk": "ssd"}, {"disk": "hdd"}, {"disk": "ssd", "pool": "x"}]))
    spec = {
        "taints": [taint(which) for which in draw(st.lists(st.sampled_from(TAINTS), max_size=2, unique=True))]
    }
    if draw(st.integers(0, 3)) == 0:
        spec["unschedulable"] = True
    return node(name, draw(st.integers(2, 14)) * 100, draw(st.integers(1, 5)), labels, **spec)


def _bound(draw, name, host, *, is_first):
    cpu, memory = draw(_amounts)
    more = {"affinity": apart(draw(_apps))} if draw(st.integers(0, 3)) == 0 else {}
    priority = draw(st.sampled_from([0, 3, 8]))
    labels = {"app": draw(_apps)}
    port = draw(st.sampled_from([0, 80])) if is_first else 0
    return pod(name, cpu // 2, memory // 2, labels, port, nodeName=host, priority=priority, **more)


# --- plain trials -------------------------------------------------------------------------------------------


def host_of(items, release, edits=()):
    """The node where a new scheduler puts the pod in question after *edits*."""
    asked = {"release": release, "preemption": False}
    found = kubeclassic.simulate(copy.deepcopy(list(items)), **keywords_of(asked), edits=edits)
    return found.hosts[ASKED]


def evicts(items, release, priority):
    """Whether the pod in question would preempt others if it had *priority*."""
    changed = copy.deepcopy(list(items))
    changed[-1]["spec"]["priority"] = priority
    plan = Scheduler(Cluster(changed), release).explain(ASKED).preemption
    return plan is not None and plan.node is not None


def without(items, name):
    """The cluster without the pod *name*."""
    return [item for item in items if not (item["kind"] == "Pod" and item["metadata"]["name"] == name)]
