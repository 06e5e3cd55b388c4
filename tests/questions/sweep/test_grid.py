"""The rows of a grid are what single calls come to, in the order of the grid."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import kubeclassic
from kubeclassic import Cluster
from kubeclassic.framework.options import Classic, Framework, options_of
from kubeclassic.questions.sweep.spec import Best, best_of, configurations
from kubeclassic.simulation.conform import ALL_RELEASES
from tests.conftest import ROOT
from tests.support.examples import examples
from tests.support.manifests import manifest, node, pod

CLUSTER = Cluster.load(str(ROOT / "examples" / "cluster"))
OPTIONS = {
    "release": "release",
    "percentage": "percentage_of_nodes_to_score",
    "tie-break": "tie_break",
    "seed": "seed",
}
AXES = {
    "release": st.lists(st.sampled_from(ALL_RELEASES), min_size=1, max_size=2, unique=True),
    "percentage": st.lists(st.sampled_from([0, 30, 100]), min_size=1, max_size=2, unique=True),
    "tie-break": st.sampled_from(["first", "round-robin", "random", ["release", "random"]]),
    "seed": st.lists(st.integers(0, 9), min_size=1, max_size=2, unique=True),
    "order": st.lists(st.sampled_from(["input", "priority", "queue"]), min_size=1, max_size=2, unique=True),
}


def single(row):
    """The values of one call of ``simulate`` with the settings of *row*."""
    options = {option: row[key] for key, option in OPTIONS.items() if key in row}
    summary = kubeclassic.simulate(
        CLUSTER, scheduler=options_of(options), order=row.get("order", "input")
    ).summary
    uses = {f"{usage.resource} used": round(usage.use, 6) for usage in summary.resources}
    return {
        "placed": summary.placed,
        "evictions": summary.evicted,
        "cpu used": uses["cpu used"],
        "memory used": uses["memory used"],
    }


@examples(0.4)
@given(st.fixed_dictionaries({}, optional=AXES))
def test_each_is_what_a_single_call_comes_to(grid):
    """Each row has the placed pods, evictions and use that ``simulate`` has with the same options."""
    objectives = ["placed", "evictions", "cpu used", "memory used"]
    for row in kubeclassic.sweep({"cluster": CLUSTER, "grid": grid, "objectives": objectives}).rows:
        assert row["error"] is None
        assert {name: row[name] for name in objectives} == single(row)


def test_the_last_key_changes_fastest():
    """Rows come run by run, and then in the order of the grid."""
    spec = {
        "cluster": CLUSTER,
        "runs": yaml.safe_load("[{name: a}, {name: b, percentage: 50}]"),
        "grid": {"release": ["1.16", "1.12"], "seed": [1, 2]},
    }
    rows = kubeclassic.sweep(spec).rows
    seen = [(row["run"], row["name"], row["release"], row["seed"]) for row in rows]
    wanted = [(name, release, seed) for name in "ab" for release in ("1.16", "1.12") for seed in (1, 2)]
    assert seen == [(number, *point) for number, point in enumerate(wanted, 1)]


def test_shuffled_pods_follow_the_seed():
    """Orders of arrival that are shuffled by another seed come to other results, by the same seed to the
    same."""
    grid = {"order": "shuffled", "seed": list(range(6))}
    found = [kubeclassic.sweep({"cluster": CLUSTER, "grid": grid}).rows for _ in range(2)]
    assert found[0] == found[1]
    assert len({row["imbalance"] for row in found[0]}) > 1


def test_weights_are_those_of_a_policy():
    """Weights come to the same as a Policy that has them; 0 leaves a priority out, and one that was not
    there is added."""
    weights = {"LeastRequestedPriority": 0, "MostRequestedPriority": 7, "BalancedResourceAllocation": 2}
    kept = ["ImageLocality", "InterPodAffinity", "NodeAffinity", "SelectorSpread", "TaintToleration"]
    listed = [
        *({"name": f"{name}Priority", "weight": 1} for name in kept),
        {"name": "NodePreferAvoidPodsPriority", "weight": 10000},
    ]
    listed += [{"name": name, "weight": weight} for name, weight in weights.items() if weight]
    policy = {"apiVersion": "v1", "kind": "Policy", "priorities": listed}
    grid = {"release": "1.16", **{f"weights.{name}": weight for name, weight in weights.items()}}
    (row,) = kubeclassic.sweep({"cluster": CLUSTER, "grid": grid}).rows
    (plain,) = kubeclassic.sweep({"cluster": CLUSTER, "grid": {"release": "1.16"}}).rows
    used = {
        usage.resource: usage
        for usage in kubeclassic.simulate(CLUSTER, scheduler=Classic(policy=policy)).summary.resources
    }
    deviations = [
        round(usage.imbalance.standard_deviation, 6) for name, usage in used.items() if name != "pods"
    ]
    assert row["imbalance"] == pytest.approx(sum(deviations) / len(deviations), abs=2e-6)
    assert row["imbalance"] != plain["imbalance"]


def test_weights_are_those_of_a_profile():
    """Weights of plugins come to the same as a profile that has them."""
    enabled = [{"name": "NodeResourcesBalancedAllocation", "weight": 50}]
    disabled = [{"name": "NodeResourcesFit"}]
    plugins = {"score": {"enabled": enabled, "disabled": disabled}}
    profile = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": plugins}],
    }
    grid = {"release": "1.27", "weights.NodeResourcesBalancedAllocation": 50, "weights.NodeResourcesFit": 0}
    (row,) = kubeclassic.sweep({"cluster": CLUSTER, "grid": grid, "objectives": ["cpu imbalance"]}).rows
    used = kubeclassic.simulate(
        CLUSTER, scheduler=Framework(release="1.27", profile=profile)
    ).summary.resources
    assert row["cpu imbalance"] == round(used[0].imbalance.standard_deviation, 6)


def test_a_weight_of_a_plugin_that_a_release_lacks_is_refused():
    """A plugin that is gone in the release is no rule that scores there, and the one that took its place
    is named."""
    grid = {"release": ["1.21", "1.27"], "weights.NodeResourcesLeastAllocated": 3}
    old, new = kubeclassic.sweep({"cluster": CLUSTER, "grid": grid}).rows
    assert old["error"] is None
    assert "release 1.27 has no rule by that name" in new["error"]
    assert new["error"].endswith("NodeResourcesFit took its place")


def test_an_added_plugin_brings_its_pre_score():
    """Without it every score would be an error, and no pod of a service would find a node."""
    labels = {"app": "web"}
    service = manifest("Service", "web", spec={"selector": labels})
    cluster = [node("a"), node("b"), service, pod("there", on="a", labels=labels), pod("new", labels=labels)]
    grid = {"release": ["1.19", "1.21", "1.25"], "weights.SelectorSpread": 1}
    assert [row["placed"] for row in kubeclassic.sweep({"cluster": cluster, "grid": grid}).rows] == [1, 1, 1]


@pytest.mark.parametrize("grid, placed", [({"seed": 0}, [0]), ({"release": ["auto", "1.29.99"]}, [0, 1])])
def test_the_release_of_the_nodes(grid, placed):
    """A run that names no release, or auto, is of that of the nodes; another patch level is told."""
    status = {"allocatable": {"cpu": "4", "pods": "10"}, "nodeInfo": {"kubeletVersion": "v1.28.1"}}
    sidecar = {"initContainers": [{"name": "s", "restartPolicy": "Always"}], "containers": [{"name": "c"}]}
    stored = {"creationTimestamp": "2024-01-01T00:00:00Z"}
    cluster = [manifest("Node", "a", status=status), manifest("Pod", "p", metadata=stored, spec=sidecar)]
    found = kubeclassic.sweep({"cluster": cluster, "grid": grid, "objectives": ["placed"]})
    assert [row["placed"] for row in found.rows] == placed
    assert ["evaluated as" in str(warning) for warning in found.warnings].count(True) == len(placed) - 1


def test_edits_count():
    """Edits change objects before a run."""
    grid = {"set": [None, "pod * requests.cpu=64"]}
    rows = kubeclassic.sweep({"cluster": CLUSTER, "grid": grid, "objectives": ["pods", "placed"]}).rows
    assert [(row["pods"], row["placed"]) for row in rows] == [(22, 21), (22, 0)]


def test_a_run_that_fails_is_a_row():
    """A run that a release refuses, or with an edit that matches nothing, is a row with its error; the others
    have values."""
    runs = yaml.safe_load("""
        - {name: right}
        - {name: edit, set: pod nobody requests.cpu=1}
        - {name: weight, release: '1.27', weights.LeastRequestedPriority: 2}
        - {name: provider, provider: Nobody}
        """)
    found = kubeclassic.sweep({"cluster": CLUSTER, "runs": runs})
    errors = [row["error"] for row in found.rows]
    missing = "release 1.27 has no rule by that name that scores; NodeResourcesFit took its place"
    assert errors[0] is None
    assert (
        errors[1] == "--set 'pod nobody requests.cpu=1': expected at least one Pod that it matches, got none"
    )
    assert errors[2] == f"weights.LeastRequestedPriority: {missing}"
    assert (
        errors[3]
        == 'provider: plugin "Nobody" has not been registered, expected DefaultProvider or ClusterAutoscalerProvider'
    )
    assert found.failed == 3
    assert found.rows[1]["placed"] is None


def test_nothing_that_can_begin_is_an_error():
    """If no run can even begin, that is bad input."""
    with pytest.raises(
        kubeclassic.KubeclassicError,
        match=r"^none of 2 runs can begin; the first one: release: .*, got .9\.99",
    ):
        kubeclassic.sweep({"cluster": CLUSTER, "grid": {"release": ["9.99", "9.98"]}})


def test_the_best_by_means_over_seeds():
    """Each configuration counts with its mean over seeds, without failed runs; those that come to the
    same are best together."""
    rows = [
        {"release": "1.16", "seed": seed, "placed": placed, "error": None}
        for seed, placed in enumerate((10, 12, 14))
    ]
    rows += [
        {"release": "1.16", "seed": 3, "placed": None, "error": "no"},
        {"release": "1.12", "seed": 0, "placed": 1, "error": None},
    ]
    found = configurations(rows, ("release", "seed"), ("placed",))
    assert [(one.name, one.values) for one in found] == [("1.16", {"placed": 12.0}), ("1.12", {"placed": 1})]
    assert best_of(found, ("placed",)) == [Best("placed", 12.0, ("1.16",))]
    assert best_of(found[:1] * 2, ("placed",)) == []


def test_verdicts():
    """One configuration has nothing to be compared with, several may come to the same, or to nothing at
    all."""
    node = manifest("Node", "a", status={"allocatable": {"cpu": "4", "pods": "10"}})
    for grid, said in (
        ({}, "One configuration: nothing to"),
        ({"release": ["1.12", "1.13"]}, "2 configurations have the same"),
    ):
        assert str(kubeclassic.sweep({"cluster": [node], "grid": grid}).view().verdict).startswith(said)
    asked = {
        "cluster": [node],
        "runs": yaml.safe_load("[{name: a, weights.Nothing: 1}, {name: b, weights.Nothing: 2}]"),
    }
    assert str(kubeclassic.sweep(asked).view().verdict) == "All 2 runs failed."
