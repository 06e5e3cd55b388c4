"""Memory from cycle to cycle: only what changed is worked out again.

A decision changes one row of the table, and most pods look like the pod before. So nearly everything that a
cycle works out was worked out in the cycle before. This package keeps it. It is incremental computation with
early cutoff, as build systems and spreadsheets do it. Everything here could be thrown away at any moment: the
next cycle would be slower and decide the same.

What is durable, what is an effect
----------------------------------

*Durable* is what seldom moves: node objects, affinity terms, services and controllers. Their revisions
together are one value, ``still`` (:meth:`~.answers.AnswerCache.still`). Volumes and claims have a revision of
their own.

An *effect* is what one pod does that comes or goes. It changes the sums of its row, which the log of the
table tells (``table.changed``), and it counts for some counters of the census. Which counters, and how often,
is a constant of the pod's template: upstream calls it AddPod and RemovePod. Each counter has a revision, and
knows the rows on which it moved.

Most rules that look beyond the row do nothing but count pods by domain. They say so once
(:mod:`..arrays.counts`): a predicate gives *clauses*, tests of sums by domain, and a priority gives *sums*.
That holds while what is durable stays. A reduce step says which *scale* follows from what is known of the raw
scores (:mod:`..arrays.reduction`). A rule without clauses or sums, and a priority that looks at node objects
alone and tells none of them apart, makes no difference to any node, so it is left out. A rule that only
declares what it ``reads`` is asked again: about the rows that changed, or about all.

Which pods share a template
---------------------------

Pods are equal that no rule can tell apart. Names, owners' UIDs, mounts, environments, annotations, tokens and
volumes that no rule reads are no part of it; a volume counts by its claim, disk or driver. Labels count
whole, also those that no selector asks about, such as ``statefulset.kubernetes.io/pod-name`` or a job's name:
each pod of a StatefulSet, and those of each Job, have a template of their own. To leave such labels out, the
keys of all selectors would have to be known: those of services, controllers and budgets, of the terms and
constraints of pods that are yet to come, and those that a user's rule reads. The first selector with a new
key would split templates whose pods are counted already. What such pods do share: row scores, which go by
size, and the answer of every rule that reads no labels.

What is made of what
--------------------

    :class:`~.rows.RowScores`        what each row is worth by the rules of the row alone; shared by templates of one size whose keys agree,
                                     with a :class:`~.rows.Lookahead` and a log of the rows whose worth became another
    :class:`~.farrules.FarRules`     what the rules of one template that look further declare
    :class:`~.classes.Classes`       the rows of one template in classes, each judged once
    :class:`~.board.Board`           for one template: who fits, and who is best, by its classes or row by row
    :class:`~.answers.AnswerCache`   one :class:`~.answers.Answer` for each rule and key of pods: for cycles that are run, and boards
                                     with rules that declare nothing
    :mod:`~..preemption.select`      how many nodes each reason rejects, for a template that fits nowhere
    :mod:`~..details`                a board with the scores of each rule: the details of a decision, for those who compare

Values are brought up to date when they are asked for, never before (*pull*).

Classes
-------

A rule sees of a row only its worth by itself, the codes of its labels with few values, and the sums of pods
on the row, or in a domain that few rows share. Rows that are equal in these are equal for every rule. So
classes are judged, not rows: the sizes are the multiplicities that sums over nodes need, the host is the
first place in the best class. What hangs on the number of nodes is the first look alone.

A turn follows the log of the worth and the counters, and moves the rows that these name to other classes. If
a class appeared or lost its last row, if a counter moved, or if sizes changed and a reduce step asks for
them, all classes are judged again; else the best is known. The places of a class in visiting order are a
list, made when the class is first the best one; places of rows that left are dropped when they are met. In a
pass that stops before its end the multiplicities are those of the rows that it found.

Rows are looked at one by one, by numpy, in the first turn of a template, since many templates come but once;
where a reduce step has no scale; where there are more than 256 classes; and in a turn before which more rows
moved than are moved faster one by one, as where 200 templates take turns. :meth:`~.board.Board.refresh`
decides that.

A board is made anew where what its far rules declare is another, by counters and limits; a term or a service
that concerns none of its counters leaves it as it is.

The look-ahead
--------------

To judge all rows costs little more than to judge one. So :class:`~.rows.Lookahead` judges, after some misses,
all rows with one to eight more pods of the size of the latest pod. If then the only thing that happens to a
row is that such a pod comes, its entry is copied from there. A hit is not a guess: the rules were asked about
exactly the state that came about, and only rules that look at sums take part.

The states of an answer
-----------------------

=================  ==============================  ================================  ====================================================
state              left by                         by way of                         to
=================  ==============================  ================================  ====================================================
new, forgotten     being asked                     ``clauses``/``sums``, or rule     declared, or asked; forgotten if the rule has errors
declared           a counter that moves            what was declared, no rule        declared
declared           what is durable moving          -                                 new; unless it reads nothing of what moved
asked, current     a row or counter that it reads  -                                 asked, behind
asked, behind      being asked                     the rule, about rows or all       asked, current
asked              its environment moving          -                                 new
=================  ==============================  ================================  ====================================================

An answer of a predicate that turns down what it turned down before keeps its revision: then a refusal that
was counted is right as it is.

The ugly part
-------------

* All rests on what rules declare. A rule that reads something it does not declare gives old answers. Tests
  hold each rule of the package to its declaration; for rules of users there is only :mod:`.verify`.
* Which counters a rule without clauses or sums looks at is found out behind its back: the census notes them
  while all rows are evaluated.
* A rule says some things twice: for a trial with other pods on a node (an overlay) it is asked for all it
  knows, and not for its clauses.

``KUBECLASSIC_VERIFY=1`` (:mod:`.verify`) is the answer: for each board that is read, who fits, the sizes of
classes, the total of every row and the best rows are worked out from nothing too, and compared; so is each
answer that is read.
"""
