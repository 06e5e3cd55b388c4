"""The second scheduler of a current release in examples/deploy: its rights, its configuration, and a pod that
asks for it."""

import asyncio
from itertools import product

import pytest
import yaml

from kubeclassic.cli import BAD_INPUT
from kubeclassic.framework.config.configuration import load_configuration
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.live.client.api import DEVICE_KINDS, resource
from kubeclassic.live.informers.informers import listed
from kubeclassic.simulation.conform import engine_for
from tests.deploy.test_deploy import DEPLOY, READS, WRITES, documents
from tests.live.scheduler.worlds import live
from tests.support.program import ran
from tests.support.runflags import settings_of

NAME = "kubeclassic-current"
RELEASE = "1.36"


def manifests(kind):
    """The manifests of a kind in ``current.yaml``."""
    return [item for item in documents("current.yaml") if item["kind"] == kind]


def only(kind):
    """The only manifest of a kind."""
    (item,) = manifests(kind)
    return item


def container():
    """The only container of the Deployment."""
    (one,) = only("Deployment")["spec"]["template"]["spec"]["containers"]
    return dict(one)


def allowed(kind):
    """The permissions of the role of a kind."""
    return {
        call
        for rule in only(kind)["rules"]
        for call in product(rule["apiGroups"], rule["resources"], rule["verbs"])
    }


@pytest.fixture
def config(tmp_path):
    """The configuration of the ConfigMap, as a file."""
    (text,) = only("ConfigMap")["data"].values()
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return path


@pytest.fixture
def arguments(config):
    """The arguments of the container, with the configuration where the test has it."""
    (mount,), (volume,) = (
        container()["volumeMounts"],
        only("Deployment")["spec"]["template"]["spec"]["volumes"],
    )
    assert (mount["name"], volume["configMap"]["name"]) == (
        volume["name"],
        only("ConfigMap")["metadata"]["name"],
    )
    place = f"{mount['mountPath']}/{config.name}"
    found = [argument.replace(place, str(config)) for argument in container()["args"]]
    assert found != container()["args"]
    return found


@pytest.fixture
def settings(arguments):
    """The settings around the scheduler."""
    assert arguments[:2] == ["run", f"--release={RELEASE}"]
    return settings_of(arguments[2:])


def test_it_reads_what_the_release_lists():
    """With the reader's role, it may list and watch each kind that the release lists, and nothing else."""
    engine = engine_for(RELEASE, {})
    kinds = listed(engine.algorithm.release.client, engine.gates)
    assert set(DEVICE_KINDS) < set(kinds)
    made = {(version.rpartition("/")[0], resource(kind, version).plural) for kind, version in kinds.items()}
    wanted = {(*pair, verb) for pair in made for verb in ("list", "watch")}
    assert READS | {call for call in allowed("ClusterRole") if call[2] in ("list", "watch")} == wanted


def test_it_writes_what_a_scheduler_writes():
    """With the writer's role, it may write claims to devices and its own lock, and nothing else."""
    claims = {("resource.k8s.io", "resourceclaims", verb) for verb in ("get", "update", "create", "delete")}
    claims.add(("resource.k8s.io", "resourceclaims/status", "update"))
    claims.add(("resource.k8s.io", "resourceclaims/binding", "update"))  # no resource: what 1.36 asks about
    assert {call for call in allowed("ClusterRole") if call[2] not in ("list", "watch")} == claims
    assert not claims & WRITES
    assert allowed("Role") == {
        ("coordination.k8s.io", "leases", verb) for verb in ("create", "get", "update")
    }


def test_run_takes_the_arguments(arguments, monkeypatch):
    """`kubeclassic run` reads all of them, and ends only because this is no pod of a cluster."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert "this is no pod (KUBERNETES_SERVICE_HOST is not set)" in ran(*arguments, status=BAD_INPUT).err


def test_it_can_be_reached(settings):
    """Probes and the Service ask the port, which is on all addresses."""
    (listener,) = settings.listeners
    one = container()
    service = only("Service")
    assert (listener.address, listener.port) == ("0.0.0.0", one["ports"][0]["containerPort"])
    probes = [one[probe]["httpGet"] for probe in ("livenessProbe", "readinessProbe")]
    assert probes == [{"path": path, "port": "http"} for path in ("/livez", "/readyz")]
    assert service["spec"]["ports"] == [
        {"name": "http", "port": listener.port, "targetPort": one["ports"][0]["name"]}
    ]
    labels = only("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert labels == only("Deployment")["spec"]["selector"]["matchLabels"] == service["spec"]["selector"]
    assert one["securityContext"]["readOnlyRootFilesystem"]


def test_a_pod_that_asks_for_it(config):
    """The pod of the example gets a node from a scheduler with this configuration, and a pod without
    schedulerName gets none."""
    pod = yaml.safe_load((DEPLOY / "current-pod.yaml").read_text())
    (profile,) = load_configuration(config, release=ALL_RELEASES[RELEASE]).profiles
    assert pod["spec"]["schedulerName"] == profile.scheduler_name == NAME

    async def play(world):
        for name in ("a", "b"):
            world.add_node(name)
        world.schedule({"profile": yaml.safe_load(config.read_text())})
        world.user.create("pods", pod)
        world.add_pod("other")
        await asyncio.sleep(5.0)

    hosts = live(RELEASE, play).hosts
    assert (hosts["packed"] in ("a", "b"), hosts["other"]) == (True, "")
