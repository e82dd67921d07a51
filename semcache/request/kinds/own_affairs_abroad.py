"""The sender's own affairs in languages other than English, told by a first person beside a thing that records hold.

Fourteen languages, each with what is one's own ("мой заказ", "我的订单", "siparişim"), what one has, is owed or waits
for, and how a question for the way or the reason begins. Where no spaces part words, or an ending says whose a thing
is, parts of words are known. Invariant: the way, the reason and the case that is only supposed are everybody's.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.request.kinds.own_records_abroad import BY_LAW, VALID
from semcache.request.kinds.patterns import any_of, vocabulary


class _Language(NamedTuple):
    own: re.Pattern[str]  # what asks for the sender's own
    way: re.Pattern[str]  # what asks for the way, the reason or a rule


_CLAUSE = r"(?:^\W*+|[.,!;:]\s[^\w.,!;:]*+)"  # where one begins; no mark of it is read twice
_SPANISH = _Language(
    any_of(
        r"\b(?:cu[áa]l|cu[áa]ndo|d[óo]nde) (?:es|est[áa]n?|son) mis? (?!signo|prop[óo]sito)\w+"
        r"|\bmis? (?:\w+ )?(?:saldo|cuenta|pedidos?|paquete|solicitud|reservas?|facturas?|pagos?|reembolso|contrato"
        r"|sueldo"
        r"|salario|n[óo]mina|suscripci[óo]n|citas?|vacaciones|vuelo|tarifa|notas?|tarjeta|env[íi]o|transferencia|jefe"
        r"|an[áa]lisis|beca|p[óo]liza|reclamaci[óo]n|horario|correos?|reuniones|puntos)\b",
        r"\bcu[áa]nt[oa]s? .{1,40}(?:me quedan?|tengo(?! para\b)|debo|gast[ée])\b"
        r"|\bcu[áa]ndo (?:me pagan|cobro|me llega)\b",
        r"\b(?:todav[íi]a|a[úu]n) no (?:he recibido|me ha|me han|he cobrado|recib[íi])|\bno (?:me ha llegado"
        r"|he recibido)",
        r"\bme (?:cobraron|han cobrado|cargaron) (?:dos veces|de m[áa]s|el doble)|^\W*+(?:ya )?me (?:aprobaron"
        r"|rechazaron|pagaron|depositaron|han (?:aprobado|rechazado|pagado))\b|\bqu[ée] (?:compr[ée]|ped[íi])\b"
        r"|^\W*+y (?:el|la|los|las) m[íi][oa]s?\W*$",
        r"^\W*+tengo (?:alg[úu]n |alguna )?(?:\w+ )?(?:correos?|mensajes?|citas?|reuniones|clases|multas?|deudas?)\b",
    ),
    any_of(
        rf"{_CLAUSE}(?:c[óo]mo|d[óo]nde (?:puedo|encuentro|veo)|qu[ée] (?:hago|pasa)|por qu[ée] (?!me\b)|si"
        r"|puedo|debo)\b"
    ),
)
_FRENCH = _Language(
    any_of(
        r"\b(?:quel(?:le)?s?|o[ùu]|quand) (?:est|sont) (?:mon|ma|mes) (?!signe|but\b|droits\b|devoirs\b|options\b)\w+"
        r"|\b(?:mon|ma|mes) (?:\w+ )?(?:solde|compte|commandes?|colis|demande|r[ée]servations?|factures?|paiement"
        r"|remboursement|contrat|salaire|abonnement|rendez-vous|cong[ée]s?|vol|forfait|dossier|notes?|carte|livraison"
        r"|virement|chef|analyses|bourse|police|r[ée]clamation|emploi du temps|mails?|r[ée]unions?|points)\b",
        r"\bcombien\b.{0,40}\b(?:me reste|ai-je(?! pour\b)|j'ai d[ée]pens[ée]|dois-je payer)"
        r"|\bquand (?:serai|suis)-je pay[ée]",
        r"\b(?:n'ai|ai) (?:toujours|encore) (?:pas|rien) re[çc]u|\bai-je (?:d[ée]j[àa] )?[ée]t[ée]\b"
        r"|\bje n'ai rien re[çc]u",
        r"^\W*+ai-je (?:des|un|une|encore) (?:\w+ )?(?:mails?|messages?|rendez-vous|r[ée]unions?|cours|amendes?"
        r"|dettes?)",
        r"^\W*+et (?:le|la|les) mien(?:ne|s|nes)?\W*$",
    ),
    any_of(
        rf"{_CLAUSE}(?:comment|o[ùu] (?:puis-je|trouver|voir)|pourquoi (?!ai-je\b)|que (?:faire|se passe)"
        r"|si|puis-je|dois-je)\b"
    ),
)
_GERMAN = _Language(
    any_of(
        r"\b(?:mein|meine|meinen|meinem|meiner|unser|unsere|unseren) (?:\w+ )?\w*(?:bestellung|lieferung|paket|sendung"
        r"|rechnung|rechnungen|konto|kontostand|gehalt|lohn|urlaub|antrag|termin|termine|vertrag|buchung|tarif|guthaben"
        r"|erstattung|zahlung|überweisung|bewerbung|note|noten|stundenplan|befund|laborwerte|rezept|chef|nachrichten"
        r"|mails|punkte|limit|flug)\b",
        r"\bwie ?viele? (?!.{0,24}\bzeit\b)(?:\w+ )?\w+ (?:habe|hatte|schulde) ich\b"
        r"|\bwann (?:bekomme|kriege|erhalte) ich (?:mein|das"
        r"|die)",
        r"\bhabe? .{0,40}(?:immer noch|noch) (?:nicht|kein\w*)(?:\W*$| (?:erhalten|bekommen|da))"
        r"|\bwelche \w+ habe ich\b|\b(?:wann|wo) (?:ist|sind) (?:mein|unser)\w* \w+\W*$|\bnoch nicht "
        r"(?:angekommen|erhalten|bekommen|da)\W*$|\bmir (?:\w+ ){0,2}?(?:doppelt|zweimal|zu viel) (?:abgebucht"
        r"|berechnet)",
        r"^\W*+habe ich (?:\w+ )?(?:ungelesene|neue|offene|noch|morgen) ?\w+|\bwas habe ich .{0,30}(?:bestellt"
        r"|gekauft|bezahlt|gebucht)|^\W*+und (?:meine?[rs]?"
        r"|mit meine[mr])\W*$",
    ),
    any_of(
        rf"{_CLAUSE}(?:wie (?!hoch\b|viele?\b|ist\b|lautet\b)|wo (?:kann|finde|sehe) ich|warum (?!wurde mir\b)"
        r"|was (?:mache|tue|passiert|kann)|wenn|falls|kann|darf|muss|soll)\b"
        r"|\bwenn (?:ich|mein\w*)\b"
    ),
)
_ITALIAN = _Language(
    any_of(
        r"\b(?:qual|quando|dov)\W*(?:è|e|sono) (?:il|la|i|le) m(?:io|ia|iei|ie) (?!segno)\w+|\bm(?:io|ia|iei"
        r"|ie) (?:\w+ )?(?:saldo|conto|ordin[ei]|pacco|richiesta|prenotazion[ei]|fattur[ae]|pagamento"
        r"|rimborso|contratto|stipendio|abbonamento|appuntament[oi]|ferie|volo|piano|vot[oi]|carta|spedizione|bonifico"
        r"|capo|analisi|borsa|polizza|reclamo|orario|mail|riunioni|punti)\b",
        r"\bquant[oaie] .{1,40}(?:mi (?:rest|riman)\w+|ho (?:sul|ancora|speso)|devo pagare)|\bquando mi pagan?o?\b",
        r"\bnon (?:ho ancora ricevuto|mi è ancora|è ancora arrivat|ho ricevuto)|\bmi (?:avete|hanno) addebitato\b",
        r"^\W*+ho (?:\w+ )?(?:mail|messaggi|appuntamenti|riunioni|lezioni|multe|email)\b|\bcosa ho (?:ordinato"
        r"|comprato|pagato)\b|\bla mia pratica\b|^\W*+e (?:il|la|i|le) mi(?:o"
        r"|a|ei|e)\W*$",
    ),
    any_of(
        rf"{_CLAUSE}(?:come|dove (?:posso|trovo|vedo)|perch[ée] (?!mi (?:avete|hanno))|cosa (?:faccio"
        r"|succede)|se|posso|devo)\b"
    ),
)
_PORTUGUESE = _Language(
    any_of(
        r"\b(?:qual|quando|onde) (?:é|está|são) (?:o |a |os |as )?(?:meus?|minhas?) (?!signo)\w+|\b(?:meus?"
        r"|minhas?) (?:\w+ )?(?:saldo|conta|pedidos?|encomendas?|pacote|solicita[çc][ãa]o|reservas?|faturas?"
        r"|pagamento|reembolso|contrato|sal[áa]rio|assinatura|consultas?|f[ée]rias|voo|plano|notas?|cart[ãa]o|chefe"
        r"|exames?|bolsa|ap[óo]lice|reclama[çc][ãa]o|hor[áa]rio|e-?mails?|reuni[õo]es|pontos)\b",
        r"\bquant[oa]s? (?:.{1,40} )?(?:me restam?|tenho(?! para\b)|devo|gastei)\b"
        r"|\bquando (?:vou receber|me pagam|recebo)\b",
        r"\bainda n[ãa]o (?:recebi|chegou|me)\b|\bfui cobrad[oa]\b|\bme cobraram\b",
        r"^\W*+tenho (?:\w+ )?(?:e-?mails?|mensagens|consultas?|reuni[õo]es|aulas|multas|d[íi]vidas)\b"
        r"|^\W*+e (?:o|a|os|as) (?:meus?|minhas?)\W*$",
    ),
    any_of(
        rf"{_CLAUSE}(?:como|onde (?:posso|vejo|encontro)|por ?que (?!(?:fui|me)\b)|o que (?:fa[çc]o"
        r"|acontece)|se|posso|devo)\b"
    ),
)
_DUTCH = _Language(
    any_of(
        r"\b(?:mijn|onze) (?:\w+ )?\w*(?:saldo|rekening|bestelling|pakket|pakje|aanvraag|reservering|boeking|factuur"
        r"|facturen"
        r"|betaling|terugbetaling|contract|salaris|loon|abonnement|afspraak|afspraken|verlof|vlucht|cijfers?|levering"
        r"|limiet|baas|uitslag|beurs|polis|claim|rooster|mails?|punten)\b",
        r"\bhoeveel (?!tijd\b)(?:\w+ )?\w+ (?:heb ik(?! om\b)|moet ik nog)\b"
        r"|\bwanneer (?:krijg|ontvang) ik (?:mijn|het|de)\b",
        r"\bheb .{0,40}nog steeds (?:niet|geen)\b|\bnog niet (?:ontvangen|gekregen|aangekomen|binnen)\b"
        r"|\b(?:twee keer|dubbel) afgeschreven\b",
        r"^\W*+heb ik (?:\w+ )?(?:ongelezen|nieuwe|openstaande|morgen|nog) ?\w+|^\W*+en (?:de|het) mijne\W*$",
    ),
    any_of(
        rf"{_CLAUSE}(?:hoe (?!hoog\b|veel\b)|waar (?:kan|vind|zie) ik|waarom (?!is er\b)|wat (?:moet"
        r"|gebeurt|doe)|als|kan|mag|moet)\b"
    ),
)
_POLISH = _Language(
    any_of(
        r"\b(?:m[óo]j|moja|moje|moich|mojego|mojej|mojemu|moim|moją) (?:\w+ )?(?:sald\w+|stan\w*|kont\w+|zamówieni\w+"
        r"|paczk\w+|wnios\w+|rezerwacj\w+|faktur\w*|umow\w+|wypłat\w+|pensj\w+|zwrot\w*|lot\w*|wizyt\w+|wynik\w*"
        r"|ocen\w*"
        r"|urlop\w*|szef\w*|plan\w*|subskrypcj\w+|reklamacj\w+|punkt\w*|mail\w*|spotkani\w+|przelew\w*|płatnoś\w+)\b",
        r"\bile (?:\w+ )?(?:mam(?! czasu\b| na zwrot)|mi zostało|wydał[ae]m|zarabiam)\b"
        r"|\bile .{1,30} (?:mi zostało|mam jeszcze)\b",
        r"\bjaki\w* mam (?!szans|opcj|możliw)\w+\W*$|\bkiedy (?:dostanę|otrzymam)\b|\b(?:nadal|jeszcze"
        r"|wciąż) nie (?:dostał|otrzymał|przysz|dotarł)\w+"
        r"|\b(?:obciążono|obciążyliście) mnie\b",
        r"^\W*+czy mam (?:\w+ )?(?:\w*mail\w*|wiadomoś\w+|wizyt\w+|spotkani\w+|zajęci\w+|mandat\w*)\b"
        r"|^\W*+a m(?:oje|oja|ój)\W*$",
    ),
    any_of(
        rf"{_CLAUSE}(?:jak|gdzie (?:mogę|znajdę)|dlaczego (?!obciąż)|co (?:zrobić|robić|jeśli)|jeśli"
        r"|czy mogę|czy muszę)\b"
    ),
)
_TURKISH = _Language(
    any_of(
        r"\b(?:sipari[şs]|maa[şs]|ba[şs]vuru|hesab|fatura|izn|bakiye|kargo|paket|iade|randevu|s[öo]zle[şs]me|abonelik"
        r"|aboneli[ğg]|[öo]deme|u[çc]u[şs]|rezervasyon|talep|taleb|not|sonu[çc]|sonuc|m[üu]d[üu]r|y[öo]netici|tarife"
        r"|puan|poli[çc]e|ders|toplant[ıi]|kart)(?:lar|ler)?[ıiuü]?m(?:[ıiuü]|[aeıiuü]n\w*|[dt][ae]n?|[ae])?\b",
        r"\bka[çc] (?:\w+ )?\w+ (?:kald[ıi]|hakk[ıi]m)|\bparam? (?:iade|gelmedi|yatmad[ıi])|\bbenimki\b"
        r"|\b\w{3,24}[ıiuü]m (?:nerede|ne zaman)\b"
        r"|\bbenden .{1,40}"
        r"[üu]cret|\bh[âa]l[âa] .{1,60}(?:edilmedi|gelmedi|alamad[ıi]m|ula[şs]mad[ıi])|\b(?:okunmam[ıi][şs]|yeni) "
        r"(?:e-?posta|mesaj)\w* var m[ıi]",
    ),
    any_of(r"\b(?:nas[ıi]l|ne yapmal[ıi]y[ıi]m|nereden|e[ğg]er|neden (?!benden\b)|ni[çc]in)\b"),
)
# Words of which a text in one of these languages holds one, if it speaks of its sender.
_LATIN = (
    (vocabulary("mi mis me recibido cobrado recibí debo gasté tengo mío mia mía compré pedí"), _SPANISH),
    (vocabulary("mon ma mes ai je mien mienne reste"), _FRENCH),
    (vocabulary("mein meine meinen meinem meiner unser unsere unseren habe hab ich mir"), _GERMAN),
    (vocabulary("mio mia miei mie mi ho non"), _ITALIAN),
    (vocabulary("meu minha meus minhas me tenho ainda fui vou quanto quantos"), _PORTUGUESE),
    (vocabulary("mijn onze ik heb afgeschreven mijne"), _DUTCH),
    (
        vocabulary("mój moj moja moje moich mojego mojej mojemu moim moją mam mi mnie dostanę otrzymam nadal jeszcze"),
        _POLISH,
    ),
)
_TURKISH_ENDING = re.compile(r"m(?:[ıiuü]|[dt][ae]n?|[ae]|[ıiuü]n)?\b|\b(?:benden|hâlâ|kaç|var|benimki)\b")
_TURKISH_LETTER = re.compile(r"[şğıçöüâ]")
_TURKISH_WORDS = vocabulary("nerede benimki nedir benden ne zaman var")
_ANY_LATIN = frozenset[str]().union(*(cues for cues, _ in _LATIN))

_RUSSIAN = _Language(
    any_of(
        r"\b(?:мой|моя|моё|мое|мои|моего|моей|моих|мою|моему|моем|моём) (?:\w+ )?(?:заказ|баланс|сч[её]т|плат[её]ж"
        r"|посылк"
        r"|договор|возврат|рейс|зарплат|брон|заявк|анализ|рецепт|уров|тариф|подписк|карт|лимит|отпуск|запис|при[её]м"
        r"|оценк|расписани|руковод|начальник|полис|письм|сообщени|балл|заявлени|визу|виза|паспорт)\w*",
        r"\bу меня (?:\w+ ){0,4}?(?:баланс|сч[её]т|остал|тариф|уров|оценк|долг|руковод|встреч|при[её]м|запис|письм"
        r"|сообщени|в календаре|в корзине|на сч|отпуск|план|завтра|сегодня|следующ|за тариф|балл)\w*"
        r"|\bсколько .{1,40} у меня\b|\b(?:какой|какая|какие|какое|есть ли|сколько|что|когда) у меня\b(?! \w*(?:бол"
        r"|диагноз|времени|дней на))",
        r"\b(?:когда|почему|зачем) (?:мне|с меня|меня) (?:заплатят|списали|сняли|вернут|перезвонят|уволили"
        r"|заблокировали)",
        r"\b(?:до сих пор|вс[её] ещ[её]|так и|ещ[её]) не (?:получил|приш|верну|достав|зачисл|опла|мне)\w*"
        r"|\bмне (?:так и |ещ[её] |до сих пор )?не (?:верну|приш|заплат|опла|перезвон|отве)\w*"
        r"|\bя (?:за|о)платил.{1,40}\bно\b",
        r"\bсколько я (?:потратил|должен|должна|заработал|израсходовал)\w*|\bготовы ли мои\b|\bчто с мо\w+\b"
        r"|\bжду (?:возврат|ответ|посылк|заказ|деньг|звон)\w*|\bсколько \w+ я \w+л[аи]?\b|\bмои документы\b"
        r"|\bна какой .{1,20} я \w+"
        r"|\bкто мой\b|\bгде я (?:живу|работаю)\b|\bгде мо[йяеёи]\b|^\W*+а (?:мой|моя|мо[её]|мои|у меня)\W*$",
    ),
    any_of(
        rf"{_CLAUSE}(?:как (?!ой|ая|ие|ое)|что делать|почему (?!с меня\b|меня\b)|можно ли|могу ли"
        r"|где (?:я могу|можно|найти)"
        r"|если|нужно ли|должен ли)|\bкак (?:мне )?(?:узнать|проверить|отменить|вернуть|изменить)\b"
    ),
)
_CHINESE = _Language(
    any_of(
        r"我的?(?:订单|余额|账户|快递|包裹|发票|账单|申请|年假|预约|化验|检查结果|体检|成绩|航班|机票|会议|日程|邮件|付款"
        r"|经理|老板|套餐|合同|订阅|等级|积分|工资|退款|课程|作业|保单|理赔|签证|护照|医生|处方|流量|会员)",
        r"我(?:账户|还剩|什么时候发|上个?月花|的?下次预约|明天有什么|有(?:未读|几|多少)|化学|数学|英语考|住在哪|今天有)"
        r"|我的.{1,6}(?:在哪里?|是谁|什么时候|到哪)|我欠|(?:扣|收)了我(?:两|二|2)次|我(?:还|至今)?(?:还没有?|没有?)收到|我被扣|(?:退款|快递|工资|包裹|钱)(?:还"
        r"|怎么还?)没|我已经?(?:付款|付了|支付).{0,10}(?:但|却|还)"
        r"|^\W*+(?:那|那么)?我的呢\W*$|我(?:考了|花了|用了|欠了?)(?:多少|几)|我(?:现在)?是什么(?:等级|级别|会员)",
    ),
    any_of(r"怎么(?!还)|如何|怎样|怎么办|为什么我的|在哪里?可以|哪里能|可以吗|应该|如果"),
)
_JAPANESE = _Language(
    any_of(
        r"(?:私|僕|俺|自分)の(?:[^\s、。]{0,4})?(?:注文|残高|口座|給料|請求|申請|予約|検査|成績|フライト|便|予定|プラン|契約"
        r"|レベル|荷物|返金|ポイント|上司|有給|メール|支払|保険|サブスク|授業|単位|クーポン|ランク)",
        r"(?:私|僕)の.{1,8}は(?:どこ|いつ|何番|誰)|^\W*+残高は|有給(?:休暇)?は?あと|二重に請求|未読(?:の)?メール|まだ(?:返金|届|入金|受け取|連絡"
        r"|支払)[^。]{0,12}(?:ません|ない)"
        r"|[^。]{0,10}がまだ届|次の予約は|検査結果は出|支払い?(?:は|が)(?:完了|済)|払ったのに|(?:返金|荷物|入金|返事)はまだ(?:です|かな|\W*$)|私のアカウント|先月(?:は)?いくら使"
        r"|私は(?:どこに住|何歳)|(?:を|は)?(?:解約|キャンセル)して(?:ください)?\W*$|私の(?:は)?\W*$",
    ),
    any_of(r"方法|どうすれば|どうやって|には\W*$|やり方|手順|どこで(?:確認|見)|なぜ私の|とは何|場合|べき"),
)
_KOREAN = _Language(
    any_of(
        r"(?:내|제|나의|저의)\s(?:\S+\s)?(?:주문|잔액|계좌|월급|급여|청구서|신청|연차|휴가|예약|검사|성적|항공편|일정|결제"
        r"|상사|팀장|요금제|계약|구독|레벨|택배|환불|포인트|등급|메일|회의|수업|보험|처방|비자|여권|점수)",
        r"아직\s(?:\S+\s)?(?:환불|택배|배송|입금|답변|연락|주문)?\S*\s?(?:못\s받|안\s왔|안\s들어|안\s됐)|(?:저|나|제|내)(?:에게|게)\s"
        r"(?:두\s번|이중)|(?:내가|제가)\s(?:얼마나|몇|뭘|무엇을)\s|(?:내|제)\s(?:\S+\s){1,2}(?:어디|언제|얼마)|읽지\s않은\s(?:메일|메시지)|결제했는데"
        r"|(?:환불|택배|배송|월급)\s언제|제\s계정(?:이|은)\s(?:저는|나는|내가|제가)\s(?:어디에?\s(?:살|사)|누구)|(?:내|제)\s?(?:것|거)은?\W*$",
    ),
    any_of(
        r"어떻게\s(?!되)|방법|어디(?:에서|서)\s(?:볼|확인|찾)|왜\s(?:내|제)\s|제\s\S+\s왜|하려면|해야\s하|할\s수\s있|경우"
    ),
)
_ARABIC = _Language(
    any_of(
        r"(?:طلب|رصيد|راتب|فواتير|فاتورت|حساب|اشتراك|شحنت|طرد|موعد|مواعيد|عقد|نتائج|نتيجت|درجات|رحلت|حجز|بطاقت|مدفوعات"
        r"|معاملت|إجازت|تأشيرت|جواز|مدير|بريد|نقاط)ي(?:\s|\W|$)",
        r"لم (?:أستلم|استلم|أحصل|يصلني|تصلني|يصل)|بق[يى]ت? ?لي|هل لد[يى] |خصم .{0,20}مني|أين \w+تي\b|متى (?:سأستلم"
        r"|أستلم|سأحصل)",
    ),
    any_of(r"(?:^|\s)(?:كيف|كيفية|إذا|لماذا (?!تم)|هل يمكنني|هل يجب|أين (?:أجد|يمكنني))(?:\s|$)"),
)
_HINDI = _Language(
    any_of(
        r"(?:मेरा|मेरी|मेरे|हमारा|हमारी) (?:\S+ )?(?:ऑर्डर|आर्डर|खाते|खाता|सैलरी|वेतन|आवेदन|छुट्टि|छुट्टी|बिल(?!्ली)"
        r"|रिफंड|बैलेंस|पार्सल"
        r"|अपॉइंटमेंट|रिपोर्ट|टिकट|फ्लाइट|बुकिंग|प्लान|पास कोई|पास कितन|अंक|नंबर|पॉलिसी|दावा|वीज़ा|पासपोर्ट|सदस्यता"
        r"|भुगतान|बॉस)",
        r"(?:मेरा|मेरी|मेरे) \S+ (?:कहाँ|कब|कौन)|मुझे (?:अभी तक|अब तक) .{0,30}नहीं मिल|मुझसे (?:दो"
        r"|डबल) .{0,30}(?:काट|लिए|लिया)",
    ),
    any_of(r"कैसे|क्या करूँ|क्या करना|अगर|यदि|कहाँ देख"),
)
_SCRIPTS = (
    (re.compile(r"[\u0400-\u04ff]"), _RUSSIAN),
    (re.compile(r"[\u3040-\u30ff]"), _JAPANESE),
    (re.compile(r"[\uac00-\ud7af\u1100-\u11ff]"), _KOREAN),
    (re.compile(r"[\u4e00-\u9fff]"), _CHINESE),
    (re.compile(r"[\u0600-\u06ff]"), _ARABIC),
    (re.compile(r"[\u0900-\u097f]"), _HINDI),
)
# Here the law or the terms are asked about in more sentences than where a record is named.
_OF_ANY = any_of(
    rf"\b(?:{BY_LAW}|gesperrt)\W*$"
    rf"|\b(?:ohne|zonder|senza|sans|sem|sin) .{{1,40}}$|\b{VALID}\b"
    r"|\b(?:gesetzlich|laut gesetz|(?:par|selon) la loi|por ley|seg[úu]n la ley|per legge|por lei|wettelijk)\b"
)
# What was lost, stolen or broken is told for the way out of it.
_TROUBLE = any_of(
    r"\b(?:verloren|gestohlen|geklaut|gehackt|beschädigt|kaputt|vergessen|perdue?s?|volée?s?|piratée?s?|abîmée?s?"
    r"|endommagée?s?|oublié|perdí|perdid[oa]|robaron|robad[oa]|hackead[oa]|dañad[oa]|olvidé|olvidado|perso|smarrit[oa]"
    r"|rubat[oa]|hackerat[oa]|danneggiat[oa]|dimenticato|perdi|roubad[oa]|roubaram|danificad[oa]|esqueci|gestolen"
    r"|beschadigd|vergeten)\b"
)


def applies(folded: str, bag: frozenset[str]) -> bool:
    """Return True if a text in one of these languages asks for what is its sender's own; `bag` holds its words."""
    if not folded.isascii():
        for letters, language in _SCRIPTS:
            if letters.search(folded) is not None:
                return _asks_for_own(folded, language)
    if not _ANY_LATIN.isdisjoint(bag) and any(
        not cues.isdisjoint(bag) and _asks_for_own(folded, language) for cues, language in _LATIN
    ):
        told = "?" not in folded and _TROUBLE.search(folded) is not None
        return not told and _OF_ANY.search(folded) is None
    turkish = not _TURKISH_WORDS.isdisjoint(bag) if folded.isascii() else _TURKISH_LETTER.search(folded) is not None
    return turkish and _TURKISH_ENDING.search(folded) is not None and _asks_for_own(folded, _TURKISH)


def _asks_for_own(folded: str, language: _Language) -> bool:
    return language.own.search(folded) is not None and language.way.search(folded) is None
