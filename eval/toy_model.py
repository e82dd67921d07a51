"""Train the small Llama on which reuse and presses are judged: 0.65 M weights, 2.6 MB, attention that means something.

    python -m eval.toy_model [DIR] [--minutes 15] [--seed 0]

Writes a transformers folder (weights, tokenizer). Takes 7 minutes of one core. Lengths grow with progress; every
context is followed by many questions, and besides their answers two steps on the way are learned: see `batch`. Same
seed, same weights on one machine; a run that was interrupted goes on from its last checkpoint.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.toy_tasks import ALONE, BOS, EOS, TASKS, WORDS, Text, text

FOLDER = Path(".eval") / "toy-model"


@dataclass(frozen=True, slots=True)
class Stage:
    """`steps` of `count` sequences each, contexts of about `length` tokens; fewer, when so much is right before."""

    length: int
    count: int
    steps: int
    tasks: tuple[str, ...]
    enough: float = 1.0


_LEARNED = tuple(task for task in TASKS if task != "needle")  # a needle is a lookup
_REPEATED = ("again", "pieces")
# Repeating random tokens comes first: it teaches to look back for what followed, in a minute, on which everything else
# builds and which it does not find by itself. What is not learned in short texts is not learned in long ones.
STAGES = (
    Stage(14, 40, 500, ("again",), 0.93),
    Stage(32, 30, 500, ("pieces",), 0.97),
    Stage(32, 40, 300, ("lookup", "copy", "pronoun"), 0.97),
    Stage(48, 32, 250, _LEARNED, 0.97),
    Stage(32, 40, 200, ("hop",), 0.95),
    Stage(96, 20, 200, _LEARNED),
    Stage(256, 8, 260, _LEARNED),
)
_QUESTIONS = 24  # asked behind a context
_LONG = 64  # tokens: from here on the first layer does as it likes
_SAVE = 50  # steps
_SLOWING = 300  # steps before the end from which on learning rates go down
_NONE = -100  # no label


def make(seed: int) -> Any:
    """The untrained model."""
    import torch
    import transformers

    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=128,
        intermediate_size=192,
        num_hidden_layers=5,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},  # most of a head for what, not where
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=BOS,
        eos_token_id=EOS,
        pad_token_id=None,
    )
    return transformers.LlamaForCausalLM(config)


def batch(rng: random.Random, length: int, count: int, tasks: Sequence[str]) -> tuple[Any, tuple[Any, Any, Any]]:
    """Ids (count, tokens), and what the last, the first and the second layer should know of each, elsewhere -100.

    The last: what answers, and what `it` means where it stands. The second: the same, but where that takes two steps
    what the first of them finds. Of what is only repeated, the first tells the token before, which the second needs to
    look for it. Asked for early, such steps come in a minute; left alone, they do not come in ten.
    """
    import torch

    rows: list[tuple[list[int], ...]] = []
    for _ in range(count):
        if tasks[0] in _REPEATED:
            ids, last = _repeated(rng, length, short=tasks[0] == "pieces")
            second = last
        else:
            some = tuple(rng.sample(tasks, rng.randint(1, len(tasks))))
            ids, last, second = _dialogue(text(rng, some, length, dense=rng.choice((0.3, 0.6, 0.9))))
        first = [_NONE, *ids[:-1]] if length < _LONG else [_NONE] * len(ids)
        rows.append((ids, last, first, second))
    width = max(len(row[0]) for row in rows)
    ids, *labels = (
        torch.tensor([row[at] + [fill] * (width - len(row[at])) for row in rows])
        for at, fill in enumerate((EOS, _NONE, _NONE, _NONE))
    )
    return ids, tuple(labels)


def _repeated(rng: random.Random, length: int, *, short: bool) -> tuple[list[int], list[int]]:
    """Random tokens, and later once more: how much later differs, or it would learn the distance. Or many short pieces
    of them, for else it learns to find what two tokens precede, and cannot look up what is behind one."""
    tokens = rng.sample(range(len(WORDS)), 2 * length)
    size = length if short else rng.randint(4, length)
    ids, parts = tokens[:size], []
    if short:
        while len(parts) < length // 3:
            at = rng.randrange(length - 1)
            parts.append(ids[at : at + rng.randint(2, 5)])
    else:
        parts.append(ids)
        ids = ids + tokens[length : length + rng.randint(0, length)]
    labels = [_NONE] * (1 + len(ids))
    for part in parts:
        labels += [*part[1:], _NONE]
    return [BOS, *ids, *(token for part in parts for token in part)], labels


def _dialogue(made: Text) -> tuple[list[int], ...]:
    ids, meant = made.ids, made.meant
    last = [meant.get(at, _NONE) for at in range(len(ids))]
    second = last.copy()
    for question in made.questions[:_QUESTIONS]:
        ids += [*question.ids, *question.answer]
        before = [_NONE] * (len(question.ids) - 1)
        found = question.answer if question.between is None else (question.between,)
        last += [*before, *question.answer, _NONE]
        second += [*before, *found, _NONE]
    return ids, last, second


def accuracy(model: Any, seed: int, length: int, texts: int = 48) -> dict[str, float]:
    """The share of questions answered wholly right, each asked first after its context, by task.

    Where an answer takes several sentences they stand in several chunks of a quarter of the length.
    """
    import torch

    rng, found = random.Random(seed), {}
    model.eval()
    for task in TASKS:
        right = asked = 0
        while asked < texts:
            made = text(rng, (task,), length, chunk=length // 4, dense=0.6)
            questions = [one for one in made.questions if one.apart or task in ALONE]
            if not questions:
                continue
            question = questions[0]
            ids = torch.tensor([[*made.ids, *question.ids, *question.answer]])
            size = len(question.answer)
            with torch.inference_mode():
                best = model(input_ids=ids, use_cache=False).logits[0, -size - 1 : -1].argmax(-1)
            right += best.tolist() == list(question.answer)
            asked += 1
        found[task] = round(right / asked, 3)
    model.train()
    return found


def train(folder: Path, *, seed: int, minutes: float, stages: Sequence[Stage] = STAGES) -> Any:
    """Train, or go on from a checkpoint, and stop behind a step when so many minutes of processor time are over.

    Returns the model.
    """
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    model = make(seed)
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    momenta = [torch.zeros_like(p) for p in matrices]
    adam = torch.optim.AdamW(others, lr=4e-3, betas=(0.9, 0.98), weight_decay=0.0)
    number = done = step = 0
    known, spent = 0.0, 0.0
    saved = folder / "checkpoint.pt"
    if saved.is_file():
        state = torch.load(saved)
        model.load_state_dict(state["model"])
        adam.load_state_dict(state["adam"])
        momenta, (number, done, step, known, spent) = state["momenta"], state["at"]
    began = time.process_time()
    late = False
    while number < len(stages) and not late:
        stage = stages[number]
        ids, labels = batch(random.Random(seed * 1_000_003 + step), stage.length, stage.count, stage.tasks)
        left = sum(one.steps for one in stages[number:]) - done
        scale = min(1.0, (step + 1) / 30, left / _SLOWING)
        adam.param_groups[0]["lr"] = (1e-2 if stage.tasks[0] in _REPEATED else 4e-3) * scale
        model.zero_grad()
        losses, right = learned(model, ids, labels)
        sum(losses).backward()
        turn(matrices, momenta, 0.02 * scale)
        adam.step()
        step, done, known = step + 1, done + 1, 0.9 * known + 0.1 * right
        gone = spent + time.process_time() - began
        if step % 25 == 0:
            told = ", ".join(f"{loss.item():.3f}" for loss in losses)
            print(f"step {step}, length {stage.length}, losses {told}, right {known:.3f}, {gone:.0f} s", flush=True)
        if done == stage.steps or known >= stage.enough:
            number, done, known = number + 1, 0, 0.0
        late = time.process_time() - began > minutes * 60
        if step % _SAVE == 0 or number == len(stages) or late:
            state = {"model": model.state_dict(), "momenta": momenta, "adam": adam.state_dict()}
            torch.save({**state, "at": (number, done, step, known, gone)}, saved)
    model.save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    return model


def learned(model: Any, ids: Any, labels: tuple[Any, Any, Any]) -> tuple[list[Any], float]:
    """The losses of the last, the first and the second layer, and the share of right answers."""
    from torch.nn.functional import cross_entropy

    out = model(input_ids=ids, use_cache=False, output_hidden_states=True)
    early = [model.lm_head(model.model.norm(state)) for state in out.hidden_states[1:3]]
    losses = []
    for logits, wanted in zip((out.logits, *early), labels, strict=True):
        some = wanted != _NONE
        losses.append(cross_entropy(logits[some], wanted[some], reduction="sum") / max(1, int(some.sum())))
    # The first layer shall add the token before to its own, not put it in its place: by its own a token asks.
    some = labels[1] != _NONE
    losses[1] = losses[1] + cross_entropy(early[0][some], ids[some], reduction="sum") / max(1, int(some.sum()))
    some = labels[0] != _NONE
    return losses, float((out.logits.argmax(-1) == labels[0])[some].float().mean())


def turn(matrices: list[Any], momenta: list[Any], rate: float) -> None:
    """A step of Muon (Jordan et al. 2024): along the momentum with all its singular values made one.

    In float32: torch's own works in bfloat16, which takes ten times as long on a CPU.
    """
    import torch

    with torch.no_grad():
        shapes = {p.shape for p in matrices}
        for shape in shapes:
            at = [n for n, p in enumerate(matrices) if p.shape == shape]
            for n in at:
                momenta[n].lerp_(matrices[n].grad, 0.05)
            x = torch.stack([matrices[n].grad.lerp(momenta[n], 0.95) for n in at])
            tall = shape[0] > shape[1]
            x = x.mT if tall else x
            x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
            for _ in range(5):
                gram = x @ x.mT
                x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
            x = x.mT if tall else x
            for n, step in zip(at, x, strict=True):
                matrices[n].add_(step, alpha=-rate * max(1.0, shape[0] / shape[1]) ** 0.5)


def _tokenizer() -> Any:
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="<eos>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<bos>", eos_token="<eos>")


def main() -> None:
    """Train."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    model = train(given.folder, seed=given.seed, minutes=given.minutes)
    print({length: accuracy(model, given.seed + 1, length) for length in (64, 256, 448)})


if __name__ == "__main__":
    main()
