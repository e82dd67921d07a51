"""What is a sender's own is looked up anew, in whatever words and language it is asked, told or ordered."""

from __future__ import annotations

import pytest

from semcache.request.kinds import is_live, is_personal, kinds
from semcache.request.kinds.by_language import is_of_the_moment, is_of_the_sender
from semcache.request.kinds.patterns import words_of

OWN = """What was paid for order A-4711?
Refund my order A-4711, please
Am I the owner of this board?|Did anybody call while I slept?|Did my boss sign it?
Add milk to my list|data left?
Which modules did I finish?|What did I tell Nora?|When did I water the ferns?|Did I switch off the heater?
What rank am I?|How many stamps am I missing?|Am I due for a checkup?|When am I seeing the dentist?|Where do I live?
Has my stipend been paid out?|Is my timer set?|Are my X-rays back?|Did my render finish?|Is our domain still valid?
Did Ms. Brandt grade my portfolio?|Who approved my merge request?|Who shared this folder with me?
When will I get paid?
Have you read the letter I sent?|Why was I banned?|Why is my rent higher than last year?
How much is left on my voucher?
What did we decide about the offsite?|Do I have access to the archive?|According to my chart, when was I vaccinated?
balance?|next payslip?|my points?|and mine?|how much is mine?|what about me?|Has it shipped?|Did it go through?
My wages haven't come in|I was promised a callback|I paid but the account is still inactive|Unblock my card
I still haven't received my refund|Nobody has called me back|reorder what I bought last time|Compare my usage in May
Customer 5521, is the modem replaced?|Order #B-77120 is late, why?|Track 9X881200344556677"""
OF_ANYBODY = """Refund order A-4711, please
Find ticket ST-5512 and close it
Why did you charge me for a transfer?
Plan my party for 20 guests|Remove my background hum with sox|What did I just watch?
What is my purpose?|shipping time for my order|Did we land on the Moon?|When did we invent writing?
What did I do wrong in this proof?|Am I too old for ballet?|Is my phone still under warranty if it fell?
Who wrote My Fair Lady?|Has my dog eaten something bad?|How do I unblock my card?
What should I do if my order is late?
Why do I have to pay for my refund?|Can I renew my permit online?|Is mining legal?|What is a mine?|What is balance?
Write a complaint: my wages haven't come in|I ordered a lamp and it never came, what can I do?|Book ideas for my aunt
I was told I would need a visa|Is my sourdough ready?
I haven't got a passport|Client 500 error|Customer 360 explained
How do I show my files in the terminal?|Why would someone be banned?|I installed the driver but it is not loading
Do you support countries other than mine?|Can you read my palm?|How much do I get if I sell my old car?"""
NOW = """Is the sauna open again?|Has the tunnel reopened?|Is the new bridge finished?|How full is the car park?
When is the next council meeting?|How's Nokia doing?|Latest on the port strike|Which printers are online?|BTC/EUR
How many jobs are queued?|Has the vote started yet?|Show the current job openings|What's the surf like in Nazare?
How long is the wait for an agent?|Is the school closed because of the snow?|Standings in the second division"""
ANY_DAY = """When is the next lunar eclipse?|How are you doing?|How long is the wait for a new passport?
Is the Earth full?|Is the list empty?|How many volcanoes are active?|Do you have parking for guests?
Is there parking at the hotel?
Why is Homer still read today?|How do people today make candles?|What is a current of 2 amperes?|Is it safe yet?
Is there a way to unsend a mail that has not been read yet?|What comes next after step three?
Which elements are left?"""
OWN_ABROAD = """Где моя посылка?|Сколько у меня баллов?|Мне так и не перезвонили|Какой у меня лимит?
Почему с меня сняли деньги?
我的快递呢，我还没收到|我还剩多少年假？|为什么收了我两次钱|我上个月花了多少？|私の予約はいつ？|荷物がまだ届きません
残高はいくら？
제 예약은 언제인가요?|아직 환불을 못 받았어요|내 포인트 얼마야?|¿Cuándo me pagan?|¿Y el mío?
Todavía no he recibido el paquete
Combien me reste-t-il ?|Ai-je des messages non lus ?|Je n'ai toujours pas reçu mon colis|Wann bekomme ich mein Gehalt?
Mir wurde doppelt abgebucht|Quanti giorni mi restano?|Non ho ancora ricevuto il pacco|Ainda não recebi o pacote
Quanto tenho na conta?|Hoeveel dagen heb ik nog?|Ik heb mijn pakket nog steeds niet|Ile dni mi zostało?
Kiedy dostanę wypłatę?
Siparişim nerede?|Kaç gün iznim kaldı?|كم رصيدي؟|متى سأستلم راتبي؟|मेरा ऑर्डर कहाँ है?|मुझे अभी तक रिफंड नहीं मिला"""
OF_ANYBODY_ABROAD = """У меня болит спина|我的电脑很慢|私は頭が痛い|Me duele la cabeza
Mon fils ne dort pas|Mein Hund frisst nicht
Как отменить мой заказ?|Почему мой телефон тормозит?|Что делать, если мою карту украли?
Где найти мой договор?
怎么取消我的订单|我的卡丢了怎么办|为什么我的手机很慢|私の請求書はどこで確認できますか|予約を取り消すには
私の猫は何歳まで生きますか
제 청구서는 어디에서 볼 수 있나요?|구독을 취소하는 방법|왜 제 폰이 느려요?|¿Cómo cancelo mi pedido?
Pourquoi mon chat tousse-t-il ?
Comment résilier mon contrat ?|Wie kündige ich meinen Vertrag?|Warum ist meine Karte gesperrt?
Come disdico il mio contratto?
Como cancelo minha assinatura?|Hoe zeg ik mijn contract op?|Jak anulować moje zamówienie?
Siparişimi nasıl iptal ederim?
Combien de temps ai-je pour retourner un article ?|Wie viel Zeit habe ich für den Widerruf?
Wie viele Tage habe ich Zeit, um Schuhe zurückzugeben?|¿Cuánto tiempo tengo para devolver un pedido?
Quanto tempo tenho para devolver um produto?|Hoeveel tijd heb ik om een pakket terug te sturen?
Ile mam czasu na zwrot towaru?|Сколько у меня времени на возврат?|¿Cuántos días de vacaciones tengo por ley?
J'ai perdu ma carte à l'étranger|Perdí mi tarjeta en el extranjero|Mein Konto wurde gehackt|Quels sont mes droits ?
كيف ألغي طلبي؟|मैं अपना ऑर्डर कैसे रद्द करूँ?"""
NOW_ABROAD = """Идёт ли снег?|谁在领先|雨降ってる？|Il museo è aperto?|Hat der Zoo offen?|Gibt es Staus?|Piove?
Где сейчас пробки?|Последние новости|Какая последняя версия Rust?|现在堵车吗|最新新闻|今天星期几
渋滞していますか
最新ニュース|지금 영업하나요?|최신 뉴스|¿Está abierto ahora?|Qui a gagné hier soir ?|Siete aperti adesso?
Zijn jullie nu open?
Bugün dolar kuru|Şu an açık mısınız?|سعر الدولار اليوم|आज मौसम कैसा है?"""
ANY_DAY_ABROAD = """为什么今天人们还读莎士比亚|なぜ今日でも読まれているのですか|왜 오늘날에도 셰익스피어를 읽나요?
Почему Пушкина читают и сегодня?|什么是电流|Что такое курс?|Wie entsteht ein Kurs?
Hat der Laden sonntags geöffnet?|Wie wird der Dollarkurs bestimmt?|Warum lesen wir Kafka heute noch?"""


def _each(lines: str) -> list[str]:
    return [text for line in lines.split("\n") for text in line.split("|")]


@pytest.mark.parametrize("text", _each(OWN) + _each(OWN_ABROAD))
def test_what_is_ones_own_is_not_answered_with_anothers(text: str) -> None:
    assert is_personal(text)


@pytest.mark.parametrize("text", _each(OF_ANYBODY) + _each(OF_ANYBODY_ABROAD))
def test_what_is_the_same_for_anybody_is_shared(text: str) -> None:
    assert not kinds(text).personal


@pytest.mark.parametrize("text", _each(NOW) + _each(NOW_ABROAD))
def test_how_things_stand_is_not_answered_with_what_they_were(text: str) -> None:
    assert is_live(text)


@pytest.mark.parametrize("text", _each(ANY_DAY) + _each(ANY_DAY_ABROAD))
def test_what_holds_on_any_day_is_kept(text: str) -> None:
    assert not kinds(text).live


@pytest.mark.parametrize("text", ["мой ", "у меня ", "我的", "제 ", "did i ", "my a ", "- ", "\t", "'"])
def test_a_text_made_of_one_fragment_is_of_no_kind_of_its_own(text: str) -> None:
    hostile = text * 2000
    bag = words_of(hostile)
    assert not is_of_the_moment(hostile, bag)
    assert not is_of_the_sender(hostile, bag)
