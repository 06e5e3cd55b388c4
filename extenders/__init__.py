"""HTTP extenders as a client calls them: over HTTP, recorded and replayed, or by a script.

* :mod:`.extender`: the calls, the JSON that is sent, and what replies mean
* :mod:`.overhttp`: how a request reaches an extender, recorded and replayed; with it, :mod:`.scripted`
* :mod:`.choice`: from a configuration to its extenders
"""
