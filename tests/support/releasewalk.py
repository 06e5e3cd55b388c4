"""One small cluster asked of each release of the framework: what tests of the differences between releases
are made of."""

from kubeclassic.core.run import Run
from kubeclassic.exceptions import KubeclassicError
from kubeclassic.framework.config.profiles import GROUP
from kubeclassic.framework.options import options_of
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.framework.schedulerspec import SchedulerSpec
from tests.support.build import obj, pod

NEWEST = next(reversed(FRAMEWORK_RELEASES))


def answer(release, objects, pending, *, nominated=(), **options):
    """What *release* says of the last of *pending*, tried one after the other; *nominated*: pods with nodes;
    *options*: of a scheduler."""
    version = FRAMEWORK_RELEASES[release].configuration.api_versions[-1]
    profile = {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 100,
    }
    given = {**options, "profile": {**profile, **options.get("profile", {})}}
    try:
        run = Run(SchedulerSpec.of(options_of({"release": release, **given})).read().engine())
    except KubeclassicError as error:
        return {"refused": str(error)}
    for item in objects:
        run.feed.put(item)
    for one, node_name in nominated:
        run.nominate(one, node_name)
    return [run.cycle(one).record(details=True) for one in pending][-1]


def shows(told, look, objects, *pending, until=NEWEST, **options):
    """Hold the releases to *told*: from which release on *look* sees what. Releases before the first and
    after *until* are not asked."""
    releases = list(FRAMEWORK_RELEASES)
    asked = releases[releases.index(next(iter(told))) : releases.index(until) + 1]
    wanted = {}
    value = None
    for release in asked:
        value = told.get(release, value)
        wanted[release] = value
    found = {release: look(answer(release, objects, pending, **options)) for release in asked}
    different = {
        release: f"expected {wanted[release]!r}, got {found[release]!r}"
        for release in asked
        if found[release] != wanted[release]
    }
    assert not different, different


# --- what is looked at --------------------------------------------------------------------------------------


def field(name):
    """The field *name* of an answer; the refusal, where the configuration is refused."""
    return lambda found: found["refused"] if "refused" in found else found[name]


host = field("host")
failed = field("failed")
scores = field("scores")
priorities = field("priorities")
feasible = field("feasible")
error = field("error")


# --- what clusters are made of ------------------------------------------------------------------------------


def asks(**requests):
    """Requests of a container."""
    return {"resources": {"requests": requests}}


def sidecar(cpu, **more):
    """An init container that goes on running."""
    return {"name": "sidecar", "image": "sidecar", "restartPolicy": "Always", **asks(cpu=cpu), **more}


def made(kind, name, **fields):
    """An object of *kind* in namespace default, of its fields beside metadata; ``meta`` is merged into these."""
    meta = {"name": name, "namespace": "default", **fields.pop("meta", {})}
    return obj({"kind": kind, "metadata": meta, **fields})


def claim(name, volume="", **spec):
    """A claim of 1Gi, bound to *volume*."""
    bound = {"volumeName": volume} if volume else {}
    meta = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}}
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    phase = "Bound" if volume else "Pending"
    return made(
        "PersistentVolumeClaim", name, meta=meta, spec={**wanted, **bound, **spec}, status={"phase": phase}
    )


def volume(name, claim="", labels=None, **spec):
    """A persistent volume of 1Gi, bound to *claim*."""
    bound = {"claimRef": {"namespace": "default", "name": claim}} if claim else {}
    wanted = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    return made(
        "PersistentVolume",
        name,
        meta={"labels": labels or {}},
        spec={**wanted, **bound, **spec},
        status={"phase": "Bound"},
    )


def claims(*names):
    """Volumes of a pod, by claims."""
    return [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]


def csi_node(name, migrated="", **limits):
    """A CSINode with limits of drivers, whose dots are written as two underscores."""
    meta = {"annotations": {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}}
    drivers = [
        {"name": key.replace("__", "."), "nodeID": name, "allocatable": {"count": count}}
        for key, count in limits.items()
    ]
    return made("CSINode", name, meta=meta, spec={"drivers": drivers})


def bound(name, on, **fields):
    """A pod that runs on a node."""
    return pod(name, on=on, **fields)
