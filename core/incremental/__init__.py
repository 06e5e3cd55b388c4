"""What is kept from cycle to cycle, so that only what changed is worked out again.

A decision changes one row of the table, and most pods look like the pod before. So nearly everything that a cycle works out was worked
out in the cycle before. This package keeps it. It is incremental computation with early cutoff, as build systems and spreadsheets do it.
Everything here could be thrown away at any moment: the next cycle would be slower and decide the same.

What is durable, what is an effect
----------------------------------

*Durable* is what seldom moves: node objects, affinity terms, services and controllers. Their revisions together are one value, ``still``
(:meth:`~.answers.AnswerCache.still`). Volumes and claims have a revision of their own.

An *effect* is what one pod does that comes or goes. It changes the sums of its row, which the log of the table tells (``table.changed``),
and it counts for some counters of the census. Which counters, and how often, is a constant of the pod's template: upstream calls it AddPod
and RemovePod. Each counter has a revision, and knows the rows on which it moved.

Most rules that look beyond the row do nothing but count pods by domain. They say so once (:mod:`..arrays.counts`): a predicate gives
*clauses*, tests of sums by domain, and a priority gives *sums*. That holds while what is durable stays. From it follow the answer for all
rows, for one row, for the domains that moved, and that a rule is *idle*: without clauses or sums it makes no difference to any node, so it
is left out. Idle is also a priority that looks at node objects alone and tells none of them apart. A rule that only declares what it
``reads`` is asked again: about the rows that changed, or about all.

Which pods share a template
---------------------------

Pods are equal that no rule can tell apart. Names, owners' UIDs, mounts, environments, annotations, tokens and volumes that no rule reads
are no part of it; a volume counts by its claim, disk or driver. Labels count whole, also those that no selector asks about, such as
``statefulset.kubernetes.io/pod-name`` or a job's name: each pod of a StatefulSet, and those of each Job, have a template of their own.
To leave such labels out, the keys of all selectors would have to be known: those of services, controllers and budgets, of the terms and
constraints of pods that are yet to come, and those that a user's rule reads. The first selector with a new key would split templates
whose pods are counted already. What such pods do share: row scores, which go by size, and the answer of every rule that reads no labels.

What is made of what
--------------------

    :class:`~.answers.AnswerCache`   one :class:`~.cachedanswer.Answer` for each rule and key of pods
    :class:`~.rows.RowScores`        for the rules of the row alone: whether any objects, and the sum of their scores, or for details each
                                     of them; shared by templates of one size whose keys agree; with a :class:`~.lookahead.Lookahead`,
                                     and a trail for each of the two, as a pod that comes seldom fills its node
    :class:`~.scored.Scored`         the raw scores of one priority, reduced over the rows that fit
    :class:`~.board.Board`           for one template, which rows fit and with what total; with the best rows, :class:`~.board.Leaders`
    :mod:`~..preemption.refusals`    a board without fits: how many nodes each reason rejects
    :mod:`~..details`                a board with the scores of each rule: the details of a decision, for those who compare

Values are brought up to date when they are asked for, never before (*pull*). Who writes an array touches its *trail*
(:mod:`..arrays.trail`): "which rows changed since the revision that I saw?" A trail answers with few rows, or with None: look at all. None
is always right. Few rows are put right one by one in plain Python, many by numpy over all rows. A reader that keeps an array sets
``shared``: then the next writer copies first.

A board works out exactly the union of the rows that its parts report, so no part has to know what another one reports. When a refresh
cannot end, because a predicate has an error or a priority cannot be computed, all rows of the board are stale, and the cycle is gone
through node by node.

The states of an answer
-----------------------

=================  ==============================  ================================  ====================================================
state              left by                         by way of                         to
=================  ==============================  ================================  ====================================================
new, forgotten     being asked                     ``clauses``/``sums``, or rule     declared, or asked; forgotten if the rule has errors
declared, current  a counter that moves            -                                 declared, behind
declared, behind   being asked                     ``follow``, no rule               declared, current
declared           what is durable moving          -                                 new; unless it reads nothing of what moved
asked, current     a row or counter that it reads  -                                 asked, behind
asked, behind      being asked                     the rule, about rows or all       asked, current
asked              its environment moving          -                                 new
=================  ==============================  ================================  ====================================================

A board is made again when a rule that it left out is no longer idle, and dropped when memory is short.

Early cutoff
------------

What was worked out again and is the same as before makes nothing stale: domains that are refused as before touch no row; a reduce step
with the same *scale* (:mod:`..arrays.reduction`) is repeated on the changed rows alone; a priority that gives all rows the same score is
left out of the totals. Raw scores that are counted (:class:`~.scored.ScoreHistogram`) give a scale without a look at all rows.

The look-ahead
--------------

To judge all rows costs little more than to judge one. So :class:`~.lookahead.Lookahead` judges, after some misses, all rows with one to
eight more pods of the size of the latest pod. If then the only thing that happens to a row is that such a pod comes, its entry is copied
from there. A hit is not a guess: the rules were asked about exactly the state that came about, and only rules that look at sums take part.

The ugly part
-------------

* All rests on what rules declare. A rule that reads something it does not declare gives old answers. Tests hold each rule of the package to
  its declaration; for rules of users there is only :mod:`.verify`.
* Which counters a rule without clauses or sums looks at is found out behind its back: the census notes them while all rows are evaluated.
* A rule says some things twice: for a trial with other pods on a node (an overlay) it is asked for all it knows, and not for its clauses.

``KUBECLASSIC_VERIFY=1`` (:mod:`.verify`) is the answer: each board that is brought up to date, and each answer that is read, is worked out
from nothing too, and compared.
"""
