"""Disks under the names that CSI drivers give them."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.core.intree import AWS_EBS, AZURE_DISK, CINDER, GCE_PD, ZONE, handle_of, plugin_of
from tests.volumebuild import volume


def handle(plugin: str, zone: str = "", **source: Any) -> str | None:
    made = volume("v", meta={"labels": {ZONE: zone}} if zone else None, **source)
    assert plugin_of(made.spec.source) == plugin
    return handle_of(plugin, made, (ZONE,))


class TestHandles:
    @pytest.mark.parametrize(
        ("written", "found"),
        [
            ("vol-1", "vol-1"),
            ("anything", "anything"),
            ("aws://z/vol-1", "vol-1"),
            ("aws:///vol-1", "vol-1"),
            ("aws://z/disk-1", None),
            ("aws://z/a/vol-1", None),
        ],
    )
    def test_ebs_volumes_are_named_without_their_zone(self, written: str, found: str | None) -> None:
        """An aws:// name must end in a volume's id; any other text is taken as it stands."""
        assert handle(AWS_EBS, awsElasticBlockStore={"volumeID": written}) == found

    @pytest.mark.parametrize(
        ("zone", "place"),
        [
            ("", "UNSPECIFIED"),
            ("us-east1-b", "us-east1-b"),
            ("us-east1-b__us-east1-c", "us-east1"),
            ("us-east1-b__us-west1-c", None),
            ("a__b", None),
        ],
    )
    def test_gce_disks_are_named_by_zone_or_region(self, zone: str, place: str | None) -> None:
        """A disk in several zones is named by the region that they share, and has no name where they share none."""
        found = handle(GCE_PD, zone, gcePersistentDisk={"pdName": "d"})
        assert found == (None if place is None else f"projects/UNSPECIFIED/zones/{place}/disks/d")

    def test_azure_and_cinder_disks_keep_their_ids(self) -> None:
        """Azure disks go by URI, Cinder volumes by id."""
        assert handle(AZURE_DISK, azureDisk={"diskName": "d", "diskURI": "/uri"}) == "/uri"
        assert handle(CINDER, cinder={"volumeID": "c"}) == "c"

    def test_other_volumes_belong_to_no_plugin(self) -> None:
        """A driver cannot take over what it does not know."""
        assert plugin_of(volume("v", iscsi={"iqn": "i"}).spec.source) is None
