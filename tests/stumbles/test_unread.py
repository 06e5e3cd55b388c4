"""Fields of a newer cluster that a release does not read: the answers name them, and --strict refuses
them."""

import json

import pytest
import yaml

from kubeclassic.framework.options import options_of
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.simulation.releasenotes import fields_of, release_notices
from tests.support.build import obj, pod
from tests.support.manifests import dumped, manifest, node
from tests.support.manifests import pod as pod_manifest
from tests.support.program import ran

SIDECARS = "Sidecars of 3 pods are ignored: 1.27 does not support them"
PODS = ["shop/web-0", "shop/web-1", "shop/web-2"]
SIDECAR = yaml.safe_load("{initContainers: [{name: s, restartPolicy: Always}]}")
OLD = ("--release", "1.27")
TEMPLATE = "web.json"
QUESTIONS = {
    "simulate": ("simulate", "dump.json", *OLD),
    "explain": ("explain", "dump.json", "shop/web-0", *OLD),
    "what-if": ("explain", "dump.json", "shop/web-0", "--what-if", *OLD),
    "capacity": ("capacity", "dump.json", "--pod", TEMPLATE, *OLD),
    "new-nodes": ("capacity", "dump.json", "--add-node", "like:cpu-a", *OLD),
    "drain": ("drain", "dump.json", "cpu-a", "--force", *OLD),
    "compare": ("compare", "dump.json", "--a", "release=1.27", "--b", "release=1.34"),
}
"""Schema -> the words of a command."""


def dump():
    """Nodes of 1.34, and pods with sidecars, of which two wait."""
    nodes = [node(name, nodeInfo={"kubeletVersion": "v1.34.1"}) for name in ("cpu-a", "cpu-b")]
    return [
        *nodes,
        *(
            pod_manifest(name.removeprefix("shop/"), namespace="shop", on="" if at else "cpu-a", **SIDECAR)
            for at, name in enumerate(PODS)
        ),
    ]


@pytest.fixture
def folder(workdir):
    """A working directory with the dump, and a plain pod."""
    (workdir / "dump.json").write_text(dumped(dump()))
    (workdir / TEMPLATE).write_text(json.dumps(pod_manifest("copy")))
    return workdir


def about_sidecars(warnings):
    """The one warning about sidecars."""
    (found,) = [one for one in warnings if one["field"] == "spec.initContainers[].restartPolicy"]
    return found


# --- Answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schema", QUESTIONS)
def test_every_form_says_it(schema, folder):
    """Each command's JSON has a warning with sentence, field, release and pods; text and page have it;
    --strict refuses it."""
    words = QUESTIONS[schema]
    found = about_sidecars(ran(*words, "-o", "json", status=(0, 1)).document["warnings"])
    assert (found["text"], found["release"], found["pods"]) == (SIDECARS, "1.27", PODS)
    told = ran(*words, status=(0, 1))
    assert f"{SIDECARS}." in (told.err if schema in ("simulate", "drain") else told.out)
    assert " are ignored: " in ran(*words, "--strict", status=2).err
    if schema != "what-if":
        page = ran(*words, "-o", "html", status=(0, 1)).out
        assert SIDECARS in page.partition("</h1>")[2].partition('<section class="about"')[0]


def test_templates_count_too(folder):
    """A sidecar of the pod whose copies are counted is told of."""
    (folder / TEMPLATE).write_text(json.dumps(pod_manifest("copy", **SIDECAR)))
    assert (
        about_sidecars(ran(*QUESTIONS["capacity"], "-o", "json", status=(0, 1)).document["warnings"])["pods"][
            :3
        ]
        == PODS
    )


def test_replay(folder):
    """The Summary of a replay has the warnings, and the text about it the sentence."""
    told = ran("replay", "dump.json", *OLD, status=(0, 1))
    assert about_sidecars(json.loads(told.out.splitlines()[-1])["warnings"])["pods"] == PODS
    assert f"{SIDECARS}." in told.err


def test_the_release_that_reads_all(folder):
    """1.34 reads everything, so that there is no warning, and nothing to refuse."""
    assert (
        ran("simulate", "dump.json", "--release", "auto", "--strict", "-o", "json", status=(0, 1)).document[
            "warnings"
        ]
        == []
    )


def test_nodes_beyond_all_releases(folder):
    """Nodes of a release that is not known yet are judged as the newest, and the answer says so."""
    newer = (folder / "dump.json").read_text().replace("v1.34.1", "v1.99.0")
    (folder / "dump.json").write_text(newer)
    (found,) = ran("simulate", "dump.json", "--release", "auto", "-o", "json", status=(0, 1)).document[
        "warnings"
    ]
    assert found["text"] == "the nodes run 1.99, and are evaluated as 1.36, the newest release that is known"


def test_resizes():
    """A pod counts as resized where its status says more than its spec, and the release does not read
    that."""
    resized = obj(
        manifest(
            "Pod",
            "p",
            spec={"containers": [{"name": "c"}]},
            status=yaml.safe_load("{containerStatuses: [{name: c, resources: {requests: {cpu: '1'}}}]}"),
        )
    )
    assert [field.thing for field in fields_of(resized)] == ["resizes"]
    why = "1.32 supports them only with feature gate InPlacePodVerticalScaling"
    assert told(resized, "1.32") == [f"Resizes of 1 pod are ignored: {why}"]
    assert told(resized, "1.33") == []


def told(item, release, **gates):
    """The warnings of *release* about a pod."""
    algorithm = SchedulerSpec.of(options_of({"release": release, "gates": gates})).read().engine().algorithm
    return [notice.sentence(1) for notice in release_notices(algorithm, [], [item])]


# --- Gates --------------------------------------------------------------------------------------------------


CLAIMING = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
WHOLE = pod("p", resources={"requests": {"cpu": "1"}})


@pytest.mark.parametrize(
    "release, why",
    [
        ("1.16", "1.16 does not support them"),
        (
            "1.30",
            "1.30 supports them only with feature gate DynamicResourceAllocation, and that is not modelled",
        ),
        ("1.33", "1.33 supports them only with feature gate DynamicResourceAllocation"),
        ("1.34", ""),
    ],
)
def test_claims(release, why):
    """Claims count where the plugin runs; else the sentence says what would make it run."""
    assert told(CLAIMING, release) == ([f"Resource claims of 1 pod are ignored: {why}"] if why else [])


def test_a_gate_switched_on():
    """A gate that is switched on switches its warning off, and one that is switched off brings it."""
    assert told(WHOLE, "1.33") != []
    assert told(WHOLE, "1.33", PodLevelResources=True) == []
    assert told(WHOLE, "1.34", PodLevelResources=False) != []


def test_unmodelled_features_of_devices():
    """Features of devices that no release here reads are told of once for all slices."""
    algorithm = SchedulerSpec.of(options_of({"release": "1.34"})).read().engine().algorithm
    device = yaml.safe_load("{name: g, taints: [{effect: NoSchedule}]}")
    tainted = obj(
        manifest(
            "ResourceSlice",
            "s",
            apiVersion="resource.k8s.io/v1",
            spec={"driver": "d", "nodeName": "n", "pool": {"name": "n"}, "devices": [device]},
        )
    )
    ask = yaml.safe_load("""
        name: g
        firstAvailable:
        - name: a
          deviceClassName: c
          capacity:
            requests: {memory: 4Gi}
        """)
    claim = obj(manifest("ResourceClaim", "c", spec={"devices": {"requests": [ask]}}))
    notice, more = release_notices(algorithm, [tainted, claim], [])
    assert more.sentence(1).startswith("Capacity of 1 ResourceClaim is ignored")
    assert notice.sentence(1).startswith("Device taints of 1 ResourceSlice are ignored: 1.34 supports them")
