"""kube-scheduler's flags and configuration as settings."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kubeclassic.cli import BAD_INPUT, run
from kubeclassic.exceptions import KubeclassicError, ManifestError, PolicyError
from kubeclassic.framework.options import options_of
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.live.scheduler.election import LeaseTimes
from kubeclassic.live.scheduler.flags import FlagError, RunSettings, read_settings, split_flags
from kubeclassic.live.scheduler.runsettings import settings_of
from kubeclassic.live.settings.flagtable import FLAGS
from kubeclassic.live.settings.livereleases import LIVE_RELEASES
from tests.support.refusals import refusal_text

OLD, NEW = "1.15", "1.27"
GROUP = "kubescheduler.config.k8s.io"


def settings(release: str, *arguments: str) -> RunSettings:
    """What the arguments mean."""
    return read_settings(split_flags(arguments), release)


RELEASES = tuple(LIVE_RELEASES)
"""Oldest first: the first 11 read a Policy, the first 10 have providers."""


class TestTheTable:
    def test_every_release_is_there(self) -> None:
        """Each release that schedules has its flags."""
        assert list(LIVE_RELEASES) == list(ALL_RELEASES)

    def test_every_flag_is_of_a_release(self) -> None:
        """Releases name flags that are there, once each, and each flag is one of a release."""
        for release in LIVE_RELEASES.values():
            assert len(release.flags) == len(set(release.flags))
        assert {name for release in LIVE_RELEASES.values() for name in release.flags} == set(FLAGS)

    def test_the_recorded_flags_are_known(self, shared: Path) -> None:
        """Every flag that the recorded scheduler of 1.15 logs at its start is known, but for help and version."""
        with gzip.open(shared / "recordings/1.15.5/a7-locks.jsonl.gz", "rt", encoding="utf-8") as lines:
            logs = [line for item in map(json.loads, lines) for line in item.get("log") or ()]
        names = {line.split("FLAG: --")[1].split("=")[0] for line in logs if "FLAG: --" in line}
        assert names
        assert names <= set(LIVE_RELEASES[OLD].flags)


class TestFlags:
    @pytest.mark.parametrize("release", LIVE_RELEASES)
    def test_defaults(self, release: str) -> None:
        """Without flags a leader is elected by the release's lock, and endpoints are on loopback at the release's ports."""
        found = settings(release)
        cells = LIVE_RELEASES[release]
        assert found.election is not None
        lock = found.election.kind, found.election.namespace, found.election.name
        assert lock == (cells.leader.default_lock, "kube-system", "kube-scheduler")
        assert found.election.times == LeaseTimes(lease=15, renew=10, retry=2)
        ports = [(port, is_secure) for port, is_secure in ((cells.serving.port, False), (cells.serving.secure_port, True)) if port]
        assert [(each.address, each.port, each.is_secure) for each in found.listeners] == [("127.0.0.1", *port) for port in ports]
        assert (found.client.qps, found.client.burst, found.profiling, found.notes) == (50.0, 100, False, ())

    def test_what_a_common_manifest_has(self) -> None:
        """The flags of a usual static pod are taken, and notes say which have no effect."""
        callers = ("--authentication-kubeconfig=/a", "--authorization-kubeconfig=/a")
        found = settings(NEW, *callers, "--bind-address=0.0.0.0", "--kubeconfig=/a", "--leader-elect=true")
        assert found.client.kubeconfig == "/a"
        assert found.listeners[0].address == "0.0.0.0"
        assert [note.split()[0] for note in found.notes] == ["--authentication-kubeconfig", "--authorization-kubeconfig"]

    def test_leader_election(self) -> None:
        """All of the lock can be set."""
        found = settings(
            OLD,
            "--leader-elect-resource-lock=configmaps",
            "--lock-object-name",
            "x",
            "--lock-object-namespace=y",
            "--leader-elect-lease-duration=6s",
            "--leader-elect-renew-deadline=4s",
            "--leader-elect-retry-period=1s",
        ).election
        assert found is not None
        assert (found.kind, found.name, found.namespace, found.times) == ("configmaps", "x", "y", LeaseTimes(lease=6, renew=4, retry=1))
        assert settings(OLD, "--leader-elect=false").election is None

    @pytest.mark.parametrize(
        ("arguments", "file", "config_map", "provider"),
        [
            (["--policy-config-file=p"], "p", None, ""),
            (["--policy-config-file=p", "--policy-configmap=c"], "", ("kube-system", "c"), ""),
            (["--policy-config-file=p", "--policy-configmap=c", "--use-legacy-policy-config"], "p", None, ""),
            (["--policy-configmap=c", "--policy-configmap-namespace=n", "--algorithm-provider=X"], "", ("n", "c"), ""),
            (["--algorithm-provider=X"], "", None, "X"),
        ],
    )
    def test_the_algorithm(self, arguments: list[str], file: str, config_map: tuple[str, str] | None, provider: str) -> None:
        """A Policy in a file, a Policy in a ConfigMap, a provider: upstream's order."""
        found = settings(OLD, *arguments).algorithm
        assert (found.policy_file, found.policy_config_map, found.provider) == (file, config_map, provider)

    def test_the_longest_time_without_a_try(self) -> None:
        """In the release with profiles it can be set, beside a configuration too; without the flag it is the release's."""
        assert settings(NEW).longest_parked is None
        assert settings(NEW, "--pod-max-in-unschedulable-pods-duration=1m30s").longest_parked == 90

    @pytest.mark.parametrize(
        ("release", "ports"),
        [("1.12", [10251]), ("1.13", [10251, 10259]), ("1.22", [10251, 10259]), ("1.23", [10259]), ("1.34", [10259])],
    )
    def test_ports(self, release: str, ports: list[int]) -> None:
        """1.12 has the plain port, 1.13 adds the secure one, and 1.23 has that alone."""
        assert [each.port for each in settings(release).listeners] == ports

    def test_endpoints(self) -> None:
        """Port 0 turns one off; the secure one answers with the certificate that is given, else with one that is made and perhaps kept."""
        assert [each.port for each in settings(OLD, "--port=0").listeners] == [10259]
        assert settings(OLD, "--port=0", "--secure-port=0").listeners == ()
        assert settings(NEW, "--secure-port=0").listeners == ()
        pair = ("--tls-cert-file=c", "--tls-private-key-file=k")
        for release in (OLD, NEW):
            plain = [each.certificate for each in settings(release, *pair).listeners if not each.is_secure]
            (secure,) = (each for each in settings(release, *pair).listeners if each.is_secure)
            assert (plain, secure.certificate, secure.key) == ([""] * (release == OLD), "c", "k")
            assert settings(release, "--cert-dir=d").listeners[-1].folder == "d"

    @pytest.mark.parametrize(
        ("flags", "ports"), [({}, []), ({"port": "1"}, [1]), ({"secure-port": "2"}, [2]), ({"bind-address": "::1"}, [10259])]
    )
    def test_a_dry_run_listens_where_a_flag_says(self, flags: dict[str, str], ports: list[int]) -> None:
        """A flag of one port does not open the other one, as another scheduler of this machine may have it."""
        _, found = settings_of(options_of({"release": OLD}), flags, is_dry=True)
        assert [each.port for each in found.listeners] == ports

    def test_what_is_said_of_a_port(self) -> None:
        """The URL, and which certificate is shown."""
        plain, secure = settings(OLD, "--bind-address=::").listeners
        assert plain.line(10251) == "listening on http://127.0.0.1:10251"
        assert secure.line(10259) == "listening on https://[::]:10259 with a certificate that signs itself"
        (given,) = settings(NEW, "--tls-cert-file=c", "--tls-private-key-file=k").listeners
        assert given.line(1) == "listening on https://127.0.0.1:1 with the certificate of c"

    @pytest.mark.parametrize(
        ("release", "argument", "text"),
        [
            (NEW, "--policy-config-file=x", f"--policy-config-file: release 1.27 does not have it, {', '.join(RELEASES[:11])} do"),
            (NEW, "--scheduler-name=x", f"--scheduler-name: release 1.27 does not have it, {', '.join(RELEASES[:10])} do"),
            (OLD, "--pod-max-in-unschedulable-pods-duration=9s", "release 1.15 does not have it, 1.24, 1.25"),
            (NEW, "--pod-max-in-unschedulable-pods-duration=9", 'got "9", wanted a duration such as 15s'),
            (NEW, "--leader-elekt=x", 'unknown flag: --leader-elekt: release 1.27 has no flag of that name; did you mean "'),
            ("1.12", "--secure-port=1", "release 1.12 does not have it"),
            (OLD, "--port=x", '--port: got "x", wanted a whole number'),
            (OLD, "--port=70000", '--port: got "70000", wanted a port between 0 and 65535'),
            (OLD, "--leader-elect=maybe", '--leader-elect: got "maybe", wanted true or false'),
            (OLD, "--leader-elect-lease-duration=15", '--leader-elect-lease-duration: got "15", wanted a duration such as 15s'),
            (OLD, "--leader-elect-lease-duration=9s", "leaseDuration must be greater than renewDeadline"),
            (OLD, "--leader-elect-retry-period=9s", "renewDeadline must be greater than retryPeriod*JitterFactor"),
            (OLD, "--leader-elect-resource-lock=endpointsleases", "couldn't create resource lock: Invalid lock-type endpointsleases"),
            (NEW, "--leader-elect-resource-lock=endpoints", "endpoints lock is removed, migrate to endpointsleases"),
            (OLD, "--use-legacy-policy-config", "required when --use-legacy-policy-config is true"),
            (OLD, "--client-ca-file=x", "--client-ca-file is not served: client certificates are not checked"),
            (NEW, "--tls-cert-file=x", "got one of them, wanted both or none"),
            (OLD, "run", 'got the argument "run", wanted flags only'),
            (OLD, "--config", "--config: got nothing, wanted a value"),
            (OLD, "--feature-gates=A", "missing bool value for A"),
            (OLD, "--kube-api-qps=fast", '--kube-api-qps: got "fast", wanted a number'),
        ],
    )
    def test_errors(self, release: str, argument: str, text: str) -> None:
        """A wrong flag is one line: which, what was got, what was wanted."""
        told = refusal_text(KubeclassicError, settings, release, argument)
        assert text in told
        assert "\n" not in told

    def test_a_refused_flag_is_a_flag_error(self) -> None:
        """What would weaken the endpoints is not ignored."""
        with pytest.raises(FlagError):
            settings(NEW, "--tls-min-version=VersionTLS13")


class TestConfiguration:
    def test_the_recorded_defaults(self, shared: Path) -> None:
        """What the originals write as their default configuration means what no flags mean, but for addresses and profiling."""
        for release, version in ((OLD, "1.15.5"), (NEW, "1.28.7")):
            found = settings(release, f"--config={shared}/recordings/{version}/config-defaults.yaml")
            assert found.election == settings(release).election
            assert found.client.kubeconfig == "/etc/kubernetes/scheduler.conf"
            assert (found.client.qps, found.client.burst) == (50.0, 100)
            assert found.profiling == (release == NEW)

    def test_old_flags_do_not_count_beside_a_file(self, tmp_path: Path) -> None:
        """In the old releases the file alone counts; a note says so of each other flag."""
        file = tmp_path / "c.yaml"
        file.write_text(f"apiVersion: {GROUP}/v1alpha1\nkind: KubeSchedulerConfiguration\nhealthzBindAddress: 0.0.0.0:9\n")
        found = settings(OLD, f"--config={file}", "--leader-elect=false", "--kubeconfig=x", "--master=m")
        assert found.election is not None
        assert (found.client.kubeconfig, found.client.master) == ("", "m")
        assert [(each.address, each.port) for each in found.listeners] == [("0.0.0.0", 9), ("127.0.0.1", 10259)]
        reason = f"has no effect beside --config {file}, as in the original"
        assert found.notes == (f"--leader-elect {reason}", f"--kubeconfig {reason}")

    def test_new_flags_of_the_lock_do(self, tmp_path: Path) -> None:
        """In the new release flags of leader election count beside the file."""
        file = tmp_path / "c.yaml"
        file.write_text(
            f"apiVersion: {GROUP}/v1\nkind: KubeSchedulerConfiguration\n"
            "leaderElection: {resourceName: mine, leaseDuration: 30s}\nclientConnection: {qps: 7.5}\n"
        )
        found = settings(NEW, f"--config={file}", "--leader-elect-retry-period=3s")
        assert found.election is not None
        assert (found.election.name, found.election.times) == ("mine", LeaseTimes(lease=30, renew=10, retry=3))
        assert found.client.qps == 7.5

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("kind: Other", 'kind: got "Other", wanted KubeSchedulerConfiguration'),
            ("kind: KubeSchedulerConfiguration\napiVersion: x", 'apiVersion: got "x", wanted kubescheduler.config.k8s.io/v1alpha1'),
            ("leaderElection: {leaseDuration: 5}", "leaderElection.leaseDuration: got 5, wanted a duration such as 5s or 1m30s"),
            ("clientConnection: {qps: fast}", 'clientConnection.qps: got "fast", wanted a number'),
            ("a: 1\n---\nb: 2", "got 2 documents, wanted one KubeSchedulerConfiguration"),
        ],
    )
    def test_a_wrong_file_is_one_line(self, tmp_path: Path, text: str, said: str) -> None:
        """Errors say the file, the place, what was got and what was wanted."""
        file = tmp_path / "c.yaml"
        file.write_text(text)
        told = refusal_text((PolicyError, ManifestError), settings, OLD, f"--config={file}")
        assert said in told
        assert str(file) in told


def test_kubeconfig_beside_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """--kubeconfig does not count beside --config, as in the original; the error names the field of the file that does."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    file = tmp_path / "profile.yaml"
    file.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", encoding="utf-8")
    assert run(["run", "--profile", str(file), "--kubeconfig", str(tmp_path / "config")]) == BAD_INPUT
    assert f"beside --config: clientConnection.kubeconfig in {file}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("version", "release", "wanted"),
    [("v1alpha1", (), "v1alpha1"), ("v1alpha2", (), "v1alpha2"), ("v1", ("--release", "1.30"), "v1")],
)
def test_the_configuration_names_the_release(tmp_path: Path, version: str, release: tuple[str, ...], wanted: str) -> None:
    """Where one release reads a configuration, or the default does, --release can be left out; else it says which."""
    file, out = tmp_path / "in.yaml", tmp_path / "out.yaml"
    file.write_text(f"apiVersion: {GROUP}/{version}\nkind: KubeSchedulerConfiguration\n", encoding="utf-8")
    assert run(["run", "--config", str(file), *release, "--write-config-to", str(out)]) == 0
    assert f"apiVersion: {GROUP}/{wanted}\n" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(("version", "reading"), [("v1beta1", "1.19 to 1.22"), ("v1beta3", "1.23 to 1.28"), ("v1", "1.25 to 1.34")])
def test_a_configuration_of_several_releases(tmp_path: Path, capsys: pytest.CaptureFixture[str], version: str, reading: str) -> None:
    """Where several releases read it, and the default does not, one line says which they are and asks for --release."""
    file = tmp_path / "in.yaml"
    file.write_text(f"apiVersion: {GROUP}/{version}\nkind: KubeSchedulerConfiguration\n", encoding="utf-8")
    assert run(["run", "--config", str(file)]) == BAD_INPUT
    said = f'apiVersion: got "{GROUP}/{version}", which releases {reading} read, wanted --release with one of them'
    assert capsys.readouterr().err == f"kubeclassic: {file}: {said}\n"
