"""Which claims a pod's volumes have."""

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.pods.template import Templates, claim_keys
from tests.support.build import pod

VOLUMES = [
    {"name": "a", "persistentVolumeClaim": {"claimName": "c"}},
    {"name": "b", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
]


class TestClaimKeys:
    def test_ephemeral_volumes_have_claims_where_they_count(self):
        """Their claims are named for pod and volume; releases that do not know of them see the named claims
        alone."""
        assert claim_keys(pod("p", volumes=VOLUMES)) == ("default/c",)
        assert claim_keys(pod("p", volumes=VOLUMES), ephemeral=True) == ("default/c", "default/p-b")

    def test_pods_with_ephemeral_volumes_are_classes_of_their_own(self):
        """What such a pod needs depends on its name; pods with named claims alone share a template."""
        templates = Templates(RELEASES["1.16"], {})
        one, other = (templates.of(pod(name, volumes=VOLUMES)) for name in "xy")
        assert one is not other
        one, other = (templates.of(pod(name, volumes=VOLUMES[:1])) for name in "xy")
        assert one is other


NAMELESS = [
    {"projected": {"sources": []}},
    {"emptyDir": {}},
    {"configMap": {"name": "c"}},
    {"secret": {"secretName": "s"}},
    {"hostPath": {"path": "/x"}},
    {"downwardAPI": {"items": []}},
    {"persistentVolumeClaim": {"claimName": "c"}},
]


class TestVolumesThatRulesRead:
    @pytest.mark.parametrize("source", NAMELESS, ids=lambda source: next(iter(source)))
    def test_the_name_of_a_volume_tells_no_pods_apart(self, source):
        """Admission names each pod's token volume differently, and no rule reads it."""
        templates = Templates(RELEASES["1.16"], {})
        one, other = (templates.of(pod(name, volumes=[{"name": name, **source}])) for name in "xy")
        assert one is other

    def test_what_rules_read_does(self):
        """Disks, claims and drivers' volumes, and whether there is any volume, which a score of some releases
        asks."""
        templates = Templates(RELEASES["1.16"], {})
        sources = [{"gcePersistentDisk": {"pdName": name}} for name in "ab"] + [
            {"csi": {"driver": "d"}},
            NAMELESS[-1],
            NAMELESS[0],
        ]
        pods = [pod("p"), *[pod("p", volumes=[{"name": "v", **source}]) for source in sources]]
        assert len({templates.of(each) for each in pods}) == len(pods)
