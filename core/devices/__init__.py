"""Devices: the devices that nodes reach, the nodes where claims can be served, and the devices that serve
them.

:mod:`.pools` gathers the devices that each node reaches and finds alike ones, :mod:`.claimjudging` asks CEL
selectors about them, :mod:`.devicesearch` finds a device for each request, :mod:`.nodedevices` keeps the
outcomes of searches. :mod:`.extendedresources` is for later releases. Upstream:
k8s.io/dynamic-resource-allocation structured, cel.
"""
