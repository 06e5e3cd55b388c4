"""The paths of the extender server: refusals, limits, the token, and what it says about itself."""

import asyncio
import json
import threading
from types import SimpleNamespace

import httpx
import pytest
import yaml

from kubeclassic.live.server.bodies import MOST_VALUES
from kubeclassic.live.server.serving import ServerLimits
from tests.support.build import obj
from tests.support.logs import LINE
from tests.support.serverbuild import JSON, Caller, pod_json, three_nodes

ASK = {"Pod": pod_json("x", cpu="2"), "NodeNames": ["a"]}
VERBS = ["/filter", "/prioritize", "/preemption", "/bind"]
WRONG = yaml.safe_load("""
- [{Pod: null}, Pod]
- [{Pod: 3}, Pod]
- [{Pod: {metadata: {}}}, Pod.metadata.name]
- [{Pod: {metadata: {name: 3}}}, Pod.metadata.name]
- [{Pod: {metadata: {name: x}, spec: {containers: 3}}}, Pod.spec.containers]
- [{NodeNames: a}, NodeNames]
- [{NodeNames: [a, null]}, "NodeNames[1]"]
- [{Nodes: {items: [{metadata: {name: a}}]}}, body]
- [{NodeNames: null, Nodes: []}, Nodes]
- [{NodeNames: null, Nodes: {items: [3]}}, "Nodes.items[0]"]
- [{NodeNames: null, Nodes: {items: [{metadata: {name: ""}}]}}, "Nodes.items[0].metadata.name"]
- [{NodeNames: null, Nodes: {items: [{metadata: {name: a}, spec: 3}]}}, "Nodes.items[0].spec"]
""")


@pytest.fixture
def caller():
    """A caller of a server with three nodes."""
    return Caller.of(three_nodes())


# --- Refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, where, got, wanted",
    [
        (b"", "body", "nothing", "a JSON object"),
        (
            b"{",
            "body, line 1, column 2",
            "no JSON (Expecting property name enclosed in double quotes)",
            "a JSON object",
        ),
        (b"[" * 100_000, "body", "JSON that is nested too deeply", "the JSON of an extender's call"),
        (b"\xff\xfe\xfa", "body", None, "a JSON object in UTF-8"),
        (b'{"Pod": NaN}', "body", "no JSON (NaN is no JSON)", "a JSON object in UTF-8"),
        (b"1" * 5000, "body", None, "a JSON object in UTF-8"),
        (b"[]", "body", "an empty list", "an object"),
        (b"{}", "body", "neither Nodes nor NodeNames", "one of them"),
    ],
)
def test_bodies_that_are_none(caller, body, where, got, wanted):
    """A body that is no JSON object is refused, and the answer says where, what was expected and what was
    given."""
    found = caller.post("/filter", body)
    record = found.json()
    assert (found.status_code, record["where"], record["wanted"]) == (400, where, wanted)
    assert got is None or record["got"] == got
    assert record["error"] == f"{where}: expected {wanted}, got {record['got']}"


@pytest.mark.parametrize("change, where", WRONG)
def test_wrong_shapes(caller, change, where):
    """A field of the wrong form is named."""
    found = caller.post("/filter", {**ASK, **change})
    assert (found.status_code, found.json()["where"]) == (400, where)


OVERHEAD = {"runtimeClassName": "runc", "overhead": {"cpu": "1"}}


@pytest.mark.parametrize(
    "release, spec, says",
    [
        ("1.16", {"priorityClassName": "gone"}, "no PriorityClass with name gone was found"),
        ("1.16", OVERHEAD, ""),
        ("1.36", OVERHEAD, "Pod Overhead set without corresponding RuntimeClass defined Overhead"),
    ],
)
def test_a_pod_that_an_api_server_would_refuse(release, spec, says):
    """It is refused as the release does it, where the server fills in defaults."""
    served = three_nodes(release)
    served.defaults = True
    served.put(obj({"kind": "RuntimeClass", "metadata": {"name": "runc"}}))
    found = Caller.of(served).post("/filter", {**ASK, "Pod": pod_json("x", **spec)})
    assert found.status_code == (422 if says else 200)
    assert says in found.json().get("got", "")


def test_a_defect_is_no_traceback(caller, monkeypatch, capsys):
    """Where the server itself is at fault it answers 500, says one line, and goes on."""

    def fail(*_):
        raise ZeroDivisionError("oh")

    with monkeypatch.context() as patched:
        patched.setattr("kubeclassic.live.server.app.filter_result", fail)
        found = caller.post("/filter", ASK)
    assert (found.status_code, "Traceback" in found.text) == (500, False)
    line = LINE.fullmatch(capsys.readouterr().err.rstrip("\n"))
    assert (line["severity"], line["text"]) == ("E", "a defect, at /filter: ZeroDivisionError: oh")
    assert caller.post("/filter", ASK).status_code == 200


# --- Limits -------------------------------------------------------------------------------------------------


def test_a_large_body():
    """A body of more than the allowed size is refused, whether its header says so or not."""
    caller = Caller.of(three_nodes(), limits=ServerLimits(body_bytes=1000))
    found = caller.post("/filter", b" " * 1001)
    assert found.status_code == 413
    assert found.json()["error"] == "body: expected at most 1000 bytes, got more"

    async def parts():
        for _ in range(4):
            yield b" " * 400

    assert caller.call("POST", "/filter", content=parts(), headers=JSON).status_code == 413
    assert caller.post("/filter", ASK).status_code == 200


def test_a_slow_body():
    """A body that does not arrive in time is refused."""
    caller = Caller.of(three_nodes(), limits=ServerLimits(seconds=0.05))

    async def drops():
        while True:
            yield b" "
            await asyncio.sleep(0.01)

    found = caller.call("POST", "/filter", content=drops(), headers=JSON)
    assert found.status_code == 408
    assert found.json()["where"] == "body"


def test_many_at_a_time():
    """Beyond the allowed number requests are refused at once, and the others are answered, as is one that
    comes later."""
    caller = Caller.of(three_nodes(), limits=ServerLimits(requests=2))
    gate = threading.Event()
    body = json.dumps(ASK).encode()
    caller.app.worker.submit(gate.wait, 60)

    async def many():
        transport = httpx.ASGITransport(app=caller.app.gate)  # type: ignore[arg-type]  # httpx has types of its own
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=JSON
        ) as client:
            calls = [asyncio.create_task(client.post("/filter", content=body)) for _ in range(6)]
            await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
            gate.set()
            return [answer.status_code for answer in await asyncio.gather(*calls)]

    assert sorted(asyncio.run(many())) == [200, 200, 429, 429, 429, 429]
    assert caller.post("/filter", body).status_code == 200


# --- Token --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header, status",
    [
        (None, 401),
        ("Bearer secre", 401),
        ("Bearer secret2", 401),
        ("Basic secret", 401),
        ("secret", 401),
        ("bearer secret", 200),
    ],
)
@pytest.mark.parametrize("path", ["/metrics"])
def test_who_may_ask(path, header, status):
    """With a token only who shows it gets answers."""
    caller = Caller.of(three_nodes(), limits=ServerLimits(token=b"secret"))
    found = caller.get(path, headers={} if header is None else {"authorization": header})
    assert found.status_code == status
    assert found.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)


def test_probes_need_none():
    """A kubelet's probes have no token."""
    caller = Caller.of(three_nodes(), limits=ServerLimits(token=b"secret"))
    assert [caller.get(path).status_code for path in ("/healthz", "/livez", "/readyz")] == [200] * 3


# --- Itself -------------------------------------------------------------------------------------------------


def test_not_ready():
    """Until the cluster is complete the server is alive, not ready, and decides nothing."""
    caller = Caller.of(three_nodes(), is_ready=False)
    assert [caller.get(path).status_code for path in ("/livez", "/readyz")] == [200, 503]
    assert [caller.post(verb, ASK).status_code for verb in VERBS] == [503] * 4


def test_an_api_server_that_is_away():
    """After ten seconds without it every answer says for how long, and the server is alive and not ready."""
    behind = SimpleNamespace(seconds_behind=9.9)
    caller = Caller.of(three_nodes(), informers=behind)
    caller.call("GET", "/healthz")
    assert (caller.get("/readyz").text, "x-seconds-behind" in caller.get("/readyz").headers) == ("ok", False)
    behind.seconds_behind = 37.5
    found = caller.get("/readyz")
    assert (found.status_code, found.text) == (503, "the API server has not answered for 37 s")
    assert caller.get("/livez").status_code == 200
    answer = caller.post("/filter", ASK)
    assert (answer.status_code, answer.headers["x-seconds-behind"]) == (200, "37")
    assert "kubeclassic_extender_seconds_behind 37.5" in caller.get("/metrics").text


def test_metrics(caller):
    """Requests are counted by path and status, in Prometheus' format."""
    caller.post("/filter", ASK)
    caller.post("/filter", b"{")
    caller.get("/made-up")
    text = caller.get("/metrics").text
    for line in (
        'requests_total{code="200",path="/filter"} 1.0',
        'requests_total{code="400",path="/filter"} 1.0',
    ):
        assert f"kubeclassic_extender_{line}" in text
    assert 'path="other"' in text
    assert "made-up" not in text
    assert "kubeclassic_extender_nodes 3.0" in text


# --- Callers ------------------------------------------------------------------------------------------------

# Pages in a browser, which may have made their own name point to this machine.


@pytest.mark.parametrize(
    "host, status",
    [
        ("evil.example", 421),
        ("evil.example:8888", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example:80", 421),
        ("[::1", 421),
        ("127.0.0.1", 200),
        ("127.0.0.1:8888", 200),
        ("10.2.3.4:80", 200),
        ("[::1]:8888", 200),
        ("LOCALHOST:1", 200),
        ("scheduler.example", 200),
    ],
)
@pytest.mark.parametrize("path", ["/healthz", "/metrics"])
def test_other_hosts(path, host, status):
    """A request that calls the server by a name that is not its own is not answered, not even a probe."""
    caller = Caller.of(three_nodes(), limits=ServerLimits(hosts=frozenset({"scheduler.example"})))
    assert caller.get(path, headers={"host": host}).status_code == status


@pytest.mark.parametrize("path", VERBS)
def test_nothing_is_decided_for_them(path):
    """No verb is answered, and the body is not read."""
    headers = {"host": "evil.example", "content-type": "application/json"}
    found = Caller.of(three_nodes()).call("POST", path, content=b"{", headers=headers)
    assert (found.status_code, found.json()["where"]) == (421, "header Host")


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "https://localhost"}, 403),
        ({"origin": "http://localhost:1"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "http://localhost", "sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
    ],
)
@pytest.mark.parametrize("hosts", [frozenset(), None], ids=["unknown callers", "known callers"])
def test_other_pages(hosts, headers, status):
    """A request that another page makes is refused, also where callers show who they are: browsers show
    certificates unasked."""
    caller = Caller.of(three_nodes(), limits=ServerLimits(hosts=hosts))
    assert caller.get("/metrics", headers=headers).status_code == status


def test_many_small_values():
    """A body of few bytes for each value, which would take many times its size in memory, is refused before
    it is read."""
    body = b'{"Pod": {}, "NodeNames": [' + b"[]," * (MOST_VALUES // 2 + 1) + b"[]]}"
    found = Caller.of(three_nodes()).post("/filter", body)
    assert (found.status_code, found.json()["where"]) == (413, "body")
