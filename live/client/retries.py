"""Which requests are sent once more, and when.

Upstream: Request.request and Request.Watch of k8s.io/client-go/rest/request.go, and with_retry.go.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from .transport import CLOSED, RESET, TIMEOUT, Request, Response, TransportError

WAIT_AFTER_ERROR = 1.0


OnRetry = Callable[[Request, Response | TransportError], None]


def uncounted(request: Request, outcome: Response | TransportError) -> None:
    """The default: retries are not counted."""


@attrs.frozen(kw_only=True)
class Retries:
    """What one generation of clients sends again.

    An answer 429 or 5xx with a header ``Retry-After`` in whole seconds is always followed, also for writes: the server has not carried
    the request out. Without an answer only reads are sent again, as it is unknown whether a write was carried out.
    """

    attempts: int = 11
    """How often a request is sent at most."""
    after_closed: bool = True
    """Reads are sent again if the server closed the connection without an answer; else only if it reset the connection."""
    watches: bool = True
    """Watches are sent again, too: after 429, 5xx, a closed connection or a time-out."""
    on_retry: OnRetry = attrs.field(default=uncounted, eq=False, repr=False)
    """Told of each request that is sent again, and of what came of it before."""

    def wait(self, request: Request, outcome: Response | TransportError, attempt: int, *, is_watch: bool = False) -> float | None:
        """Seconds to wait before *request* is sent again after *attempt* attempts; None: it is not."""
        if attempt >= self.attempts or (is_watch and not self.watches):
            return None
        if isinstance(outcome, Response):
            return outcome.retry_after if outcome.status == 429 or outcome.status >= 500 else None
        return WAIT_AFTER_ERROR if outcome.cause in self._causes(request, is_watch) else None

    def _causes(self, request: Request, is_watch: bool) -> tuple[str, ...]:
        if is_watch:
            return (CLOSED, RESET, TIMEOUT)
        if request.method != "GET":
            return ()
        return (RESET, CLOSED) if self.after_closed else (RESET,)


DEFAULT_RETRIES = Retries()
