"""Devices and claims for tests, in a short form that is easy to read."""

from tests.support.build import manifest, obj, pod

DRIVER = "gpu.example.com"
TYPES = {int: "int", bool: "bool", str: "string"}


def made(kind, name, spec, **more):
    """An object of *kind* from its JSON form."""
    return obj(manifest(kind, name, apiVersion="resource.k8s.io/v1", spec=spec, **more))


def device(name, **attributes):
    """A device with *attributes* of its driver's domain."""
    return {
        "name": name,
        "attributes": {key: {TYPES[type(value)]: value} for key, value in attributes.items()},
    }


def a_slice(node, *devices, pool="", count=1, **spec):
    """A slice of *devices*, names or objects, that *node* can access; "*": all nodes."""
    reach = {"allNodes": True} if node == "*" else {"nodeName": node} if node else {}
    listed = [device(one) if isinstance(one, str) else one for one in devices]
    name = spec.pop("name", f"{DRIVER}-{pool or node or 'some'}-1".replace("*", "all"))
    of = {"name": pool or node, "generation": 1, "resourceSliceCount": count}
    return made("ResourceSlice", name, {"driver": DRIVER, "pool": of, "devices": listed, **reach, **spec})


def device_class(name="gpu", *expressions):
    """A class of devices that match all of *expressions*."""
    return made("DeviceClass", name, {"selectors": selectors(*expressions)})


def selectors(*expressions):
    """CEL selectors."""
    return [{"cel": {"expression": expression}} for expression in expressions]


def exactly(count=1, *expressions, of="gpu", **more):
    """The part ``exactly`` of a request: a number of devices, or ``All``."""
    number = {"allocationMode": "All"} if count == "All" else {"allocationMode": "ExactCount", "count": count}
    return {"deviceClassName": of, "selectors": selectors(*expressions), **number, **more}


def either(*alternatives):
    """The alternatives of a request, called s0, s1 and so on."""
    return [{"name": f"s{number}", **one} for number, one in enumerate(alternatives)]


def device_claim(name, *requests, constraints=(), **more):
    """A claim with requests r0, r1 and so on, each from :func:`exactly` or :func:`either`."""
    asked = [
        {"name": f"r{i}", ("firstAvailable" if isinstance(one, list) else "exactly"): one}
        for i, one in enumerate(requests)
    ]
    metadata = {"namespace": "default", "uid": f"uid-{name}", **more.pop("metadata", {})}
    spec = {"devices": {"requests": asked, "constraints": list(constraints)}}
    return made("ResourceClaim", name, spec, metadata=metadata, **more)


def same(attribute, *requests):
    """The constraint that devices have equal values of a driver's attribute."""
    return {"matchAttribute": f"{DRIVER}/{attribute}", "requests": list(requests)}


def claiming(name, *claims, **status):
    """A pod that uses *claims*; ``from NAME`` names a template. *status*: name -> the claim made from it."""
    spec = []
    for number, one in enumerate(claims):
        field = "resourceClaimTemplateName" if one.startswith("from ") else "resourceClaimName"
        spec.append({"name": f"c{number}", field: one.removeprefix("from ")})
    statuses = [
        {"name": key, **({"resourceClaimName": value} if value else {})} for key, value in status.items()
    ]
    return pod(name, uid=f"uid-{name}", resourceClaims=spec, status={"resourceClaimStatuses": statuses})
