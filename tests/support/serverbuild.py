"""Extender servers for tests, in process: small served clusters, an application, and calls of it without
sockets."""

import asyncio
import json

import attrs
import httpx

from kubeclassic.live.server.app import ExtenderApp, ServedCluster
from kubeclassic.simulation.conform import build, engine_for, find_families
from tests.conftest import ROOT
from tests.support.build import obj

KEPT = ROOT / "tests" / "conformance"
JSON = {"content-type": "application/json"}


def first_and_last(left_out=()):
    """The conformance families of the checkout, each for the first and the last release that has it.

    A server adds the same to the engines of all releases; the engines themselves are compared with upstream
    in every release.
    """
    found = {}
    for family in find_families([KEPT]):
        if family.name not in left_out:
            found.setdefault(family.name, []).append(family)
    return [family for several in found.values() for family in dict.fromkeys((several[0], several[-1]))]


def node_json(name, *, cpu="4", labels=None):
    """The JSON of a node, as a scheduler sends it: without kind."""
    allocatable = {"cpu": cpu, "memory": "8Gi", "pods": "20"}
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {},
        "status": {"allocatable": allocatable, "capacity": allocatable},
    }


def pod_json(name, *, cpu="1", on="", priority=None, **spec):
    """The JSON of a pod, as a scheduler sends it: without kind. Its UID is ``uid-NAME``."""
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    made = {
        "containers": containers,
        **({"nodeName": on} if on else {}),
        **({} if priority is None else {"priority": priority}),
        **spec,
    }
    return {"metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"}, "spec": made}


def as_pod(manifest):
    """The pod of the JSON *manifest*."""
    return obj({**manifest, "kind": "Pod"})


def three_nodes(release="1.16"):
    """A served cluster of nodes a, b and c of 4 cores; a pod of 3 cores and priority 1 on b, and one of 4
    cores and priority 5 on c; the pending pod w requests 2 cores."""
    made = ServedCluster(engine_for(release, {}), defaults=False)
    pods = [
        pod_json("low", cpu="3", on="b", priority=1),
        pod_json("middle", cpu="4", on="c", priority=5),
        pod_json("w", cpu="2", priority=0),
    ]
    for item in (*(obj({**node_json(name), "kind": "Node"}) for name in "abc"), *map(as_pod, pods)):
        made.put(item)
    return made


def of_case(case):
    """The cluster of a conformance case, as its engine has it."""
    return ServedCluster(build(case, {}), defaults=False)


@attrs.define(eq=False)
class Caller:
    """A client that calls an application in process."""

    app: ExtenderApp

    @classmethod
    def of(cls, served, **options):
        """A caller of a new application for a cluster."""
        return cls(ExtenderApp(cluster=served, **options))

    def call(self, method, path, **options):
        """The answer to one request; *options* are httpx's."""
        return asyncio.run(self._call(method, path, **options))

    async def _call(self, method, path, **options):
        transport = httpx.ASGITransport(app=self.app.gate)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, **options)

    def get(self, path, **options):
        """The answer to a GET."""
        return self.call("GET", path, **options)

    def post(self, path, body=None, **options):
        """The answer to a POST of *body*, bytes or JSON."""
        if isinstance(body, bytes):
            return self.call("POST", path, content=body, headers=JSON, **options)
        return self.call("POST", path, json=body, **options)

    def asked(self, path, body):
        """The JSON of the answer to a POST that has to succeed."""
        found = self.post(path, body)
        assert found.status_code == 200, found.text
        return found.json()


# --- what the engine says itself ----------------------------------------------------------------------------


def as_body(value):
    """JSON in bytes."""
    return json.dumps(value).encode()


def mismatches(service, pod, names, decision):
    """The differences between the service's answers about *pod* and the engine's *decision*; empty if they
    agree."""
    found = []
    verdict = json.loads(service.filter(as_body({"Pod": pod, "NodeNames": list(names)})))
    details = decision.details
    if details is None or (details.search is None and not decision.is_fit_error):
        return (
            [] if verdict["Error"] == decision.error else [f"error: {verdict['Error']!r}, {decision.error!r}"]
        )
    for name in dict.fromkeys(details.feasible):
        if name not in verdict["NodeNames"]:
            found.append(f"{name}: fits, but not for the service: {verdict['FailedNodes'].get(name)}")
    for name, reasons in details.failed.items():
        if verdict["FailedNodes"].get(name) != ", ".join(reasons):
            found.append(f"{name}: {verdict['FailedNodes'].get(name)!r}, {', '.join(reasons)!r}")
    if details.totals is not None:
        found += _score_mismatches(service, pod, decision)
    plan = decision.preemption
    if plan is not None and plan.candidates:
        found += _victim_mismatches(service, pod, decision)
    return found


def _score_mismatches(service, pod, decision):
    scores = json.loads(service.prioritize(as_body({"Pod": pod, "NodeNames": decision.feasible})))
    totals = decision.scores
    low = min(totals.values())
    high = max(totals.values())
    for entry in scores:
        total = totals[entry["Host"]]
        wanted = 10 if low == high else (total - low) * 10 // (high - low)
        if entry["Score"] != wanted:
            yield f"{entry['Host']}: score {entry['Score']}, expected {wanted}"


def _victim_mismatches(service, pod, decision):
    own = {
        name: {
            "Pods": [{"UID": victim.uid} for victim in victims.pods],
            "NumPDBViolations": victims.violations,
        }
        for name, victims in decision.preemption.candidates.items()
    }
    nobody = {name: {"Pods": []} for name in own}
    for given in (own, nobody):
        body = as_body({"Pod": pod, "NodeNameToMetaVictims": given})
        answer = json.loads(service.preempt(body))["NodeNameToMetaVictims"]
        if answer != own:
            yield f"victims: {answer}, expected {own}, given {'all' if given is own else 'none'}"


def node_names(case):
    """The names of the nodes of a conformance case."""
    return list(
        dict.fromkeys(
            item["metadata"]["name"] for item in case.get("objects", ()) if item.get("kind") == "Node"
        )
    )
