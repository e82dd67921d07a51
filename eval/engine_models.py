"""Tiny decoders with random weights and a byte-level BPE tokenizer of their own, written as transformers folders.

Knows four architectures and how to write them down. Same arguments, same bytes of config and weights (seeded).
Run: python -m eval.engine_models DIR [--hidden 256 --layers 4 --vocabulary 8192 --kind llama]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

KINDS = ("llama", "qwen2", "qwen3", "mistral")
_WORDS = "the a cache model prefix token answer question is was of to and in it for on with as at by".split()  # noqa: SIM905
_CHAT = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def corpus(lines: int = 400) -> list[str]:
    """Deterministic text with many distinct words, to train a tokenizer on."""
    return [
        " ".join(
            f"{_WORDS[(line * 7 + at * at) % len(_WORDS)]}{(line * at) % 97 if at % 5 == 0 else ''}" for at in range(12)
        )
        for line in range(lines)
    ]


def make(
    folder: Path,
    kind: str = "llama",
    *,
    vocabulary: int = 512,
    hidden: int = 64,
    layers: int = 2,
    heads: int = 4,
    context: int = 1024,
    seed: int = 0,
    chat: bool = True,
    half: bool = False,
    **more: Any,
) -> Path:
    """Write a model into `folder` and return it; with `half`, float16 holds its weights exactly."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    special = ["<|begin|>", "<|eos|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator(corpus(), trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token="<|begin|>", eos_token="<|eos|>")
    if chat:
        tokenizer.chat_template = _CHAT
    tokenizer.save_pretrained(folder)
    names = {"llama": "Llama", "qwen2": "Qwen2", "qwen3": "Qwen3", "mistral": "Mistral"}
    made = getattr(transformers, f"{names[kind]}Config")(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=hidden * 2,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=max(1, heads // 2),
        head_dim=hidden // heads,
        max_position_embeddings=context,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=None,
        tie_word_embeddings=False,
        initializer_range=0.2,
        **({"sliding_window": None} | more if kind == "mistral" else more),
    )
    torch.manual_seed(seed)
    model = getattr(transformers, f"{names[kind]}ForCausalLM")(made)
    (model.half().float() if half else model).save_pretrained(folder)
    return folder


def main() -> None:
    """Write one model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kind", choices=KINDS, default="llama")
    for name, value in {"vocabulary": 8192, "hidden": 256, "layers": 4, "heads": 4, "context": 8192, "seed": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    print(make(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
