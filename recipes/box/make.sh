#!/bin/sh
# From nothing to the model en-fr-classic. Run from a checkout with regard installed; a GPU is meant (a quarter of an hour on an H200).
#
#   sh recipes/box/make.sh runs/box
set -eu
out=${1:?where to train, such as runs/box}
teachers=${TEACHERS:-2}

test -d data/tatoeba-en-fr || regard fetch tatoeba-en-fr
test -d data/tatoeba-en-de || regard fetch tatoeba-en-de
python recipes/box/prepare.py --pairs data/tatoeba-en-fr --english data/tatoeba-en-de/train.en --out data/box

models=
for seed in $(seq "$teachers"); do
  test -d "$out/teacher-$seed" || regard train recipes/box/teacher.toml --seed "$seed" --out "$out/teacher-$seed"
  models="$models --model $out/teacher-$seed"
done
# shellcheck disable=SC2086  # each is a word of its own
regard translate $models --input data/box/english.en --out data/box/english.fr --beam 5 --batch-tokens 12288

test -d "$out/student" || regard train recipes/box/student.toml --out "$out/student"

# The student learns to carry slots. For the model that was shipped english.fr was by then the student's own (docs/bundled-models.md).
python recipes/box/slots.py --pairs data/tatoeba-en-fr --texts data/box --out data/box
test -d "$out/slots" || regard train recipes/box/slots.toml --start-from "$out/student" --out "$out/slots"
regard pack "$out/slots" --weights int8 --about recipes/box/about.toml --out "$out/en-fr-classic"
python recipes/box/words.py --pairs data/tatoeba-en-fr --texts data/box --model "$out/en-fr-classic"
python benchmarks/box.py --model "$out/en-fr-classic" --tatoeba data/tatoeba-en-fr --write
python benchmarks/slots.py --model "$out/en-fr-classic" --pairs data/box/slots-dev --spans data/tatoeba-en-fr/test
