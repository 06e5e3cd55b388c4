"""What a scheduler answers over HTTP: ``/healthz /livez /readyz /metrics /configz``, and ``/debug/pprof/`` where that was asked for.

No release of the original has ``/livez`` and ``/readyz``; they are added here. Callers are not asked who they are.

Upstream: cmd/kube-scheduler/app/server.go, k8s.io/apiserver/pkg/server/healthz.
"""

from __future__ import annotations

import asyncio
import cProfile
import io
import json
import pstats
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import attrs

from ..client.kubeconfig import is_loopback
from ..settings.cells import LiveRelease
from .metrics import SchedulerMetrics

TEXT, JSON = "text/plain; charset=utf-8", "application/json"
METRICS = "text/plain; version=0.0.4; charset=utf-8"
HEALTH = ("healthz", "livez", "readyz")
LONGEST_PROFILE = 60.0
"""Seconds."""

Check = Callable[[], str]
"""Why a part is not well; empty if it is."""


@attrs.frozen
class HttpReply:
    """A whole answer."""

    status: int
    body: str
    kind: str = TEXT


NOT_FOUND = HttpReply(404, "404 page not found\n")


def _always_well() -> str:
    return ""


@attrs.define(eq=False)
class Endpoints:
    """The answers of one scheduler."""

    release: LiveRelease
    metrics: SchedulerMetrics
    config: Mapping[str, Any]
    """What ``/configz`` shows."""
    checks: Mapping[str, Check] = attrs.field(factory=dict)
    """The health checks by name; upstream has ``leaderElection`` where a leader is elected, else ``ping``."""
    ready: Mapping[str, Check] = attrs.field(factory=dict)
    """What ``/readyz`` checks besides, such as that all objects have been listed."""
    profiling: bool = False

    async def answer(self, method: str, target: str, peer: str = "") -> HttpReply:
        """The answer to a request for *target*, path and query, from the address *peer*."""
        parts = urlsplit(target)
        path, query = parts.path, parse_qs(parts.query, keep_blank_values=True)
        if path == "/metrics" and method == "DELETE":
            self.metrics.reset()
            return HttpReply(200, "metrics reset\n")
        if method not in ("GET", "HEAD"):
            return HttpReply(405, "Method Not Allowed\n")
        if path == "/metrics":
            return HttpReply(200, self.metrics.text(), METRICS)
        if path == "/configz":
            return HttpReply(200, json.dumps({"componentconfig": self.config}, separators=(",", ":")), JSON)
        if path.startswith("/debug/pprof/") and self.profiling:
            return await _profile(path, query, peer)
        return self._health(path, query)

    # --- health -----------------------------------------------------------------------------------------------------

    def _health(self, path: str, query: Mapping[str, list[str]]) -> HttpReply:
        name, _, part = path[1:].partition("/")
        if name not in HEALTH:
            return NOT_FOUND
        checks = {**(self.checks or {"ping": _always_well}), **(self.ready if name == "readyz" else {})}
        if part:
            return _single(checks[part]) if part in checks else NOT_FOUND
        return _all(name, checks, query)

    def headers(self) -> list[tuple[str, str]]:
        """The headers that every answer has."""
        found = [("X-Content-Type-Options", "nosniff")]
        return [("Cache-Control", "no-cache, private"), *found] if self.release.serving.caching_header else found


def _single(check: Check) -> HttpReply:
    reason = check()
    return HttpReply(500, f"internal server error: {reason}\n") if reason else HttpReply(200, "ok")


def _all(name: str, checks: Mapping[str, Check], query: Mapping[str, list[str]]) -> HttpReply:
    """All checks, but for those that the query excludes. Upstream: reasons are withheld, as anybody may ask."""
    excluded, lines, failed = set(query.get("exclude", ())), [], False
    for part, check in checks.items():
        if part in excluded:
            lines.append(f"[+]{part} excluded: ok\n")
        elif check():
            lines.append(f"[-]{part} failed: reason withheld\n")
            failed = True
        else:
            lines.append(f"[+]{part} ok\n")
    if unknown := sorted(excluded - set(checks)):
        quoted = ", ".join(json.dumps(part) for part in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {quoted}\n")
    if failed:
        return HttpReply(500, f"{''.join(lines)}{name} check failed\n")
    return HttpReply(200, f"{''.join(lines)}{name} check passed\n" if "verbose" in query else "ok")


# --- profiling ------------------------------------------------------------------------------------------------------

_INDEX = "/debug/pprof/profile?seconds=10  where the time goes\n/debug/pprof/goroutine  the tasks, and where each of them waits\n"


async def _profile(path: str, query: Mapping[str, list[str]], peer: str) -> HttpReply:
    if not is_loopback(peer):
        return HttpReply(403, "profiling is for callers on this machine only\n")
    if path == "/debug/pprof/":
        return HttpReply(200, _INDEX)
    if path == "/debug/pprof/goroutine":
        return HttpReply(200, tasks_text())
    if path != "/debug/pprof/profile":
        return NOT_FOUND
    written = query.get("seconds", ["10"])[0]
    if not written.isdecimal() or not 0 < int(written) <= LONGEST_PROFILE:
        return HttpReply(400, f'seconds: got "{written}", wanted a whole number from 1 to {LONGEST_PROFILE:g}\n')
    found = await profile_text(float(written))
    return HttpReply(409, "another profile is being taken\n") if found is None else HttpReply(200, found)


SHOWN = 60
"""How many functions a profile lists."""


async def profile_text(seconds: float) -> str | None:
    """What the event loop's thread does in the next *seconds*, by time; None if a profile is being taken."""
    profile = cProfile.Profile()
    try:
        profile.enable()
    except ValueError:  # Another one is under way.
        return None
    try:
        await asyncio.sleep(seconds)
    finally:
        profile.disable()
    text = io.StringIO()
    pstats.Stats(profile, stream=text).sort_stats("cumulative").print_stats(SHOWN)
    return text.getvalue()


def tasks_text() -> str:
    """The tasks of the running loop with their stacks."""
    text = io.StringIO()
    tasks = sorted(asyncio.all_tasks(), key=lambda task: task.get_name())
    for task in tasks:
        task.print_stack(file=text)
    return f"{len(tasks)} tasks\n\n{text.getvalue()}"
