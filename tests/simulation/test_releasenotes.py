"""Fields of a cluster that a release does not read. (Each field: tests/stumbles/test_inventory.py.)"""

import json
import re

import pytest
import yaml

import kubeclassic
from kubeclassic.algorithmprovider.catalogue import CATALOGUE
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.framework.options import default_release
from kubeclassic.framework.releases import ALL_PATCH_LEVELS, ALL_RELEASES
from kubeclassic.simulation.input import UNUSED_SEED
from kubeclassic.simulation.releasenotes import (
    CAPACITY_STAYS,
    NO_CSI_NODES,
    NO_NAMESPACES,
    auto_notice,
    auto_reason,
    fields_of,
    other_release,
    release_notices,
)
from tests.support.build import engine as classic
from tests.support.build import manifest, node, obj, pod
from tests.support.frameworkbuild import scheduler
from tests.support.volumebuild import claim, using

TERM = yaml.safe_load("{topologyKey: z, namespaceSelector: {matchLabels: {a: b}}}")
SELECTING = {
    "affinity": {
        "podAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": TERM}]
        }
    }
}


def kubelet(name, version):
    """A node that says a version."""
    return obj(manifest("Node", name, status={"nodeInfo": {"kubeletVersion": version}}))


# --- Nearest ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"policy": {}},
        {"provider": "DefaultProvider"},
        {"hard_pod_affinity_weight": 3},
        {"scheduler_name": "mine"},
        {"catalogue": CATALOGUE},
        {"config": {"apiVersion": "kubescheduler.config.k8s.io/v1alpha1"}},
        {"config": {"algorithmSource": {}}},
        {"rules": ["kubeclassic.rules:CATALOGUE"]},
    ],
)
def test_options_of_policies(options):
    """Where an option is one of releases with Policies alone, the nodes do not count, but for ``auto``."""
    assert default_release(options, ["v1.30.0"]) == "1.16"
    assert default_release({**options, "release": "auto"}, ["v1.15.0"]) == "1.15"


@pytest.mark.parametrize(
    "version, nodes, found",
    [
        ("v1", "v1.30.0", "1.30"),
        ("v1", "", "1.36"),
        ("v1", "v1.14.0", "1.25"),
        ("v1beta2", "v1.34.0", "1.27"),
        ("v1beta2", "v1.24.0", "1.24"),
        ("v1alpha2", "", "1.18"),
        ("v9", "v1.22.0", "1.22"),
    ],
)
def test_a_profile_is_read(version, nodes, found, tmp_path):
    """The release is the nearest that reads the version of the profile, given as a file too."""
    profile = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration"}
    file = tmp_path / "profile.json"
    file.write_text(json.dumps(profile))
    for options in ({"profile": profile}, {"profile": file}, {"config": file}):
        assert default_release(options, [nodes]) == found


def test_others_are_told():
    """Nodes of another release than the default are told one by one."""
    nodes = [kubelet("a", "v1.16.1"), kubelet("b", "v1.27.1"), kubelet("c", "")]
    assert [notice.where for notice in other_release(ALL_RELEASES["1.16"], nodes)] == ["Node b"]
    assert auto_reason(ALL_RELEASES["1.27"], nodes) == "release 1.27: the newest node runs v1.27.1"


def test_the_server_tells_where_no_node_does():
    """Without a version of a node that of the API server counts, and is named; one that is not known has
    a warning."""
    nodes = [kubelet("a", "")]
    silent = "no node says a release in status.nodeInfo.kubeletVersion"
    assert (
        auto_reason(ALL_RELEASES["1.28"], nodes, "v1.28.7")
        == f"release 1.28: {silent}, and the API server runs v1.28.7"
    )
    assert list(auto_notice(ALL_RELEASES["1.28"], nodes, "v1.28.7")) == []
    told = auto_reason(ALL_RELEASES["1.36"], nodes, "v1.99.0")
    assert (
        told
        == f"release 1.36: {silent}, and the API server runs v1.99.0, to which it is the nearest that is known"
    )
    assert [notice.what for notice in auto_notice(ALL_RELEASES["1.36"], nodes, "v1.99.0")] == [
        "the API server is of 1.99, and the cluster is evaluated as 1.36, the newest release that is known"
    ]
    assert auto_reason(ALL_RELEASES["1.16"], nodes) == f"release 1.16 by default: {silent}"


def test_each_counts_once():
    """A pod with two constraints of a kind is told once for it."""
    constraint = yaml.safe_load("{maxSkew: 1, topologyKey: z, minDomains: 2, nodeAffinityPolicy: Honor}")
    found = fields_of(pod("p", topologySpreadConstraints=[constraint] * 2))
    assert [field.path for field in found] == [
        "spec.topologySpreadConstraints",
        "minDomains of topologySpreadConstraints",
    ]


@pytest.mark.parametrize("version", list(RELEASES))
def test_what_the_oldest_read_is_never_told(version):
    """No release is told not to read what every release reads."""
    plain = pod(
        "p", tolerations=[{"operator": "Exists"}], nodeSelector={"a": "b"}, affinity={"nodeAffinity": {}}
    )
    assert list(release_notices(classic(release=version).algorithm, [node("a")], [plain])) == []


# --- Missing ------------------------------------------------------------------------------------------------


CSI = (obj(manifest("PersistentVolume", "v", spec={"csi": {"driver": "d"}})),)
CLAIMING = pod("p", volumes=yaml.safe_load("[{name: v, persistentVolumeClaim: {claimName: c}}]"))


@pytest.mark.parametrize("release, lines", [("1.15", []), ("1.16", [NO_CSI_NODES])])
def test_csi_nodes(release, lines):
    """CSINodes are missed where the release reads them and a waiting pod has claims."""
    algorithm = classic(release=release).algorithm
    assert [notice.what for notice in release_notices(algorithm, CSI, [CLAIMING])] == lines
    assert list(release_notices(algorithm, CSI, [pod("q")])) == []


def test_namespaces():
    """Namespaces are missed where the release selects them by labels."""
    algorithm = scheduler().algorithm
    selecting = pod("p", **SELECTING)
    assert [notice.what for notice in release_notices(algorithm, [], [selecting])] == [NO_NAMESPACES]
    there = obj(manifest("Namespace", "default"))
    assert list(release_notices(algorithm, [there], [selecting])) == []


def with_capacity(claims, *, reports=True):
    """A node with published capacity, and pods with a claim each."""
    storage = {"apiVersion": "storage.k8s.io/v1"}
    kind = {"provisioner": "d", "volumeBindingMode": "WaitForFirstConsumer"}
    room = yaml.safe_load("{storageClassName: fast, capacity: 10Gi, nodeTopology: {matchLabels: {n: a}}}")
    names = [f"p{number}" for number in range(claims)]
    return [
        node("a", labels={"n": "a"}),
        obj({**storage, "kind": "StorageClass", "metadata": {"name": "fast"}, **kind}),
        obj(
            {**storage, "kind": "CSIDriver", "metadata": {"name": "d"}, "spec": {"storageCapacity": reports}}
        ),
        obj({**storage, "kind": "CSIStorageCapacity", "metadata": {"name": "c", "namespace": "x"}, **room}),
        *(claim(name, "fast", "8Gi") for name in names),
        *(using(name, name) for name in names),
    ]


# --- Published capacity -------------------------------------------------------------------------------------


def told(result):
    """The pods about which the warnings are."""
    return [
        notice.where for group in result.warnings for notice in group.notices if notice.what == CAPACITY_STAYS
    ]


@pytest.mark.parametrize(
    "release, is_told", [("1.18", False), ("1.20", False), ("1.21", True), ("1.34", True)]
)
def test_who_shares_it(release, is_told):
    """Where several pods wait for volumes it is said of each that what is published stays as it is, if
    the release reads it."""
    assert told(kubeclassic.simulate(with_capacity(2), release)) == (
        ["Pod default/p0", "Pod default/p1"] if is_told else []
    )
    assert told(kubeclassic.simulate(with_capacity(1), release)) == []
    assert told(kubeclassic.simulate(with_capacity(2, reports=False), release)) == []


def test_copies():
    """A copied pod has the warning in any case, as has one that a replay adds beside others."""
    cluster = with_capacity(1)
    assert told(kubeclassic.capacity(cluster[:-1], pod=cluster[-1], scheduler="1.34")) == ["Pod default/p0"]
    assert told(kubeclassic.replay(with_capacity(2), "1.34")) == ["Pod default/p0", "Pod default/p1"]


def test_fields_of_the_configuration():
    """A field of a configuration that is ignored is a warning of every answer."""
    profile = yaml.safe_load("""
    apiVersion: kubescheduler.config.k8s.io/v1alpha1
    kind: KubeSchedulerConfiguration
    plugin:
      score: {}
    """)
    found = kubeclassic.simulate(
        [kubelet("a", ""), pod("web")], kubeclassic.Framework(release="1.17", profile=profile)
    )
    (warning,) = found.warnings
    assert (warning.is_unread, warning.text) == (
        True,
        "plugin of the configuration does not count: 1.17 does not read the field",
    )


@pytest.mark.parametrize("tie_break, lines", [("random", []), ("first", [UNUSED_SEED])])
def test_a_seed(tie_break, lines):
    """A seed that no tie-break draws by is told."""
    found = kubeclassic.simulate([node("a"), pod("p")], kubeclassic.Framework(seed=3, tie_break=tie_break))
    assert [warning.text for warning in found.warnings if "seed" in warning.text] == lines


@pytest.mark.parametrize("version", ALL_RELEASES)
def test_another_patch_level_is_said(version):
    """Any other patch level is answered with a word; the release by its name, or by its own patch level,
    without one."""
    cluster = [node("a"), pod("p")]

    def said(release):
        return [
            one.text for one in kubeclassic.simulate(cluster, release).warnings if "evaluated as" in one.text
        ]

    like = ALL_PATCH_LEVELS[version]
    assert said(version) == said(f"v{version}") == said(re.split("[, ]", like)[0]) == []
    assert said(f"{version}.99")[0].startswith(f"release {version}.99 is evaluated as {like}")
