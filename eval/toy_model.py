"""Train the small Llama on which reuse and presses are judged: 0.6 M weights, 2.5 MB, attention that means something.

    python -m eval.toy_model [DIR] [--minutes 12] [--seed 0]

Writes a transformers folder (weights, tokenizer). Takes 8 minutes of one core, in which two hops (`hop`) and long
sections are not learned. Lengths grow with progress; every context is followed by many questions, and only their
answers are learned. Same seed and steps, same weights on one machine; a run that was interrupted goes on from its
last checkpoint.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

from eval.toy_tasks import BOS, EOS, TAKEN, TASKS, WORDS, Text, begun, text

FOLDER = Path(".eval") / "toy-model"
# Length of contexts, sequences a step, steps, tasks. Repeating random tokens comes first: it teaches to look back for
# what followed, in a minute, on which everything else builds and which it does not find by itself.
STAGES: tuple[tuple[int, int, int, tuple[str, ...]], ...] = (
    (14, 40, 300, ()),
    (32, 40, 100, ("lookup", "copy")),
    (48, 32, 350, TASKS),
    (96, 20, 250, TASKS),
    (240, 10, 220, TASKS),
    (440, 6, 130, TASKS),
)
_QUESTIONS = 24
_SAVE = 100  # steps


def make(seed: int) -> Any:
    """The untrained model."""
    import torch
    import transformers

    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=BOS,
        eos_token_id=EOS,
        pad_token_id=None,
    )
    return transformers.LlamaForCausalLM(config)


def batch(rng: random.Random, length: int, count: int, tasks: tuple[str, ...]) -> tuple[Any, Any]:
    """Ids (count, tokens) and what follows where it can be known, elsewhere -100.

    Without tasks, random tokens and later once more: how much later differs, or it would learn the distance.
    """
    import torch

    rows: list[list[int]] = []
    labels: list[list[int]] = []
    for _ in range(count):
        if not tasks:
            tokens = rng.sample(range(len(WORDS)), 2 * length)
            size = rng.randint(4, length)
            once, between = tokens[:size], tokens[length : length + rng.randint(0, length)]
            rows.append([BOS, *once, *between, *once])
            labels.append([-100] * (1 + size + len(between)) + once[1:] + [-100])
            continue
        some = tuple(rng.sample(tasks, rng.randint(1, len(tasks))))
        made = text(rng, some, length, dense=rng.choice((0.3, 0.6, 0.9)))
        ids, wanted = _dialogue(made)
        rows.append(ids)
        labels.append(wanted)
    width = max(map(len, rows))
    pad = [row + [EOS] * (width - len(row)) for row in rows]
    told = [row + [-100] * (width - len(row)) for row in labels]
    return torch.tensor(pad), torch.tensor(told)


def _dialogue(made: Text) -> tuple[list[int], list[int]]:
    ids = made.ids
    labels = [-100] * len(ids)
    for question in made.questions[:_QUESTIONS]:
        ids += [*question.ids, *question.answer]
        labels += [*[-100] * (len(question.ids) - 1), *question.answer, -100]
    return ids, labels


def accuracy(model: Any, seed: int, length: int, texts: int = 24) -> dict[str, float]:
    """The share of questions answered wholly right, each asked first after its context, by task."""
    import torch

    rng, found = random.Random(seed), {}
    model.eval()
    for task in TAKEN:
        right = asked = 0
        with torch.inference_mode():
            for _ in range(texts):
                made = text(rng, (task,), length, dense=0.6)
                question = begun(made.questions[0])
                ids = torch.tensor([[*made.ids, *question.ids, *question.answer]])
                size = len(question.answer)
                best = model(input_ids=ids, use_cache=False).logits[0, -size - 1 : -1].argmax(-1)
                right += best.tolist() == list(question.answer)
                asked += 1
        found[task] = right / asked
    model.train()
    return found


def train(folder: Path, *, seed: int, minutes: float) -> None:
    """Train, or go on from a checkpoint, for at most so many minutes."""
    import torch
    from torch.nn.functional import cross_entropy

    folder.mkdir(parents=True, exist_ok=True)
    model = make(seed)
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    momenta = [torch.zeros_like(p) for p in matrices]
    adam = torch.optim.AdamW(others, lr=4e-3, betas=(0.9, 0.98), weight_decay=0.0)
    total = sum(stage[2] for stage in STAGES)
    step, spent = 0, 0.0
    saved = folder / "checkpoint.pt"
    if saved.is_file():
        state = torch.load(saved)
        model.load_state_dict(state["model"])
        momenta = state["momenta"]
        adam.load_state_dict(state["adam"])
        step, spent = state["step"], state["spent"]
    began = time.process_time()
    while step < total and time.process_time() - began < minutes * 60:
        length, count, _, tasks = _stage(step)
        ids, labels = batch(random.Random(seed * 1_000_003 + step), length, count, tasks)
        scale = min(1.0, (step + 1) / 30) * min(1.0, (total - step) / (0.4 * total))
        adam.param_groups[0]["lr"] = (1e-2 if not tasks else 4e-3) * scale
        model.zero_grad()
        out = model(input_ids=ids, use_cache=False, output_hidden_states=not tasks)
        logits = out.logits
        loss = cross_entropy(logits.flatten(0, 1), labels.flatten())
        if not tasks:
            # What is found again needs two layers: one that tells the token before, one that looks for it. Asked for
            # early, both come in a minute; left alone, they do not come in ten.
            first, second = (model.lm_head(model.model.norm(state)) for state in out.hidden_states[1:3])
            loss = loss + cross_entropy(first[:, 1:].flatten(0, 1), ids[:, :-1].flatten())
            loss = loss + cross_entropy(second.flatten(0, 1), labels.flatten())
        loss.backward()
        turn(matrices, momenta, 0.02 * scale)
        adam.step()
        step += 1
        if step % 25 == 0:
            right = (logits.argmax(-1) == labels)[labels >= 0].float().mean()
            seconds = spent + time.process_time() - began
            print(
                f"step {step}, length {length}, loss {loss.item():.3f}, right {right:.3f}, {seconds:.0f} s", flush=True
            )
        late = time.process_time() - began > minutes * 60
        if step % _SAVE == 0 or step == total or late:
            gone = spent + time.process_time() - began
            state = {"model": model.state_dict(), "momenta": momenta, "adam": adam.state_dict()}
            torch.save({**state, "step": step, "spent": gone}, saved)
    print({length: accuracy(model, seed + 1, length) for length in (64, 256, 448)})
    model.save_pretrained(folder)
    _tokenizer().save_pretrained(folder)


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


def _stage(step: int) -> tuple[int, int, int, tuple[str, ...]]:
    for stage in STAGES:
        if step < stage[2]:
            return stage
        step -= stage[2]
    return STAGES[-1]


def _tokenizer() -> Any:
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="<eos>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<bos>", eos_token="<eos>")


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--minutes", type=float, default=12)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    train(given.folder, seed=given.seed, minutes=given.minutes)


if __name__ == "__main__":
    main()
