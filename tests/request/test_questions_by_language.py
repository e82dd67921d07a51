"""Questions in other languages that ask one thing in two frames have one wording; those of another thing do not."""

from __future__ import annotations

import pytest

from semcache.request.wording import canonical
from semcache.request.wording.verbs_by_language import german, of_anybody, of_oneself

SAME = [
    ("Wie ändere ich meine Adresse?", "Wie kann ich meine Adresse ändern?"),
    ("Wie setze ich mein Gerät zurück?", "Kannst du mir sagen, wie ich mein Gerät zurücksetzen kann?"),
    ("Wie kann ich meine Adresse aendern?", "Hallo, wie kann ich bitte meine Adresse ändern?"),
    ("Warum ist das Meer salzig?", "Können Sie mir erklären, warum das Meer salzig ist?"),
    ("Welche Papiere brauche ich für den Umzug?", "Wissen Sie, welche Papiere ich für den Umzug benötige?"),
    ("Wo finde ich meine Rechnungen?", "Wo kann ich meine Rechnungen finden?"),
    ("Wie teuer ist ein Tagesticket?", "Was kostet ein Tagesticket?"),
    ("Erkläre mir den Unterschied zwischen Wetter und Klima", "Was ist der Unterschied zwischen Klima und Wetter?"),
    ("Peux-tu me dire quelle est la capitale du Chili ?", "Quelle est la capitale du Chili ?"),
    ("La capitale du Chili, c'est quoi ?", "C'est quoi la capitale du Chili ?"),
    ("Pourquoi les oiseaux chantent-ils le matin ?", "Pourquoi est-ce que les oiseaux chantent le matin ?"),
    ("Pour quelle raison les oiseaux chantent le matin ?", "Expliquez-moi pourquoi les oiseaux chantent le matin."),
    ("Où puis-je trouver ma facture ?", "Où est-ce que je peux trouver ma facture ?"),
    ("De quelle manière puis-je modifier mon profil ?", "Comment modifier mon profil ?"),
    ("Quel est le prix d'un billet pour Lyon ?", "Combien coûte un billet pour Lyon ?"),
    ("¿Cómo cancelo mi pedido?", "¿De qué forma puedo cancelar mi pedido?"),
    ("¿Cómo se devuelve un libro?", "¿Cómo puedo devolver un libro?"),
    ("¿Dónde descargo la factura?", "¿Dónde puedo descargar la factura?"),
    ("¿Me puedes decir cuál es la capital de Chile?", "¿Cuál es la capital de Chile?"),
    ("¿Cuánto demora el envío a Cuba?", "¿Cuánto tiempo tarda el envío a Cuba?"),
    ("¿Qué diferencia hay entre una rana y un sapo?", "¿Cuál es la diferencia entre un sapo y una rana?"),
    ("Como cancelo a minha conta?", "De que forma posso cancelar minha conta?"),
    ("Onde é que posso ver a minha fatura?", "Onde vejo a minha fatura?"),
    ("Qual a altura de uma girafa?", "Você pode me dizer qual é a altura de uma girafa?"),
    ("Come modifico il mio profilo?", "In che modo posso modificare il mio profilo?"),
    ("Come mai il mare è salato?", "Per quale motivo il mare è salato?"),
    ("Mi spieghi perché il mare è salato?", "Perché il mare è salato?"),
    ("Che differenza c'è tra una rana e un rospo?", "Qual è la differenza tra un rospo e una rana?"),
]
APART = [
    ("Wie ändere ich meine Adresse?", "Wie kann ich meine Adresse löschen?"),
    ("Wie gebe ich das Buch zurück?", "Wie gebe ich das Buch weiter?"),
    ("Wo finde ich meine Rechnungen?", "Wie finde ich meine Rechnungen?"),
    ("Weißt du, wann der Laden öffnet?", "Weißt du, warum der Laden öffnet?"),
    ("Was ist der Unterschied zwischen Klima und Wetter?", "Was ist der Unterschied zwischen Klima und Jahreszeit?"),
    ("Pourquoi les mange-t-il ?", "Pourquoi les mange-t-elle ?"),
    ("Où puis-je trouver ma facture ?", "Comment puis-je trouver ma facture ?"),
    ("Quel est le prix d'un billet ?", "Quel est le prix d'un billet de groupe ?"),
    ("¿Cómo cancelo mi pedido?", "¿Cómo cambio mi pedido?"),
    ("¿Cómo ve un perro?", "¿Cómo puedo ver un perro?"),
    ("¿Cómo se llama el perro?", "¿Cómo puedo llamar el perro?"),
    ("Como cancelo minha conta?", "Onde cancelo minha conta?"),
    ("Come modifico il mio profilo?", "Dove modifico il mio profilo?"),
    ("Come mai?", "Perché no?"),
    ("Wo arbeite ich morgen?", "Wo kann ich morgen arbeiten?"),
    ("Quand puis-je vendre ma maison ?", "Quand vendre ma maison ?"),
    ("¿Cómo se cierra una herida?", "¿Cómo cerrar una herida?"),
    ("Come si scarica la batteria?", "Come scaricare la batteria?"),
    ("Como se apaga uma estrela?", "Como apagar uma estrela?"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_one_question_in_two_frames_has_one_wording(one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text


@pytest.mark.parametrize(("one", "two"), APART)
def test_another_question_has_another_wording(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text


@pytest.mark.parametrize(
    ("form", "rest", "verb"),
    [
        ("ändere", "das bild", "ändern"),
        ("kopiere", "das bild", "kopieren"),
        ("wechsle", "das bild", "wechseln"),
        ("zahle", "die rechnung", "zahlen"),
        ("stelle", "die uhr", "stellen"),
        ("lade", "das bild hoch", "hochladen"),
        ("miete", "ein auto", "mieten"),
    ],
)
def test_a_german_verb_has_its_infinitive(form: str, rest: str, verb: str) -> None:
    found = german(form, rest)
    assert found is not None
    assert found[0] == verb


@pytest.mark.parametrize("form", ["möchte", "konnte", "habe", "lange", "kann"])
def test_what_is_no_deed_of_the_present_has_none(form: str) -> None:
    assert german(form, "das bild") is None


def test_a_form_of_no_known_verb_has_no_infinitive() -> None:
    assert of_oneself("camino", "Spanish") is None
    assert of_anybody("llama", "Spanish") is None
