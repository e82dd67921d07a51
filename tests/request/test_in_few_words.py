"""What changes by the hour is live in few words too, and what is so on any day is not."""

from __future__ import annotations

import pytest

from semcache.request.eligibility import is_live


@pytest.mark.parametrize(
    "text",
    [
        "silver price",
        "What's the unemployment rate in Spain?",
        "leaderboard",
        "how windy is it in Tarifa",
        "internet out in my street?",
        "next ferry to Capri",
        "is there a bug going around",
        "do you have the green coat in XL",
        "is the tunnel open or closed",
        "parking spaces free at the station",
        "any jobs stuck",
        "is there power in the building",
        "how's the build looking",
        "what did the ECB decide",
        "wetter münchen",
        "Gibt es Störungen in Essen?",
        "¿Está caída la web?",
        "il sistema è giù",
        "próximo autobús a Sevilla",
        "o której jest następny autobus",
    ],
)
def test_what_changes_by_the_hour_is_live(text: str) -> None:
    assert is_live(text)


@pytest.mark.parametrize(
    "text",
    [
        "How hot is it in the core of the sun?",
        "How cold is it in Norway in January?",
        "What does standings mean?",
        "what is an exchange rate",
        "How are oil prices calculated?",
        "What is a ferry?",
        "How do I get the newest version of the app?",
        "Where do I download the latest release?",
        "Is the sea open or closed to shipping law?",
        "How do I check if a job is stuck?",
        "Wie wird das Wetter vorhergesagt?",
        "¿Qué significa caída?",
    ],
)
def test_what_is_so_on_any_day_is_not(text: str) -> None:
    assert not is_live(text)
