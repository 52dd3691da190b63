#!/bin/sh
# Trains and packs the small models of the course, en-fr-rnn and en-fr-notes: 20 minutes on one GPU, one after the other.
set -eu
test -d data/tatoeba-en-fr || regard fetch tatoeba-en-fr
mkdir -p data/small
# Without sentences of other test sets: regard clean --without.
sort -u data/tatoeba-en-fr/train.en >data/small/english.en
regard translate --model en-fr-classic --engine native --no-guard --no-mend --no-phrases --split lines --input data/small/english.en --output data/small/english.fr
regard corpus --size 12000 --out data/small/grammar
for name in rnn notes; do
  regard train "recipes/small/$name.toml" --out "runs/small-$name"
  regard pack "runs/small-$name" --about "recipes/small/about-$name.toml" --out "runs/en-fr-$name"
done
