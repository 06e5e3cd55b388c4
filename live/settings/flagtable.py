"""The flags of ``kubeclassic run`` that no other command has, and hints for flags of kube-scheduler that are
missing here."""

from __future__ import annotations

import attrs

TEXT = "TEXT"
BOOL = "BOOL"
WHOLE = "N"
NUMBER = "NUMBER"
DURATION = "DURATION"


@attrs.frozen
class Flag:
    """One flag."""

    name: str
    kind: str
    help: str
    other_name: str = ""
    """An older name of it."""


TABLE = """
master TEXT The URL of the API server; replaces that of the kubeconfig.
kube-api-qps NUMBER How many requests a second the API server gets, in the long run.  [default: 50]
kube-api-burst N How many requests it gets at once.  [default: 100]
v N Which log lines are written: 2 also what became of each pod, 3 each attempt, 6 each request.  [default: 0]
logging-format TEXT The form of log lines: text, or json.  [default: text]
leader-elect BOOL Schedule only while leading.  [default: true]
leader-elect-lease-duration DURATION How long others wait after the leader's last renewal.  [default: 15s]
leader-elect-renew-deadline DURATION How long the leader tries to renew before it ends.  [default: 10s]
leader-elect-retry-period DURATION The time between two tries.  [default: 2s]
leader-elect-resource-lock TEXT The kind of object that names the leader: always leases.
leader-elect-resource-name/lock-object-name TEXT The name of the Lease.  [default: kube-scheduler]
leader-elect-resource-namespace/lock-object-namespace TEXT Its namespace.  [default: kube-system]
address TEXT Where to answer over HTTP.  [default: 127.0.0.1]
port N The port of HTTP; 0: none.  [default: 10251, or 0 with a certificate]
bind-address TEXT Where to answer over HTTPS.  [default: 127.0.0.1]
secure-port N The port of HTTPS; 0: none.  [default: 10259 with a certificate]
tls-cert-file TEXT The certificate to answer with, in PEM.
tls-private-key-file TEXT Its key.
pod-max-in-unschedulable-pods-duration DURATION After this time a pod that fits nowhere is tried again.
"""
"""A flag a line: its name, perhaps an older one, the kind of its values, and its help."""


def _flag(line: str) -> Flag:
    names, kind, text = line.split(maxsplit=2)
    name, _, other_name = names.partition("/")
    return Flag(name, kind, text, other_name)


FLAGS = {flag.name: flag for flag in map(_flag, TABLE.strip().splitlines())}
"""The flags that no other command has, by name."""
PARKED = "pod-max-in-unschedulable-pods-duration"
PLACES = {False: frozenset({"address", "port"}), True: frozenset({"bind-address", "secure-port"})}
"""Whether it is HTTPS -> the flags that say where to listen."""
REFUSED = {
    "write-config-to": "kubeclassic policy check CONFIG shows what a configuration means",
    "profiling": "a profiler such as py-spy shows where the time goes",
    "cert-dir": "--tls-cert-file and --tls-private-key-file name a certificate",
    "client-ca-file": "put a proxy before the port, and keep the address on the loopback",
    "use-legacy-policy-config": "--policy-config-file alone is enough",
    "emulated-version": "--release names the release that is meant",
    **dict.fromkeys(
        ("authentication-kubeconfig", "authorization-kubeconfig"),
        "leave it out: callers are not asked who they are",
    ),
}
"""Flag of kube-scheduler that is missing here -> what to do instead."""
