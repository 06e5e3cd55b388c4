"""One request for a resource: what is asked of what, and the objects to answer from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NoReturn

import attrs

from .answers import Answer, Json, Object, fault
from .resources import Flavour, Resource
from .storage import Storage
from .validation import decoded


@attrs.frozen(slots=False)
class Call:
    """A request whose path is understood."""

    method: str
    resource: Resource
    namespace: str
    name: str
    subresource: str
    query: Mapping[str, str]
    body: bytes
    content_type: str
    storage: Storage
    flavour: Flavour

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name of the object."""
        return self.namespace, self.name

    def stored(self) -> Object:
        """The object that is meant; 404 if it is not there."""
        found = self.storage.of(self.resource.plural).get(self.key)
        return found if found is not None else self.missing()

    def missing(self, name: str | None = None) -> NoReturn:
        """404 for an object of the resource."""
        called = self.name if name is None else name
        message = f'{self.resource.qualified} "{called}" not found'
        raise fault(404, "NotFound", message, self.resource.details(called))

    def conflict(self, name: str, why: str, kind: str | None = None) -> NoReturn:
        """409 for an object of the resource."""
        called = kind or self.resource.qualified
        message = f'Operation cannot be fulfilled on {called} "{name}": {why}'
        raise fault(409, "Conflict", message, self.resource.details(name, kind))

    def given(self) -> Object:
        """The object in the body, in the stored form of its API."""
        item = decoded(self.body, self.resource)
        metadata = dict(item.get("metadata") or {})
        if self.namespace:
            metadata["namespace"] = self.namespace
        return {**item, "metadata": metadata}

    def given_json(self) -> Json:
        """The body as it is; an empty one is None."""
        return json.loads(self.body) if self.body.strip() else None

    def answer(self, status: int, item: Object) -> Answer:
        """An answer with a stored object."""
        shown = item
        if self.subresource and self.flavour.has_self_link:
            link = f"{shown['metadata']['selfLink']}/{self.subresource}"
            shown = {**shown, "metadata": {**shown["metadata"], "selfLink": link}}
        return Answer(status, shown)
