"""Verbs: English, French, and the kinds of their subjects and objects (`words.toml`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from regard.course.grammar import morphology
from regard.course.grammar.morphology import WORDS


@dataclass(frozen=True)
class Verb:
    """A verb with its English forms, its French infinitive, and the kinds of its subjects and objects."""

    base: str
    particle: str  # "for" of "look for"; else empty
    third: str
    past: str
    ing: str
    fr: str  # infinitive, without "se"
    reflexive: bool
    preposition: str  # the French preposition before its object; else empty
    state: bool
    subjects: str
    objects: str

    @property
    def name(self) -> str:
        return f"{self.base} {self.particle}" if self.particle else self.base


def parse(line: str) -> Verb:
    """Parses an entry of `words.toml`."""
    words, _, selection = line.partition(":")
    en, fr, *marks = words.split()
    subjects, _, objects = selection.partition(">")
    base, _, past = en.partition("/")
    base, _, particle = base.partition("_")
    past = past.partition("_")[0]
    reflexive = fr.startswith(("se_", "s'"))
    infinitive, _, preposition = fr.removeprefix("se_").removeprefix("s'").partition("+")
    return Verb(
        base=base,
        particle=particle,
        third=morphology.third_person(base),
        past=past or morphology.past(base),
        ing=morphology.ing(base),
        fr=infinitive,
        reflexive=reflexive,
        preposition=preposition,
        state="=state" in marks,
        subjects=subjects.strip(),
        objects=objects.strip(),
    )


TRANSITIVE, INTRANSITIVE, GIVING, MOTION, THINKING, _SINGLE = (
    tuple(parse(line) for line in WORDS["verbs"][group].splitlines())
    for group in ("transitive", "intransitive", "giving", "motion", "thinking", "single")
)
BE = Verb("be", "", "is", "was", "being", "être", False, "", True, "person", "")
HAVE_AS_BE = replace(BE, fr="avoir")  # he is hungry, il a faim
PUT, SIT, FIT, JUMP_OVER = _SINGLE
BY_NAME: dict[str, Verb] = {v.name: v for v in (FIT, JUMP_OVER, *GIVING, *MOTION, *INTRANSITIVE, *TRANSITIVE)}


def named(group: str) -> tuple[Verb, ...]:
    """Returns the verbs of a group of `words.toml`, in its order."""
    return tuple(BY_NAME[name.replace("_", " ")] for name in WORDS["verbs"][group].split())


# modal: French infinitive; English forms: present third person, present, past
MODALS: dict[str, tuple[str, str, str, str]] = {
    "can": ("pouvoir", "can", "can", "could"),
    "must": ("devoir", "must", "must", ""),
    "want": ("vouloir", "wants", "want", "wanted"),
}
