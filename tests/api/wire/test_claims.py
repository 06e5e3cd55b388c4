"""ResourceClaims in the form in which they are written to the API server."""

import yaml
from msgspec.structs import replace

from kubeclassic.api.objects import ResourceClaim
from kubeclassic.api.ownfields import with_finalizers, with_status
from kubeclassic.api.reading.decode import decode
from kubeclassic.core.cluster.listings import ResourceClaims
from tests.framework.plugins.test_dynamicresources import NODES, SLICES, scheduler
from tests.support.devicebuild import DRIVER, claiming, device_class, exactly

MANIFEST = {
    "kind": "ResourceClaim",
    "apiVersion": "resource.k8s.io/v1",
    "metadata": {"name": "c", "namespace": "default", "resourceVersion": "5"},
    "spec": {"devices": {"requests": [{"name": "r0", "exactly": exactly()}]}},
}


def test_what_is_written_for_a_pod():
    """A placed pod's claims come out as updates: finalizer, devices with the nodes that reach them, and the
    pod as their user."""
    claim = decode(MANIFEST, keeps_manifest=True)
    assert isinstance(claim, ResourceClaim)
    engine = scheduler(*NODES, *SLICES, device_class(), claim)
    engine.listings.resource_claims.writes = []
    pod = claiming("p", "c")
    assert engine.assume(pod, engine.schedule(pod).host or "") is None
    (written,) = engine.listings.resource_claims.writes
    assert written.before is claim
    assert with_finalizers(MANIFEST, written.after)["metadata"]["finalizers"] == [
        "resource.kubernetes.io/delete-protection"
    ]
    field = yaml.safe_load("{key: metadata.name, operator: In, values: [a]}")
    assert with_status(MANIFEST, written.after)["status"] == {
        "allocation": {
            "devices": {"results": [{"request": "r0", "driver": DRIVER, "pool": "a", "device": "g0"}]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
        },
        "reservedFor": yaml.safe_load("[{resource: pods, name: p, uid: uid-p}]"),
    }
    assert decode(with_status(MANIFEST, written.after)) == replace(
        written.after, metadata=replace(written.after.metadata, finalizers=())
    )


def test_what_drivers_are_told():
    """The settings of the class of the alternative that was chosen come first, then those of the claim for
    the requests that they name."""
    settings = [{"requests": [name], "opaque": {"driver": name}} for name in ("r0", "r0/s0", "r0/s1")] + [
        {"opaque": {"driver": "all"}}
    ]
    request = yaml.safe_load("""
        name: r0
        firstAvailable:
        - {name: s0, deviceClassName: x}
        - {name: s1, deviceClassName: y}
        """)
    manifest = {**MANIFEST, "spec": {"devices": {"requests": [request], "config": settings}}}
    classes = {name: {"spec": {"config": [{"opaque": {"driver": name}}]}} for name in "xy"}
    results = [{"request": "r0/s1", "driver": DRIVER, "pool": "a", "device": "g0"}]
    claim = decode({**manifest, "status": {"allocation": {"devices": {"results": results}}}})
    assert isinstance(claim, ResourceClaim)
    config = with_status(manifest, claim, classes)["status"]["allocation"]["devices"]["config"]
    assert [(one["source"], one["opaque"]["driver"]) for one in config] == [
        ("FromClass", "y"),
        ("FromClaim", "r0"),
        ("FromClaim", "r0/s1"),
        ("FromClaim", "all"),
    ]


def test_older_events_are_dropped():
    """A watch event for a claim counts unless the known claim is newer."""
    claims = ResourceClaims()
    (older, newer) = (_version("9"), _version("10"))
    for item, wanted in ((newer, "10"), (older, "10"), (_version("11"), "11")):
        claims.put(item)
        found = claims.get("default/c")
        assert found.metadata.resource_version == wanted


def _version(number):
    found = decode({**MANIFEST, "metadata": {**MANIFEST["metadata"], "resourceVersion": number}})
    assert isinstance(found, ResourceClaim)
    return found
