"""The table of nodes: what pods add up to, and what others keep of its arrays."""

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.algorithmprovider.cells import beta_zone_key
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.table import AVOID, PRESSURES, NodeTable
from kubeclassic.core.pods.requests import of_node
from tests.support.build import engine, node, pod

ZONE = "failure-domain.beta.kubernetes.io/zone"


# --- Sums ---------------------------------------------------------------------------------------------------


def test_a_new_resource_leaves_nobody_with_old_sums():
    """The batch of all nodes sees a pod that brought a resource which no node had before."""
    made = engine(node("n"), pod("p", on="n", cpu="1"))
    made.warm()
    assert Batch.everywhere(made.table).nonzeros.tolist()[0] == [1000]
    made.assume(pod("q", requests={"cpu": "2", "example.com/new": "1"}), "n")
    made.warm()
    everywhere = Batch.everywhere(made.table)
    assert everywhere.nonzeros.tolist()[0] == [3000]
    assert everywhere.requested("example.com/new").tolist() == [1]
    assert everywhere.pod_count.tolist() == [2]


def test_sums_wrap_around():
    """More than fits into 64 bits becomes negative, as in Go."""
    most = str((1 << 63) - 1)
    made = engine(node("n"), *(pod(name, on="n", requests={"memory": most}) for name in "ab"))
    made.warm()
    assert Batch.everywhere(made.table).requested("memory").tolist() == [-2]


def test_a_pod_that_leaves_takes_all_along():
    """All that a pod added to the table is taken off again."""
    made = engine(node("n"))
    one = pod("p", on="n", requests={"cpu": "1", "example.com/new": "3"})
    made.cache.add(one)
    made.warm()
    made.cache.remove(one)
    made.warm()
    assert not made.table.sums.any()


def few(*values):
    """Some of *values* as keys, each with one of two values."""
    return st.dictionaries(st.sampled_from(values), st.sampled_from(["1", "2"]), max_size=2)


def described(labels, allocatable, conditions, taints, unschedulable, avoid):
    """A node of no particular name."""
    return node(
        "n",
        labels=labels,
        allocatable=allocatable,
        unschedulable=unschedulable,
        annotations=avoid,
        conditions=[{"type": kind, "status": status} for kind, status in conditions.items()],
        taints=[{"key": key, "value": value, "effect": "NoSchedule"} for key, value in taints.items()],
    )


NODES = st.builds(
    described,
    few(ZONE, "disk", "host"),
    few("example.com/gpu", "attachable-volumes-x", "cpu", "pods") | st.just({"memory": str(1 << 60)}),
    few(*PRESSURES, "Ready"),
    few("dedicated", "old"),
    st.booleans(),
    few(AVOID),
)
IMAGES = st.dictionaries(st.sampled_from("ab"), st.tuples(st.integers(1, 2), st.integers(1, 2)))
NAMES = st.sampled_from([f"n{number}" for number in range(12)])
STEPS = st.lists(
    st.dictionaries(NAMES, st.tuples(NODES, IMAGES), max_size=12)
    | st.tuples(st.sampled_from(["clear", "drop", "pod"]), st.sets(NAMES, min_size=1, max_size=3)),
    max_size=6,
)


def give(table, nodes):
    """Nodes come or change, all at once."""
    table.add_rows([name for name in nodes if name not in table.row_of])
    table.set_nodes({table.row_of[name]: found for name, found in nodes.items()})


def act(table, what, names):
    """Something becomes of the rows of *names*, if there are any."""
    for name in sorted(set(names) & table.row_of.keys()):
        if what == "clear":
            table.clear_node(table.row_of[name])
        elif what == "drop":
            table.drop(name)
        else:
            table.add_pod(table.row_of[name], TEMPLATES.entry(pod("p", cpu="1")))


TEMPLATES = engine().templates


def content(table):
    """Name -> the table's values for it, as plain values."""
    columns = {
        "taints": table.taints,
        "conditions": table.conditions,
        "pressures": table.pressures,
        "zone": table.zone,
    }
    columns |= {
        "unschedulable": table.unschedulable,
        "avoid": table.avoid,
        "attachable": table.attachable,
        **table.labels,
    }
    return {
        name: {
            "node": table.nodes[row],
            "has node": bool(table.has_node[row]),
            "limits": {
                key: int(table.allocatable[at, row])
                for key, at in table.resources.items()
                if table.allocatable[at, row]
            },
            "pods": (int(table.max_pods[row]), int(table.pod_count[row]), len(table.pods[row])),
            "images": {image: rows[row] for image, rows in table.images.items() if row in rows},
            **{
                key: value
                for key, column in columns.items()
                if (value := column.values[column.codes[row]]) is not None
            },
        }
        for name, row in table.row_of.items()
    }


# --- Nodes --------------------------------------------------------------------------------------------------


@given(STEPS)
def test_many_at_once_are_as_one_by_one(steps):
    """A table that is given its nodes at once is as one that is given them one after the other, whatever
    became of its rows before."""
    at_once = NodeTable(beta_zone_key)
    one_by_one = NodeTable(beta_zone_key)
    for step in steps:
        if isinstance(step, dict):
            give(at_once, step)
            for name, found in step.items():
                give(one_by_one, {name: found})
        else:
            act(at_once, *step)
            act(one_by_one, *step)
        assert content(at_once) == content(one_by_one)
        assert at_once.has_huge == one_by_one.has_huge
        assert at_once.row_of == one_by_one.row_of
        assert list(at_once.resources) == list(one_by_one.resources)


@given(st.dictionaries(NAMES, st.tuples(NODES, IMAGES)), st.dictionaries(NAMES, st.tuples(NODES, IMAGES)))
def test_columns_are_what_nodes_say(first, then):
    """After nodes came and some of them changed, each column has the values of the latest nodes."""
    table = NodeTable(beta_zone_key)
    give(table, first)
    give(table, then)
    found = content(table)
    nodes = {**first, **then}
    assert found.keys() == nodes.keys()
    for name, (item, images) in nodes.items():
        amounts = of_node(item.status.allocatable)
        assert found[name]["node"] is item
        assert found[name]["images"] == images
        assert found[name]["pods"][0] == amounts.pop("pods")
        assert found[name]["limits"] == amounts
        assert found[name]["zone"] == beta_zone_key(item.labels)
        assert {key: found[name].get(key) for key in table.labels} == {
            key: item.labels.get(key) for key in table.labels
        }
        assert found[name]["taints"] == item.spec.taints
        assert found[name]["conditions"] == tuple((c.type, c.status) for c in item.status.conditions)
        assert found[name]["unschedulable"] == item.spec.unschedulable
        assert found[name].get("avoid") == item.annotations.get(AVOID)


def test_a_pressure_that_is_no_longer_stated_stays():
    """The table keeps the latest status of a pressure, until the node goes."""
    table = NodeTable(beta_zone_key)
    pressed = node("n", conditions=[{"type": "DiskPressure", "status": "True"}])
    give(table, {"n": (pressed, {})})
    give(table, {"n": (node("n", conditions=[{"type": "Ready", "status": "True"}]), {})})
    assert content(table)["n"]["pressures"] == ("", "True", "")
    table.clear_node(table.row_of["n"])
    assert content(table)["n"]["pressures"] == ("", "", "")
