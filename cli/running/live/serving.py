"""A server on its way from the command line to its end. Importing this needs what the extra ``serve`` brings."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from ....api.objects import Node, Pod
from ....api.words import count_of
from ....exceptions import KubeclassicError
from ....framework.releases import is_auto
from ....live.client.access import Access
from ....live.client.http import HttpTransport
from ....live.client.kubeconfig import read_kubeconfig
from ....live.server.app import ExtenderApp
from ....live.server.extenderserver import ExtenderService
from ....live.server.following import Following
from ....live.server.limits import MEBIBYTE, ServerLimits
from ....live.server.served import ServedCluster
from ....live.server.serving import Listening, make_server
from ...console.output import note, warn
from ...declaring.options import ClusterChoice
from ...engines.setup import Setup
from ...notices import tell_notices
from ...opening import opened
from .serveoptions import ServeOptionError, ServeOptions


class TokenError(KubeclassicError):
    """The file with the token has none."""


@attrs.define(eq=False)
class ServerSite:
    """One server."""

    asked: ServeOptions
    listening: Listening
    app: ExtenderApp
    access: Access | None = None
    """The way to the API server that is followed; None: there is none."""

    @classmethod
    def of(cls, setup: Setup, asked: ServeOptions) -> ServerSite:
        """The server that the command line asks for, with the cluster of its files."""
        listening = Listening(
            address=asked.address, port=asked.port, certificate=asked.certificate, key=asked.key, client_ca=asked.client_ca,
            has_token=asked.token is not None, insecure=asked.insecure, seconds=float(asked.timeout),
        )  # fmt: skip
        listening.check()
        limits = ServerLimits(
            body_bytes=asked.max_body_mb * MEBIBYTE, seconds=float(asked.timeout), requests=asked.max_requests, token=_token(asked.token)
        )
        access = None if asked.kubeconfig is None else read_kubeconfig(asked.kubeconfig, asked.context)
        cluster = _followed(setup, asked) if access is not None else _of_files(setup, asked)
        _tell(cluster, asked)
        app = ExtenderApp(service=ExtenderService(cluster), limits=limits, config=_shown(cluster, asked), is_ready=lambda: access is None)
        return cls(asked, listening, app, access)

    async def serve(self) -> bool:
        """Serve until a signal ends it; whether it was Ctrl-C."""
        listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        server, socket = make_server(self.app, self.listening, listening.set_result)
        following = asyncio.create_task(self._follow(listening))
        following.add_done_callback(lambda _: setattr(server, "should_exit", server.should_exit or _failed(following)))
        try:
            await server.serve([socket])
        finally:
            socket.close()
            following.cancel()
            await asyncio.wait([following])
            self.app.worker.close()
        if _failed(following):
            await following
        return server.was_interrupted

    async def _follow(self, listening: asyncio.Future[str]) -> None:
        """Follow the API server, if there is one; say where the server listens once the cluster is complete."""
        if self.access is None:
            note(f"listening on {await listening}")
            return
        service, metrics = self.app.service, self.app.metrics
        async with HttpTransport(self.access) as transport:
            following = Following(
                transport=transport, release=service.cluster.engine.release, cluster=service.cluster, worker=self.app.worker,
                say=warn, on_event=metrics.events.inc,
            )  # fmt: skip
            self.app.write_binding, self.app.is_ready = following.write_binding, lambda: following.is_complete
            url = await listening
            await following.run(lambda: note(f"listening on {url}"))


def _failed(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


def _followed(setup: Setup, asked: ServeOptions) -> ServedCluster:
    """A cluster without objects yet."""
    if is_auto(setup.release):
        raise ServeOptionError("--release: got auto with --kubeconfig, wanted a release: the nodes are not known yet")
    return ServedCluster(setup.recipe.engine, asked.defaults)


def _of_files(setup: Setup, asked: ServeOptions) -> ServedCluster:
    """The cluster of the files."""
    found = opened(asked.paths, ClusterChoice(no_defaults=not asked.defaults), setup)
    scenario = found.scenario
    tell_notices(scenario.warnings, asked.verbose)
    cluster = ServedCluster(partial(found.recipe.engine, scenario.config_maps), asked.defaults)
    for item in (*scenario.objects, *scenario.pending):
        cluster.put(item)
    cluster.engine.warm()
    return cluster


def _tell(cluster: ServedCluster, asked: ServeOptions) -> None:
    algorithm = cluster.engine.algorithm
    if algorithm.extenders:
        warn(f"the configuration's own extenders are not called: {len(algorithm.extenders)}")
    if asked.verbose:
        note(f"release {algorithm.release.version}, {count_of(cluster.count(Node), 'node')}, {count_of(cluster.count(Pod), 'pod')}")
        for line in cluster.engine.describe():
            note(line)


def _shown(cluster: ServedCluster, asked: ServeOptions) -> dict[str, Any]:
    """What ``/configz`` says."""
    engine = cluster.engine
    return {
        "release": engine.release.version,
        "rules": list(engine.describe()),
        "preemption": engine.algorithm.preemption,
        "defaults": asked.defaults,
    }


def _token(file: Path | None) -> bytes | None:
    """The token in *file*, without the line end. Raises :class:`TokenError`."""
    if file is None:
        return None
    token = file.read_bytes().strip()
    if not token:
        raise TokenError(f"{file}: got nothing, wanted a token")
    return token
