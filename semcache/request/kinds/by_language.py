"""Prompts about this moment or the sender's own records in other languages than English, told by words that say so.

Knows the plainest words of eleven languages: today and tomorrow, weather, the time, exchange rates; where an order is,
when a contract ends, what a balance is. Invariant: how a word is said in another language is of any moment, and a way
to do something is nobody's record.
"""

from __future__ import annotations

from semcache.request.kinds import own_affairs_abroad, own_records_abroad
from semcache.request.kinds.patterns import CuedPatterns, any_of, rule

_MOMENT = CuedPatterns(
    # German
    rule("heute gestern", r"\b(?:heute|gestern)\b"),
    rule(
        "morgen",
        r"(?<!guten\s)(?<!guter\s)(?<!goede\s)(?<!goeie\s)(?<!am\s)(?<!jeden\s)(?<!der\s)(?<!den\s)(?<!elke\s)"
        r"\bmorgen\b",
    ),
    rule(
        "moment aktuell aktuelle aktuellen aktueller momentan derzeit",
        r"\bim moment\b|\b(?:aktuell\w*|momentan|derzeit)\b",
    ),
    rule(
        "wetter",
        r"^\W*wetter \w+\W*$|\bwetter(?: (?:in|an|auf|für|am)\b|\W*$)|\bwie (?:ist|wird) (?:das|es mit dem) wetter\b",
    ),
    rule("spät uhr uhrzeit", r"\bwie ?spät ist es\b|\bwie ?viel uhr ist es\b|\bwelche uhrzeit\b"),
    rule("wechselkurs kurs aktienkurs euro dollar", r"\b(?:wechsel|aktien)?kurs (?:des|der|von|für|zwischen)\b"),
    rule("regnet schneit gewittert", r"\b(?:regnet|schneit|gewittert) es\b"),
    rule("bitcoin euro dollar", r"\b(?:was kostet|wie steht) (?:ein |der )?(?:bitcoin|euro|dollar)\b"),
    rule(
        "gerade verspätungen neues", r"\bgerade (?:offen|geöffnet|zu|geschlossen)\b|\bgibt es (?:verspätungen|neues)\b"
    ),
    rule("jetzt", r"\bjetzt\W*$|\bjetzt (?:offen|geöffnet|zu|geschlossen|verfügbar)\b"),
    rule("dollarkurs eurokurs", r"\b(?:dollar|euro)kurs\b(?! (?:\w+ )?(?:gebildet|berechnet|bestimmt|festgelegt))"),
    # French
    rule("hier maintenant", r"\bhier(?: soir)?\W*$|\bmaintenant\W*$"),
    rule("pleut neige", r"\b(?:il|qu'il) (?:pleut|neige)(?: (?:à|en|sur)\b|\W*$)|\bpleut-il\b"),
    rule("aujourd", r"\baujourd'hui\b"),
    rule("demain soir moment actuellement", r"\bdemain\b|\bce soir\b|\ben ce moment\b|\bactuellement\b"),
    rule("heure", r"\bquelle heure (?:est|il)\b"),
    rule(
        "temps météo meteo",
        r"\bquel temps (?:fait|fera)\b|\bm[ée]t[ée]o (?:à|de|du|pour|en|sur)\b|\bla m[ée]t[ée]o\W*$",
    ),
    rule("taux cours", r"\btaux de change\b|\bcours (?:du|de l'|de la) ?(?:euro|dollar|bitcoin|or|action|yen|franc)\b"),
    # Spanish
    rule("hoy", r"\bhoy\b"),
    rule("mañana manana noche semana", r"(?<!la\s)(?<!una\s)\bmañana\b|\besta (?:noche|semana)\b"),
    rule("hora", r"\bqu[ée] hora es\b|\bque horas? são\b"),
    rule("tiempo clima", r"\bqu[ée] tiempo (?:hace|hará|hara)\b|\bel (?:tiempo|clima) en\b"),
    rule(
        "cotización cotizacion tipo precio",
        r"\bcotizaci[óo]n\b|\btipo de cambio\b|\bprecio del (?:dólar|dolar|bitcoin|oro)\b",
    ),
    rule("lloviendo nevando", r"\best[áa] (?:lloviendo|nevando)\b"),
    rule("vale", r"\b(?:cu[áa]nto vale el|quanto vale (?:il|o)) (?:bitcoin|d[óo]lar|euro|dollaro|oro|ouro)\b"),
    rule("ahora anoche ayer", r"\bahora\W*$|\b(?:anoche|ayer)\b"),
    # Italian
    rule("adesso agora", r"\b(?:adesso|agora)\W*$"),
    rule("oggi domani stasera ieri", r"\b(?:oggi|domani|stasera|ieri)\b"),
    rule("ore ora", r"\bche or[ae] (?:sono|è|e)\b"),
    rule("tempo meteo", r"\bche tempo (?:fa|farà|fara)\b|\bmeteo (?:a|di|in|per)\b"),
    rule("cambio ritardo", r"\bcambio (?:euro|dollaro)\b|\bin ritardo\W*$"),
    # Portuguese
    rule("hoje amanhã amanha ontem", r"\b(?:hoje|amanhã|amanha|ontem)\b"),
    rule(
        "horas previsão previsao cotação cotacao",
        r"\bque horas são\b|\bprevis[ãa]o do tempo\b|\bcota[çc][ãa]o d[oae]\b",
    ),
    rule("tempo", r"\bcomo est[áa] o tempo\b"),
    # Dutch
    rule("regent sneeuwt", r"\b(?:regent|sneeuwt) het\b"),
    rule("vandaag vanavond gisteren momenteel", r"\b(?:vandaag|vanavond|gisteren|momenteel)\b"),
    rule("laat weer wisselkoers file files", r"\bhoe laat is het\b|\bwat voor weer\b|\bwisselkoers\b|\bfiles? op de\b"),
    rule("nu", r"\b(?:nu (?:open|gesloten|dicht)|nu)\W*$"),
    rule("dollarkoers koers", r"\b(?:dollar|euro)?koers\b(?= (?:van|vandaag|nu)\b|\W*$)"),
    # Polish
    rule("teraz", r"\bteraz\b"),
    rule("dziś dzis dzisiaj jutro wczoraj obecnie", r"\b(?:dziś|dzis|dzisiaj|jutro|wczoraj|obecnie)\b"),
    rule(
        "godzina pogoda kurs",
        r"\bktóra (?:jest )?godzina\b|\bjaka (?:jest |będzie )?pogoda\b|\bkurs (?:euro|dolara|franka)\b",
    ),
    # Russian
    rule("сегодня завтра вчера", r"\b(?:сегодня|завтра|вчера)\b"),
    rule("час погода", r"\bкоторый час\b|\b(?:какая|будет) погода\b|\bпогода (?:в|на)\b"),
    rule("сейчас", r"\bсейчас\b"),
    rule("счёт счет", r"\bкакой сч[её]т (?:в|на|у)\b"),
    rule("новости", r"\b(?:последние|свежие) новости\b"),
    rule("последняя свежая новая", r"\bкакая (?:последняя|самая новая|свежая) верси\w*"),
    rule("пробки наличии", r"\b(?:есть ли|какие|где) пробки\b|\bв наличии\b"),
    rule("задерживается опаздывает отменён", r"\b(?:задерживается|опаздывает|отмен[её]н)\W*$"),
    rule(
        "биткоин доллар евро золото", r"\b(?:сколько стоит|цена|почём) (?:\w+ )?(?:биткоин|доллар|евро|золото)\w*\W*$"
    ),
    rule("открыт открыта открыто", r"^\W*открыт\w? ли\b"),
    rule("дождь снег лидирует", r"\bид[её]т ли (?:дождь|снег)\b|^\W*кто лидирует\b"),
    # What is open, what it is like outside
    rule(
        "offen geöffnet",
        r"^\W*(?:hat|ist) (?![^?]*\b(?:\w+tags|feiertagen|nachts|täglich|immer)\b)[^?]{1,40} (?:offen|geöffnet)\W*$",
    ),
    rule("aperto aperta aberto aberta abierto abierta", r"\b(?:è|está|esta) (?:\w+ )?(?:apert|abert|abiert)[oa]\W*$"),
    rule("otwarty otwarta otwarte açik", r"^\W*czy \w+ jest (?:teraz )?otwart\w\W*$|\baçik m[iı]\W*$"),
    rule(
        "dehors buiten draußen afuera fuori",
        r"^\W*(?:fait-il|is het|ist es|hace|fa) \w+ (?:dehors|buiten|draußen|afuera|fuori)\b",
    ),
    # Rain, jams and delays
    rule(
        "piove nevica chovendo nevando pada leje",
        r"^\W*(?:piove|nevica|est[áa] (?:chovendo|nevando)|czy (?:pada|leje))\b",
    ),
    rule("llover tráfico atascos retrasos", r"\bva a llover\b|^\W*hay (?:tráfico|atascos|retrasos)\b"),
    rule(
        "staus stau files retards bouchons",
        r"^\W*(?:gibt es (?:einen )?staus?|zijn er files|y a-t-il (?:des )?(?:retards|bouchons))\b",
    ),
    rule("ouvert ouverte ouverts", r"\b(?:est|sont|êtes)\b[^?]{1,40}\bouverte?s?\W*$"),
    # What is out of order, in stock, on offer or next
    rule("störungen störung", r"^\W*gibt es (?:\w+ )?störung(?:en)?(?: (?:in|bei|auf)\b|\W*$)"),
    rule("habt haben", r"^\W*(?:habt ihr|haben sie) (?:das|die|den|noch) [^?]{1,50} (?:da|vorrätig|auf lager)\W*$"),
    rule("temps promo promotion", r"\bil fait quel temps\b|\ben promo(?:tion)?\W*$"),
    rule("dólar dolar euro oro", r"\b(?:a c[óo]mo est[áa] el|quanto est[áa] o) (?:d[óo]lar|euro|oro|ouro|bitcoin)\b"),
    rule(
        "caída caido caida caído giù ar strona eruit",
        r"^\W*(?:¿ ?)?est[áa] ca[íi]d[oa]\b|\best[áa] (?:fora do ar|ca[íi]d[oa])\W*$|^\W*[^?]{1,40} è giù\W*$"
        r"|^\W*(?:ligt|liggen) [^?]{1,40} eruit\W*$|^\W*czy (?:strona|aplikacja|serwis) (?:\w+ )?(?:nie )?działa\W*$",
    ),
    rule(
        "próximo próxima prossimo prochain prochaine nächste nächster volgende następny następna",
        r"^\W*(?:quand (?:est|part|passe) )?(?:le |la |l')?prochaine? (?:train|bus|tram|métro|vol|ferry)\b"
        r"|^\W*(?:(?:a qu[ée] hora|cu[áa]ndo) (?:sale|pasa|es) )?(?:el )?pr[óo]xim[oa] (?:tren|bus|autob[úu]s"
        r"|metro|vuelo"
        r"|trem|[ôo]nibus|voo)\b|^\W*(?:quando (?:parte|passa) )?il prossimo (?:treno|autobus|bus|volo)\b"
        r"|^\W*(?:wann (?:fährt|kommt|geht) )?(?:der |die )?nächster? (?:zug|bus|bahn|u-bahn|straßenbahn|flug)\b"
        r"|^\W*(?:wanneer (?:gaat|komt|vertrekt) )?de volgende (?:trein|bus|tram|vlucht)\b"
        r"|\b(?:o której|kiedy) (?:jest |odjeżdża |będzie )?następn[ya] (?:pociąg|autobus|tramwaj|lot)\b",
    ),
    rule("gasolina gasóleo combustível", r"\bpreço d[oae] (?:gasolina|gasóleo|combustível|diesel)\W*$"),
    rule("ritardi ritardo scioperi", r"^\W*ci sono (?:ritardi|scioperi|code)\b"),
    rule("plek plaats", r"^\W*is er nog plek\b|^\W*zijn er nog (?:plekken|plaatsen|kaartjes)\b"),
    # Turkish
    rule("yağiyor", r"\b(?:yağmur|kar) yağiyor\b"),
    rule("bugün dün yarin şimdi", r"\b(?:bugün|dün|yarin|şimdi)\b"),
    rule("an hava saat", r"\bşu an(?:da)?\b|\bhava (?:durumu|nasil)\b|\bsaat kaç\b"),
    rule("времени курс", r"\bсколько (?:сейчас )?времени\W*$|\bкурс (?:евро|доллара|рубля|юаня|биткоина)\b"),
)
_MOMENT_UNSPACED = any_of(
    r"今天|明天|昨天|今晚|昨晚|天气(?:怎么样|如何|预报)|(?:现在|今)几点|几点了|汇率(?:是多少|多少)|股价",
    r"现在(?:营业|开门|开着|堵|多少钱|能|可以|还|在|挂|有|的?(?:价格|比分))|目前|最新(?:新闻|消息|版本|款|价格)|比分|堵车吗|有货吗"
    r"|(?:晚点|延误)了?吗|(?:比特币|黄金|美元)(?:价格|多少钱|现在)",
    r"今日の?(?:天気|日付|ニュース|株価|為替|ドル)|今日は何曜日|今日の.{0,6}(?:は|試合)|明日[のは]|昨日[のは]|今(?:何時|開|営業|サイト|空|の(?:気温|時刻|価格))"
    r"|天気は|(?:何時ですか|為替レート)\W*$|最新(?:の)?(?:ニュース|バージョン|情報|価格)|渋滞して|在庫(?:は|が)あり|試合の(?:結果|スコア)"
    r"|便は.{0,8}(?:遅れ|遅延)|(?:ビットコイン|金|ドル)の(?:価格|値段)は|現在の(?:価格|天気|気温|時刻|状況|レート)",
    r"오늘(?!날)|내일|어제|날씨|몇 시(?:야|예요|입니까|인가요)|환율|지금\s|최신\s(?:뉴스|버전|가격|소식)"
    r"|재고\s?(?:가\s)?있"
    r"|비트코인\s가격"
    r"|최신\s버전|경기\s(?:점수|결과)|편\s(?:지연|결항)",
    r"现在(?:哪|谁|几|外面)|谁在领先|雨(?:が)?降って|次の.{1,6}はいつ|下(?:一|个)?班(?:车|地铁|公交)|次の(?:電車|バス|便)は|今の気温"
    r"|다음\s(?:버스|기차|지하철)|هل تمطر|बारिश हो रही",
    r"اليوم|الآن|أمس|غد[اً]|الطقس|سعر (?:الدولار|الذهب|اليورو|البيتكوين)|كم الساعة",
    r"आज|अभी (?!तक)|मौसम (?:कैसा|कैसे)|कल (?:कौन|का|की|के|मौसम)|कितने बजे (?:हैं|है)",
)
# What lasts to this day: why Shakespeare is read today.
_LASTING = any_of(
    r"为什么.{0,4}(?:今天|现在|目前).{0,12}(?:还|仍)|なぜ.{0,24}今日でも|왜 오늘날"
    r"|\bпочему\b.{1,80}\b(?:и сегодня|до сих пор)\b|\bwarum\b.{1,80}\bheute noch\b"
    r"|\bpourquoi\b.{1,80}\bencore aujourd'hui\b|\bpor qu[ée]\b.{1,80}\b(?:todav[íi]a|a[úu]n) hoy\b"
)
# The weather of a month is the climate, and how it is foretold the same on any day.
_CLIMATE = any_of(
    r"\b(?:wetter|temps|météo|meteo|tiempo|clima|tempo|weer)\b.{0,60}\b(?:im|en|in|em|a|au) (?:mois de )?"
    r"(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|janvier|février|mars|avril"
    r"|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto"
    r"|septiembre|octubre|noviembre|diciembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|novembre"
    r"|dicembre|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro|januari|februari|maart|mei"
    r"|augustus|winter|sommer|herbst|frühling)\b|\bwetter vorhergesagt\b"
)
# How a word for a day is said or written.
_SAID = any_of(
    r"\b(?:was heißt|was bedeutet|wie sagt man|wie schreibt man|comment dit-on|que veut dire|comment traduire"
    r"|cómo se dice"
    r"|como se dice|qué significa|que significa|come si dice|cosa significa|como se diz|hoe zeg je|wat betekent"
    r"|jak powiedzieć|co znaczy|как сказать|что значит|как будет)\b",
    r"怎么说|是什么意思|何と言|どういう意味|어떻게 말|무슨 뜻",
)
_ORDERED = (
    r"(?:pakete?|paket|bestellung|lieferung|vertrag|konto|kontostand|rückerstattung|termin|flug|gehalt|rechnung"
    r"|abo|buchung"
    r"|commande|colis|contrat|compte|solde|remboursement|rendez-vous|vol|salaire|facture|abonnement|réservation"
    r"|pedido|paquete|contrato|cuenta|saldo|reembolso|cita|vuelo|sueldo|factura|suscripción|reserva|tarjeta"
    r"|pacote|conta"
    r"|encomenda|voo|salário|fatura|assinatura|cartão"
    r"|ordine|pacco|contratto|conto|rimborso|appuntamento|volo|stipendio|fattura|abbonamento|prenotazione|carta"
    r"|pakket|bestelling|levering|contract|rekening|terugbetaling|afspraak|vlucht|salaris|factuur|abonnement|boeking"
    r"|paczka|paczki|zamówienie|umowa|umowy|konto|konta|koncie|zwrot|wizyta|lot|pensja|faktura|rezerwacja"
    r"|посылка|заказ|заказа|договор|счет|счёт|счета|счете|счёте|возврат|рейс|зарплата|бронь)\b"
)
_OWN = CuedPatterns(
    rule(
        "mein meine meinem meinen meiner meines unser unsere",
        rf"\b(?:wo (?:ist|sind|bleibt)|wann (?:kommt|endet|läuft|wird|ist)|wie (?:hoch|viel) (?:ist|sind)"
        rf"|(?:status|stand) von|auf) (?:mein|unser)\w* {_ORDERED}",
    ),
    rule(
        "ma mon mes notre nos",
        rf"\b(?:où (?:est|en est|sont)|ou est|quand (?:arrive|arrivera|se termine|expire|est)"
        rf"|quel(?:le)? est (?:l'état de"
        rf"|le (?:solde|statut|montant) de)|combien .{{0,20}}sur) (?:ma|mon|mes|notre|nos) {_ORDERED}",
    ),
    rule(
        "mi mis nuestro nuestra",
        rf"\b(?:d[óo]nde est[áa]n?|cu[áa]ndo (?:llega|llegará|vence|termina|caduca|es)|(?:estado|saldo) de"
        rf"|cu[áa]nto .{{0,20}}"
        rf"(?:en|de)|cu[áa]l es) (?:mis?|nuestr[oa]) {_ORDERED}",
    ),
    rule(
        "mio mia miei mie",
        rf"\b(?:dov'è|dove (?:è|sono)|quando (?:arriva|scade|finisce|è)|quant[oa] .{{0,20}}sul|(?:stato"
        rf"|saldo) del(?:la)?)"
        rf" (?:il |la |i |le )?m(?:io|ia|iei|ie) {_ORDERED}",
    ),
    rule(
        "meu minha meus minhas",
        rf"\b(?:onde (?:está|esta|estão)|quando (?:chega|vence|termina|expira|é)|(?:status|saldo|estado) d[oa]"
        rf"|quanto .{{0,20}}n[oa])"
        rf" (?:o |a )?(?:meus?|minhas?) {_ORDERED}",
    ),
    rule(
        "mijn onze ons",
        rf"\b(?:waar (?:is|blijft|zijn)|wanneer (?:komt|loopt|eindigt|verloopt|is)|(?:status|saldo) van"
        rf"|op) (?:mijn|onze|ons)"
        rf" {_ORDERED}",
    ),
    rule(
        "mój moja moje moi moim mojej mojego moją",
        rf"\b(?:gdzie (?:jest|są)|kiedy (?:przyjdzie|dotrze|kończy się|wygasa|jest|będzie)|(?:stan|status)|na) "
        rf"(?:mój|moj\w+|moim?) {_ORDERED}",
    ),
    rule(
        "мой моя мое моё мои моего моей моем моём",
        rf"\b(?:где|когда (?:придёт|придет|прибудет|заканчивается|истекает|будет)|статус|баланс|на) мо\w+ {_ORDERED}",
    ),
)
_OWN_UNSPACED = any_of(
    r"我的(?:快递|包裹|订单|账户|余额|合同|航班|工资|退款|预约)(?!怎么|如何)[^怎如，。?？]{0,8}(?:在哪|到哪|到了|什么时候|多少|状态|到期)",
    r"私の(?:荷物|注文|口座|残高|契約|便|予約|給料|返金)[^方，。?？]{0,8}(?:どこ|いつ|いくら|状況|届)",
    r"(?:내|제) (?:택배|주문|계좌|잔액|계약|예약|환불)[^방]{0,8}(?:어디|언제|얼마|왔)",
)


def is_of_the_moment(folded: str, bag: frozenset[str]) -> bool:
    """Return True if a text in another language than English asks about this moment; `bag` holds its words."""
    found = _MOMENT.match(folded, bag) or (not folded.isascii() and _MOMENT_UNSPACED.search(folded) is not None)
    return (
        found and _SAID.search(folded) is None and _CLIMATE.search(folded) is None and _LASTING.search(folded) is None
    )


def is_of_the_sender(folded: str, bag: frozenset[str]) -> bool:
    """Return True if a text in another language than English asks for the sender's own records."""
    if own_records_abroad.applies(folded, bag) or own_affairs_abroad.applies(folded, bag):
        return True
    return _OWN.match(folded, bag) or (not folded.isascii() and _OWN_UNSPACED.search(folded) is not None)
