"""The flags of ``kubeclassic run`` that no other command has: what they take, and what is said of those that
there are not."""

from __future__ import annotations

from collections.abc import Mapping

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


FLAGS: Mapping[str, Flag] = {
    flag.name: flag
    for flag in (
        Flag("master", TEXT, "The URL of the API server; replaces that of the kubeconfig."),
        Flag(
            "kube-api-qps",
            NUMBER,
            "How many requests a second the API server gets, in the long run.  [default: 50]",
        ),
        Flag("kube-api-burst", WHOLE, "How many requests it gets at once.  [default: 100]"),
        Flag(
            "v",
            WHOLE,
            "Which log lines are written: 2 also what became of each pod, 3 each attempt, 6 each request.  [default: 0]",
        ),
        Flag("logging-format", TEXT, "The form of log lines: text, or json.  [default: text]"),
        Flag("leader-elect", BOOL, "Schedule only while leading.  [default: true]"),
        Flag(
            "leader-elect-lease-duration",
            DURATION,
            "How long others wait after the leader's last renewal.  [default: 15s]",
        ),
        Flag(
            "leader-elect-renew-deadline",
            DURATION,
            "How long the leader tries to renew before it ends.  [default: 10s]",
        ),
        Flag("leader-elect-retry-period", DURATION, "The time between two tries.  [default: 2s]"),
        Flag("leader-elect-resource-lock", TEXT, "The kind of object that names the leader: always leases."),
        Flag(
            "leader-elect-resource-name",
            TEXT,
            "The name of the Lease.  [default: kube-scheduler]",
            "lock-object-name",
        ),
        Flag(
            "leader-elect-resource-namespace",
            TEXT,
            "Its namespace.  [default: kube-system]",
            "lock-object-namespace",
        ),
        Flag("address", TEXT, "Where to answer over HTTP.  [default: 127.0.0.1]"),
        Flag("port", WHOLE, "The port of HTTP; 0: none.  [default: 10251, or 0 with a certificate]"),
        Flag("bind-address", TEXT, "Where to answer over HTTPS.  [default: 127.0.0.1]"),
        Flag("secure-port", WHOLE, "The port of HTTPS; 0: none.  [default: 10259 with a certificate]"),
        Flag("tls-cert-file", TEXT, "The certificate to answer with, in PEM."),
        Flag("tls-private-key-file", TEXT, "Its key."),
        Flag(
            "pod-max-in-unschedulable-pods-duration",
            DURATION,
            "After this time a pod that fits nowhere is tried again.",
        ),
    )
}
"""Those that no other command has, by name."""
PARKED = "pod-max-in-unschedulable-pods-duration"
PLACES = {False: frozenset({"address", "port"}), True: frozenset({"bind-address", "secure-port"})}
"""Whether it is HTTPS -> the flags that say where to listen."""
REFUSED: Mapping[str, str] = {
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
"""Flag of kube-scheduler that there is not here -> what to do instead."""
