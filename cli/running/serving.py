"""A server on its way from the command line to its end. Importing this needs what the extra ``serve`` brings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import attrs

from ...api.inventory import read_inventory
from ...api.objects import Node, Pod
from ...exceptions import KubeclassicError
from ...live.server.app import ExtenderApp
from ...live.server.extender import ExtenderService
from ...live.server.limits import MEBIBYTE, Limits
from ...live.server.served import ServedCluster
from ...live.server.serving import Listening, make_server
from ..output import note, warn
from ..report.units import counted
from ..setup import Configuration, Setup
from .serveoptions import Asked


class TokenError(KubeclassicError):
    """The file with the token has none."""


@attrs.define(eq=False)
class Site:
    """One server."""

    asked: Asked
    listening: Listening
    app: ExtenderApp

    @classmethod
    def of(cls, setup: Setup, asked: Asked) -> Site:
        """The server that the command line asks for, with the cluster of its files."""
        listening = Listening(
            address=asked.address, port=asked.port, certificate=asked.certificate, key=asked.key, client_ca=asked.client_ca,
            has_token=asked.token is not None, insecure=asked.insecure, seconds=float(asked.timeout),
        )  # fmt: skip
        listening.check()
        limits = Limits(
            body_bytes=asked.max_body_mb * MEBIBYTE, seconds=float(asked.timeout), requests=asked.max_requests, token=_token(asked.token)
        )
        configuration = setup.configuration()
        cluster = _cluster(setup, configuration, asked)
        _tell(cluster, asked)
        return cls(asked, listening, ExtenderApp(service=ExtenderService(cluster), limits=limits, config=_shown(cluster, asked)))

    async def serve(self) -> bool:
        """Serve until a signal ends it; whether it was Ctrl-C."""
        server, socket = make_server(self.app, self.listening, lambda url: note(f"listening on {url}"))
        try:
            await server.serve([socket])
        finally:
            socket.close()
            self.app.worker.close()
        return server.was_interrupted


def _cluster(setup: Setup, configuration: Configuration, asked: Asked) -> ServedCluster:
    inventory = read_inventory(asked.paths, defaults=asked.defaults)
    for warning in inventory.warnings:
        warn(warning)
    cluster = ServedCluster(partial(setup.engine, configuration, inventory.config_maps), asked.defaults)
    for item in inventory.objects:
        cluster.put(item)
    cluster.engine.warm()
    return cluster


def _tell(cluster: ServedCluster, asked: Asked) -> None:
    algorithm = cluster.engine.algorithm
    if algorithm.extenders:
        warn(f"the configuration's own extenders are not called: {len(algorithm.extenders)}")
    if asked.verbose:
        note(f"release {algorithm.release.version}, {counted(cluster.count(Node), 'node')}, {counted(cluster.count(Pod), 'pod')}")
        for line in cluster.engine.flow.describe():
            note(line)


def _shown(cluster: ServedCluster, asked: Asked) -> dict[str, Any]:
    """What ``/configz`` says."""
    engine = cluster.engine
    return {
        "release": engine.algorithm.release.version,
        "rules": list(engine.flow.describe()),
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
