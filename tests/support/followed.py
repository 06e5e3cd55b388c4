"""A handler of informers' events, which records them."""

import attrs


@attrs.define
class Followed:
    """The existing objects, and the events; deleting an unknown object fails."""

    objects: dict = attrs.field(factory=dict)
    told: list = attrs.field(factory=list)

    def put(self, item):
        """An object was added or changed."""
        self.objects[item.kind, item.key] = item
        self.told.append(("put", item.name, item.metadata.resource_version))

    def delete(self, item):
        """An object was deleted."""
        del self.objects[item.kind, item.key]
        self.told.append(("delete", item.name, item.metadata.resource_version))

    def names(self, kind):
        """The names of the objects of a kind."""
        return {item.name for item in self.objects.values() if item.kind == kind}
