"""kube-scheduler's flags: what they take, what they are by default, and what becomes of those that mean nothing here.

Upstream: cmd/kube-scheduler/app/options, and the options of k8s.io/apiserver and k8s.io/component-base that it takes in.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

TEXT, BOOL, WHOLE, NUMBER, DURATION = "text", "bool", "whole", "number", "duration"


@attrs.frozen
class Flag:
    """One flag."""

    name: str
    kind: str
    help: str
    word: str = ""
    """Why the flag has no effect here; empty: it has."""
    is_refused: bool = False
    """A flag without effect ends the program, as leaving it out would be less than what was asked for; else it is noted."""


_LOGS = "log lines go to standard error, one at a time"
_CALLERS = "callers are not asked who they are: keep the address on loopback, or put a proxy before it"
_CIPHERS = "versions and ciphers are those of Python's ssl; put a proxy before the port to choose them"

_SERVED = (
    Flag("config", TEXT, "A KubeSchedulerConfiguration."),
    Flag("write-config-to", TEXT, "Write the configuration to this file and end."),
    Flag("master", TEXT, "The URL of the API server; replaces that of the kubeconfig."),
    Flag("kubeconfig", TEXT, "How to reach the API server."),
    Flag("kube-api-qps", NUMBER, "How many requests a second the API server gets, in the long run."),
    Flag("kube-api-burst", WHOLE, "How many requests it gets at once."),
    Flag("scheduler-name", TEXT, "Schedule the pods that ask for this one."),
    Flag("v", WHOLE, "Which log lines are written: 2 also what became of each pod, 3 each attempt, 6 each request.  [default: 0]"),
    Flag("feature-gates", TEXT, "Gates that differ from the release's defaults: A=true,B=false."),
    Flag("profiling", BOOL, "Answer /debug/pprof/, to callers on this machine only."),
    Flag("leader-elect", BOOL, "Schedule only while leading."),
    Flag("leader-elect-lease-duration", DURATION, "How long others wait after the leader's last renewal."),
    Flag("leader-elect-renew-deadline", DURATION, "How long the leader tries to renew before it ends."),
    Flag("leader-elect-retry-period", DURATION, "The time between two tries."),
    Flag("leader-elect-resource-lock", TEXT, "The kind of object that names the leader."),
    Flag("leader-elect-resource-name", TEXT, "Its name."),
    Flag("leader-elect-resource-namespace", TEXT, "Its namespace."),
    Flag("lock-object-name", TEXT, "Its name."),
    Flag("lock-object-namespace", TEXT, "Its namespace."),
    Flag("algorithm-provider", TEXT, "DefaultProvider or ClusterAutoscalerProvider."),
    Flag("policy-config-file", TEXT, "A Policy."),
    Flag("policy-configmap", TEXT, "A ConfigMap that holds the Policy; it is read once."),
    Flag("policy-configmap-namespace", TEXT, "Its namespace."),
    Flag("use-legacy-policy-config", BOOL, "Take the Policy's file even if there is a ConfigMap."),
    Flag("hard-pod-affinity-symmetric-weight", WHOLE, "The weight of the required affinity of other pods in scoring, 1 to 100."),
    Flag("address", TEXT, "Where to listen with plain HTTP."),
    Flag("port", WHOLE, "The port of plain HTTP; 0: do not listen."),
    Flag("bind-address", TEXT, "Where to listen with HTTPS."),
    Flag("secure-port", WHOLE, "The port of HTTPS; 0: do not listen."),
    Flag("tls-cert-file", TEXT, "The certificate to answer with, in PEM; without it one is made at the start."),
    Flag("tls-private-key-file", TEXT, "Its key."),
    Flag("cert-dir", TEXT, "Where kube-scheduler.crt and kube-scheduler.key are kept, if one is made."),
    Flag("logging-format", TEXT, "The form of log lines: text, or json.  [default: text]"),
    Flag("pod-max-in-unschedulable-pods-duration", DURATION, "After this time a pod that fits nowhere is tried again."),
)


def _noted(word: str, prefix: str = "", **kinds: str) -> tuple[Flag, ...]:
    """Flags without effect, by their names with underscores for hyphens."""
    return tuple(Flag(prefix + name.replace("_", "-"), kind, "", word) for name, kind in kinds.items())


_NOTED = (
    *_noted("requests are always JSON", kube_api_content_type=TEXT),
    *_noted("there are no Go locks to profile", contention_profiling=BOOL),
    *_noted("the original does not read it either", failure_domains=TEXT),
    *_noted("answers are HTTP/1.1", http2_max_streams_per_connection=WHOLE),
    *_noted("a port is listened on once", permit_port_sharing=BOOL),
    *_noted("an address is listened on once", permit_address_sharing=BOOL),
    *_noted(
        _CALLERS, "authentication-", kubeconfig=TEXT, skip_lookup=BOOL, token_webhook_cache_ttl=DURATION, tolerate_lookup_failure=BOOL
    ),
    *_noted(
        _CALLERS, "authorization-", always_allow_paths=TEXT, kubeconfig=TEXT, webhook_cache_authorized_ttl=DURATION,
        webhook_cache_unauthorized_ttl=DURATION,
    ),
    *_noted(
        _CALLERS, "requestheader-", allowed_names=TEXT, client_ca_file=TEXT, extra_headers_prefix=TEXT, group_headers=TEXT,
        username_headers=TEXT,
    ),
    *_noted("--v counts for all modules", vmodule=TEXT),
    *_noted(
        _LOGS, logtostderr=BOOL, alsologtostderr=BOOL, log_dir=TEXT, log_file=TEXT, log_flush_frequency=DURATION, stderrthreshold=TEXT,
        log_backtrace_at=TEXT, experimental_logging_sanitization=BOOL, log_json_info_buffer_size=TEXT, log_json_split_stream=BOOL,
        log_text_info_buffer_size=TEXT, log_text_split_stream=BOOL,
    ),
    *_noted(
        "every metric of the release is shown", show_hidden_metrics_for_version=TEXT, disabled_metrics=TEXT, allow_metric_labels=TEXT
    ),
)  # fmt: skip
_REFUSED = (
    Flag("client-ca-file", TEXT, "", "client certificates are not checked: put a proxy before the port", is_refused=True),
    Flag("tls-cipher-suites", TEXT, "", _CIPHERS, is_refused=True),
    Flag("tls-min-version", TEXT, "", _CIPHERS, is_refused=True),
    Flag("emulated-version", TEXT, "", "name the release that is meant by --release", is_refused=True),
    Flag("tls-sni-cert-key", TEXT, "", "one certificate is served: --tls-cert-file", is_refused=True),
)

FLAGS: Mapping[str, Flag] = {flag.name: flag for flag in (*_SERVED, *_NOTED, *_REFUSED)}
"""Every flag of every release by its name."""

# --- in groups, for the table of releases ---------------------------------------------------------------------------

EVERY = (
    *(flag.name for flag in _SERVED[:15] if flag.name != "scheduler-name"),
    "kube-api-content-type",
    "contention-profiling",
    "vmodule",
    "log-flush-frequency",
)
"""Flags of every release."""
KLOG = ("logtostderr", "alsologtostderr", "log-dir", "log-file", "stderrthreshold", "log-backtrace-at")
"""Where klog writes to; later releases write to standard error alone."""
ALGORITHM = ("scheduler-name", "algorithm-provider", "hard-pod-affinity-symmetric-weight")
"""Flags of releases that have providers. Later profiles have their schedulerName in the configuration, and upstream no flag for it."""
CLASSIC = (*ALGORITHM, "policy-config-file", "policy-configmap", "policy-configmap-namespace", "use-legacy-policy-config")
"""Flags of releases that read a Policy, and the above."""
LOCK_OBJECT = ("lock-object-name", "lock-object-namespace")
INSECURE = ("address", "port")
SECURE = (
    "bind-address",
    "secure-port",
    "tls-cert-file",
    "tls-private-key-file",
    "cert-dir",
    "http2-max-streams-per-connection",
    *(flag.name for flag in _NOTED if flag.word == _CALLERS),
    *(flag.name for flag in _REFUSED if flag.name != "emulated-version"),
)
TEXT_STREAMS = ("log-text-info-buffer-size", "log-text-split-stream")
RESOURCE_NAME = ("leader-elect-resource-name", "leader-elect-resource-namespace")
CHOSEN_METRICS = ("disabled-metrics", "allow-metric-labels")
JSON_STREAMS = ("log-json-info-buffer-size", "log-json-split-stream")
SHARED = {
    "config": "config", "policy-config-file": "policy", "policy-configmap": "policy_configmap",
    "policy-configmap-namespace": "policy_configmap_namespace", "algorithm-provider": "provider",
    "hard-pod-affinity-symmetric-weight": "hard_pod_affinity_weight", "scheduler-name": "scheduler_name", "feature-gates": "gates",
}  # fmt: skip
"""Flag of kube-scheduler -> the option of all schedulers that it is."""
