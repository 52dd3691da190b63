"""The translators in the box, measured and put beside others: what `benchmarks/box.py` is made of.

sets.py      test sets, found in a folder, for each direction
peers.py     what other translators said to them, and figures that others published
matching.py  which lines of a test set somebody's output is of, where it has fewer
measure.py   a model on a test set: scores, and paired tests against the peers
speed.py     bytes, sentences/s, the latency of one sentence
cards.py     what the card says beside what was measured
goals.py     what the models should reach
page.py      the table as Markdown
"""
