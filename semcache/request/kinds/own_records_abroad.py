"""Questions for the sender's own records in other languages than English: a balance, an order, the days of leave left.

Knows, for seven languages, how a thing of one's own is asked for, directly ("Was ist meine Kundennummer?") or not ("Ich
möchte meinen Kontostand wissen"). Invariant: the way to do something is nobody's record.
"""

from __future__ import annotations

from semcache.request.kinds.patterns import CuedPatterns, any_of, rule

# German writes the thing and what it is of as one word.
_GERMAN = (
    r"(?:\w+ )?\w*(?:nummer|stand|antrag|termin|bestellung|lieferung|vertrag|rechnung|konto|urlaub|urlaubstage|gehalt"
    r"|buchung|tarif|limit|ergebnis|note|noten|ansprechpartner|berater|sachbearbeiter|betreuer|adresse"
    r"|erstattung|zahlung|guthaben|paket|abo|flug|sendung|ticket|anfrage|bewerbung|kredit|punktestand"
    r"|überweisung|karte|saldo|blutgruppe)"
    r"(?:e|en|s|in)?\b"
)
_MEIN = r"(?:mein|unser)(?:e|en|em|er|es)? "
_FRENCH = (
    r"(?:\w+ )?(?:solde|compte|num[ée]ro|commande|colis|demande|r[ée]servation|facture|paiement|remboursement|contrat"
    r"|salaire|abonnement|rendez-vous|cong[ée]s?|vol|forfait|dossier|adresse|note|notes|carte|livraison|virement)\b"
)
_MON = r"(?:mon|ma|mes|notre|nos) "
_SPANISH = (
    r"(?:\w+ )?(?:saldo|cuenta|n[úu]mero|pedido|paquete|solicitud|reserva|factura|pago|reembolso|contrato|sueldo"
    r"|suscripci[óo]n|cita|vacaciones|vuelo|tarifa|direcci[óo]n|nota|notas|tarjeta|env[íi]o|transferencia|plan)\b"
)
_ITALIAN = (
    r"(?:\w+ )?(?:saldo|conto|numero|ordine|pacco|richiesta|prenotazione|fattura|pagamento|rimborso|contratto|stipendio"
    r"|abbonamento|appuntamento|ferie|volo|piano|indirizzo|voto|voti|carta|spedizione|bonifico)\b"
)
_PORTUGUESE = (
    r"(?:\w+ )?(?:saldo|conta|n[úu]mero|pedido|encomenda|pacote|solicita[çc][ãa]o|reserva|fatura|pagamento|reembolso"
    r"|contrato|sal[áa]rio|assinatura|consulta|f[ée]rias|voo|plano|endere[çc]o|nota|notas|cart[ãa]o)\b"
)
_DUTCH = (
    r"(?:\w+ )?\w*(?:saldo|rekening|nummer|bestelling|pakket|aanvraag|reservering|boeking|factuur|betaling"
    r"|terugbetaling|contract|salaris|abonnement|afspraak|verlof|vlucht|adres|cijfer|cijfers|kaart|levering|limiet)\b"
)
_POLISH = r"(?:\w+ )?(?:saldo|stan|konto|konta|numer|zamówienie|zamówienia|paczka|wniosek|rezerwacja|faktura|umowa)\b"
_RECORDS = CuedPatterns(
    rule(
        "mein meine meinem meinen meiner meines unser unsere unseren",
        rf"\b(?:was|wie|wer|welche[rs]?) (?:ist|sind|war|lautet|lauten|hoch (?:ist|sind)) {_MEIN}{_GERMAN}",
        rf"(?:^\W*+|[.,!?:] [^\w.,!?:]*+|\bob )(?:ist|sind|wurde|wurden|war) {_MEIN}{_GERMAN}",
        rf"\b(?:wo|wann|ob|wie hoch|was|wer) (?:ist |sind |kommt |war )?{_MEIN}{_GERMAN}",
        rf"^\W*(?:bitte )?(?:sag|sage|sagen sie|nenn|nenne|nennen sie|zeig|zeige|zeigen sie) mir (?:bitte |mal )*"
        rf"{_MEIN}{_GERMAN}",
        rf"\b{_MEIN}{_GERMAN} (?:\w+ )?(?:sagen|nennen|mitteilen|wissen|erfahren|zeigen)\b",
    ),
    rule(
        "habe haben bin",
        r"\bwie ?viele? (?:\w+ )?\w+ habe ich (?:noch|bisher|schon|dieses|diesen|heute)\b",
        r"\bhabe ich .{1,40}\bbestanden\W*$",
        r"\bwelche \w+ haben sie von mir\b",
        r"^\W*bin ich (?:noch |schon )?(?:angemeldet|registriert|versichert|gesperrt)\W*$",
    ),
    rule(
        "mon ma mes notre nos",
        rf"(?:^|\bdis-moi |\bdites-moi |\bdonne-moi |\bdonnez-moi )\W*quand est {_MON}{_FRENCH}"
        rf"|\b(?:dis|dites|donne|donnez)-moi {_MON}{_FRENCH}",
        rf"\bquel(?:le)?s? (?:est|sont|était) (?:(?:l'|le |la |les )\w+ (?:de |d'))?{_MON}{_FRENCH}",
        rf"\b(?:connaître|savoir|dire|donner|indiquer|communiquer) (?:si |où est |(?:l'|le |la |les )\w+ (?:de |d'))?"
        rf"{_MON}{_FRENCH}",
        rf"(?:^|\best-ce que |\bsi )\W*{_MON}{_FRENCH}(?: \S+){{0,3}}? (?:a|ont|est|sont)(?:-t)?(?:-(?:il|elle)s?)? "
        r"(?:été |bien |déjà )*(?:exp[ée]di|accept|approuv|refus|valid|envoy|livr|rembours|confirm|re[çc]u|trait"
        r"|arriv)",
    ),
    rule("reste ai", r"\bcombien (?:d(?:e |').{1,40})?(?:il )?(?:me reste|ai-je (?:encore|déjà|pris))"),
    rule(
        "mi mis nuestro nuestra",
        rf"\bcu[áa]l(?:es)? (?:es|son|era) (?:(?:el|la) \w+ de )?mis? {_SPANISH}",
        rf"\bcu[áa]ndo (?:es|son|llega) mis? {_SPANISH}|^\W*(?:dime|d[ée]me|dame|d[íi]game) mis? {_SPANISH}",
        rf"\b(?:saber|conocer|decir|decirme|darme|indicarme) "
        rf"(?:si |d[óo]nde est[áa] |(?:el|la) \w+ de )?mis? {_SPANISH}",
        rf"\b(?:ha|han|est[áa]|fue|fueron) (?:\w+ ){{1,2}}mis? {_SPANISH}",
        rf"(?:^|\bsi )\W*mis? {_SPANISH} (?:ya )?(?:ha|han|est[áa]|fue)\b",
    ),
    rule("queda quedan", r"\bcu[áa]nt[oa]s? .{1,40}me quedan?\b"),
    rule(
        "mio mia miei mie",
        rf"\bqual[ie]? ?(?:è|e|sono|era) (?:il|la|i|le) m(?:io|ia|iei|ie) {_ITALIAN}",
        rf"\b(?:sapere|conoscere|dirmi|darmi|indicarmi) (?:se |dov'è )?(?:il|la|i|le) m(?:io|ia|iei|ie) {_ITALIAN}",
        rf"^\W*(?:il|la|i|le) m(?:io|ia|iei|ie) {_ITALIAN} (?:è|sono) (?:già )?\w+"
        rf"|\bquando (?:è|sono|arriva) (?:il|la|i|le) m(?:io|ia|iei|ie) {_ITALIAN}",
        rf"^\W*(?:è|sono) (?:già )?(?:stat[oaie] )?\w+ (?:il|la|i|le) m(?:io|ia|iei|ie) {_ITALIAN}",
    ),
    rule("restano rimangono resta rimane", r"\bquant[oaie] .{1,40}mi (?:rest|riman)\w+"),
    rule(
        "meu minha meus minhas",
        rf"\bqual (?:é|e|era) (?:o |a )?(?:meu|minha) {_PORTUGUESE}"
        rf"|\bquais são (?:os |as )?(?:meus|minhas) {_PORTUGUESE}",
        rf"\b(?:saber|conhecer|dizer|dizer-me|informar|informar-me) (?:se |onde está )?(?:[oa]s? )?(?:meus?|minhas?) "
        rf"{_PORTUGUESE}",
        rf"^\W*(?:[oa]s? )?(?:meus?|minhas?) {_PORTUGUESE} (?:já )?foi \w+",
    ),
    rule("restam tenho faltam", r"\bquant[oa]s .{1,40}(?:me restam|ainda tenho|me faltam)\b"),
    rule(
        "mijn onze ons",
        rf"\b(?:wat|wie|hoe hoog|hoeveel) (?:is|zijn|was) (?:mijn|onze?) {_DUTCH}",
        rf"^\W*(?:is|zijn|werd) (?:mijn|onze?) {_DUTCH}|\b(?:waar|wanneer|of) (?:is |zijn )?(?:mijn|onze?) {_DUTCH}",
        rf"\b(?:mijn|onze?) {_DUTCH} (?:\w+ )?(?:weten|zeggen|vertellen|doorgeven)\b",
    ),
    rule("heb", r"\bhoeveel \w+ heb ik nog\b"),
    rule("mój moja moje", rf"\bjak(?:i|a|ie) jest m[oó]j(?:a|e)? {_POLISH}"),
    # What one has, takes, owes or has done: "Welk abonnement heb ik?", "Cuánto debo?"
    rule(
        "ich mein meine meinem",
        r"^\W*welche[rsnm]? (?:\w+ ){1,3}(?:habe|nehme|nutze|bekomme|zahle|hatte) ich(?: (?:gerade|aktuell|derzeit"
        r"|momentan|noch|schon|gebucht|bestellt))*\W*$",
        r"^\W*wie hoch ist mein \w+\W*$|^\W*wer ist mein \w+\W*$",
        r"\bich habe [^?]{1,60} (?:eingereicht|geschickt|gesendet|bestellt|beantragt|abgeschickt)\W+ist (?:es"
        r"|er|sie|das)"
        r" [^?]{0,40}\b(?:angekommen|eingegangen|da|fertig|bearbeitet|genehmigt)\W*$",
    ),
    rule(
        "j ai je",
        r"^\W*(?:quel(?:le)?s? [\w' -]{1,30}|combien (?:de |d')[\w' -]{1,40}) (?:j'ai|ai-je)"
        r"(?: (?:pris|posé|commandé|choisi|souscrit|fait)\w*)?(?: (?:cette|ce|cet) \w+)?\W*$",
        r"\bj'ai (?:déposé|envoyé|fait|commandé|soumis) [^?]{1,60}\boù en (?:est|sont)-(?:elle|il)s?\W*$",
        r"^\W*combien (?:je dois|dois-je|j'ai dépensé|ai-je dépensé)\b(?![^?]{1,60} (?:si|pour)\b)",
    ),
    rule(
        "debo tengo hice gasté he",
        r"^\W*cu[áa]nto (?:debo|me falta|gast[ée]|he gastado)\b(?![^?]{0,60} (?:si|para)\b)",
        r"^\W*(?:qu[ée]|cu[áa]nt[oa]s) (?:\w+ ){1,3}(?:tengo|hice|he hecho|llevo)(?: (?:contratad|reservad"
        r"|pendient|acumulad"
        r"|pedid)\w+)?(?: (?:en|este|esta) \w+)?\W*$",
    ),
    rule(
        "meu minha estou estacionei gastei devo",
        r"^\W*quem é (?:o meu|a minha) [\w ]{1,40}\W*$|^\W*onde (?:eu )?(?:estacionei|deixei|guardei|coloquei)\b",
        r"^\W*em que \w+ (?:eu )?estou(?: (?:matriculad|inscrit|registad)\w+)?\W*$",
        r"^\W*quanto (?:eu )?(?:devo|gastei|paguei)\b(?![^?]{0,60} (?:se|para)\b)",
    ),
    rule(
        "ho mio mia avete hanno",
        r"^\W*quanto ho (?:speso|pagato|risparmiato|guadagnato)\b|^\W*che (?:\w+ ){1,2}ho(?: attiv\w)?\W*$",
        r"^\W*chi è (?:il mio|la mia) [\w ]{1,40}\W*$|^\W*mi (?:avete|hanno) (?:già )?(?:rimborsat|accreditat|addebitat"
        r"|spedit|inviat|pagat|confermat)\w",
        r"\bche ho (?:prenotato|ordinato|comprato|acquistato|inviato|caricato)\W*$",
    ),
    rule(
        "heb mijn onze",
        r"^\W*welke? (?:\w+ ){1,2}heb ik(?: (?:nu|nog|geboekt|besteld))*\W*$|^\W*wie (?:zit er|zitten er|is"
        r"|zijn) (?:in )?"
        r"(?:mijn|onze?) \w+\W*$",
        r"^\W*(?:is|zijn) (?:mijn|onze?) \w+ (?:al|nog|inmiddels) \w+\W*$",
    ),
    rule(
        "moim moją mam mojego jestem",
        r"^\W*kto jest (?:moim|moją) [\w ]{1,40}\W*$|^\W*(?:któr|jak|ile)\w* (?:\w+ ){1,3}mam"
        r"(?: (?:jeszcze|teraz|nie\w+))*\W*$",
    ),
)
# "Wie kann ich meinen Kontostand erfahren" asks for the way.
_WAY = any_of(
    r"^\W*(?:wie (?:kann|könnt?en?|soll\w*|muss)|wo (?:kann|finde|sehe) ich|comment|où (?:puis-je|trouver)|c[óo]mo"
    r"|d[óo]nde (?:puedo|encuentro|veo)|come|dove (?:posso|trovo|vedo)|onde (?:posso|vejo|encontro)|hoe (?:kan|moet)"
    r"|waar (?:kan|vind|zie)|jak|gdzie (?:mogę|znajdę))\b"
)
# "Ist mein Ticket übertragbar" asks what the law or the terms say of any such thing.
BY_LAW = (
    "übertragbar|verjährt|geregelt|pfändbar|wirksam|kündbar|steuerpflichtig|pignorabile|cessible|saisissable"
    "|embargable|transferible|trasferibile|overdraagbaar"
)
VALID = "(?:gültig|geldig|valid[oae]|valable|válid[oa])"
_OF_ANY = any_of(
    rf"\b(?:{BY_LAW})\W*$"
    rf"|\b(?:ohne|zonder|senza|sans|sem) .{{1,40}}\b{VALID}\W*$"
    rf"|\b{VALID} (?:ohne|zonder|senza|sans|sem)\b"
)


def applies(folded: str, bag: frozenset[str]) -> bool:
    """Return True if a text in one of these languages asks for its sender's own records; `bag` holds its words."""
    return _RECORDS.match(folded, bag) and _WAY.match(folded) is None and _OF_ANY.search(folded) is None
