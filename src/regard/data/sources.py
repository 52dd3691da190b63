"""Data sets that `regard fetch` knows: their files as published, and how these become train, dev and test.

A literal table. Checksums are those of the publishers' files as others have recorded them (sacreBLEU, TensorFlow
Datasets, torchtext) or of copies that were compared with the repository; None where none is known, as for collections
that grow from day to day. Files of GitHub are named by commit, so they never change. Nothing is fetched here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from regard.config import nearest
from regard.errors import InputError


@dataclass(frozen=True)
class Download:
    """One published file."""

    url: str
    checksum: str | None  # "sha256:…" or "md5:…"

    @property
    def name(self) -> str:
        """The file's name here and on a mirror."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class LinesFile:
    """A file of lines: a download, or a member of one. Of .sgm files the <seg> elements are the lines."""

    download: str
    member: str = ""


@dataclass(frozen=True)
class PairTable:
    """A table of pairs (first two columns of tab-separated lines) that is split by connected sentences."""

    lines: LinesFile
    languages: tuple[str, str]
    dev: int
    test: int
    seed: int = 1


@dataclass(frozen=True)
class ParallelFiles:
    """Two files of lines that were published without a split. Pairs with an empty side are left out; the last ones are
    held out, dev before test: of a corpus in the order of time these are its latest days."""

    sides: tuple[LinesFile, LinesFile]
    languages: tuple[str, str]
    dev: int
    test: int


@dataclass(frozen=True)
class DataSet:
    about: str
    size: str  # of all downloads, for people
    licence: str
    citation: str
    downloads: tuple[Download, ...]
    files: dict[str, tuple[LinesFile, ...]] = field(default_factory=dict)  # "train.en" → its lines, one after another
    pairs: PairTable | None = None  # instead of files
    parallel: ParallelFiles | None = None  # instead of files

    @property
    def places(self) -> list[LinesFile]:
        """All that it is made from."""
        if self.pairs:
            return [self.pairs.lines]
        return [*self.parallel.sides] if self.parallel else [place for some in self.files.values() for place in some]

    @property
    def names(self) -> list[str]:
        """The line files that it becomes."""
        split = self.pairs or self.parallel
        if split is None:
            return list(self.files)
        return [f"{part}.{language}" for part in ("train", "dev", "test") for language in split.languages]


TOKENS = "https://raw.githubusercontent.com/multi30k/dataset/7bee46bc74186b4b6254603143610f730d40bf66/data/task1/tok/"
RAW = "https://raw.githubusercontent.com/multi30k/dataset/c9be912dc05a3ebf9ae5bb5f7f58c1791cda43ab/data/task1/raw/"
ENJA = "https://raw.githubusercontent.com/odashi/small_parallel_enja/312408a11c5fbcbc09443bebb18121f7efdcd61e/"
STATMT = "https://www.statmt.org/"
MULTI30K = "Elliott et al. 2016, Multi30K: Multilingual English-German Image Descriptions; Elliott et al. 2017 (French)"
MULTI30K_LICENCE = "research only, not for commerce; the English is Flickr30k's"
TATOEBA = "tatoeba.org, by way of www.manythings.org/anki"
TATOEBA_LICENCE = "CC-BY 2.0 FR; name tatoeba.org and its authors (in the file's third column)"
WMT14 = "Bojar et al. 2014, Findings of the 2014 Workshop on Statistical Machine Translation"
WMT14_LICENCE = "each corpus has its own terms: statmt.org/wmt14/translation-task.html"

EUROPARL_V7 = (
    "Koehn 2005, Europarl: A Parallel Corpus for Statistical Machine Translation; statmt.org/europarl, version 7"
)
EUROPARL_LICENCE = "proceedings of the European Parliament: reuse is free, with the source named"

EUROPARL = Download(
    f"{STATMT}wmt13/training-parallel-europarl-v7.tgz",
    "sha256:0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
)
COMMON_CRAWL = Download(
    f"{STATMT}wmt13/training-parallel-commoncrawl.tgz",
    "sha256:c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
)
NEWS_COMMENTARY = Download(
    f"{STATMT}wmt14/training-parallel-nc-v9.tgz",
    "sha256:cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
)
UNITED_NATIONS = Download(
    f"{STATMT}wmt13/training-parallel-un.tgz",
    "sha256:29141b5c1eba149a94f7a59d3b1a834b2e47fe0f8758d68dcd77a3d3f497ee47",
)
GIGA = Download(
    f"{STATMT}wmt10/training-giga-fren.tar",
    "sha256:3ff8319f6919393520559bfbc7ad6a747ec81b3abc7be9993b338d4b017b4d9a",
)
NEWSTEST_2013 = Download(f"{STATMT}wmt13/test.tgz", "md5:48eca5d02f637af44e85186847141f67")
NEWSTEST_2014 = Download(f"{STATMT}wmt14/test-full.tgz", "md5:a8cd784e006feb32ac6f3d9ec7eb389a")


def _multi30k(kind: str) -> dict[str, tuple[LinesFile, ...]]:
    parts = {"train": "train", "dev": "val", "test": "test_2016_flickr"}
    return {
        f"{ours}.{lang}": (LinesFile(f"{theirs}{kind.format(lang)}"),)
        for ours, theirs in parts.items()
        for lang in LANGS
    }


LANGS = ("en", "de", "fr")


def _wmt14(language: str, pair: str, more: tuple[tuple[Download, str], ...] = ()) -> dict[str, tuple[LinesFile, ...]]:
    """`pair` is as in europarl-v7.de-en; in newstest2014 the hyphen is missing."""
    corpora = (
        (EUROPARL, f"training/europarl-v7.{pair}.{{}}"),
        (COMMON_CRAWL, f"commoncrawl.{pair}.{{}}"),
        (NEWS_COMMENTARY, f"training/news-commentary-v9.{pair}.{{}}"),
        *more,
    )
    files = {f"train.{lang}": tuple(LinesFile(d.name, m.format(lang)) for d, m in corpora) for lang in ("en", language)}
    for lang, side in (("en", "src"), (language, "ref")):
        files[f"dev.{lang}"] = (LinesFile(NEWSTEST_2013.name, f"test/newstest2013-src.{lang}.sgm"),)
        member = f"test-full/newstest2014-{pair.replace('-', '')}-{side}.{lang}.sgm"
        files[f"test.{lang}"] = (LinesFile(NEWSTEST_2014.name, member),)
    return files


def _europarl(language: str, name: str, size: str, checksum: str | None = None) -> DataSet:
    """Clean it before training (`regard clean`): it has loose pairs, and speeches that nobody translated."""
    archive = Download(f"{STATMT}europarl/v7/{language}-en.tgz", checksum)
    first, second = (LinesFile(archive.name, f"europarl-v7.{language}-en.{side}") for side in ("en", language))
    return DataSet(
        about=f"debates of the European Parliament 1996-2011, English and {name}: 2 M pairs; the last are dev and test",
        size=size,
        licence=EUROPARL_LICENCE,
        citation=EUROPARL_V7,
        downloads=(archive,),
        parallel=ParallelFiles((first, second), ("en", language), dev=2000, test=3000),
    )


DATA_SETS: dict[str, DataSet] = {
    "multi30k": DataSet(
        about="image captions en de fr, lower-cased, normalised tokens as papers score them; test 2016: 29k/1014/1000",
        size="7 MB",
        licence=MULTI30K_LICENCE,
        citation=MULTI30K,
        downloads=tuple(
            Download(f"{TOKENS}{name}", f"sha256:{checksum}")
            for name, checksum in {
                "train.lc.norm.tok.en": "08925f8e0572bcd5a006702fc5fe20e2d77c6917d4eebd576fc20de6693c2119",
                "train.lc.norm.tok.de": "cb5a23529b65ec2061f1dc446192a9c37382b63cc75f81a0be59d34894b3a505",
                "train.lc.norm.tok.fr": "8fa41bb718412bcb7c5dfa58603842810a01543eae86a51279f9886b901266e1",
                "val.lc.norm.tok.en": "46573ce391ae227f1c72f873392436a20ef18e0a6d518098cfbd70b77c8572ec",
                "val.lc.norm.tok.de": "97232bd273eceb7207f689527386a97e4be2616b18ada47576bdaf96c8ae1f00",
                "val.lc.norm.tok.fr": "b303e301aa21fe7822a846b2b3fb2d5a1121ec807cd5b1d006fb7b2b5507168a",
                "test_2016_flickr.lc.norm.tok.en": "5b7f32627cf99eced828311b955dae9800bb52bc8b91cf8b6526829e605b29d2",
                "test_2016_flickr.lc.norm.tok.de": "c6a33d39d48f9f510de147651316cd9d918e09ad0219df734a2f16b6baccacc4",
                "test_2016_flickr.lc.norm.tok.fr": "1463bd5960f9bfe098ec3cd752d3df0c49c84dc646fb518964a29232658cd836",
            }.items()
        ),
        files=_multi30k(".lc.norm.tok.{}"),
    ),
    "multi30k-raw": DataSet(
        about="the same captions as they were written, with case and punctuation; 29k/1014/1000",
        size="2 MB",
        licence=MULTI30K_LICENCE,
        citation=MULTI30K,
        downloads=tuple(
            Download(f"{RAW}{name}", f"md5:{checksum}" if checksum else None)
            for name, checksum in {
                "train.en.gz": None,  # two versions are about, and it is not known which one was recorded
                "train.de.gz": "81ff90b99829c0cd4b1b587d394afd39",
                "train.fr.gz": "6cb767741dcad3931f966fefbc05203f",
                "val.en.gz": "2b69aa9253948ac9f67e94917272dd40",
                "val.de.gz": "6e0e229eb049e3fc99a1ef02fb2d5f91",
                "val.fr.gz": "93fc564584b7e5ba410c761ea5a1c682",
                "test_2016_flickr.en.gz": "ff2c0fcb4893a13bd73414306bc250ae",
                "test_2016_flickr.de.gz": "efd67d314d98489b716b145475101932",
                "test_2016_flickr.fr.gz": "08dc7cd4a662f31718412de95ca9bfe3",
            }.items()
        ),
        files=_multi30k(".{}.gz"),
    ),
    "tatoeba-en-fr": DataSet(
        about="everyday sentences, English and French, split by connected sentences; grows from day to day",
        size="about 8 MB",
        licence=TATOEBA_LICENCE,
        citation=TATOEBA,
        downloads=(Download("https://www.manythings.org/anki/fra-eng.zip", None),),
        pairs=PairTable(LinesFile("fra-eng.zip", "fra.txt"), ("en", "fr"), dev=2500, test=5000),
    ),
    "tatoeba-en-de": DataSet(
        about="everyday sentences, English and German, split by connected sentences; grows from day to day",
        size="about 10 MB",
        licence=TATOEBA_LICENCE,
        citation=TATOEBA,
        downloads=(Download("https://www.manythings.org/anki/deu-eng.zip", None),),
        pairs=PairTable(LinesFile("deu-eng.zip", "deu.txt"), ("en", "de"), dev=2500, test=5000),
    ),
    "europarl-en-fr": _europarl(
        "fr", "French", "194 MB", "sha256:80f5d52113e23bfe51f890569ed69d2a1348127bca0894d07d1d23e0d0fac1e9"
    ),
    "europarl-en-de": _europarl("de", "German", "189 MB"),
    "europarl-en-es": _europarl("es", "Spanish", "187 MB"),
    "enja-50k": DataSet(
        about="short English and Japanese sentences as tokens, English lower-cased; 50k/500/500",
        size="5 MB",
        licence="CC-BY 2.0 FR (Tanaka corpus); the repository states none",
        citation="Tanaka corpus (edrdg.org); small_parallel_enja by Yusuke Oda",
        downloads=tuple(
            Download(f"{ENJA}{name}", f"sha256:{checksum}")
            for name, checksum in {
                "train.en.000": "4dd6b09e59cc03bd78d5e541bf306ab6e5139e2ce2e12d02d093e0cc47cfcf8e",
                "train.en.001": "99db039cb12e4758268f48640902d29ee1c58d883cba69939cc3e2c63d633164",
                "train.en.002": "3aee4a770ea651d4cb30df12c85704d7743118d79c40f7cd341a185bb1017d36",
                "train.en.003": "6dd6ff06bde9daf2201de14a9511881be76f4f09278d39fbdd02513dd0f1fa7f",
                "train.en.004": "34b035922267b7e29b6919261c9583dfa24354a4cbae6890c8e3e5026c162488",
                "train.ja.000": "6090d2bc45563d9d6b2244bf69edeb5cc004dd8aa5ab39469c83574d291ffe15",
                "train.ja.001": "578e6d076882830aae1c09a8134c8126fcc28ec1ab1d078c9e9a609bac9c7870",
                "train.ja.002": "f6cbe72342daf076d218dd1de2804fe4c969e495e0ec6ae9af85b55347e96406",
                "train.ja.003": "d0eba6255389f36864eab89435e6b6d5acb47c05fee92ea64dac28d78689ef7e",
                "train.ja.004": "8e510b88524ed92fa49d8620dbaed5defc1197ff03acb5c724cceadf7a576d61",
                "dev.en": "04a2673449770657fd5e3b963cb856be3130923212b6db8ac7eaeef18f06c041",
                "dev.ja": "cd534f56b8639dc130f86a365e5ec0aa70042000bdd740a622fbbf8b6be4acca",
                "test.en": "45edb380749ec2b49cca7618fc5a7595fc9f791180672ba466b90c873a4aa8bf",
                "test.ja": "d37dc460a81b064e4106c8913eb11fa300da05cf3f58a7a5bbfec7e20947ddef",
            }.items()
        ),
        files={
            **{f"train.{lang}": tuple(LinesFile(f"train.{lang}.00{i}") for i in range(5)) for lang in ("en", "ja")},
            **{f"{part}.{lang}": (LinesFile(f"{part}.{lang}"),) for part in ("dev", "test") for lang in ("en", "ja")},
        },
    ),
    "wmt14-en-de": DataSet(
        about="Europarl, Common Crawl, News Commentary: 4.5 M pairs; dev newstest2013, test newstest2014 in full",
        size="1.7 GB",
        licence=WMT14_LICENCE,
        citation=WMT14,
        downloads=(EUROPARL, COMMON_CRAWL, NEWS_COMMENTARY, NEWSTEST_2013, NEWSTEST_2014),
        files=_wmt14("de", "de-en"),
    ),
    "wmt14-en-fr": DataSet(
        about="the same for French, with UN and Giga: 41 M pairs (the paper has 36 M); dev and test as above",
        size="6.6 GB",
        licence=WMT14_LICENCE,
        citation=WMT14,
        downloads=(EUROPARL, COMMON_CRAWL, NEWS_COMMENTARY, UNITED_NATIONS, GIGA, NEWSTEST_2013, NEWSTEST_2014),
        files=_wmt14(
            "fr",
            "fr-en",
            ((UNITED_NATIONS, "un/undoc.2000.fr-en.{}"), (GIGA, "giga-fren.release2.fixed.{}.gz")),
        ),
    ),
}


def find_data_set(name: str) -> DataSet:
    if name not in DATA_SETS:
        raise InputError(f'no data set "{name}"; {nearest(name, DATA_SETS)} (regard fetch lists them)')
    return DATA_SETS[name]
