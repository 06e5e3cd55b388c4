"""An API server over HTTP in the form of :class:`tests.apiserver.store.Store`, so that helpers for the tests'
server work with it, too.

These are :class:`~tests.apiserver.cluster.User`, the kubelets beside it, and
:class:`~tests.apiserver.watcher.Watcher`. Threads keep a copy of some resources by lists and watches.
"""

import json
import threading
import time
from typing import cast

import attrs
import httpx

from tests.apiserver import Answer, Change, Refused, Storage, Store, User, Watch, event

AGAIN_AFTER = 0.3
"""Seconds between two tries of a server that does not answer."""


@attrs.define(slots=False)
class Mirror(Storage):
    """A copy of a server's objects."""

    def see(self, plural, item, *, is_deletion=False):
        """Record the latest state of an object."""
        metadata = item["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        objects = self.of(plural)
        before = objects.get(key)
        if is_deletion:
            objects.pop(key, None)
        else:
            objects[key] = item
        if not is_deletion or before is not None:
            self._note(Change(int(metadata["resourceVersion"]), plural, key, before, item, is_deletion))


@attrs.define(eq=False)
class Remote:
    """The API server at *address*, accessed with *token*; the resources *plurals* are copied."""

    address: str
    token: str
    flavour: object
    plurals: object = ("nodes", "pods")
    storage: Mirror = attrs.field(factory=lambda: Mirror(history=0))
    client: object = attrs.field(init=False)
    _is_over: object = attrs.field(factory=threading.Event, init=False)
    _threads: list = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self):
        headers = {"authorization": f"Bearer {self.token}", "accept": "application/json"}
        limits = httpx.Limits(max_connections=50, max_keepalive_connections=50)
        self.client = httpx.Client(
            base_url=self.address, headers=headers, verify=False, timeout=60.0, limits=limits, trust_env=False
        )

    @property
    def user(self):
        """A user of the server."""
        return User(cast(Store, self))

    def handle(self, method, path, query="", body=b"", headers=None):
        """The answer to a request; a watch is one of the copy, from its present state on."""
        if "watch=true" in query:
            return Answer(200, watch=self._watch(path.rpartition("/")[2]))
        found = self.client.request(
            method, f"{path}?{query}" if query else path, content=body or None, headers=dict(headers or {})
        )
        try:
            return Answer(found.status_code, found.json())
        except ValueError:
            return Answer(found.status_code, found.text)

    def _watch(self, plural):
        watch = Watch("", None, "")
        self.storage.watches.setdefault(plural, []).append(watch)
        watch.events.extendleft(
            event("ADDED", item) for item in reversed(list(self.storage.of(plural).values()))
        )
        return watch

    def is_ready(self):
        """Whether the server answers and has a default namespace."""
        try:
            return self.handle("GET", "/api/v1/namespaces/default").status == 200
        except httpx.HTTPError:
            return False

    def follow(self):
        """Keep the copy up to date; returns once the first lists are in it."""
        begun = [threading.Event() for _ in self.plurals]
        for plural, first in zip(self.plurals, begun, strict=True):
            self.thread(lambda plural=plural, first=first: self._copy(plural, first))
        for first in begun:
            first.wait()

    def serve(self, kubelets):
        """Let *kubelets* act until the end."""

        def act():
            while not self._is_over.wait(0.02):
                try:
                    kubelets.step()
                except (httpx.HTTPError, Refused):
                    self._is_over.wait(AGAIN_AFTER)

        self.thread(act)

    def thread(self, work):
        """Start *work* in a thread, which ends with the program at the latest."""
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self._threads.append(thread)
        return thread

    def leave(self):
        """Stop following, once the open watches have ended."""
        self._is_over.set()

    def end(self):
        """Close the connections once no thread reads them: a closed connection's file descriptor may become
        one to the next server."""
        self.leave()
        for thread in self._threads:
            thread.join()
        self.client.close()

    # --- the copy -------------------------------------------------------------------------------------------

    def _copy(self, plural, first):
        version = ""
        while not self._is_over.is_set():
            try:
                if not version:
                    version = self._list(plural)
                    first.set()
                version = self._read(plural, version)
            except (httpx.HTTPError, httpx.StreamError, ValueError, KeyError, RuntimeError):
                time.sleep(AGAIN_AFTER)

    def _list(self, plural):
        answer = self.handle("GET", self.flavour.resource(plural).path(""))
        if answer.status != 200:
            raise ValueError(answer.body)
        items = answer.body["items"] or []
        gone = self.storage.of(plural).keys() - {
            (item["metadata"].get("namespace", ""), item["metadata"]["name"]) for item in items
        }
        for key in gone:
            self.storage.see(plural, self.storage.of(plural)[key], is_deletion=True)
        for item in items:
            self.storage.see(plural, item)
        return str(answer.body["metadata"]["resourceVersion"])

    def _read(self, plural, version):
        """Watch from *version* on; returns the last version seen, or an empty one if the server no longer has
        it."""
        query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": "600"}
        with self.client.stream(
            "GET", self.flavour.resource(plural).path(""), params=query, timeout=None
        ) as stream:
            if stream.status_code != 200:
                return "" if stream.status_code == 410 else version
            for line in stream.iter_lines():
                frame = json.loads(line)
                if frame["type"] == "ERROR":
                    return ""
                self.storage.see(plural, frame["object"], is_deletion=frame["type"] == "DELETED")
                version = frame["object"]["metadata"]["resourceVersion"]
        return version
