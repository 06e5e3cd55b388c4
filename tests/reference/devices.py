"""A naive allocator: every assignment of devices to what is asked for, in depth-first order; the first that
holds is the answer."""

import attrs


class AgainstAllError(Exception):
    """A claim wants all devices together, and this device does not go with the others."""


@attrs.frozen
class Ask:
    """One request: how many devices, of which it takes the indexes that match. ``count`` None: all of
    them."""

    count: int
    matches: tuple
    admin: bool = False


def first_fit(claims, free, alike):
    """The first assignment for *claims* of devices that are *free*: bool[devices]; *alike*: by claim, whether
    its devices go together."""
    return next(_assignments(claims, 0, 0, (), free, alike), None)


def _assignments(claims, claim, request, chosen, free, alike):
    if claim == len(claims):
        yield chosen
    elif request == len(claims[claim]):
        yield from _assignments(claims, claim + 1, 0, chosen, free, alike)
    else:
        for ask in claims[claim][request]:
            for found in _devices(ask, claim, chosen, free, alike[claim]):
                yield from _assignments(claims, claim, request + 1, found, free, alike)


def _devices(ask, claim, chosen, free, alike):
    """Every way to choose the devices for *ask*."""
    if ask.count is None and not ask.matches:
        return
    ways = [chosen]
    for place in range(len(ask.matches) if ask.count is None else ask.count):
        options = ask.matches if ask.count is not None else [ask.matches[place]]
        ways = [
            (*way, (claim, one)) for way in ways for one in options if _may(ask, claim, way, one, free, alike)
        ]
    yield from ways


def _may(ask, claim, chosen, device, free, alike):
    held = [owner for owner, one in chosen if one == device]
    if held and (not ask.admin or claim in held):
        return False
    if not ask.admin and not free[device]:
        return False
    go_together = alike([one for owner, one in chosen if owner == claim] + [device])
    if not go_together and ask.count is None:
        raise AgainstAllError(claim, device)
    return go_together
