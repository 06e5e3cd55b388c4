"""A live scheduler as a process: informers, leader election, events, metrics and endpoints around the loop of
:mod:`..scheduler`."""
