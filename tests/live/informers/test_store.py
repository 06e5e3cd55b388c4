"""The objects of informers: what is told of lists and events, and of objects that cannot be decoded."""

import asyncio

from kubeclassic.live.informers.informers import Store
from tests.support.followed import Followed


def node(name, version="1", **status):
    """The manifest of a node."""
    return {"metadata": {"name": name, "resourceVersion": version}, "status": status}


def store():
    """An empty store of nodes, its handler and its reports."""
    log = Followed()
    reports = []
    return Store("Node", log, reports.append), log, reports


def replace(found, *manifests):
    """Take a list."""
    asyncio.run(found.replace(manifests))


BAD = {"allocatable": {"cpu": "many"}}


# --- Lists --------------------------------------------------------------------------------------------------

# What a list changes.


def test_a_second_list():
    """All listed objects are put, in the order of the list, then the others are deleted with their last
    state."""
    found, log, _ = store()
    replace(found, node("a"), node("b"))
    log.told.clear()
    replace(found, node("c", "5"), node("b"))
    assert log.told == [("put", "c", "5"), ("put", "b", "1"), ("delete", "a", "1")]


# --- Events -------------------------------------------------------------------------------------------------

# What an event changes.


def test_a_deletion_has_the_last_state():
    """The handler gets the object as the event has it; an unknown object is ignored."""
    found, log, _ = store()
    found.put(node("a"))
    found.delete(node("a", "9"))
    found.delete(node("a"))
    found.delete(node("b"))
    assert log.told == [("put", "a", "1"), ("delete", "a", "9")]


def test_what_was_received_is_kept():
    """Objects have the manifest that they were read from."""
    found, _, _ = store()
    manifest = node("a", unknown=1)
    found.put(manifest)
    assert found._objects["a"].manifest is manifest


# --- Unreadable ---------------------------------------------------------------------------------------------

# Objects that cannot be decoded.


def test_it_is_told_once():
    """An unreadable object is reported once in one line, not stored, and reported again only after it was
    readable."""
    found, log, reports = store()
    found.put(node("a", "1", **BAD))
    replace(found, node("a", "2", **BAD))
    assert (log.told, len(reports)) == ([], 1)
    assert "Node a: status.allocatable.cpu" in reports[0]
    found.put(node("a", "3"))
    found.put(node("a", "4", **BAD))
    assert (log.told, len(reports)) == ([("put", "a", "3")], 2)


def test_its_last_state_stays():
    """An object that becomes unreadable is not deleted, also not by a list; when it goes, its last good
    state is told."""
    found, log, _ = store()
    found.put(node("a"))
    found.put(node("a", "2", **BAD))
    replace(found, node("a", "3", **BAD))
    found.delete(node("a", "4", **BAD))
    assert log.told == [("put", "a", "1"), ("delete", "a", "1")]


def test_one_without_a_name():
    """An object without a name is reported and ignored: a scheduler would ask for it in vain, again and
    again."""
    found, log, reports = store()
    found.put({"metadata": {}, "status": {}})
    assert (log.told, reports) == ([], ["Node: got one without a name; it is ignored"])
