"""Other languages: what models of English make of them serves nobody another question's answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from semcache import AsyncSemanticCache, default_embedder
from semcache.matching.guards import conflicts, languages
from semcache.matching.light_edits import lightly_edited
from semcache.protocols import reads_english_alone
from semcache.request.wording.foreign import unread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semcache.types import Matrix

ANSWER = "Open Settings, choose Account, and follow the steps that are shown there."

OTHER_QUESTIONS = [
    ("Hesabımı nasıl silerim?", "Şifremi nasıl sıfırlarım?"),
    ("Què ha decidit el govern?", "Què decidirà el govern?"),
    ("Qu'a décidé le gouvernement ?", "Que décidera le gouvernement ?"),
    ("政府决定了什么？", "政府将决定什么？"),
    ("เปิดการแจ้งเตือนอย่างไร", "ปิดการแจ้งเตือนอย่างไร"),
    ("Share kharido", "Share becho"),
    ("Cum activez notificările?", "Cum dezactivez notificările?"),
    ("Docker container starten", "Docker container stoppen"),
]
SAME_QUESTIONS = [
    ("Hur återställer jag mitt lösenord?", "Hej, hur återställer jag mitt lösenord?"),
    ("Ce este inflația?", "Ce este inflația? Mulțumesc"),
    ("Gökyüzü neden mavidir?", "gokyuzu neden mavidir"),
    ("Ako dlho trvá doručenie do Košíc?", "ako dlho trva dorucenie do kosic"),
    ("하늘은 왜 파란가요?", "왜 하늘은 파란가요?"),
    ("为什么天空是蓝色的？", "天空为什么是蓝色的？"),
    ("ทำไมท้องฟ้าสีฟ้า", "ทำไมท้องฟ้าสีฟ้าครับ"),
    ("ارسال به شیراز چقدر طول می‌کشد؟", "ارسال به شیراز چقدر طول می کشد"),
]
ENGLISH = [
    ("How much is a café au lait in São Paulo?", "What does a café au lait cost in São Paulo?"),
    ("crème brûlée recipe", "recipe for crème brûlée"),
    ("rio de janeiro weather", "weather in rio de janeiro"),
    ("install kubectl", "set up kubectl"),
    ("My badge doesn't open the front door", "My badge won't open the front door"),
    ("Zürich opening hours", "When is Zürich open?"),
    ("What does 你好 mean?", "What is the meaning of 你好?"),
    ("Do you offer a vegetarian set menu?", "Do you offer a vegitarian set menu?"),
]
OTHER_WORDS = [
    ("¿Qué compró ayer en Málaga?", "que compro ayer en malaga"),
    ("Gdzie jest sąd?", "Gdzie jest sad?"),
    ("¿Cuántos años tiene?", "¿Cuántos anos tiene?"),
    ("mua bán nhà ở đâu", "mua ban nha o dau"),
    ("Muss der Mieter den Vermieter warnen?", "Muss den Mieter der Vermieter warnen?"),
    ("Was heißt auf Türkisch, danke?", "Was heißt auf Türkisch?"),
    ("Rezept für 4", "Rezept für 10"),
    ("房客必须通知房东吗？", "房东必须通知房客吗？"),
]


async def served(one: str, two: str, **options: object) -> str | None:
    async with await AsyncSemanticCache.open("memory://", **options) as cache:  # type: ignore[arg-type]
        first = await cache.lookup(one, tenant="acme")
        await cache.record(first, ANSWER)
        return (await cache.lookup(two, tenant="acme")).answer


@pytest.mark.parametrize(("one", "two"), OTHER_QUESTIONS)
async def test_another_question_of_another_language_is_not_answered_by_likeness(one: str, two: str) -> None:
    assert await served(one, two) is None
    assert any(found.guard == languages.NAME or found.veto for found in conflicts(one, two, ()))


@pytest.mark.parametrize(("one", "two"), SAME_QUESTIONS)
async def test_what_differs_by_politeness_accents_or_a_moved_adverb_is_served(one: str, two: str) -> None:
    assert await served(one, two) == ANSWER


@pytest.mark.parametrize(("one", "two"), ENGLISH)
def test_foreign_names_accents_jargon_and_slips_make_no_text_foreign(one: str, two: str) -> None:
    assert not unread(one, two)
    assert not unread(two, one)


@pytest.mark.parametrize(("one", "two"), OTHER_QUESTIONS + SAME_QUESTIONS)
def test_texts_of_other_languages_are_told(one: str, two: str) -> None:
    assert unread(one, two)
    assert unread(two, one)


@pytest.mark.parametrize(("one", "two"), OTHER_WORDS + OTHER_QUESTIONS)
def test_another_word_is_no_light_edit(one: str, two: str) -> None:
    assert not lightly_edited(one, two)
    assert not lightly_edited(two, one)


class SaysYes:
    """A language model that finds all the same."""

    async def same(self, _query: str, _cached_query: str, _cached_answer: str) -> float:
        return 0.97


async def test_a_language_model_is_asked_about_free_rewordings_and_its_yes_serves(tmp_path: Path) -> None:
    pack = (Path(__file__).parents[2] / "policies" / "default.yaml").read_text(encoding="utf-8")
    (tmp_path / "default.yaml").write_text(
        pack.replace("\ndefaults:\n", "\ndefaults:\n  verdicts: first\n"), encoding="utf-8"
    )
    one, two = "Wie kündige ich meinen Vertrag?", "Auf welchem Weg kann ich den Vertrag beenden?"
    assert await served(one, two) is None
    assert await served(one, two, verifier=SaysYes(), policies=str(tmp_path / "default.yaml")) == ANSWER


class Polyglot:
    """The shipped embedder, as one that reads any language."""

    def __init__(self) -> None:
        self._inner = default_embedder()
        self.id, self.dim, self.max_tokens = self._inner.id, self._inner.dim, self._inner.max_tokens

    async def embed(self, texts: Sequence[str]) -> Matrix:
        return await self._inner.embed(texts)

    async def close(self) -> None:
        await self._inner.close()


async def test_an_embedder_that_may_read_any_language_is_believed() -> None:
    one, two = "Hesabımı nasıl silerim?", "Şifremi nasıl sıfırlarım?"
    assert reads_english_alone(default_embedder())
    assert await served(one, two, embedder=Polyglot()) == ANSWER
