"""Verbs of what people do with their own things, by language: the infinitive of a form that a question has.

"Wie ändere ich", "cómo cambio", "como cancelo" and "come modifico" ask what "wie kann ich ... ändern" and so on ask.
Invariant: a form that may belong to two of the verbs is the form of none.
"""

from __future__ import annotations

from collections.abc import Mapping

from semcache.request.text import vocabulary
from semcache.request.wording.deeds_by_language import DEEDS

# Beside the deeds, where one asks for oneself.
_MORE = {
    "Spanish": vocabulary("""
        acceder agregar añadir bloquear cargar comprar configurar contactar contratar desbloquear editar encontrar
        enviar escribir evitar grabar hablar instalar llamar mejorar obtener preparar quitar recibir registrar
        reiniciar reclamar renovar restaurar solicitar subir transferir usar utilizar vender ver verificar vincular
        """),
    "Portuguese": vocabulary("""
        acessar aceder adicionar alterar anular bloquear carregar comprar configurar contactar contratar criar
        desbloquear descarregar editar eliminar encontrar enviar escrever evitar falar ligar melhorar modificar obter
        receber reclamar registar registrar reiniciar remover renovar solicitar transferir usar utilizar vender ver
        verificar
        """),
    "Italian": vocabulary("""
        accedere aggiungere bloccare comprare configurare contattare evitare installare inviare migliorare ottenere
        registrare richiedere rimuovere rinnovare ripristinare sbloccare scrivere sostituire spedire togliere
        trasferire trovare usare utilizzare vedere vendere verificare
        """),
}
# First person, third person: of those that are not made by rule.
_IRREGULAR = {
    "Spanish": {
        "cerrar": ("cierro", "cierra"),
        "devolver": ("devuelvo", "devuelve"),
        "encontrar": ("encuentro", "encuentra"),
        "enviar": ("envío", "envía"),
        "mover": ("muevo", "mueve"),
        "obtener": ("obtengo", "obtiene"),
        "pedir": ("pido", "pide"),
        "renovar": ("renuevo", "renueva"),
        "restablecer": ("restablezco", "restablece"),
        "transferir": ("transfiero", "transfiere"),
        "ver": ("veo", "ve"),
    },
    "Portuguese": {
        "obter": ("obtenho", "obtém"),
        "pedir": ("peço", "pede"),
        "ver": ("vejo", "vê"),
        "transferir": ("transfiro", "transfere"),
        "excluir": ("excluo", "exclui"),
    },
    "Italian": {
        "cuocere": ("cuocio", "cuoce"),
        "ottenere": ("ottengo", "ottiene"),
        "pulire": ("pulisco", "pulisce"),
        "restituire": ("restituisco", "restituisce"),
        "sostituire": ("sostituisco", "sostituisce"),
        "spedire": ("spedisco", "spedisce"),
        "togliere": ("tolgo", "toglie"),
        "trasferire": ("trasferisco", "trasferisce"),
        "inviare": ("invio", "invia"),
    },
}
# "Cómo se cierra una herida", "come si scarica la batteria": that is nobody's deed.
_BY_ITSELF = vocabulary("""
    abrir activar borrar cerrar conectar copiar crear desactivar eliminar guardar limpiar modificar mover ordenar
    recuperar reparar
    alterar apagar ativar atualizar criar desativar fechar limpar mudar salvar
    aprire attivare cancellare caricare chiudere collegare copiare creare disattivare eliminare modificare pulire
    recuperare riparare salvare scaricare spostare
    """)
_INFINITIVE = {"Spanish": 2, "Portuguese": 2, "Italian": 3}  # letters of its ending


def _forms(language: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The infinitives by their first person, and by their third."""
    first: dict[str, str] = {}
    third: dict[str, str] = {}
    twice: set[str] = set()
    for verb in sorted(DEEDS[language] | _MORE[language]):
        stem, ending = verb[: -_INFINITIVE[language]], verb[-_INFINITIVE[language] :]
        one, he = _IRREGULAR[language].get(verb, (f"{stem}o", stem + ("a" if ending.startswith("a") else "e")))
        twice.update({one} & first.keys(), {he} & third.keys())
        first[one] = third[he] = verb
    return (
        {form: verb for form, verb in first.items() if form not in twice},
        {form: verb for form, verb in third.items() if form not in twice},
    )


_FORMS = {language: _forms(language) for language in _INFINITIVE}
_PREFIXES = vocabulary("""
    ab an auf aus ein fest frei fort her herab heraus herein herunter hin hinzu hoch los mit nach runter um vor weg
    weiter wieder zu zurück zusammen
    """)
# Forms in -e that are none of the present, and verbs that say more than that something is done.
_NOT_PRESENT = vocabulary("""
    bräuchte dürfte fände gäbe habe hatte hieße heiße hätte käme könnte konnte lebe möchte mochte musste müsste sehe
    sollte wäre werde wisse wollte wurde würde brauche benötige fühle sterbe gefalle
    lange viele gerne heute große schöne gute
    """)
_PRESENT_IN_TE = vocabulary("""
    bearbeite berichte biete bitte beobachte entwerte erhalte erstatte halte leite miete reite richte schalte schneite
    spalte starte teste verarbeite verhalte vermiete verwalte warte berate brate rate kette flechte fechte arbeite
    beantworte antworte enthalte leiste bewerte verbreite bereite streite öffentliche
    """)
_VOWELS = "aeiouäöü"


def of_oneself(form: str, language: str) -> str | None:
    """The infinitive of a verb in the first person; None for a word that is none of those that are known."""
    return _FORMS[language][0].get(form)


def of_anybody(form: str, language: str) -> str | None:
    """The infinitive of a deed in the third person; None for another word, and for what may happen by itself."""
    verb = _FORMS[language][1].get(form)
    return verb if verb in DEEDS[language] - _BY_ITSELF else None


def german(form: str, rest: str) -> tuple[str, str] | None:
    """The infinitive of a German verb in the first person, and the rest of its question without a part of the verb.

    >>> german("gebe", "den schlüssel zurück")
    ('zurückgeben', 'den schlüssel')
    """
    if form in _NOT_PRESENT or not form.endswith("e") or (form.endswith("te") and form not in _PRESENT_IN_TE):
        return None
    stem = form[:-1]
    if len(stem) < 3:
        return None
    if stem.endswith("er") and stem[-3] not in "ei":
        verb = f"{stem}n"  # ändere
    elif stem.endswith("l") and stem[-2] not in f"{_VOWELS}hl":
        verb = f"{stem[:-1]}eln"  # wechsle
    else:
        verb = f"{form}n"
    before, _, last = rest.rpartition(" ")
    return (last + verb, before) if last in _PREFIXES else (verb, rest)


def german_of_anybody(form: str, rest: str) -> tuple[str, str] | None:
    """The infinitive of a German deed in the third person, and the rest of its question; None for another word."""
    before, _, last = rest.rpartition(" ")
    prefix = last if last in _PREFIXES else ""
    if form.endswith("t"):
        for verb in (f"{prefix}{form[:-1]}en", f"{prefix}{form[:-1]}n", f"{prefix}{form.removesuffix('et')}en"):
            if verb in DEEDS["German"]:
                return verb, before if prefix else rest
    return None
