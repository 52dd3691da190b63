"""text/register.py: pronouns, possessives, imperatives and verb forms show a register; what is ambiguous shows none."""

from __future__ import annotations

import pytest

from regard.text.register import addresses_reader, register_of

FORMAL = {
    "fr": [
        "Vous avez raison.",
        "Où est votre chien ?",
        "Cliquez ici.",
        "Ne dites rien.",
        "Faites-le maintenant.",
        "Asseyez-vous.",
        "Où allez-vous ?",
        "C'est le vôtre.",
    ],
    "de": [
        "Klicken Sie hier.",
        "Mit freundlichen Grüßen",
        "Wie geht es Ihnen?",
        "Ist das Ihr Hund?",
        "Sie haben Ihren Pass vergessen.",
    ],
    "es": [
        "¿Cómo está usted?",
        "Haga clic aquí.",
        "Pulse el botón.",
        "Siéntese, por favor.",
        "Dígame la verdad.",
        "Llámenos o escríbanos.",
        "¿Tienen ustedes tiempo?",
        "Pónganse en contacto.",
        "Estimada señora Ruiz:",
    ],
}
INFORMAL = {
    "fr": [
        "Tu as raison.",
        "As-tu vu mon chien ?",
        "Je t'aime.",
        "Ton père est là.",
        "Dis-moi la vérité.",
        "Écoute !",
        "N'oublie pas ton sac.",
        "Ne fais pas ça.",
        "C'est le tien.",
        "Va-t'en !",
        "Tais-toi.",
    ],
    "de": ["Hast du Zeit?", "Das ist dein Hund.", "Ihr seid spät dran.", "Habt ihr Hunger?", "Komm her!"],
    "es": [
        "¿Tienes tiempo?",
        "Tu casa es grande.",
        "Te quiero.",
        "Llámanos o escríbenos.",
        "Haz clic aquí.",
        "Ya lo hiciste.",
        "Vendrás mañana.",
        "¿Qué me cuentas?",
        "¿Habéis comido?",
        "Dime la verdad.",
        "Cuando estabas aquí.",
        "Por favor, asegúrate.",
        "Siéntate aquí.",
    ],
}
NEITHER = {
    "fr": [
        "Il s'est tu.",
        "Le ton de sa voix.",
        "Il a changé de ton.",
        "Tiens, il pleut.",
        "Je les tiens.",
        "J'ai un rendez-vous chez lui.",
        "C'est assez.",
        "M. Lopez est là.",
        "Gomez a gagné.",
        "Un chez-moi.",
        "Le Te Deum de Charpentier.",
        "Les choses dites hier.",
        "Tu vois, vous êtes deux.",
    ],
    "de": ["Sie haben Zeit.", "Sie schläft.", "Ihr Hund bellt.", "Ich gebe es ihr.", "Es geht ihr gut.", "Er lacht."],
    "es": [
        "Es su casa.",
        "Un té, por favor.",
        "Existe una casa triste.",
        "Está detrás de la casa.",
        "Tiene dieciséis años.",
        "Véase la página dos.",
        "La reacción ácido-base.",
        "Habla español.",
        "Un haz de luz.",
        "El intérprete llegó.",
        "El señor Zárate llegó.",
        "¿Le gusta a usted tu casa?",
    ],
}


def examples(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(language, text) for language, texts in table.items() for text in texts]


@pytest.mark.parametrize(("language", "text"), examples(FORMAL))
def test_formal(language: str, text: str) -> None:
    assert register_of(text, language) == "formal"


@pytest.mark.parametrize(("language", "text"), examples(INFORMAL))
def test_informal(language: str, text: str) -> None:
    assert register_of(text, language) == "informal"


@pytest.mark.parametrize(("language", "text"), examples(NEITHER))
def test_neither(language: str, text: str) -> None:
    assert register_of(text, language) is None


def test_a_language_without_rules_has_no_register() -> None:
    assert register_of("Come here, you!", "en") is None


@pytest.mark.parametrize(
    ("language", "text"),
    [("es", "Es su casa."), ("es", "¿Puede venir?"), ("es", "Le llamo."), ("de", "Sie irren sich.")],
)
def test_ambiguous_words_are_formal_if_the_reader_is_addressed(language: str, text: str) -> None:
    assert register_of(text, language) is None
    assert register_of(text, language, addressed=True) == "formal"


def test_a_sure_word_outweighs_an_ambiguous_one() -> None:
    assert register_of("Sabes su nombre.", "es", addressed=True) == "informal"


def test_who_is_addressed() -> None:
    assert addresses_reader("Is that your dog?")
    assert not addresses_reader("You know her dog.")
    assert not addresses_reader("You know Tom's dog.")
    assert not addresses_reader("It's a dog.")
