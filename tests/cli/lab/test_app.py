"""The lab's server: who may ask, what is refused, what the page's questions answer, and several pages at a
time."""

import json
import signal

import httpx
import pytest

from tests.apiserver import NEW_SERVER, Store, User, serving_store
from tests.support.kubeconfigs import kubeconfig
from tests.support.labbuild import EXAMPLE, lab_app
from tests.support.program import command, started

TOKEN = "token"
PORT = 8123
BASE = f"http://127.0.0.1:{PORT}"


class Page:
    """Asks a lab as its page does."""

    def __init__(self):
        self.app = lab_app(TOKEN)

    async def request(self, method, path, headers=None, body=None):
        """The answer to a request."""
        transport = httpx.ASGITransport(app=self.app.gate)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            return await client.request(method, path, headers=headers or {}, content=body)

    def get(self, path, **headers):
        """The answer to GET."""
        return _run(
            self.request("GET", path, {name.replace("_", "-"): value for name, value in headers.items()})
        )

    def post(self, path, body, kind="application/json", token=TOKEN, **headers):
        """The answer to a question."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"content-type": kind} | {name.replace("_", "-"): value for name, value in headers.items()}
        return _run(self.request("POST", f"/{token}/{path}", given, content))

    def ask(self, question, **body):
        """The answer to a question, as data."""
        return self.post("ask", {"question": question, **body}).json()


def _run(request):
    import asyncio

    return asyncio.run(request)


@pytest.fixture
def page():
    """A page of a lab on the example cluster."""
    found = Page()
    yield found
    found.app.worker.close()


# --- Who may ask --------------------------------------------------------------------------------------------


def test_the_page_and_its_files(page):
    """The page names scripts and style sheets that are there, and nothing elsewhere."""
    found = page.get(f"/{TOKEN}/")
    assert (found.status_code, found.headers["content-type"]) == (200, "text/html; charset=utf-8")
    names = [part.split('"')[0] for part in found.text.split("assets/")[1:]]
    assert len(names) > 5
    assert {page.get(f"/{TOKEN}/assets/{name}").status_code for name in names} == {200}
    assert "default-src 'none'" in found.headers["content-security-policy"]
    assert "access-control-allow-origin" not in found.headers


@pytest.mark.parametrize(
    "path", ["/", "/x/", "/x/assets/lab.css", f"/{TOKEN}", f"/{TOKEN}/nope", f"/{TOKEN}/assets/nope.js"]
)
def test_other_paths(page, path):
    """Without the token there is nothing, and with it nothing but the lab."""
    assert page.get(path).status_code == 404


@pytest.mark.parametrize(
    "name", ["..%2f..%2f__init__.py", "%2e%2e/lab/__init__.py", "__init__.py", "..%5c__init__.py"]
)
def test_no_other_files(page, name):
    """Files beside the assets are not served."""
    assert page.get(f"/{TOKEN}/assets/{name}").status_code == 404


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", ""])
def test_other_hosts(page, host):
    """A request for another host, as after a change of a name's address, is not answered."""
    found = page.get(f"/{TOKEN}/", host=host)
    assert (found.status_code, found.json()["where"]) == (421, "header Host")


@pytest.mark.parametrize(
    "headers", [{"origin": "http://evil.example"}, {"sec_fetch_site": "cross-site"}, {"origin": "null"}]
)
def test_other_pages(page, headers):
    """A request that another page makes is refused, though it knows the token."""
    assert page.post("ask", {"question": "start"}, **headers).status_code == 403


def test_a_long_name(page):
    """A name that no file can have is not looked for."""
    assert page.get(f"/{TOKEN}/assets/{'x' * 5000}.js").status_code == 404


def test_its_own_page(page):
    """The lab's own page is answered, by both names of the address."""
    assert (
        page.post("ask", {"question": "start"}, origin=BASE, sec_fetch_site="same-origin").status_code == 200
    )
    assert page.get(f"/{TOKEN}/", host=f"localhost:{PORT}").status_code == 200


# --- Bodies -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"[" * 100_000,
        b'{"question": NaN}',
        b"\xff",
        b'{"question": "\xff"}',
        b" " * (3 << 20),
    ],
)
def test_no_question(page, body):
    """A body that is no question, or too large, is refused in one line."""
    status, text = (200, "question: ") if len(body) < 1 << 20 else (413, "body: expected at most ")
    found = page.post("ask", body)
    assert found.status_code == status
    assert next(iter(found.json().values())).startswith(text)


def test_another_type(page):
    """A form, which any page could send, is refused."""
    assert page.post("ask", b"question=start", "application/x-www-form-urlencoded").status_code == 415


@pytest.mark.parametrize(
    "value", [None, 3, [], {}, "x" * 5000, "nope", {"release": 3}, {"policy": "/etc/passwd"}, [[]]]
)
def test_wrong_values(page, value):
    """Values of wrong kinds are answered by an error in one line, or do not count; never by a defect."""
    state = page.ask("start")["state"]
    for key in (*state, "nope"):
        for question in ("simulate", "explain", "save"):
            found = page.post("ask", {"question": question, "state": {**state, key: value}})
            assert found.status_code == 200
            assert "\n" not in found.json().get("trouble", "")
    for question in ("explain", "capacity", "manifest", "load", "nope"):
        found = page.post("ask", {"question": question, "state": state, "options": {"pod": value}})
        assert found.status_code == 200
        assert "\n" not in found.json().get("trouble", "")


def test_files_are_not_read(page):
    """No option of a page names a file."""
    state = page.ask("start")["state"]
    for name in ("policy", "profile", "config", "rules"):
        scheduler = {**state["scheduler"], name: "/etc/hostname"}
        assert "expected" in page.ask("simulate", state={**state, "scheduler": scheduler})["trouble"]
    told = page.ask("capacity", state=state, options={"pod": "/etc/hostname"})["trouble"]
    assert told == "pod: expected a manifest, got '/etc/hostname'"


@pytest.mark.whole
class TestProgram:
    def test_from_start_to_end(self):
        """The program says where it is, answers, and ends well with Ctrl-C."""
        words = command(
            "lab", str(EXAMPLE), "--no-open", "--release", "1.14", "--set", "node gpu-b1 unschedulable=true"
        )
        with started(words) as process:
            assert process.stderr is not None
            address = next(line for line in process.stderr if "the lab is at" in line).split()[4]
            found = httpx.post(f"{address}ask", json={"question": "start"}, timeout=60).json()["state"]
            assert (found["scheduler"]["release"], found["edits"]) == (
                "1.14",
                ["node gpu-b1 unschedulable=true"],
            )
            assert (
                httpx.post(f"{address.rpartition('/')[0][:-3]}/ask", json={}, timeout=60).status_code == 404
            )
            process.send_signal(signal.SIGINT)
            assert (process.wait(60), process.stderr.read()) == (0, "")

    def test_a_live_cluster(self, tmp_path):
        """With --kubeconfig the cluster is read from its API server, and the saved commands name the same
        file."""
        store = Store(NEW_SERVER)
        for name in "ab":
            User(store).create(
                "nodes", {"metadata": {"name": name}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}}
            )
        with serving_store(store) as server:
            file = str(kubeconfig(tmp_path, {"server": server}))
            with started(command("lab", "--no-open", "--kubeconfig", file)) as process:
                assert process.stderr is not None
                address = next(line for line in process.stderr if "the lab is at" in line).split()[4]
                found = httpx.post(f"{address}ask", json={"question": "simulate"}, timeout=60).json()
                rows = found["cluster"]["rows"]
                assert [name for kind, name, _ in rows if kind == "Node"] == ["a", "b"]
                saved = (
                    httpx.post(f"{address}ask", json={"question": "save"}, timeout=60)
                    .json()["lab-command.sh"]
                    .split()
                )
                assert (saved[:2], saved[-2:]) == (["kubeclassic", "simulate"], ["--kubeconfig", file])
                process.send_signal(signal.SIGTERM)
                assert process.wait(60) == 0
