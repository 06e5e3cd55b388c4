"""A server of an extender from its start to its end, on the cluster of files or on one that it follows."""

from __future__ import annotations

import asyncio

import attrs

from ..client.credentials import Access
from ..client.http import HttpTransport
from ..process.logs import Log
from .app import ExtenderApp
from .extenderserver import ExtenderService
from .following import Following
from .limits import ServerLimits
from .served import ServedCluster
from .serving import Listening, make_server


@attrs.define(eq=False)
class ServerSite:
    """One server. With *access* its *cluster* follows the API server there."""

    cluster: ServedCluster
    listening: Listening
    limits: ServerLimits
    access: Access | None
    log: Log
    app: ExtenderApp = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        engine, is_ready = self.cluster.engine, self.access is None
        config = {
            "release": engine.release.version, "rules": list(engine.describe()), "preemption": engine.algorithm.preemption,
            "defaults": self.cluster.defaults,
        }  # fmt: skip
        self.app = ExtenderApp(
            service=ExtenderService(self.cluster), limits=self.limits, config=config, is_ready=lambda: is_ready, log=self.log
        )  # fmt: skip

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
            self.log.info(f"listening on {await listening}")
            return
        async with HttpTransport(self.access) as transport:
            following = Following(
                transport=transport, release=self.cluster.engine.release, cluster=self.cluster, worker=self.app.worker,
                report=self.log.again, news=self.log.warning, on_event=self.app.metrics.events.inc,
            )  # fmt: skip
            self.app.write_binding, self.app.is_ready = following.write_binding, lambda: following.is_complete
            self.app.seconds_behind = lambda: following.seconds_behind
            url = await listening
            await following.run(lambda: self.log.info(f"listening on {url}"))


def _failed(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None
