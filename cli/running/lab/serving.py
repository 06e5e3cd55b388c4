"""The lab's server on its way from the command line to its end. Importing this needs what the extra ``lab`` brings."""

from __future__ import annotations

import asyncio
import secrets
import webbrowser

import attrs

from ....api.words import count_of
from ....live.server.serving import Listening, make_server
from ....live.server.worker import Worker
from ...console.output import note
from ...engines.setup import Setup
from ...notices import tell_notices
from .app import LabApp
from .asked import LabOptions
from .start import session_of

TOKEN_BYTES = 18


@attrs.define(eq=False)
class LabSite:
    """One lab."""

    app: LabApp
    port: int
    opens: bool

    @classmethod
    def of(cls, setup: Setup, asked: LabOptions) -> LabSite:
        """The lab that the command line asks for, with its first answer."""
        session, given = session_of(setup, asked)
        scenario = session.bench.scenario(session.state)
        tell_notices(session.answer.notices, asked.verbose)
        if asked.verbose:
            note(f"{count_of(scenario.node_count, 'node')}, {count_of(len(scenario.pending), 'pod')} wait")
        replays = tuple(map(str, asked.replays))
        app = LabApp(session=session, given=given, replays=replays, token=secrets.token_urlsafe(TOKEN_BYTES), worker=Worker())
        return cls(app, asked.port, asked.opens)

    async def serve(self) -> None:
        """Serve until a signal ends it."""
        server, socket = make_server(self.app, Listening(port=self.port), self._ready)
        try:
            await server.serve([socket])
        finally:
            socket.close()
            self.app.worker.close()

    def _ready(self, url: str) -> None:
        address = f"{url}/{self.app.token}/"
        note(f"the lab is at {address}  (Ctrl-C ends it)")
        if self.opens:
            asyncio.get_running_loop().run_in_executor(None, webbrowser.open, address)
