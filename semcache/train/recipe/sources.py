"""The data sources of the shipped models: sets whose licence allows shipping a model trained on them.

Knows the files of these sets, their licences and the worth of their labels as answers of a cache; nothing of models.
Invariant: a set that is not in `SOURCES` is never opened, and every text belongs for good either to the training part
or to the held-out part, whole intents, foci and templates at a time.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semcache.errors import StoreError

_LONGEST = 220  # characters of a prompt


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set: the file inside the folder of the data, its licence, and whom to name."""

    path: str
    licence: str
    by: str


SOURCES: Mapping[str, DataSet] = {
    "clinc150": DataSet("clinc150/queries.jsonl.gz", "CC BY 3.0", "clinc/oos-eval (Larson et al. 2019)"),
    "banking77": DataSet(
        "banking77/queries.jsonl.gz", "CC BY 4.0", "PolyAI task-specific datasets (Casanueva et al. 2020)"
    ),
    "medquad": DataSet("medquad/qa.jsonl.gz", "CC BY 4.0", "MedQuAD (Ben Abacha and Demner-Fushman 2019)"),
    "mmlu": DataSet("mmlu/questions.jsonl.gz", "MIT", "hendrycks/test (Hendrycks et al. 2021)"),
    "mmlu_pro": DataSet("mmlu_pro/questions.jsonl.gz", "MIT", "TIGER-AI-Lab/MMLU-Pro (Wang et al. 2024)"),
    "gsm8k": DataSet("gsm8k/train.jsonl.gz", "MIT", "openai/grade-school-math (Cobbe et al. 2021)"),
    "code_prompts": DataSet("code_prompts/prompts.jsonl.gz", "CC BY 4.0", "MBPP (Austin et al. 2021), that part alone"),
    "webarena": DataSet("webarena_tasks/tasks.jsonl.gz", "Apache-2.0", "web-arena-x/webarena (Zhou et al. 2024)"),
    "freshqa": DataSet("freshqa/questions.jsonl.gz", "Apache-2.0", "freshllms/freshqa (Vu et al. 2024)"),
    "paws_wiki": DataSet(
        "paws_wiki/pairs.jsonl.gz", "free for any purpose, acknowledging Google LLC", "PAWS-X (Yang et al. 2019)"
    ),
}

# Intents of clinc150 whose answer depends on nothing that the question names: there, one intent is one answer.
_SLOTLESS = frozenset(
    " ".join(
        (
            "what_is_your_name are_you_a_bot who_made_you how_old_are_you what_are_your_hobbies do_you_have_pets",
            "where_are_you_from who_do_you_work_for meaning_of_life tell_joke fun_fact flip_coin goodbye greeting",
            "thank_you what_can_i_ask_you reset_settings credit_score improve_credit_score report_lost_card",
            "replacement_card_duration expiration_date routing pin_change account_blocked freeze_account damaged_card",
            "report_fraud apr credit_limit bill_due pto_balance pto_request_status payday w2 income rollover_401k",
            "direct_deposit taxes insurance last_maintenance tire_pressure tire_change oil_change_how oil_change_when",
            "jump_start mpg lost_luggage find_phone date current_location what_song cancel repeat yes no maybe",
            "whisper_mode application_status interest_rate min_payment",
        )
    ).split()
)


@dataclass(frozen=True, slots=True)
class SourcePrompt:
    """A text, the set it is from, and what its set calls its answer: equal answers need not be one where `loose`."""

    text: str
    source: str
    answer: str
    loose: bool
    held: bool


def prompts(data: Path) -> Iterator[SourcePrompt]:
    """All prompts of all sets, in the order of the files, each text once. Raises StoreError for a missing file."""
    seen: set[str] = set()
    for name, read in _READERS.items():
        for raw, answer, loose, group in read(_rows(data, name)):
            text = " ".join(raw.split())
            if 8 <= len(text) <= _LONGEST and text.lower() not in seen:
                seen.add(text.lower())
                yield SourcePrompt(text, name, f"{name}:{answer}", loose, held_out(f"{name}:{group}"))


def paraphrases(data: Path) -> Iterator[tuple[str, str, bool, bool]]:
    """The labelled pairs of PAWS: one, two, whether they are the same, whether they are held out."""
    for row in _rows(data, "paws_wiki"):
        one, two = row["sentence1"], row["sentence2"]
        key = " ".join(sorted(word for word in f"{one} {two}".lower().split() if word.isalpha())[:6])
        yield one, two, bool(row["label"]), held_out(f"paws:{key}")


def held_out(group: str, of: int = 4) -> bool:
    """Return True if a group belongs to the part, one `of` so many, that is not trained on."""
    return hashlib.sha256(f"models:{group}".encode()).digest()[0] % of == 0


def _intents(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[str, str, bool, str]]:
    for row in rows:
        alone = row["intent"] == "oos"
        sure = "domain" not in row or row["intent"] in _SLOTLESS
        yield row["text"], row["text"] if alone else row["intent"], not (alone or sure), row["intent"]


def _questions(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[str, str, bool, str]]:
    for row in rows:
        yield row["question"], row["question"], False, row["question"]


def _medical(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[str, str, bool, str]]:
    for row in rows:
        text = row["question"].replace(" ?", "?").replace("What is (are)", "What is")
        yield text, text, False, row["focus"]


def _programs(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[str, str, bool, str]]:
    for row in rows:
        if row["source"] == "mbpp":
            yield row["prompt"], row["prompt"], False, row["id"]


def _tasks(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[str, str, bool, str]]:
    for row in rows:
        yield row["intent"], row["intent"], False, row["intent_template"]


_READERS = {
    "clinc150": _intents,
    "banking77": _intents,
    "medquad": _medical,
    "mmlu": _questions,
    "mmlu_pro": _questions,
    "gsm8k": _questions,
    "code_prompts": _programs,
    "webarena": _tasks,
    "freshqa": _questions,
}


def _rows(data: Path, name: str) -> Iterator[dict[str, Any]]:
    path = data / SOURCES[name].path
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error
