"""One small cluster under each framework release, for tests of the differences between releases."""

from kubeclassic.core.run import Run
from kubeclassic.exceptions import KubeclassicError
from kubeclassic.framework.config.profiles import GROUP
from kubeclassic.framework.options import options_of
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.framework.schedulerspec import SchedulerSpec


def answer(release, objects, pending, **options):
    """The answer of *release* for the last of *pending*, which are tried one after the other; *options*: of a
    scheduler."""
    version = FRAMEWORK_RELEASES[release].configuration.api_versions[-1]
    profile = {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 100,
    }
    given = {**options, "profile": {**profile, **options.get("profile", {})}}
    try:
        run = Run(SchedulerSpec.of(options_of({"release": release, **given})).read().engine())
    except KubeclassicError as error:
        return {"refused": str(error)}
    for item in objects:
        run.feed.put(item)
    return [run.cycle(one).record(details=True) for one in pending][-1]


def shows(told, look, objects, *pending):
    """Compare the releases with *told*: release -> the value of *look* from that release on. Releases before
    the first are not tried."""
    releases = list(FRAMEWORK_RELEASES)
    asked = releases[releases.index(next(iter(told))) :]
    wanted = {}
    value = None
    for release in asked:
        value = told.get(release, value)
        wanted[release] = value
    found = {release: look(answer(release, objects, pending)) for release in asked}
    different = {
        release: f"expected {wanted[release]!r}, got {found[release]!r}"
        for release in asked
        if found[release] != wanted[release]
    }
    assert not different, different


# --- what is looked at --------------------------------------------------------------------------------------


def field(name):
    """The field *name* of an answer; the refusal, where the configuration is refused."""
    return lambda found: found["refused"] if "refused" in found else found[name]


host = field("host")
failed = field("failed")
scores = field("scores")
priorities = field("priorities")
feasible = field("feasible")
error = field("error")
