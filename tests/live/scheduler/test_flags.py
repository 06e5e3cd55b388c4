"""The settings of ``kubeclassic run``: flags, a configuration, and refusals of both in one line."""

import asyncio

import attrs
import pytest

from kubeclassic.exceptions import KubeclassicError
from kubeclassic.live.client.http import KubeconfigError
from kubeclassic.live.scheduler.election import LeaseTimes
from kubeclassic.live.scheduler.flags import FlagError, RunSettings, access_of, read_settings
from kubeclassic.live.server.serving import Listening
from kubeclassic.live.settings.flagtable import REFUSED
from tests.support.kubeconfigs import kubeconfig
from tests.support.program import inside

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: /etc/there, qps: 7, burst: 9}
leaderElection: {leaderElect: true, resourceName: mine, resourceNamespace: ours, leaseDuration: 30s, renewDeadline: 20s, retryPeriod: 3s}
healthzBindAddress: 0.0.0.0:1234
"""


def settings(config=None, *, is_dry=False, **flags):
    """The settings of flags, with underscores for hyphens."""
    return read_settings(
        {name.replace("_", "-"): value for name, value in flags.items()}, config, is_dry=is_dry
    )


@pytest.fixture
def config(tmp_path):
    """A configuration that says much about what is not scheduling."""
    file = tmp_path / "config.yaml"
    file.write_text(CONFIG)
    return file


LEASES = 'expected leases (a Lease names the leader in every release), got "endpoints"'
WRONG = {
    "v=x": '--v: expected a whole number, got "x"',
    "port=\u0665": '--port: expected a whole number, got "\u0665"',
    "port=010": '--port: expected a whole number, got "010"',
    "kube_api_qps=nan": '--kube-api-qps: expected a number, got "nan"',
    "kube_api_qps=-inf": '--kube-api-qps: expected a number, got "-inf"',
    "kube_api_qps=1_0": '--kube-api-qps: expected a number, got "1_0"',
    "kube_api_qps=\u0665": '--kube-api-qps: expected a number, got "\u0665"',
    "leader_elect=maybe": '--leader-elect: expected true or false, got "maybe"',
    "leader_elect_lease_duration=9": '--leader-elect-lease-duration: expected a duration such as 15s, got "9"',
    "leader_elect_lease_duration=9s": "leaseDuration must be greater than renewDeadline",
    "leader_elect_retry_period=9s": "renewDeadline must be greater than retryPeriod*JitterFactor",
    "leader_elect_retry_period=0s": "retryPeriod must be greater than zero",
    "leader_elect_resource_lock=endpoints": f"--leader-elect-resource-lock: {LEASES}",
    "port=70000": '--port: expected a port between 0 and 65535, got "70000"',
    "secure_port=1": "--secure-port: expected --tls-cert-file and --tls-private-key-file too, or --port for plain HTTP, got 1",
    "tls_cert_file=c": "--tls-cert-file and --tls-private-key-file: expected both or none, got one of them",
    "logging_format=xml": '--logging-format: expected text or json, got "xml"',
}


# --- Flags --------------------------------------------------------------------------------------------------


def test_defaults():
    """Without flags a Lease names the leader, and endpoints are on the loopback over HTTP."""
    found = settings()
    assert (found.election.namespace, found.election.name) == ("kube-system", "kube-scheduler")
    assert found.election.times == LeaseTimes(lease=15, renew=10, retry=2)
    assert found.listeners == (Listening("127.0.0.1", 10251, insecure=True),)
    assert (found.qps, found.burst, found.longest_parked, found.log_level) == (50.0, 100, None, 0)


def test_leader_election():
    """All of the lock can be set, and the lock left out."""
    times = {
        "leader_elect_lease_duration": "6s",
        "leader_elect_renew_deadline": "4s",
        "leader_elect_retry_period": "1s",
    }
    found = settings(leader_elect_resource_name="x", leader_elect_resource_namespace="y", **times).election
    assert (found.name, found.namespace, found.times) == ("x", "y", LeaseTimes(lease=6, renew=4, retry=1))
    assert settings(leader_elect="false").election is None


@pytest.mark.parametrize(
    "flags, places",
    [
        ({"port": "0"}, []),
        ({"address": "::1", "port": "80"}, [("::1", 80, "")]),
        ({"tls_cert_file": "c", "tls_private_key_file": "k"}, [("127.0.0.1", 10259, "c")]),
        (
            {
                "tls_cert_file": "c",
                "tls_private_key_file": "k",
                "port": "1",
                "bind_address": "::",
                "secure_port": "2",
            },
            [("127.0.0.1", 1, ""), ("::", 2, "c")],
        ),
    ],
)
def test_where_it_listens(flags, places):
    """Plain HTTP where there is no certificate, else HTTPS; both where both are asked for."""
    assert [(one.address, one.port, one.certificate or "") for one in settings(**flags).listeners] == places


def test_a_dry_run():
    """A dry run holds no election, and listens only where a flag says so."""
    assert settings(is_dry=True) == RunSettings()
    assert [one.port for one in settings(is_dry=True, port="7").listeners] == [7]


@pytest.mark.parametrize("flag, said", WRONG.items())
def test_errors(flag, said):
    """A wrong flag is one line."""
    name, _, value = flag.partition("=")
    with pytest.raises(FlagError) as found:
        settings(**{name: value})
    assert str(found.value).startswith(said)


@pytest.mark.parametrize("name", REFUSED)
def test_flags_that_there_are_not(name):
    """Flags that only kube-scheduler has are refused with what to do instead."""
    found = inside("run", f"--{name}=x")
    assert found.returncode == 2
    assert found.stderr.startswith(
        f"kubeclassic: --{name}: got a flag of kube-scheduler that kubeclassic does not have; "
    )
    assert found.stderr.count("\n") == 1


# --- Configuration ------------------------------------------------------------------------------------------


def test_what_it_says(config):
    """Client, lock and addresses come from the file."""
    found = settings(config)
    assert (found.kubeconfig, found.qps, found.burst) == ("/etc/there", 7, 9)
    assert (found.election.namespace, found.election.name) == ("ours", "mine")
    assert found.election.times == LeaseTimes(lease=30, renew=20, retry=3)
    assert found.listeners == (Listening("0.0.0.0", 1234, insecure=True),)


def test_how_long_volumes_may_take(config):
    """Up to 1.18 bindTimeoutSeconds is a field of the configuration itself."""
    assert settings(config).volume_seconds == 600
    config.write_text(f"{CONFIG}\nbindTimeoutSeconds: 30\n")
    assert settings(config).volume_seconds == 30


@pytest.mark.parametrize(
    "change, said",
    [
        (("qps: 7", "qps: many"), "clientConnection.qps: expected"),
        (("leaseDuration: 30s", "leaseDuration: long"), "leaderElection.leaseDuration: expected"),
        (
            ("0.0.0.0:1234", "here"),
            'healthzBindAddress or metricsBindAddress: expected an address such as 127.0.0.1:10251, got "here"',
        ),
        (("leaderElect: true", "resourceLock: endpoints"), f"--leader-elect-resource-lock: {LEASES}"),
    ],
)
def test_a_wrong_file_is_one_line(config, change, said):
    """The error for a wrong file names the path of the fault."""
    config.write_text(CONFIG.replace(*change))
    with pytest.raises(KubeclassicError) as found:
        settings(config)
    assert said in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "master, server, header",
    [
        ("http://there:1/", "http://there:1", None),
        ("http://localhost:1", "http://localhost:1", "Bearer t"),
        ("https://user:word@there:1", "https://there:1", "Bearer t"),
        ("there:1", "http://there:1", None),
    ],
)
def test_the_address_replaces_that_of_the_kubeconfig(tmp_path, master, server, header):
    """Credentials go to another address only where they are private; a user in it is not told."""
    file = kubeconfig(tmp_path, {"server": "https://user:word@here"}, {"token": "t"})
    access = access_of(attrs.evolve(settings(master=master), kubeconfig=str(file)), None)
    assert access.server == server
    assert asyncio.run(access.credentials.grant(0.0)).headers.get("Authorization") == header


def test_a_user_in_the_address():
    """Without a kubeconfig, the user and the password of the address are those that ask."""
    access = access_of(settings(master="https://user:word@there:1"), None)
    assert access.server == "https://there:1"
    granted = asyncio.run(access.credentials.grant(0.0))
    assert granted.headers == {"Authorization": "Basic dXNlcjp3b3Jk"}


@pytest.mark.parametrize("master", ["ftp://user:word@there", "https://user:word@there:x", "https:///there"])
def test_an_address_that_is_none(tmp_path, master):
    """It is refused by the name of its flag, beside a kubeconfig too, without its password."""
    asked = settings(master=master)
    for each in (
        asked,
        attrs.evolve(asked, kubeconfig=str(kubeconfig(tmp_path, {"server": "https://here"}))),
    ):
        with pytest.raises(KubeconfigError, match=r"^--master: .*expected https://HOST:PORT, got") as found:
            access_of(each, None)
        assert "word" not in str(found.value)


def test_how_the_server_is_reached(config, monkeypatch):
    """--master names it; without anything it is that of the pod, and outside of one a line says what is
    missing."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert access_of(settings(master="http://there:1"), None).server == "http://there:1"
    with pytest.raises(FlagError, match="--context needs --kubeconfig"):
        access_of(settings(), "x")
    config.write_text(CONFIG.replace("kubeconfig: /etc/there, ", ""))
    with pytest.raises(KubeconfigError, match=f"clientConnection.kubeconfig in {config}"):
        access_of(settings(config), None)
