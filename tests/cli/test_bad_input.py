"""Everything a user can get wrong: one clear line, exit code 2, no traceback, and every file as it was."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regard.bundle.folder import PARTS
from support import LINES, Call, regard, write_lines

SIZES = "--width 16 --heads 2 --inner 32 --encoder-layers 1 --decoder-layers 1 --vocab-size 320 --max-length 60"
PACE = "--batch-tokens 120 --steps 4 --save-every 2 --eval-every 4 --device cpu"
SMALL = f"{SIZES} {PACE} --out out"
GOOD = f"--src a.en --tgt a.fr {SMALL}"
BINARY = bytes(range(256)) * 40


def files(folder: Path) -> dict[str, bytes | None]:
    """Everything in a folder, hidden and through links too; None stands for a folder."""
    found: dict[str, bytes | None] = {}
    for place, folders, names in os.walk(folder, followlinks=True):
        found |= {str(Path(place, name)): None for name in folders}
        found |= {str(Path(place, name)): Path(place, name).read_bytes() for name in names}
    return found


def one_line(code: int, err: str, *says: str) -> str:
    """The line that explains; progress may stand before it, nothing after it."""
    assert "Traceback" not in err
    assert code == 2, err
    *before, last = err.rstrip("\n").split("\n")
    assert last.startswith("regard: "), err
    assert not [line for line in before if line.startswith("regard: ")], err
    assert len(last) < 400
    for text in says:
        assert text in last, last
    return last


@pytest.fixture
def room(tmp_path: Path, run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a model, good data and every kind of bad data."""
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path)
    (tmp_path / "model").symlink_to(run_folder)
    (tmp_path / "five.fr").write_text("un\n" * 5)
    (tmp_path / "empty.en").write_text("")
    (tmp_path / "blank.en").write_text("\n" * 32)
    (tmp_path / "latin.en").write_bytes(b"The cat\ncaf\xe9\n" + b"The dog\n" * 30)
    (tmp_path / "latin.fr").write_bytes(b"caf\xe9\n" * 32)
    (tmp_path / "other.fr").write_text("un\n" * 32)
    (tmp_path / "gap.tsv").write_text("un\tdeux\n" + "\t\n" * 31)
    (tmp_path / "binary.en").write_bytes(BINARY)
    (tmp_path / "utf16.en").write_bytes("The cat\n".encode("utf-16"))
    (tmp_path / "zipped.en").write_bytes(gzip.compress(b"The cat\n"))
    (tmp_path / "cut.en.gz").write_bytes(gzip.compress(BINARY)[:100])
    (tmp_path / "plain.en.gz").write_text("The cat\n")
    (tmp_path / "three.tsv").write_text("a\tb\tc\n")
    (tmp_path / "keys.jsonl").write_text('{"en": "a", "fr": "b"}\n')
    (tmp_path / "broken.jsonl").write_text('{"src": "a", "tgt": "b"}\n{"src": \n')
    (tmp_path / "typo.toml").write_text("[train]\nstpes = 5\n")
    (tmp_path / "type.toml").write_text('[train]\nsteps = "many"\n')
    (tmp_path / "size.toml").write_text("[model]\nwidth = 64\nheads = 7\n")
    (tmp_path / "broken.toml").write_text("[train\nsteps = 5\n")
    (tmp_path / "section.toml").write_text("[trian]\nsteps = 5\n")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "diary.txt").write_text("mine")
    return tmp_path


TRAIN = {
    f"--src a.en --tgt five.fr {SMALL}": ["a.en has 32 lines", "five.fr has 5"],
    f"--src aa.en --tgt a.fr {SMALL}": ["aa.en does not exist", 'did you mean "a.en"?'],
    f"--src no/where.en --tgt a.fr {SMALL}": ["no/where.en does not exist", "there is no folder no"],
    f"--src empty.en --tgt a.fr {SMALL}": ["empty.en is empty", "one sentence a line"],
    f"--src blank.en --tgt a.fr --dev-size 0 {SMALL}": ["nothing is left of blank.en", "32 empty"],
    f"--src latin.en --tgt a.fr {SMALL}": ["latin.en, line 2 is not UTF-8", "0xE9", "iconv"],
    f"--src binary.en --tgt a.fr {SMALL}": ["binary.en looks like a binary file"],
    f"--src utf16.en --tgt a.fr {SMALL}": ["utf16.en is UTF-16", "iconv -f UTF-16"],
    f"--src zipped.en --tgt a.fr {SMALL}": ["zipped.en is gzip", '".gz"'],
    f"--src cut.en.gz --tgt a.fr {SMALL}": ["cut.en.gz is damaged"],
    f"--src plain.en.gz --tgt a.fr {SMALL}": ["plain.en.gz is damaged or not gz"],
    f"--src taken --tgt a.fr {SMALL}": ["taken is a folder"],
    f"--src a.en {SMALL}": ["data.src is a.en, but data.tgt is not given", "(--src, --tgt)"],
    SMALL: ["no training data", "(--src, --tgt, --pairs)"],
    f"--pairs three.tsv {SMALL}": ["three.tsv, line 1 has 2 tabs"],
    f"--pairs keys.jsonl {SMALL}": ['has no key "src"', "--src-key"],
    f"--pairs broken.jsonl {SMALL}": ["broken.jsonl, line 2 is not JSON"],
    f"--pairs a.en {SMALL}": ["a.en must end in .tsv or .jsonl"],
    f"--pairs three.tsv --src a.en {SMALL}": [
        "data.pairs and data.src/data.tgt were both given",
        "(--pairs, --src, --tgt)",
    ],
    f"{GOOD} --dev-src nix.en --dev-tgt a.fr": ["nix.en does not exist"],
    f"{GOOD} --test-src nix.en --test-tgt a.fr": ["nix.en does not exist"],  # not after hours of training
    f"{GOOD} --test-src a.en --test-tgt five.fr": ["a.en has 32 lines", "five.fr has 5"],
    f"{GOOD} --dev-size 32": ["dev_size is 32", "holds only 32 pairs"],
    f"{GOOD} --max-length 1": ["nothing is left", "raise data.max_length (--max-length)"],
    "typo.toml": ['unknown key "stpes" in train', 'did you mean "steps"?'],
    "type.toml": ["train.steps must be a whole number, but is 'many'"],
    "size.toml": ["model.heads must divide model.width", "64 / 7", "try heads = 4"],
    "broken.toml": ["broken.toml is not TOML", "line 1"],
    "section.toml": ['unknown section or key "trian"', 'did you mean "train"?'],
    "tpyo.toml": ["no recipe at tpyo.toml", 'did you mean "typo.toml"?', "as src and tgt (--src, --tgt)"],
    "latin.en": ["latin.en is not UTF-8 text", "a TOML file"],
    "taken": ["taken cannot be read: Is a directory"],
    "typo.toml size.toml": ["train takes one recipe, but got 2"],
    f"{GOOD} --stpes 5": ['unknown key "stpes"', 'did you mean "steps"?'],
    f"{GOOD} --lr 1": ['unknown key "lr"; did you mean "learning_rate"? (--learning-rate)'],
    f"{GOOD} --epochs 1": ['did you mean "steps"? (--steps)'],
    f"{GOOD} --batch-size 1": ['did you mean "batch_tokens"? (--batch-tokens)'],
    f"{GOOD} --layers 2": ['did you mean "encoder_layers" or "decoder_layers"? (--encoder-layers, --decoder-layers)'],
    f"{GOOD} --stpes": ['unknown key "stpes"', 'did you mean "steps"?'],
    f"{GOOD} --qqq 5": ['unknown key "qqq"', "regard train --help lists all keys"],
    f"{GOOD} --set model.steps=5": ['unknown key "model.steps"', 'did you mean "train.steps"?'],
    f"{GOOD} --set steps": ['--set takes key=value, as in --set steps=500, but got "steps"'],
    f"{GOOD} --set": ["--set needs a value"],
    f"{GOOD} --steps": ["--steps needs a value"],
    f"--src --tgt a.fr {SMALL}": ["--src needs a value, but --tgt follows it"],
    f"{GOOD} -x": ["unknown flag -x", "two dashes"],
    f"{GOOD} --steps five": ['train.steps must be a whole number, but is "five"'],
    f"{GOOD} --steps 0": ["train.steps must be at least 1, but is 0"],
    f"{GOOD} --steps -3": ["train.steps must be at least 1, but is -3"],
    f"{GOOD} --seed -1": ["train.seed must not be negative"],
    f"{GOOD} --seed 99999999999999999999": ["train.seed must be a whole number"],
    f"{GOOD} --learning-rate nan": ['train.learning_rate must be a number, but is "nan" (--learning-rate)'],
    f"{GOOD} --unit words": ['text.unit must be one of bpe, word, character, sentencepiece, but is "words"'],
    f"{GOOD} --vocab-size 5": ["vocab_size must be at least 300"],
    f"{GOOD} --heads 3": ["model.heads must divide model.width"],
    f"{GOOD} --width 1000000000000000 --heads 1": ["model.width must be at most 1,048,576", "(--width)"],
    f"{GOOD} --max-length 120": ["data.max_length (120) must be below train.batch_tokens (120)"],
    f"{GOOD} --device gpu": ["train.device must be one of auto, cuda, mps, cpu", '"gpu"'],
    f"{GOOD} --dedupe=maybe": ["data.dedupe must be true or false"],
    f"{GOOD} --src 'caf\udce9.en'": ["data.src must be UTF-8", "rename the file"],
    "--src a.en --tgt a.fr --start-from nix --out out": ["no model at nix", "regard train"],
    "--src a.en --tgt a.fr --start-from taken --out out": ["no model in taken"],
    f"{GOOD} --start-from model": ["model does not fit the recipe", "model.width is 32, not 16", "leave such keys out"],
    "--src a.en --tgt a.fr --start-from model --architecture rnn --out out": ["architecture is transformer, not rnn"],
    "--src a.en --tgt a.fr --start-from model --layers 2 --out out": ['unknown key "layers"'],
    "--src a.en --tgt a.fr --start-from model --preset big --out out": [
        "model.width is 32, not 1024",
        "leave such keys out (model.preset",
    ],
    "--src a.en --tgt a.fr --start-from model --no-joint --out out": ["text.joint is True, not False"],
    "--src a.en --tgt a.fr --start-from model --max-length 60 --out model": ["model already holds a run"],
    f"{GOOD} --start-from": ["--start-from needs a value"],
    f"{GOOD} --objective self-critical": [
        "there is no trained model to sample translations from",
        "(--objective, --start-from)",
    ],
    f"{GOOD} --objective reward": ["reward.objective must be one of likelihood, minimum-risk, self-critical"],
    f"{GOOD} --samples 5": ["reward.samples is set", "(--samples, --objective)"],
    f"{GOOD} --out taken": ["taken already holds something; choose another folder (--out)"],
    f"{GOOD} --out model": ["model already holds a run", "regard resume model", "choose another folder (--out)"],
    f"{GOOD} --out a.en": ["a.en is a file; name a folder that does not exist yet (--out)"],
    f"{GOOD} --out a.en/run": ["cannot make the folder a.en/run", "Not a directory"],
}

RESUME = {
    "": ["resume takes one run, but got 0", "regard resume FOLDER"],
    "model taken": ["resume takes one run, but got 2"],
    "nix": ["no run in nix"],
    "taken": ["no run in taken"],
    "a.en": ["no run in a.en"],
    "model --stpes 5": ['unknown key "stpes"'],
    "model --steps 130 --start-from model --override": ["train.start_from cannot change within a run"],
    "model --steps 130 --objective self-critical --override": ["no trained model", "(--objective, --start-from)"],
    "model --steps 130 --dev-src nix.en --override": ["nix.en does not exist"],
}

TRANSLATE = {
    "--model model --input five.en": ["five.en does not exist", 'did you mean "five.fr"?'],
    "--model model --input empty.en": ["empty.en is empty"],
    "--model model --input latin.en --out new.fr": ["latin.en, line 2 is not UTF-8"],
    "--model model --input binary.en": ["binary.en looks like a binary file"],
    "--model model --input taken": ["taken is a folder"],
    "--model model 'caf\udce9'": ["lone surrogate", "not text"],
    "--model model --input a.en --out a.en": ["--out a.en is the input file"],
    "--model model --input a.en --out ./taken/../a.en": ["is the input file"],
    "--model model --input a.en --out taken": ["--out taken is a folder; name a file"],
    "--model model --input a.en --out no/out.fr": ["--out no/out.fr", "no is not a folder"],
    "--model model --input a.en --out a.fr/out.fr": ["--out a.fr/out.fr", "a.fr is not a folder"],
    "--model model hello --input a.en": ["both texts and --input", "one or the other"],
    "--model model hello --json --attention": ["--attention", "--json"],
    "--model model hello --nbest 9": ["nbest must be between 1 and the beam (4), but is 9", "wider beam"],
    "--model model hello --nbest 3 --beam 2 --out new.fr": ["between 1 and the beam (2)"],
    "--model model hello --nbest 0": ["--nbest must be a whole number from 1 to 1,000, but is 0"],
    "--model model hello --beam 0": ["--beam must be a whole number from 1 to 1,000, but is 0"],
    "--model model hello --beam -2": ["--beam must be a whole number from 1 to 1,000, but is -2"],
    "--model model hello --beam x": ['--beam must be a whole number from 1 to 1,000, but is "x"'],
    "--model model hello --beam": ["--beam", "requires an argument", "regard translate --help"],
    "hello --output-file x": ["no such option: --output-file; did you mean --output?"],
    "hello --as-is": ["no such option: --as-is; did you mean --no-mend? (regard translate --help"],
    "hello --qqq 3": ["no such option: --qqq (regard translate --help"],
    "--model model hello --bem 3": ["no such option", "--bem", "--beam", "regard translate --help"],
    "--model model hello --length-penalty -1": ["--length-penalty must be a number from 0 to 20, but is -1"],
    "--model model hello --length-penalty x": ['--length-penalty must be a number from 0 to 20, but is "x"'],
    "--model model hello --batch-tokens 0": ["--batch-tokens must be a whole number from 1 to 10,000,000, but is 0"],
    "--model model hello --beam 1001": ["--beam must be a whole number from 1 to 1,000, but is 1001"],
    "--model model hello --temperature nan": ['--temperature must be a number of at least 0, but is "nan"'],
    "--model model hello --top-k 3": ["--top-k is for drawn translations; add --sample"],
    "--model model hello --sample --min-p 2": ["--min-p must be a number from 0 to 1, but is 2"],
    "--model model hello --sample --temperature 0": ["temperature must be above 0", "(--temperature)"],
    "--model model hello --sample --beam 2": ["--sample draws and --beam searches"],
    "--model model hello --mbr 1": ["--mbr must be a whole number from 2 to 1,000, but is 1"],
    "--model model hello --mbr 8 --beam 2": ["--mbr draws and --beam searches"],
    "--model model hello --utility bleu": ["--utility is of minimum Bayes risk; add --mbr 32"],
    "--model model hello --mbr 8 --nbest 9": ["nbest must be between 1 and the samples of MBR (8), but is 9"],
    "--model model hello --groups 3": ["groups must divide the beam (4): 1, 2, 4; but is 3 (--groups)"],
    "--model model hello --diversity 1": ["--diversity is of a beam in groups; add --groups 2"],
    "--model model hello --sample --groups 2": ["groups is of beam search, but translations are drawn"],
    "--model model hello --coverage-penalty -1": ["--coverage-penalty must be a number from 0 to 100, but is -1"],
    "--model model hello --repetition-penalty 0": ["--repetition-penalty must be a number from 1 to 100, but is 0"],
    "--model model hello --min-length 9 --max-length 3": ["min_length must be at most max_length (3), but is 9"],
    "--model model hello --at-word 2": ["--at-word is of alternatives; add --alternatives 5"],
    "--model model hello --alternatives 3 --prefix Le --at-word 2": ["--alternatives come after --prefix or at"],
    "--model model hello --alternatives 3 --sample": ["--alternatives are those of the model's own search"],
    "--model model hello --alternatives 0": ["--alternatives must be a whole number from 1 to 1,000, but is 0"],
    "--model model hello --alternatives 2 --at-word 99": ["position must be a word of the translation"],
    "--model model hello --prefix 'le le le le le le le' --max-length 3": ["prefix must have at most 3 tokens"],
    "--model model hello --prefix Le --prefix-file a.fr": ["--prefix is for all lines and --prefix-file for each"],
    "--model model --input a.en --prefix-file five.fr": ["--prefix-file has 5 lines, but the input has more"],
    "--model model hello --length-penalty inf": ["--length-penalty must be a number from 0 to 20"],
    "--model model hello --seed 99999999999999999999": ["--seed must be a whole number"],
    "--model model hello --device gpu": ['device "gpu" is not available here', "cpu"],
    "--model model hello --device cpu:9": ['device "cpu:9" is not available here'],
    "--model nix hello": ["no model at nix"],
    "--model a.en hello": ["no model at a.en", "a model is a folder"],
    "--model taken hello": ["no model in taken", "config.json"],
}

OTHERS = {
    "score": ["nothing to score: give a source and targets, or --src FILE and --tgt FILE"],
    "score hello": ["one text was given; give a target too"],
    "score hello bonjour --src a.en": ["both texts and files were given"],
    "score --src a.en": ["--src needs --tgt FILE, or --candidates FILE"],
    "score --src a.en --tgt a.fr --candidates a.fr": ["--src needs --tgt FILE, or --candidates FILE"],
    "score --model model --src a.en --tgt five.fr": ["five.fr ends after 5 lines, but a.en goes on"],
    "score --model model --src five.fr --tgt a.fr --total": ["five.fr ends after 5 lines, but a.fr goes on"],
    "score --model model --src empty.en --tgt empty.en --total": ["empty.en is empty"],
    "score --model model --src a.en --candidates a.fr": ["line 1 of a.fr is no 'LINE ||| TEXT ||| …'"],
    "score --src a.en --candidates a.fr --total": ["--total is of pairs of lines"],
    "score hello bonjour --total": ["--total is of pairs of lines"],
    "score --src - --tgt -": ['standard input ("-") can be read once'],
    "score --model nix hello bonjour": ["no model at nix"],
    "score --model model --src nix --tgt a.fr": ["nix does not exist"],
    "bleu": ["missing argument", "HYP", "regard bleu --help"],
    "bleu a.fr": ["missing option", "--ref"],
    "bleu a.fr --ref five.fr": ["a.fr has 32 lines", "five.fr has 5"],
    "bleu a.fr --ref a.fr --ref five.fr": ["a.fr has 32 lines", "five.fr has 5"],
    "bleu nix --ref a.fr": ["nix does not exist"],
    "bleu empty.en --ref a.fr": ["empty.en is empty"],
    "bleu - --ref -": ["standard input", "once"],
    "bleu a.fr --ref a.fr --tokenize 14a": ['unknown tokenizer "14a"', 'did you mean "13a"?'],
    "bleu a.fr --ref a.fr --tokenize klingon": ['unknown tokenizer "klingon"', "known: 13a, char, "],
    "bleu a.fr --ref a.fr --smooth flor": ["invalid value for '--smooth'", "'flor'", "'floor'"],
    "bleu a.fr --ref a.fr --html x": ["no such option: --html; did you mean --out? (regard bleu --help"],
    "fetch --from x": ["did you mean --mirror?"],
    "bleu a.fr --ref a.fr --smooth-value x": ['--smooth-value must be a number, but is "x"'],
    "bleu a.fr --ref a.fr --max-order 0": ["max_order must be 1 or more, but is 0"],
    "bleu a.fr --ref a.fr --order-weights 0.5,0.6,-0.1": ["weights must not be negative, but are 0.5,0.6,-0.1"],
    "bleu a.fr --ref a.fr --order-weights 0.5,0.6": ["weights must sum to 1, but 0.5,0.6 sum to 1.1"],
    "bleu a.fr --ref a.fr --order-weights 0.5,0.5 --max-order 3": ["2 weights (0.5,0.5) for 3 orders"],
    "bleu a.fr --ref a.fr --order-weights half": [
        '--order-weights must be numbers with commas between them, but is "half"'
    ],
    "bleu a.fr --ref a.fr --ref-length longest": [
        "invalid value for '--ref-length'",
        "'longest'",
        "'closest', 'shortest', 'average'",
    ],
    "bleu a.fr --ref a.fr -m bleu rouge": ["rouge does not exist"],
    "bleu a.fr --ref a.fr -m rouge": ["invalid value for '-m'", "'rouge'", "'bleu', 'chrf', 'ter'"],
    "bleu a.fr --ref a.fr --digits -1": ["--digits must be a whole number from 0 to 15, but is -1"],
    "bleu a.fr --ref a.fr -w 1000000000": ["--digits must be a whole number from 0 to 15, but is 1000000000"],
    "bleu a.fr --ref a.fr --smooth-value inf": ['--smooth-value must be a number, but is "inf"'],
    "bleu a.fr a.fr --ref a.fr": ["a.fr is named twice"],
    "bleu a.fr five.fr --ref a.fr": ["five.fr has 5 lines but a.fr has 32"],
    "bleu latin.fr --ref a.fr": ["latin.fr, line 1 is not UTF-8"],
    "bleu a.fr --ref gap.tsv": ["line 2 has no reference in any of 2 streams"],
    "bleu a.fr --ref a.fr --paired bootstrap": ["--paired compares systems", "only one was given"],
    "bleu a.fr --ref a.fr --paired bootstrp": ["invalid value for '--paired'", "'bootstrp'", "'bootstrap'"],
    "bleu a.fr --ref a.fr --confidence --resamples 0": [
        "--resamples must be a whole number from 1 to 1,000,000, but is 0"
    ],
    "bleu a.fr --ref a.fr --explain --line 33": ["there is no line 33", "32 lines"],
    "bleu a.fr --ref a.fr --explain --line 0": ["there is no line 0"],
    "bleu a.fr other.fr --ref a.fr --explain": ["--explain shows one system, but 2 were given"],
    "bleu a.fr --ref a.fr -m chrf --explain": ["--explain shows BLEU", "-m bleu"],
    "bleu a.fr --ref a.fr --by colour": ["invalid value for '--by'", "'colour'", "'source-length', 'reference-length'"],
    "bleu a.fr --ref a.fr --by tags": ["--by tags needs the tags", "--line-tags FILE"],
    "bleu a.fr --ref a.fr --by tags --line-tags five.fr": ["five.fr has 5 lines but a.fr has 32"],
    "bleu a.fr --ref a.fr --by source-length": ["needs the source text", "--src FILE"],
    "bleu a.fr --ref a.fr --by reference-length --edges 3,2": ["edges must be whole numbers", "3,2"],
    "bleu a.fr --ref a.fr --by reference-length --edges x": ["--edges must be whole numbers with commas"],
    "bleu a.fr --ref a.fr --differences 3": ["--differences compares two systems, but was given 1"],
    "bleu a.fr --ref a.fr --out page.html": ["a page shows --explain, --by or --differences; add one of them"],
    "bleu a.fr --ref a.fr --explain --out nowhere/page.html": ["nowhere/page.html"],
    "corpus": ["missing option", "--out"],
    "corpus --out taken --size 1000": ["taken already exists", "--out"],
    "corpus --out a.en --size 1000": ["a.en already exists"],
    "corpus --out a.en/new --size 1000": ["a.en/new", "Not a directory"],
    "corpus --out new --size 999": ["--size must be a whole number from 1,000 to 1,000,000, but is 999"],
    "corpus --out new --size 99999999999": ["from 1,000 to 1,000,000"],
    "corpus --out new --size many": ["--size must be a whole number"],
    "info nix": ["no model at nix"],
    "info taken": ["no model in taken"],
    "demo --out taken": ["taken already holds something", "(--out)"],
    "demo --out a.en": ["a.en is a file"],
    "demo --steps 0": ["--steps must be a whole number of at least 1, but is 0"],
    "demo extra": ["extra", "regard demo --help"],
    "trnslate hello": ["trnslate", "Did you mean 'translate'?", "regard --help"],
    "--verson": ["no such option", "--verson"],
}

MISTAKES = (
    [(f"train {words}", says) for words, says in TRAIN.items()]
    + [(f"resume {words}", says) for words, says in RESUME.items()]
    + [(f"translate {words}", says) for words, says in TRANSLATE.items()]
    + list(OTHERS.items())
)


def named(words: str) -> str:
    return words.replace(SMALL, "...").encode("ascii", "replace").decode()


@pytest.mark.parametrize(("words", "says"), MISTAKES, ids=[named(words) for words, _ in MISTAKES])
def test_a_mistake_is_one_line_and_changes_nothing(room: Path, call: Call, words: str, says: list[str]) -> None:
    before = files(room)
    code, out, err = call(*shlex.split(words))
    one_line(code, err, *says)
    assert out == ""
    assert files(room) == before


@pytest.mark.parametrize("words", ["train --src a.en --tgt five.fr", "translate --model nix hello"])
def test_a_process_says_it_the_same_way(room: Path, call: Call, words: str) -> None:
    done = regard(*words.split())
    assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", call(*words.split()).err)


# ------------------------------------------------------------------------------------------------ text that is only odd


def test_lines_end_at_newlines_only(room: Path, call: Call) -> None:
    """NUL, U+2028, U+0085, form feed and a lone "\\r" are text: pairs stay pairs, and each line has its translation."""
    odd = "The\0 cat\u2028sleeps\x85\x0b\x0c\r."
    sources, targets = [s for s, _ in LINES * 4], [t for _, t in LINES * 4]
    sources[3], targets[5] = odd, "Le\u2029chat\0 dort\r."
    (room / "odd.en").write_bytes("".join(f"{s}\n" for s in sources).encode())
    (room / "odd.fr").write_bytes("".join(f"{t}\n" for t in targets).encode())
    words = f"train --src odd.en --tgt odd.fr --dev-src odd.en --dev-tgt odd.fr --dedupe {SMALL}"
    code, _, err = call(*words.split())
    assert code == 0, err
    assert json.loads((room / "out" / "last" / "card.json").read_text(encoding="utf-8"))["pairs"]["kept"] == 10

    code, _, err = call("translate", "--model", "model", "--input", "odd.en", "--out", "odd.out")
    assert (code, err) == (0, "")
    found = (room / "odd.out").read_bytes().decode().split("\n")
    assert len(found) == len(sources) + 1
    assert [t for n, t in enumerate(found[:-1]) if n != 3] == [t for n, (_, t) in enumerate(LINES * 4) if n != 3]


@pytest.mark.long
def test_a_line_of_a_megabyte(room: Path, call: Call) -> None:
    """Training leaves it out and says so; translating cuts it into parts and gives one line back."""
    huge, count = "The cat sleeps. " * 65_536, len(LINES) * 4
    (room / "huge.en").write_text("".join(f"{s}\n" for s, _ in LINES * 4) + huge + "\n", encoding="utf-8")
    (room / "huge.fr").write_text("".join(f"{t}\n" for _, t in LINES * 4) + "Le chat dort.\n", encoding="utf-8")
    code, _, err = call(*f"train --src huge.en --tgt huge.fr --dev-size 0 {SMALL}".split())
    assert code == 0, err
    assert f"kept {count} of {count + 1} pairs; dropped 1 too long" in err

    (room / "one.en").write_text(huge, encoding="utf-8")
    code, out, err = call("translate", "--model", "model", "--input", "one.en", "--beam", "1")
    assert code == 0, err
    assert out.count("\n") == 1
    assert out.startswith("Le chat dort. Le chat dort. ")


def test_nothing_on_standard_input(room: Path, call: Call) -> None:
    for words in ("translate --model model", "translate --model model --input -"):
        code, _, err = call(*words.split(), input=b"")
        one_line(code, err, "standard input is empty", "--input FILE")
    code, _, err = call("bleu", "-", "--ref", "a.fr", input=b"")
    one_line(code, err, "standard input is empty")


def test_bad_text_on_standard_input(room: Path, call: Call) -> None:
    code, _, err = call("translate", "--model", "model", "--out", "new.fr", input=b"The cat\ncaf\xe9\n")
    one_line(code, err, "standard input, line 2 is not UTF-8")
    assert not (room / "new.fr").exists()


# ------------------------------------------------------------------------------------------------ models


@pytest.fixture
def model(room: Path, run_folder: Path) -> Path:
    shutil.copytree(run_folder / "best", room / "copy")
    return room / "copy"


@pytest.mark.parametrize("command", ["translate --model copy hello", "info copy"])
@pytest.mark.parametrize("part", PARTS)
def test_a_model_with_a_part_missing_or_cut_short(model: Path, call: Call, part: str, command: str) -> None:
    whole = (model / part).read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", BINARY):
        (model / part).write_bytes(damaged)
        code, out, err = call(*command.split())
        one_line(code, err, f"copy/{part}")
        assert out == ""
    (model / part).unlink()
    code, out, err = call(*command.split())
    one_line(code, err, f"copy is missing {part}", "a bundle holds")


def test_a_model_of_other_sizes_or_of_another_time(model: Path, call: Call) -> None:
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    for changes, says in (
        ({"format": 99}, "format 99"),
        ({"architecture": "transfomer"}, 'did you mean "transformer"?'),
        ({"config": {**config["config"], "width": 64}}, "does not fit its config.json"),
        ({"config": {**config["config"], "heads": 5}}, "must divide"),
        ({"config": {**config["config"], "speed": 5}}, 'unknown key "speed"'),
        ({"config": 5}, "cannot be used"),
    ):
        (model / "config.json").write_text(json.dumps({**config, **changes}), encoding="utf-8")
        code, _, err = call("translate", "--model", "copy", "hello")
        one_line(code, err, "copy", says)


# ------------------------------------------------------------------------------------------------ no room, not alone


def cramped(limit: int, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A process in which no file may grow beyond `limit` bytes."""
    return subprocess.run(
        [sys.executable, "-m", "regard", *words],
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )


@pytest.mark.usefixtures("quick_processes")
def test_no_room_for_translations_keeps_the_old_ones(room: Path) -> None:
    (room / "out.fr").write_text("what was there\n")
    before = files(room)
    done = cramped(100, "translate", "--model", "model", "--input", "a.en", "--out", "out.fr")
    one_line(done.returncode, done.stderr.decode(), "cannot write", "out.fr", "File too large")
    assert files(room) == before


@pytest.mark.long
def test_no_room_for_encoded_data_or_for_the_run(room: Path) -> None:
    before = files(room)
    done = cramped(200, *f"train {GOOD}".split(), REGARD_CACHE=str(room / "cache"))
    one_line(done.returncode, done.stderr.decode(), "cannot write encoded data", "(--cache)")
    assert list((room / "cache").iterdir()) == []
    (room / "cache").rmdir()
    assert files(room) == before


def test_no_room_behind_a_pipe(room: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "regard", "bleu", "a.fr", "--ref", "a.fr"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    line = one_line(done.returncode, done.stderr.decode(), "No space left on device")
    assert done.stderr.decode() == line + "\n"


def test_a_folder_that_another_process_has_just_begun(room: Path, call: Call) -> None:
    (room / "out").mkdir()
    with (room / "out" / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code, _, err = call(*f"train {GOOD}".split())
    one_line(code, err, "another process is training in out", "--out")
    assert files(room / "out") == {str(room / "out" / ".lock"): b""}


def test_a_run_without_a_checkpoint_is_not_sent_to_resume(room: Path, call: Call) -> None:
    (room / "out").mkdir()
    (room / "out" / "recipe.toml").write_text("")
    code, _, err = call("train", *GOOD.split())
    assert "regard resume" not in one_line(
        code, err, "out already holds a run that stopped", "remove it", "choose another folder (--out)"
    )


def test_a_bug_is_called_one(room: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr("regard.metrics.bleu.Bleu.score", broken)
    code, _, err = call("bleu", "a.fr", "--ref", "a.fr")
    assert (code, err.count("\n")) == (1, 1)
    assert err.startswith("regard: unexpected ZeroDivisionError: two lines (a bug of regard's; REGARD_TRACEBACK=1")


def test_ctrl_c_leaves_without_a_word(room: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("regard.metrics.bleu.Bleu.score", stopped)
    assert call("bleu", "a.fr", "--ref", "a.fr") == (130, "", "")
