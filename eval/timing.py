"""What tenants tell from times about each other: `python -m eval.timing [--samples 500] [--page]`.

Runs `semcache audit timing` over all its paths on proxies of its own, and on a local engine with a small Llama of
random weights, whose prefixes cost as much as those of a trained one. With `--page` the figures are kept in
`results/timing.json` and `results/timing.md`. Exits as the command does.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.bench.machine import facts

RESULTS = Path(__file__).parent / "results"
_LAYERS, _WIDTH = 6, 256


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit, print, and keep."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--paths", default="")
    parser.add_argument("--page", action="store_true", help="write results/timing.json and the page")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="semcache-engine-") as folder:
        engine(Path(folder))
        options = ["--samples", str(given.samples), "--seed", str(given.seed)]
        options += ["--paths", given.paths] if given.paths else []
        command = ["-m", "semcache", "audit", "timing", "--engine", folder, *options, "--json"]
        done = subprocess.run([sys.executable, *command], stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout)
    if given.page and done.stdout:
        told = {"machine": facts(), "command": shlex.join(["semcache", "audit", "timing", "--engine", "DIR", *options])}
        kept = told | json.loads(done.stdout)
        (RESULTS / "timing.json").write_text(json.dumps(kept, indent=1) + "\n")
        (RESULTS / "timing.md").write_text(page(kept))
    return done.returncode


def engine(folder: Path) -> None:
    """Write a model of random weights that reads bytes."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    torch.manual_seed(0)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {word: at for at, word in enumerate(["<s>", "</s>", *alphabet])}
    made = Tokenizer(models.BPE(vocab=words, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    opened: Any = transformers.PreTrainedTokenizerFast
    tokenizer = opened(tokenizer_object=made, bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    config = transformers.LlamaConfig(
        vocab_size=len(words), hidden_size=_WIDTH, intermediate_size=2 * _WIDTH, num_hidden_layers=_LAYERS,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=2048, bos_token_id=0, eos_token_id=1,
        pad_token_id=None,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def page(kept: dict[str, Any]) -> str:
    """The page."""
    right = 0.5 + kept["smallest_distance"] / 2
    lines = [
        "# What a tenant tells from times about what others asked",
        "",
        "`python -m eval.timing --page`, which runs",
        f"`{kept['command']}`",
        "",
        f"Two tenants' keys on one proxy at its defaults (plans on). {kept['samples']} times of each of four kinds a "
        "path, in one shuffled order: a caller asks what the victim has asked just before, or what nobody has; the "
        "caller is another tenant, or the victim itself, which must be told apart or the audit sees nothing. "
        f"Kolmogorov-Smirnov, with Holm's correction over the paths at {kept['level']:g}. The smallest distance that "
        f"is rejected is {kept['smallest_distance']:.3f}: a threshold that puts {right:.0%} of single times on the "
        "right side. *Visible* is the least difference of all times alike that would have been rejected in the noise "
        "that was measured.",
        "",
        "| path | between tenants: D | p | told apart | within one: D | p | told apart | one time told right "
        "| visible ms | medians between, ms | medians within, ms |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in kept["paths"]:
        lines.append(
            f"| {row['path']} | {row['between_d']:.3f} | {row['between_p']:.2g} | {_word(row['told_apart'])} "
            f"| {row['within_d']:.3f} | {row['within_p']:.2g} | {_word(row['within_told_apart'])} "
            f"| {row['within_guessed_right']:.0%} | {row['visible_ms']:.3f} "
            f"| {row['between_asked_ms']}, {row['between_unasked_ms']} | {row['within_asked_ms']}, "
            f"{row['within_unasked_ms']} |"
        )
    leaks, blind = ", ".join(kept["leaks"]) or "none", ", ".join(kept["blind"]) or "none"
    lines += ["", f"Paths that leak: {leaks}. Paths on which the audit could not have seen anything: {blind}."]
    lines += [
        "",
        "Tools are called in the library, in the audit's own process; the engine's prefixes are those of the local "
        "engine behind the proxy, with a Llama of random weights.",
    ]
    return "\n".join(lines) + "\n"


def _word(told: bool) -> str:
    return "yes" if told else "no"


if __name__ == "__main__":
    sys.exit(main())
