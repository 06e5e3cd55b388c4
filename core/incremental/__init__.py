"""What is kept from cycle to cycle, so that only what changed is worked out again.

Theory of operation
===================

A decision changes one row of the table, and most pods look like the pod before. So nearly everything that a cycle
works out was worked out in the cycle before. This package keeps it. It is incremental computation, as build systems
and spreadsheets do it, with early cutoff. Everything here could be thrown away at any moment: the next cycle would be
slower and decide the same.

Inputs and revisions
--------------------

*Inputs* are what the cluster told the scheduler: rows of the table with their pods, node objects, counts of the
census, services and controllers, volumes and claims, and the order in which nodes are visited. Each input has a
*revision*, a number that moves with each change. What is made from an input keeps the revision that it has
*seen*; if the input's revision is another, what was made is *stale*. There are nine kinds of revisions:

    ``table.changed.revision``          any row; the log also tells which row, and which pod came
    ``table.changed.node_revision``     node objects
    ``Counter.revision``                the pods that one query counts
    ``census.revision``                 any counter
    ``census.terms_revision``           affinity terms that no pod had before
    ``listings.owners_version``         services, controllers, namespaces
    ``listings.volumes_version`` with ``binder.version``    volumes, claims, classes
    ``order_revision``                  which nodes are visited
    ``Trail.revision``                  a derived value of this package

A *trail* (:mod:`..arrays.trail`) is a revision that also knows the rows: "which rows changed since the revision that
I saw?" It answers with rows, or with None: look at all. None is always a right answer, so a trail may forget what is
old.

Three layers
------------

*Derived values* are arrays with one entry a row. There are three layers of them, and each reads inputs and the layers
before it:

1. :class:`~.answers.AnswerCache` has one :class:`~.cachedanswer.Answer` for each rule and key of pods: what the rule
   answered for all rows. A rule declares what it ``reads``, and that decides when its answer is stale: on the rows
   that changed, or on all rows, because a counter moved that the rule looked at while it was evaluated (the census
   notes which).
2. :class:`~.rows.RowScores` has, for the rules that read nothing but the row, whether any of them objects and the sum
   of their scores. Templates of one size whose keys agree share it. A rule that is made of others, such as GeneralPredicates,
   is asked part by part, so that templates with different node selectors share it too. These rules are the ones that every decision
   makes stale, on one row.
3. :class:`~.scoreboard.Scoreboard` has, for one template, which rows fit and with what total. It lays the answers of
   the rules that look further (:mod:`.tracked`) over the row scores. :class:`~.boards.Boards` finds that of
   a template.

Values are brought up to date when they are asked for, never before (*pull*). Each layer alone writes its arrays, and
only in ``refresh`` (or ``failures`` and ``scores`` of the cache). Code that writes an array touches its trail. Readers
read arrays and trails and keep the revision that they have seen in fields of their own; a trail does not know its
readers. A reader that wants to keep an array sets ``shared``: then the next writer copies first (copy-on-write).

The best rows, :class:`~.leaders.Leaders`, are kept beside the totals: a row whose total changed is put in or taken out by
itself. All rows are looked through again when none is left or many changed.

A scoreboard works out exactly the union of the rows that its parts report: rows of the row scores' trail, rows where
the fits are others than before, rows whose reduced scores changed. No part has to know which rows another part
reports.

When a refresh cannot end, because a predicate has an error or a priority cannot be computed, the scoreboard is stale
on all rows and the cycle is gone through node by node. So every cursor may be moved before the work is done: the next
refresh starts from nothing.

Early cutoff
------------

A value that was worked out again and is the same as before does not make stale what is made of it:

* a predicate that objects to what it objected to does not move its trail;
* a rule that tells its answer ``by_value`` is compared value by value (:mod:`.byvalue`): where no value's answer became another, no row is
  looked at. Where values are few, a reduce step takes the values instead of the rows;
* a priority whose summary (:class:`~..rule.Reduction`) is the same as before is reduced again on the changed rows
  only;
* a summary that says what scores come out, and not what was counted, stays the same while counts move and scores do not;
* a summary for which it is enough how often each raw score is there (``tallied`` in :class:`~..rule.Reduction`) is made of a count that
  changed rows bring up to date (:mod:`.tally`);
* where all rows were reduced again and no score is another, no total is added up;
* a priority that gives all rows the same score is left out of the totals, whatever the score is;
* where the same rows fit as before and no raw score changed, no summary is worked out.

Many rules look at other pods and have nothing to say about most of them: there is no term about the pod, and no service. Such a rule
is *idle* (``is_idle``), and a scoreboard leaves it out. What makes it idle moves seldom: affinity terms that no pod had before, services
and controllers. So it is asked again when one of these moved, and the scoreboard is made again once the rule is no longer idle.

A counter that moved need not concern all rows. A rule that asks for one count of the row's own pods is asked again about the rows on
which that count moved. Of a rule that goes by domain (``by_domain`` in :mod:`..rule`), what it says of a row depends on counters only by
what they count in the row's own domains. So a pod that comes or goes makes the rows of its domains stale, and no others. Few such rows
are asked about one by one where the rule has a way for it (``by_row``): numpy takes longer for one row than plain Python. Where they are
a large share of all rows, as in zones, the rule is evaluated for all rows as before.

Raw scores have no early cutoff when all rows are evaluated: a reduce step of the framework looks at the counts behind
them. But a rule can give the very same read-only answer again. Then a predicate's trail does not move, and of a
priority only the summary is worked out.

What is prepared
----------------

Most decisions move nothing but a few counters. What seldom moves (node objects, terms, owners) is one value,
``Answer.still``. While it is the same and no watched counter moved, an answer is right; one that watches no counter is not
even asked. Where counters moved, the rule has told once how its answer follows from them, and :meth:`~.cachedanswer.Answer.follow`
goes by that alone, without the rule:

* ``by_row``: what tells the answer for one row. It is enough where each counter that moved is *narrow*: what it counts on a row
  concerns that row alone, because no two rows share a domain (host names), or because the rule counts the row's own pods.
* ``by_value``: what tells the answer for each value of a label. Up to :data:`~..matching.domains.FEW` values are in a tuple, which is
  added up and compared in plain Python: for three zones that is several times as fast as numpy. More are in arrays.

What is prepared holds until all rows are evaluated again. Plugins and predicates, scores of both generations, tell in the same way.

The look-ahead
--------------

To judge all rows costs little more than to judge one. So :class:`~.lookahead.Lookahead` judges, after some misses,
all rows with one to eight more pods of the size of the latest pod. If then the only thing that happens to a row is
that such a pod comes, its entry is copied from there: a hit. Anything else that happens to a row (another size, a pod
that leaves, a change of its node) makes its states worthless. A hit is not a guess: the rules were asked about
exactly the state that came about, and only rules that look at sums take part.
Where looks do not pay, all sizes wait longer for the next one.

Why the quick path exists
-------------------------

Reading a decision off a scoreboard is a second way to do what search and scoring do, and two ways can disagree. It is
worth that: on scheduler_perf's basic case with 5,000 nodes a decision by way of cached answers, judged and scored for
all nodes, takes 7.4 times as long, and without cached answers 12 times. Without the look-ahead the quick path takes
2.4 times as long. (1,000 nodes: 6.1, 8.0 and 2.8 times.)

The ugly part
-------------

* All rests on what rules declare. A rule that reads something it does not declare gives old answers. Tests hold each
  rule of the package to its declaration (``tests/core/incremental/test_reads.py``); for rules of users there is only
  :mod:`.verify`.
* Which counters a rule looks at is found out behind its back: the census writes them to a list while all rows are
  evaluated. A rule that remembers counts elsewhere, from one evaluation to the next, is not noticed. A rule that goes by
  domain has to ask a counter for its domains before it asks for anything else: by these the stale rows are found.
* Arrays are written in place and passed on without a copy. ``TrackedPriority.reduced`` may be the very array of the
  answer.
* A rule is asked about the whole table, about a few rows, and about sums in a trial, and must say the same each time.

``KUBECLASSIC_VERIFY=1`` (:mod:`.verify`) is the answer to all four: each scoreboard that is brought up to date, and each
answer that is read, is worked out from nothing too, and compared.
"""
