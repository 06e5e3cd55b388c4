"""Queueing hints: may an event let a pod fit that a plugin rejected? Pure functions of the pod, and of the object before and after.

A hint may say yes for nothing, and then the pod is tried in vain; if it says no, the plugin would still reject the pod.
"""
