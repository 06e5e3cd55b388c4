"""The example Policies work where they say."""

import pytest

from kubeclassic.algorithmprovider import RELEASES, resolve
from kubeclassic.algorithmprovider.check import check
from kubeclassic.algorithmprovider.config import load_configuration, policy_document

ALL = tuple(RELEASES)
MEANT_FOR = {
    "kubernetes-defaults-spelled-out.json": ALL,
    "kubernetes-classic.json": ALL,
    "kubernetes-old-names.json": ALL,
    "kubernetes-with-extender.json": ALL,
    "bin-packing.json": ALL,
    "cinder-volumes.json": ALL[2:],
    "openshift-3.json": ALL[:1],
    "openshift-4-configmap.yaml": ALL[1:],
    "openshift-labels.json": ALL,
}
GATES = {"openshift-3.json": "TaintNodesByCondition=false"}


@pytest.fixture(scope="module")
def folder(root):
    """Where the examples are."""
    return root / "examples" / "policies"


@pytest.mark.parametrize(
    "name, version", [(name, version) for name, versions in MEANT_FOR.items() for version in versions]
)
def test_is_accepted(folder, name, version):
    """Each example is accepted by the releases that it is meant for."""
    assert check(policy_document(folder / name).data, RELEASES[version], GATES.get(name)).refused is None


def test_none_is_forgotten(folder):
    """Every file of the folder is listed in its README and tested here."""
    files = {file.name for file in folder.iterdir()} - {"README.md"}
    assert files == set(MEANT_FOR) | {"scheduler-config.yaml"}
    readme = (folder / "README.md").read_text()
    assert all(f"`{name}`" in readme for name in files)


@pytest.mark.parametrize("version", ALL)
def test_spelled_out_defaults_are_the_defaults(folder, version):
    """The default provider written as a Policy is the default provider."""
    release = RELEASES[version]
    written = resolve(release, policy=policy_document(folder / "kubernetes-defaults-spelled-out.json").data)
    plain = resolve(release)
    assert [rule.name for rule in written.predicates] == [rule.name for rule in plain.predicates]
    assert [(rule.name, weight) for rule, weight in written.priorities] == [
        (rule.name, weight) for rule, weight in plain.priorities
    ]


def test_openshift_3_needs_its_gate(folder):
    """OpenShift 3's Policy names predicates that the default gates remove; its service affinity never
    runs."""
    data = policy_document(folder / "openshift-3.json").data
    assert "CheckNodeMemoryPressure" in (check(data, RELEASES["1.12"]).refused or "")
    assert check(data, RELEASES["1.12"], "TaintNodesByCondition=false").never_run == ("Region",)


def test_component_configuration(folder):
    """The component configuration finds the Policy beside it, whose weight wins."""
    algorithm = load_configuration(folder / "scheduler-config.yaml").resolve(RELEASES["1.16"])
    assert algorithm.hard_pod_affinity_weight == 10
    assert [extender.weight for extender in algorithm.extenders] == [5]
    assert not algorithm.preemption
