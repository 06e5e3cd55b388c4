"""The events of a scheduler, of core/v1: Scheduled, FailedScheduling, Preempted, LeaderElection. Equal ones
are counted.

They are sent one at a time, so that they never hold a binding up. As many as :data:`MOST_WAITING` wait; more
are lost, and counted.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
from attrs import Factory, define

from ...api.objects import Pod
from ..client.api import NOT_THERE, Api, ApiError, Manifest, Transport, TransportError, loop_time, resource

EVENTS = resource("Event")
_NAMES = ("kind", "namespace", "name", "uid", "apiVersion")
LOOK = 0.01
"""Seconds between two checks whether all is sent."""
MOST_WAITING = 1000
MOST_REMEMBERED = 4096
"""The number of recent events that are remembered, to count equal ones."""
BURST = 25
REFILL = 300.0
"""The most events of one reason about one object that are sent at once, and the seconds until one more is."""
MOST_MESSAGES = 10
SIMILAR = 600.0
"""The number of messages of one reason about an object after which they are combined, and the seconds between
two that end this. Upstream: EventAggregator of client-go."""
COMBINED = "(combined from similar events): "
MOST_TRIES = 12
PAUSE = 10.0
"""The most tries to send an event when no answer comes, and the seconds between two. Any answer ends the
tries."""


class Reference(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An object as events name it."""

    kind: str
    namespace: str
    name: str
    uid: str = ""
    api_version: str
    resource_version: str = ""


About = Pod | Reference


class Recorder:
    """A recorder of events, which never waits and never fails. This one loses them."""

    def event(self, about: About, type: str, reason: str, text: str, by: str = "") -> None:
        """Record what happened to *about*. *type* is ``Normal`` or ``Warning``; *by*: the scheduler that did
        it, where a pod asks for another one."""


def in_seconds(time: float) -> str:
    """A time as the API writes it: in whole seconds, the rest cut off."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@define(eq=False)
class Events(Recorder):
    """The events of one process. :meth:`run` sends them."""

    transport: Transport
    say: Callable[[str], None] = lambda text: None
    """The receiver of a line for each event that is lost, or one for a burst that finds no room."""
    on_drop: Callable[[], None] = lambda: None
    """Called for each event that is lost, as too many wait."""
    wall: Callable[[], float] = time.time
    component: str = ""
    """The component that reports those that are not about pods."""
    _sent: OrderedDict[object, Manifest] = Factory(OrderedDict)
    _similar: OrderedDict[object, tuple[list[str], float]] = Factory(OrderedDict)
    """Object and reason -> the messages, and the time of the last one."""
    _budgets: OrderedDict[object, tuple[float, float]] = Factory(OrderedDict)
    """Object and reason -> how many events could be sent at a time, and that time."""
    _waiting: deque[Manifest] = Factory(deque)
    _awake: asyncio.Event = Factory(asyncio.Event)
    _last_name: int = 0
    _is_sending: bool = False
    _is_dropping: bool = False
    """Events were lost since the queue was empty."""

    def event(self, about: About, type: str, reason: str, text: str, by: str = "") -> None:
        if len(self._waiting) >= MOST_WAITING:
            # Count an event that is lost, and say so, once for all of a burst.
            self.on_drop()
            if not self._is_dropping:
                self._is_dropping = True
                self.say(
                    f"Events are dropped: {MOST_WAITING:,} wait to be sent; kubeclassic_events_dropped_total counts them"
                )
            return
        if isinstance(about, Pod):
            by = by or about.scheduler_name
            meta = about.metadata
            about = Reference(
                kind="Pod",
                api_version="v1",
                namespace=meta.namespace,
                name=meta.name,
                uid=meta.uid,
                resource_version=meta.resource_version,
            )
        component = by or self.component
        now = self.wall()
        # Names are times in nanoseconds. No two events have the same, whatever the clock says.
        self._last_name = max(self._last_name + 1, round(now * 1e9))
        metadata = {"name": f"{about.name}.{self._last_name:x}", "namespace": about.namespace or "default"}
        timestamp = in_seconds(now)
        self._waiting.append(
            {
                "kind": "Event",
                "apiVersion": "v1",
                "metadata": metadata,
                "involvedObject": msgspec.to_builtins(about),
                "reason": reason,
                "message": text,
                "source": {"component": component},
                "firstTimestamp": timestamp,
                "lastTimestamp": timestamp,
                "count": 1,
                "type": type,
                "reportingComponent": component,
                "reportingInstance": "",
            }
        )
        self._awake.set()

    async def run(self) -> None:
        """Send events until this is cancelled."""
        while True:
            await self._awake.wait()
            self._awake.clear()
            while self._waiting:
                event = self._waiting.popleft()
                self._is_sending = True
                target = event["involvedObject"]
                similar = (*(target.get(name) for name in _NAMES), event["type"], event["reason"])
                # An event equal to one that was sent before is that one with a higher count.
                key: object = (*similar, event["message"])
                if self._are_many(similar, event["message"]):
                    event["message"] = f"{COMBINED}{event['message']}"
                    key = similar
                previous = self._sent.pop(key, None)
                if previous is not None:
                    event |= {
                        "metadata": previous["metadata"],
                        "firstTimestamp": previous["firstTimestamp"],
                        "count": previous["count"] + 1,
                    }
                self._sent[key] = event
                if len(self._sent) > MOST_REMEMBERED:
                    self._sent.popitem(last=False)
                if not self._has_budget(similar):
                    self._is_sending = False
                    continue
                for tries_left in reversed(range(MOST_TRIES)):
                    if await self._is_answered(event):
                        break
                    if tries_left:
                        await asyncio.sleep(PAUSE)
                else:
                    text = f"'{event['reason']}' of {target.get('namespace', '')}/{target['name']}"
                    self.say(f"Unable to write event {text} (retry limit exceeded!)")
                self._is_sending = False
            self._is_dropping = False

    def _are_many(self, key: object, message: str) -> bool:
        """Whether *message* is to be combined with others of *key*."""
        now = loop_time()
        messages, since = self._similar.pop(key, ([], now))
        messages = [other for other in messages if other != message] if now - since <= SIMILAR else []
        messages.append(message)
        are_many = len(messages) >= MOST_MESSAGES
        # Upstream: one of them is forgotten, so that a repetition of it is combined, too.
        self._similar[key] = messages[are_many:], now
        if len(self._similar) > MOST_REMEMBERED:
            self._similar.popitem(last=False)
        return are_many

    def _has_budget(self, key: object) -> bool:
        """Whether one more event of *key* may be sent. Upstream: EventSourceObjectSpamFilter of client-go,
        which counts all reasons together; Scheduled would then be lost."""
        now = loop_time()
        budget, since = self._budgets.pop(key, (BURST, now))
        budget = min(BURST, budget + (now - since) / REFILL)
        may_send = budget >= 1
        self._budgets[key] = budget - may_send, now
        if len(self._budgets) > MOST_REMEMBERED:
            self._budgets.popitem(last=False)
        return may_send

    async def drain(self, seconds: float) -> int:
        """Wait until all events are sent, at most *seconds*; how many are left. :meth:`run` has to run at the
        same time."""
        end = loop_time() + seconds
        while (unsent := len(self._waiting) + self._is_sending) and loop_time() < end:
            await asyncio.sleep(LOOK)
        return unsent

    async def _is_answered(self, event: Manifest) -> bool:
        """Send *event* once; whether an answer came. An event that is gone is made again."""
        ask = Api(self.transport).ask
        name, namespace = event["metadata"].values()
        try:
            if event["count"] > 1:
                changes = {name: event[name] for name in ("count", "lastTimestamp", "message")}
                try:
                    await ask("PATCH", EVENTS, namespace, name, body=changes)
                    return True
                except ApiError as error:
                    if error.status != NOT_THERE:
                        raise
            await ask("POST", EVENTS, namespace, "", body=event)
        except TransportError as error:
            self.say(f"Unable to write event: '{error}' (may retry after sleeping)")
            return False
        except ApiError as error:
            self.say(
                f"Server rejected event: '{error.message or f'status {error.status}'}' (will not retry!)"
            )
        return True
