"""A small API server in process, for tests. It judges nothing: it stores objects and answers as the recorded
servers do.

The map:

* :mod:`.store`: requests in, answers out; pure and synchronous; what the verbs do
* :mod:`.storage`: the objects, their revisions, what changed, and those who follow
* :mod:`.forms`: what happens to objects: defaults, refusals, patches
* :mod:`.resources`: which resources a version has, and in what the versions differ
* :mod:`.transport`: the server as a transport of ``kubeclassic.live``, with faults; :mod:`.app`: over HTTP
* :mod:`.cluster`: nodes, pods, and what kubelets would do
* :mod:`.watcher`: an independent count of pods bound twice, lost, or over capacity
"""
