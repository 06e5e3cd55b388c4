"""Small clusters in few words: the parts of a conformance case, in the API's JSON form."""

from inspect import signature
from pathlib import Path

import yaml

from tests.support import manifests
from tests.support.devicebuild import DRIVER, device, either, exactly
from tests.support.manifests import manifest
from tests.support.volumebuild import BOUND, MIGRATED, on

HOSTNAME = "kubernetes.io/hostname"
CONFIGURATION = "kubescheduler.config.k8s.io"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


# --- cases --------------------------------------------------------------------------------------------------


def case(objects, *pending, nominated=None, extenders=None, **config):
    """A cluster of *objects* on which *pending* are scheduled; *config*: ``gates``, ``policy``, ``profile``
    and the like."""
    settings = {"percentageOfNodesToScore": 100, "featureGates": config.pop("gates", {}), **config}
    found = {
        "name": "cluster",
        "config": settings,
        "objects": list(objects),
        "pending": list(pending),
        "nominated": nominated or {},
    }
    return found if extenders is None else {**found, "extenders": extenders}


def policy(*predicates, priorities=(), **more):
    """A Policy of these rules: names, or whole entries."""
    entries = [{"name": rule} if isinstance(rule, str) else rule for rule in predicates]
    scores = [{"name": rule, "weight": 1} if isinstance(rule, str) else rule for rule in priorities]
    return {"apiVersion": "v1", "kind": "Policy", "predicates": entries, "priorities": scores, **more}


def profile(version="v1", args=None, *, head=None, **points):
    """A configuration with one profile: *args* of plugins by name, *points* with what they enable and
    disable; *head*: its other fields."""
    own = {"schedulerName": "default-scheduler", "plugins": points}
    own["pluginConfig"] = [{"name": plugin, "args": its} for plugin, its in (args or {}).items()]
    return {
        "apiVersion": f"{CONFIGURATION}/{version}",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [own],
        **(head or {}),
    }


def enabled(*plugins, only=False):
    """*plugins* of a point, and with *only* no others."""
    return {"enabled": [{"name": plugin} for plugin in plugins], "disabled": [{"name": "*"}] if only else []}


def disabled(*plugins):
    """A point without *plugins*."""
    return {"disabled": [{"name": plugin} for plugin in plugins]}


def event(verb, item):
    """Something that happens to *item* between two cycles."""
    return {"event": verb, "object": item}


# --- nodes and pods -----------------------------------------------------------------------------------------


def node(name, *, cpu="4", labels=None, **allocatable):
    """A node with room for ten pods; *allocatable*: what else it has, with ``_`` for ``-``."""
    room = {resource.replace("_", "-"): much for resource, much in allocatable.items()}
    return manifests.node(name, cpu, "8Gi", "10", labels={HOSTNAME: name, **(labels or {})}, allocatable=room)


def pod(name, host="", *, cpu=None, ns="default", **spec):
    """A pod, bound with *host*; *spec*: further fields, ``requests``, ``claims`` (names) and ``status`` among
    them."""
    volumes = [*spec.pop("volumes", []), *map(_use, spec.pop("claims", ()))]
    return manifests.pod(name, cpu, on=host, namespace=ns, volumes=volumes, **spec)


def _use(claim_name):
    return {"name": claim_name, "persistentVolumeClaim": {"claimName": claim_name}}


def peers(*, key=HOSTNAME, **labels):
    """A term of affinity: pods with these *labels* in one domain of *key*."""
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}}


def near(*terms):
    """Affinity that requires *terms*."""
    return {"podAffinity": {REQUIRED: list(terms)}}


def apart(*terms):
    """Anti-affinity that requires *terms*."""
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def named(*terms):
    """Required node affinity with a term for each list of *terms*, all of whose names a node must have."""
    fields = [
        [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names] for names in terms
    ]
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": found} for found in fields]}}}


def leaning(term, weight=5):
    """Affinity that prefers *term*."""
    return {"podAffinity": {PREFERRED: [{"weight": weight, "podAffinityTerm": term}]}}


def spread(key=HOSTNAME, *, soft=False, skew=1, selector=None, **labels):
    """A topology spread constraint over pods with these *labels*."""
    when = "ScheduleAnyway" if soft else "DoNotSchedule"
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": when,
        "labelSelector": selector or {"matchLabels": labels},
    }


def service(name, **selector):
    """A service of the pods with these labels."""
    return manifest("Service", name, namespace="default", spec={"selector": selector})


# --- volumes ------------------------------------------------------------------------------------------------


def storage_class(name, provisioner="kubernetes.io/no-provisioner", *, waits=True):
    """A class whose volumes are bound with their pod, or with *waits* off at once."""
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    return manifest("StorageClass", name, provisioner=provisioner, volumeBindingMode=mode)


def claim(name, kind="local", volume="", *, mode="ReadWriteOnce", phase="", **spec):
    """A claim of class *kind*, bound to *volume* if that is given."""
    known = {"storageClassName": kind, "volumeName": volume, "accessModes": [mode]}
    known |= {"volumeMode": "Filesystem", "resources": {"requests": {"storage": "1Gi"}}}
    return manifest(
        "PersistentVolumeClaim",
        name,
        namespace="default",
        metadata={"annotations": BOUND if volume else {}},
        spec=known | spec,
        status={"phase": phase or ("Bound" if volume else "Pending")},
    )


def volume(name, kind="local", claim_name="", *, host="", labels=None, **spec):
    """A volume of class *kind*, of a claim if its name is given, and on node *host* alone if that is
    given."""
    spec = {"storageClassName": kind, "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem", **spec}
    spec.setdefault("capacity", {"storage": "1Gi"})
    if claim_name:
        of = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": claim_name}
        spec["claimRef"] = {**of, "uid": f"default/{claim_name}"}
    if host:
        spec |= on(**{HOSTNAME: host})
    status = {"phase": "Bound" if claim_name else "Available"}
    return manifest("PersistentVolume", name, labels=labels or {}, spec=spec, status=status)


def csi_node(name, *drivers, moved=""):
    """The CSINode of a node: its *drivers* with their limits, and the in-tree plugins that *moved*."""
    annotations = {MIGRATED: moved} if moved else {}
    listed = [{"name": driver, "nodeID": name, "allocatable": {"count": most}} for driver, most in drivers]
    return manifest("CSINode", name, metadata={"annotations": annotations}, spec={"drivers": listed})


# --- devices ------------------------------------------------------------------------------------------------


def thing(kind, name, spec, **metadata):
    """An object of the API of devices."""
    return manifest(kind, name, apiVersion="resource.k8s.io/v1", metadata=metadata, spec=spec)


def devices(*devices, name="s", count=1, **spec):
    """The slice of a pool with *count* slices, which node a reaches."""
    pool = {"name": "p", "generation": 1, "resourceSliceCount": count}
    return thing(
        "ResourceSlice",
        name,
        {"driver": DRIVER, "nodeName": "a", "pool": pool, "devices": list(devices), **spec},
    )


def asking(name, *requests, constraints=(), **metadata):
    """A claim for devices."""
    asked = [
        {"name": f"r{i}", ("firstAvailable" if isinstance(one, list) else "exactly"): one}
        for i, one in enumerate(requests)
    ]
    spec = {"devices": {"requests": asked, "constraints": list(constraints)}}
    return thing("ResourceClaim", name, spec, namespace="default", **metadata)


# --- as they are written ------------------------------------------------------------------------------------

FORMS = {
    form.__name__: form
    for form in (
        *(
            policy,
            profile,
            enabled,
            disabled,
            event,
            node,
            pod,
            peers,
            near,
            apart,
            named,
            leaning,
            spread,
            service,
            storage_class,
            claim,
        ),
        *(volume, csi_node, thing, devices, asking, device, exactly, either),
    )
}


def made(written):
    """The object *written* in ``clusters.yaml``, in the API's JSON form."""
    if isinstance(written, list):
        return [made(item) for item in written]
    if not isinstance(written, dict):
        return written
    parts = {key: made(value) for key, value in written.items()}
    form = FORMS.get(next(iter(parts), ""))
    if form is None:
        return parts
    more = parts.pop("and", {})
    known = signature(form).parameters
    first = next(iter(known))
    several = [name for name, one in known.items() if one.kind is one.VAR_POSITIONAL]
    parts = {first: parts.pop(form.__name__), **parts}
    alone = [parts.pop(first)] if several and several != [first] else []
    listed = parts.pop(several[0], ()) if several else ()
    return _with(form(*alone, *listed, **parts), more)


def _with(whole, more):
    if not isinstance(whole, dict):
        return whole
    return {
        **whole,
        **{
            key: _with(whole.get(key, {}), value) if isinstance(value, dict) else value
            for key, value in more.items()
        },
    }


WRITTEN, SENTENCES = (
    yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text()) for name in ("clusters", "sentences")
)
ANSWERS = {fact: tuple(found.pop("shows")) for fact, found in WRITTEN.items() if "shows" in found}
"""Fact -> what its cluster shows: a field, its value without the fact, and with it."""


def _case(objects, pending, **more):
    return case(objects, *pending, **more)


def cluster(written):
    """A case as it is *written*."""
    return _case(**{key: made(value) for key, value in written.items()})


CLUSTERS = {fact: cluster(written) for fact, written in WRITTEN.items()}
"""Fact -> a cluster that shows it."""
