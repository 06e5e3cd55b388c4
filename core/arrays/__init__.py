"""The cluster as arrays: columns, the table of nodes, the census of pods, and the batches of rows that rules
are asked about."""
