"""The devices of nodes that are not there yet: as drivers publish them on the nodes that they are like."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from ..objects import Device, ResourcePool, ResourceSlice


def slices_like(slices: Iterable[ResourceSlice], like: str, name: str) -> tuple[ResourceSlice, ...]:
    """The slices that the node *name* has if it is like the node *like*, out of those of the cluster."""
    return tuple(_copy(one, like, name) for one in slices if one.spec.node_name == like)


def _copy(one: ResourceSlice, like: str, name: str) -> ResourceSlice:
    pool = attrs.evolve(one.spec.pool, name=name if one.spec.pool.name == like else f"{one.spec.pool.name}-{name}")
    metadata = attrs.evolve(one.metadata, name=f"{one.name}-{name}", uid="")
    return attrs.evolve(one, metadata=metadata, spec=attrs.evolve(one.spec, node_name=name, pool=pool), manifest=None)


def slice_of_more(node: str, driver: str, like: Device, count: int) -> ResourceSlice:
    """A slice with *count* more devices of *driver* that are as *like*, in a pool of their own on *node*."""
    devices = tuple(attrs.evolve(like, name=f"{like.name}-more-{number}") for number in range(1, count + 1))
    pool = ResourcePool(name=f"{node}-more", generation=1, resource_slice_count=1)
    found = ResourceSlice()
    spec = attrs.evolve(found.spec, driver=driver, pool=pool, node_name=node, devices=devices)
    return attrs.evolve(found, metadata=attrs.evolve(found.metadata, name=f"{node}-more-{driver}"), spec=spec)
