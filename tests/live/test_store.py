"""Properties of the tests' API server that recordings cannot show: lists, watches and history agree, whatever
happens."""

from hypothesis import given
from hypothesis import strategies as st

from tests.apiserver import FLAVOURS, NEW_SERVER, OLD_SERVER, Refused, Storage, Store, User, pod_manifest

PODS = "/api/v1/namespaces/default/pods"

acts = st.lists(
    st.tuples(st.sampled_from(("create", "bind", "label", "delete", "kill")), st.integers(0, 4)), max_size=25
)
flavours = st.sampled_from(sorted(FLAVOURS.values(), key=lambda flavour: flavour.version))


def do(user, what, number):
    """One act on a pod, which may be refused."""
    name = f"pod-{number}"
    try:
        match what:
            case "create":
                user.create("pods", pod_manifest(name))
            case "bind":
                user.bind(name, "node-0")
            case "label":
                user.patch("pods", name, {"metadata": {"labels": {"n": str(user.store.storage.revision)}}})
            case "delete":
                user.delete("pods", name)
            case "kill":
                user.delete("pods", name, grace=0)
    except Refused as error:
        assert error.status in (404, 409)  # noqa: PT017  # anything else is a fault of the server


def revisions(items):
    """Name -> revision of the objects of a list."""
    return {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}


def listed(store, query=""):
    """A list of pods."""
    return store.handle("GET", PODS, query).body


def watched(store, query):
    """A watch of pods."""
    watch = store.handle("GET", PODS, f"watch=true&{query}").watch
    assert watch is not None
    return watch


def followed(pods, watch):
    """*pods* after the events of a watch, which must fit to them."""
    found = dict(pods)
    for frame in watch.events:
        name = frame.object["metadata"]["name"]
        assert (name in found) == (frame.type != "ADDED")
        if frame.type == "DELETED":
            del found[name]
        else:
            found[name] = frame.object["metadata"]["resourceVersion"]
    return found


@given(acts, acts, flavours)
def test_a_list_and_a_watch_make_the_present(before, after, flavour):
    """A list, then the events since, give what is there, whether the watch began before them or after."""
    user = User(Store(flavour))
    for act in before:
        do(user, *act)
    first = listed(user.store)
    since = f"resourceVersion={first['metadata']['resourceVersion']}"
    early = watched(user.store, since)
    for act in after:
        do(user, *act)
    late = watched(user.store, since)
    present = revisions(listed(user.store)["items"])
    assert followed(revisions(first["items"]), early) == present
    assert [frame.line for frame in early.events] == [frame.line for frame in late.events]
    assert followed({}, watched(user.store, "resourceVersion=0")) == present


@given(acts, acts, st.integers(1, 3))
def test_pages_are_of_one_moment(before, after, limit):
    """The pages of a list are those of its first one's revision, whatever happens in between."""
    user = User(Store(NEW_SERVER))
    for act in before:
        do(user, *act)
    whole = listed(user.store)
    page = listed(user.store, f"limit={limit}")
    found = page["items"]
    left = list(after)
    while "continue" in page["metadata"]:
        if left:
            do(user, *left.pop())
        assert len(found) + page["metadata"]["remainingItemCount"] == len(whole["items"])
        page = listed(user.store, f"limit={limit}&continue={page['metadata']['continue']}")
        found += page["items"]
    assert found == whole["items"]


def test_history_is_bounded():
    """Changes older than the history are gone, for watches and for pages."""
    user = User(Store(NEW_SERVER, Storage(history=5)))
    user.add_pods(3)
    token = listed(user.store, "limit=1")["metadata"]["continue"]
    user.add_pods(6, prefix="z-")
    (frame,) = watched(user.store, "resourceVersion=8").events
    assert (frame.type, frame.object["code"]) == ("ERROR", 410)
    answer = user.store.handle("GET", PODS, f"limit=1&continue={token}")
    assert answer.status == 410
    rest = listed(user.store, f"continue={answer.body['metadata']['continue']}")
    assert len(rest["items"]) == 8


def test_a_restart_ends_watches():
    """A restart of the server ends what runs, and older revisions are lost for the watch cache."""
    user = User(Store(OLD_SERVER))
    watch = watched(user.store, "resourceVersion=7")
    user.add_pods(1)
    user.store.storage.restart()
    user.add_pods(1, prefix="later-")
    assert watch.is_closed
    assert len(watch.events) == 1
    assert [frame.type for frame in watched(user.store, "resourceVersion=7").events] == ["ERROR"]
    assert [frame.type for frame in watched(user.store, "resourceVersion=8").events] == ["ADDED"]
