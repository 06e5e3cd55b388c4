"""Manifests of small nodes and pods for tests, from few words; Policies and lists."""

import json


def node(name="a", cpu="4", memory="32Gi", pods="110", *, labels=None, **more):
    """A node; *more*: ``allocatable`` (added to cpu, memory, pods), ``taints``, ``conditions``, ``images``,
    ``unschedulable`` and so on."""
    allocatable = {"cpu": cpu, "memory": memory, "pods": pods} | more.pop("allocatable", {})
    meta = {"name": name, "labels": labels or {}, "annotations": more.pop("annotations", {})}
    spec = {key: more.pop(key) for key in ("taints", "unschedulable") if key in more}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta,
        "spec": spec,
        "status": {"allocatable": allocatable, **more},
    }


def pod(
    name="web",
    cpu=None,
    *,
    app=None,
    on="",
    requests=None,
    limits=None,
    labels=None,
    namespace="default",
    **spec,
):
    """A pod, bound to the node *on* if given. *spec*: ``uid``, the node it is ``nominated`` to, and further
    fields of its spec, by the API's names; ``metadata`` and ``status`` are merged in."""
    meta = {
        "name": name,
        "namespace": namespace,
        "labels": ({} if app is None else {"app": app}) | (labels or {}),
    }
    meta |= ({"uid": spec.pop("uid")} if "uid" in spec else {}) | spec.pop("metadata", {})
    status = ({"nominatedNodeName": spec.pop("nominated")} if "nominated" in spec else {}) | spec.pop(
        "status", {}
    )
    amounts = ({} if cpu is None else {"cpu": cpu}) | (requests or {})
    resources = {"requests": amounts, **({"limits": limits} if limits else {})}
    containers = [{"name": "c", "image": "img", "resources": resources}]
    spec = {"containers": containers, **({"nodeName": on} if on else {}), **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def manifest(kind, name, *, metadata=None, **fields):
    """An object of any kind; ``namespace`` and ``labels`` of *fields* go to its metadata, the others to the
    object."""
    placed = {key: fields.pop(key) for key in ("namespace", "labels") if key in fields}
    return {"kind": kind, "metadata": {"name": name, **placed, **(metadata or {})}, **fields}


def owned_by(kind="ReplicaSet", name="o", uid="u", **more):
    """The metadata of an object that a controller owns; *more*: further fields of the owner reference."""
    return {"ownerReferences": [{"kind": kind, "name": name, "uid": uid, "controller": True, **more}]}


def policy_of(**fields):
    """A Policy."""
    return {"kind": "Policy", "apiVersion": "v1", **fields}


def dumped(items):
    """The text of a list, as kubectl writes it."""
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": items})
