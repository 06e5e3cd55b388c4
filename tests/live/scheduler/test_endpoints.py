"""The endpoints: what is answered, against the recordings, and how they are served."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from cryptography import x509

from kubeclassic.algorithmprovider.releases import DEFAULT_RELEASE
from kubeclassic.framework.config.configuration import decoded_configuration, read_configuration
from kubeclassic.framework.config.defaults import PluginSet
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.live.process.metrictables import Feed
from kubeclassic.live.scheduler.endpoints import Endpoints
from kubeclassic.live.scheduler.flags import Listener, read_settings, split_flags
from kubeclassic.live.scheduler.metrics import SchedulerMetrics
from kubeclassic.live.scheduler.serving import LONGEST_BODY, ServingError, make_certificate, serve_endpoints
from kubeclassic.live.settings.cells import OPTIONAL_FIELDS, PLUGINS
from kubeclassic.live.settings.configz import componentconfig, config_document, shown_profiles
from kubeclassic.live.settings.livereleases import LIVE_RELEASES
from tests.support.recordings import Exchange, recorded
from tests.support.virtualtime import run_virtually

OLD, NEW = "1.15", "1.27"
LOOPBACK = "127.0.0.1"


def endpoints(release: str = DEFAULT_RELEASE, **more: Any) -> Endpoints:
    """Endpoints with nothing counted yet."""
    cells = LIVE_RELEASES[release]
    return Endpoints(cells, SchedulerMetrics(cells, with_process=False), more.pop("config", {}), **more)


def asked(made: Endpoints, target: str, method: str = "GET", peer: str = LOOPBACK) -> tuple[int, str]:
    """Status and body of an answer."""
    answer = run_virtually(made.answer(method, target, peer))
    return answer.status, answer.body


def asked_of_original(release: str) -> list[Exchange]:
    """What the driver asked the scheduler at its start."""
    return [exchange for exchange in recorded(release, "a1-startup") if exchange.who == "driver->kube-scheduler"]


class TestHealth:
    @pytest.mark.parametrize("release", [OLD, NEW])
    def test_answers_are_the_recorded_ones(self, release: str) -> None:
        """Health, with and without details, and unknown paths are answered as recorded."""
        made = endpoints(release, checks={"leaderElection": lambda: ""})
        for exchange in asked_of_original(release):
            if exchange.path in ("/healthz", "/version") or (exchange.path == "/nosuch" and release == OLD):
                target = f"{exchange.path}?{exchange.query}" if exchange.query else exchange.path
                assert asked(made, target) == (exchange.status, exchange.answer), target

    def test_a_sick_leader(self) -> None:
        """A failed check is 500 with all checks, but not why."""
        made = endpoints(checks={"leaderElection": lambda: "failed election to renew"})
        assert asked(made, "/healthz") == (500, "[-]leaderElection failed: reason withheld\nhealthz check failed\n")
        assert asked(made, "/healthz/leaderElection") == (500, "internal server error: failed election to renew\n")
        assert asked(made, "/healthz?exclude=leaderElection") == (200, "ok")

    def test_without_election(self) -> None:
        """Where no leader is elected the check is called ping."""
        assert asked(endpoints(), "/healthz?verbose&exclude=x") == (
            200,
            '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "x"\nhealthz check passed\n',
        )
        assert asked(endpoints(), "/healthz/ping") == (200, "ok")
        assert asked(endpoints(), "/healthz/other") == (404, "404 page not found\n")

    def test_readiness(self) -> None:
        """A scheduler that has not listed all objects lives, and is not ready."""
        made = endpoints(ready={"informers": lambda: "pods are not listed yet"})
        assert asked(made, "/livez") == (200, "ok")
        assert asked(made, "/readyz") == (500, "[+]ping ok\n[-]informers failed: reason withheld\nreadyz check failed\n")


class TestOthers:
    def test_metrics_are_reset_by_delete(self) -> None:
        """DELETE /metrics sets them back, in the original's words."""
        made = endpoints(OLD)
        made.metrics.feed(Feed.ATTEMPT, 1, result="scheduled", profile="")
        assert 'result="scheduled"} 1' in asked(made, "/metrics")[1]
        assert asked(made, "/metrics", "DELETE") == (200, "metrics reset\n")
        assert 'result="scheduled"} 0' in asked(made, "/metrics")[1]
        assert asked(made, "/healthz", "POST")[0] == 405

    def test_content_types(self) -> None:
        """Types and headers are the recorded ones."""
        for release in (OLD, NEW):
            made = endpoints(release)
            for exchange in asked_of_original(release):
                if exchange.path in ("/healthz", "/configz", "/metrics"):
                    answer = run_virtually(made.answer("GET", exchange.path))
                    assert answer.kind == exchange.headers_of_answer["Content-Type"]
            wanted = next(e for e in asked_of_original(release) if e.path == "/healthz").headers_of_answer
            assert all(wanted[name] == value for name, value in made.headers())

    def test_configz_of_an_old_release(self) -> None:
        """The configuration is shown by Go's names, as recorded, but for the address and kubeconfig."""
        wanted = next(e for e in asked_of_original(OLD) if e.path == "/configz").answer["componentconfig"]
        flags = ["--kubeconfig=/etc/kubernetes/scheduler-a.conf", "--port=15251", "--profiling=false"]
        assert componentconfig(read_settings(split_flags(flags), OLD), 0) == wanted

    def test_configz_with_a_policy(self) -> None:
        """Where the Policy is from is shown as recorded."""
        for scenario, flag in (
            ("f1-extender-nocache", "--policy-config-file=/etc/kubernetes/policy.json"),
            ("g-policy-configmap", "--policy-configmap=scheduler-policy"),
        ):
            wanted = next(e for e in recorded(OLD, scenario) if e.path == "/configz").answer["componentconfig"]
            assert componentconfig(read_settings(split_flags([flag]), OLD), 0)["AlgorithmSource"] == wanted["AlgorithmSource"]

    def test_configz_of_the_framework(self, shared: Path) -> None:
        """What runs is shown by Go's names and in the order of its fields, as recorded, plugins and their arguments too."""
        wanted = next(e for e in asked_of_original(NEW) if e.path == "/configz").answer["componentconfig"]
        wanted |= {"EnableContentionProfiling": False}  # there are no Go locks to profile
        wanted["ClientConnection"]["Kubeconfig"] = "/etc/kubernetes/scheduler.conf"
        for flags in ({"config": f"{shared}/recordings/1.28.7/config-defaults.yaml"}, {"kubeconfig": "/etc/kubernetes/scheduler.conf"}):
            settings = read_settings(flags | {"profiling": "true"}, "1.28")
            config = read_configuration(settings.document or None, None, ALL_RELEASES["1.28"])
            found = componentconfig(settings, 0, config)
            found["EnableProfiling"] = True
            assert found == wanted
            assert [*found] == [*wanted]
            assert json.dumps(found["Profiles"]) == json.dumps(wanted["Profiles"])

    @pytest.mark.parametrize("release", [release for release, cells in LIVE_RELEASES.items() if cells.config_profiles])
    def test_configz_of_every_release_with_profiles(self, release: str) -> None:
        """Each release shows its own profile with its plugins from 1.22 on, with the fields that it has, and all of it is JSON."""
        config = read_configuration(None, None, ALL_RELEASES[release])
        found = componentconfig(read_settings({}, release), 0, config)
        assert json.loads(json.dumps(found)) == found
        fields = LIVE_RELEASES[release].config_fields
        assert {name for name in OPTIONAL_FIELDS if name in found} == {name for name in fields if " " not in name}
        assert ("Plugins" in found["Profiles"][0]) == (PLUGINS in fields)
        assert ("MultiPoint" in found["Profiles"][0].get("Plugins", {})) == (PLUGINS in fields and not config.context.cells.lists_points)

    def test_configz_of_given_arguments(self) -> None:
        """Given arguments come first and have their defaults; objects of the API in them, and those of unknown plugins, are as given."""
        term = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
        document = {
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "profiles": [{
                "schedulerName": "s",
                "pluginConfig": [
                    {"name": "NodeResourcesFit", "args": {"scoringStrategy": {
                        "type": "RequestedToCapacityRatio", "resources": [{"name": "cpu"}],
                        "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]},
                    }}},
                    {"name": "NodeAffinity", "args": {"addedAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
                    }}},
                    {"name": "Own", "args": {"x": 1}},
                ],
            }],
        }  # fmt: skip
        config = decoded_configuration(document, None, ALL_RELEASES["1.34"])
        found = shown_profiles(config, document["profiles"], has_percentage=True)[0]["PluginConfig"]
        assert [each["Name"] for each in found[:4]] == ["NodeResourcesFit", "NodeAffinity", "Own", "DefaultPreemption"]
        assert found[0]["Args"]["ScoringStrategy"] == {
            "Type": "RequestedToCapacityRatio", "Resources": [{"Name": "cpu", "Weight": 1}],
            "RequestedToCapacityRatio": {"Shape": [{"Utilization": 0, "Score": 0}, {"Utilization": 100, "Score": 10}]},
        }  # fmt: skip
        given = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        assert (found[1]["Args"], found[2]["Args"]) == ({"AddedAffinity": given}, {"x": 1})


class TestWrittenConfiguration:
    """--write-config-to against what the originals wrote."""

    def test_of_an_old_release(self, shared: Path) -> None:
        """All keys are those of the original, and all values but for the address and the content type."""
        wanted = yaml.safe_load((shared / "recordings/1.15.5/config-defaults.yaml").read_text())
        found = config_document(read_settings({"kubeconfig": "/etc/kubernetes/scheduler.conf", "address": "0.0.0.0"}, OLD), 0)
        wanted["clientConnection"]["contentType"] = "application/json"
        assert found == wanted
        assert list(found) == list(wanted)

    def test_of_the_framework(self, shared: Path) -> None:
        """What a file says is written again, profiles as they were given; it can be read again and means the same."""
        file = shared / "recordings/1.28.7/config-defaults.yaml"
        settings = read_settings({"config": str(file)}, NEW)
        wanted = yaml.safe_load(file.read_text())
        wanted["clientConnection"]["contentType"] = "application/json"
        assert config_document(settings, 0) == {**wanted, "enableContentionProfiling": False}

    def test_of_the_frameworks_defaults(self, shared: Path) -> None:
        """Without a file the profile is written with its plugins and their arguments, as the original writes it."""
        wanted = yaml.safe_load((shared / "recordings/1.28.7/config-defaults.yaml").read_text())
        settings = read_settings({"kubeconfig": "/etc/kubernetes/scheduler.conf"}, "1.28")
        found = config_document(settings, 0, read_configuration(None, None, ALL_RELEASES["1.28"]))
        assert (found["profiles"], found["parallelism"]) == (wanted["profiles"], 16)
        assert set(found) - {"delayCacheUntilActive"} == set(wanted)

    @pytest.mark.parametrize("release", LIVE_RELEASES)
    def test_it_can_be_read_again(self, release: str, tmp_path: Path) -> None:
        """The file means what the flags meant."""
        lock = next(flag for flag in ("lock-object-name", "leader-elect-resource-name") if flag in LIVE_RELEASES[release].flags)
        flags = {"leader-elect-lease-duration": "30s", "kube-api-qps": "7.5", lock: "x", "kubeconfig": "k"}
        settings = read_settings(flags, release)
        file = tmp_path / "c.yaml"
        config = read_configuration(None, None, ALL_RELEASES[release]) if LIVE_RELEASES[release].config_profiles else None
        file.write_text(yaml.safe_dump(config_document(settings, 0, config)))
        again = read_settings({"config": str(file)}, release)
        assert (again.election, again.client, again.listeners) == (settings.election, settings.client, settings.listeners)
        if config is not None:
            profile = read_configuration(again.document, None, ALL_RELEASES[release]).profiles[0]
            assert {point: found for point, found in profile.plugins.items() if found != PluginSet()} == config.profiles[0].plugins


class TestProfiling:
    def test_only_when_asked_for(self) -> None:
        """Without --profiling the paths do not exist."""
        assert asked(endpoints(), "/debug/pprof/")[0] == 404
        assert asked(endpoints(profiling=True), "/debug/pprof/")[0] == 200

    def test_only_on_this_machine(self) -> None:
        """Callers from elsewhere are refused."""
        assert asked(endpoints(profiling=True), "/debug/pprof/goroutine", peer="10.0.0.7")[0] == 403
        assert "tasks" in asked(endpoints(profiling=True), "/debug/pprof/goroutine")[1]

    def test_a_profile(self) -> None:
        """A profile lists functions; its time has a limit."""
        made = endpoints(profiling=True)
        assert "cumulative" in asked(made, "/debug/pprof/profile?seconds=1")[1]
        assert asked(made, "/debug/pprof/profile?seconds=9999") == (400, 'seconds: got "9999", wanted a whole number from 1 to 60\n')
        assert asked(made, "/debug/pprof/else")[0] == 404


def served(story: Callable[[int], Awaitable[None]], listener: Listener | None = None, **more: Any) -> None:
    """Run *story* with the port of served endpoints."""

    async def run() -> None:
        servers = await serve_endpoints(endpoints(**more), [listener or Listener(port=0)])
        try:
            await story(servers[0].sockets[0].getsockname()[1])
        finally:
            for server in servers:
                server.close()

    asyncio.run(run())


async def raw(port: int, text: bytes) -> bytes:
    """What the server answers to bytes, until it closes."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    writer.write(text)
    try:
        return await reader.read()
    finally:
        writer.close()


class TestServing:
    def test_over_http(self) -> None:
        """Several requests go over one connection, and HEAD gets no body."""

        async def story(port: int) -> None:
            async with httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{port}", timeout=60) as client:
                found = [await client.get(path) for path in ("/healthz", "/metrics", "/nosuch", "/livez")]
                assert [answer.status_code for answer in found] == [200, 200, 404, 200]
                assert found[0].text == "ok"
                assert found[0].headers["x-content-type-options"] == "nosniff"
                head = await client.head("/healthz")
                assert (head.status_code, head.text, head.headers["content-length"]) == (200, "", "2")

        served(story)

    def test_wrong_requests(self) -> None:
        """What is no HTTP, a long head and a long body get a 4xx, and the server goes on."""

        async def story(port: int) -> None:
            assert (await raw(port, b"hello\r\n\r\n")).startswith(b"HTTP/1.1 400 ")
            assert (await raw(port, b"GET / HTTP/1.1\r\nA: " + b"a" * 20_000 + b"\r\n")).startswith(b"HTTP/1.1 431 ")
            size = LONGEST_BODY + 20_000
            head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode()
            assert (await raw(port, head + b"a" * size)).startswith(b"HTTP/1.1 413 ")
            assert (await raw(port, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).endswith(b"\r\n\r\nok")

        served(story)

    def test_a_slow_caller_is_cut_off(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Who does not send a whole request in time is cut off."""
        monkeypatch.setattr("kubeclassic.live.scheduler.serving.PATIENCE", 0.05)

        async def story(port: int) -> None:
            assert await raw(port, b"GET /healthz HTTP/1.1\r\n") == b""

        served(story)

    def test_a_used_port_is_one_line(self) -> None:
        """A port that is taken is an error that names it."""
        with socket.socket() as taken:
            taken.bind((LOOPBACK, 0))
            taken.listen()
            port = taken.getsockname()[1]
            with pytest.raises(ServingError, match=f"127.0.0.1:{port}: cannot listen"):
                asyncio.run(serve_endpoints(endpoints(), [Listener(port=port)]))

    def test_over_tls(self, tmp_path: Path) -> None:
        """With a certificate the endpoints are served over TLS; a wrong one is an error."""
        key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
        name = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
        command = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *name)
        subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)

        async def story(port: int) -> None:
            context = ssl.create_default_context(cafile=str(certificate))
            async with httpx.AsyncClient(base_url=f"https://{LOOPBACK}:{port}", verify=context, timeout=60) as client:
                assert (await client.get("/healthz")).text == "ok"

        served(story, Listener(port=0, is_secure=True, certificate=str(certificate), key=str(key)))
        wrong = Listener(port=0, is_secure=True, certificate=str(key), key=str(tmp_path / "none"))
        with pytest.raises(ServingError, match=f"{key}, .*none: cannot read or write the certificate and its key"):
            asyncio.run(serve_endpoints(endpoints(), [wrong]))

    @pytest.mark.parametrize("name", ["localhost", LOOPBACK])
    def test_over_tls_with_a_certificate_that_is_made(self, name: str, tmp_path: Path) -> None:
        """A caller that trusts the kept certificate is answered at each of its names, and the next start shows the same one."""
        listener = Listener(port=0, is_secure=True, folder=str(tmp_path / "certificates"))

        async def story(port: int) -> None:
            context = ssl.create_default_context(cafile=str(tmp_path / "certificates/kube-scheduler.crt"))
            async with httpx.AsyncClient(base_url=f"https://{name}:{port}", verify=context, timeout=60) as client:
                assert (await client.get("/healthz")).text == "ok"

        served(story, listener)
        served(story, listener)
        assert (tmp_path / "certificates/kube-scheduler.key").stat().st_mode & 0o777 == 0o600

    def test_a_certificate_in_memory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without a folder the certificate is made anew for each start, and needs no folder to write to."""
        monkeypatch.setattr("tempfile.tempdir", "/proc/none")
        shown: list[str] = []

        async def story(port: int) -> None:
            shown.append(await asyncio.to_thread(ssl.get_server_certificate, (LOOPBACK, port)))
            assert await raw(port, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n") == b"", "no plain HTTP on the secure port"

        for _ in range(2):
            served(story, Listener(port=0, is_secure=True))
        assert len(set(shown)) == 2

    def test_half_of_a_pair_is_an_error(self, tmp_path: Path) -> None:
        """A folder with a certificate and no key is an error, not a reason to make others."""
        (tmp_path / "kube-scheduler.crt").write_text("x")
        with pytest.raises(ServingError, match=f"--cert-dir {tmp_path}: cannot read or write"):
            asyncio.run(serve_endpoints(endpoints(), [Listener(port=0, is_secure=True, folder=str(tmp_path))]))

    @pytest.mark.parametrize(
        ("address", "names"),
        [("127.0.0.1", ["127.0.0.1"]), ("0.0.0.0", ["127.0.0.1"]), ("10.0.0.7", ["127.0.0.1", "10.0.0.7"]), ("host", ["127.0.0.1"])],
    )
    def test_names_of_a_certificate(self, address: str, names: list[str]) -> None:
        """It is for localhost, 127.0.0.1 and the address that is listened on, and valid for a year from an hour before."""
        now = datetime(2024, 5, 1, 12, tzinfo=UTC)
        found = x509.load_pem_x509_certificate(make_certificate(address, now)[0])
        others = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert others.get_values_for_type(x509.DNSName) == ["localhost"]
        assert [str(ip) for ip in others.get_values_for_type(x509.IPAddress)] == names
        assert found.subject.rfc4514_string() == "CN=localhost@1714564800"
        assert (found.not_valid_before_utc, found.not_valid_after_utc) == (now - timedelta(hours=1), now + timedelta(days=365, hours=-1))
