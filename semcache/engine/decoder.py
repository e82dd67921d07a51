"""A decoder opened from a folder: its keys' and values' shape, and one forward pass over a batch.

Knows transformers and which architectures attend in a way that prefixes can be shared: every layer full attention, and
positions that do not depend on the length. Others are refused with the reason. Invariant: a model that opened has
shown, on a probe, that its paged logits are those of its own attention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semcache.engine.engine_config import EngineConfig
from semcache.engine.fingerprint import fingerprint
from semcache.engine.generation_defaults import OPENAI, GenerationDefaults, generation_defaults
from semcache.engine.kv_tensor import KVShape, KVTensor
from semcache.engine.packing import SequenceSlice, pack
from semcache.errors import ConfigError

if TYPE_CHECKING:
    import torch

_EXTRA = "pip install 'semcache-llm[engine]'"
_PROBE = 11  # tokens
_TOLERANCE = {"float32": 1e-3, "float16": 0.1, "bfloat16": 0.5}  # of the probe's logits, in units of their spread


@dataclass(frozen=True, slots=True)
class Decoder:
    """An opened model.

    `context` is the most tokens it may see; `fingerprint` changes with dtype and positions, and with weights where
    blocks are kept on disk; `ends` are the tokens that end an answer; `defaults` is the sampling that its authors
    advise.
    """

    module: Any
    shape: KVShape
    vocabulary: int
    context: int
    fingerprint: str
    ends: frozenset[int]
    defaults: GenerationDefaults = OPENAI

    @property
    def slope(self) -> float:
        """The cost that a token adds for each token before it, in units of the first token's cost.

        It is the operations of attention against those of the weights in the layers.
        """
        weights: int = sum(one.numel() for name, one in self.module.named_parameters() if ".layers." in name)
        attended: int = 2 * self.shape.layers * self.module.config.num_attention_heads * self.shape.dim
        return attended / weights

    def logits(self, pieces: Sequence[SequenceSlice], store: KVTensor, *, share: int) -> torch.Tensor:
        """Run a batch; returns the logits of the wanted tokens, float32 (rows, vocabulary).

        Keys and values are written into `store`.
        """
        import torch

        packed = pack(pieces, store, share=share)
        with torch.inference_mode():
            out = self.module(
                input_ids=packed.ids,
                position_ids=packed.positions,
                use_cache=False,
                logits_to_keep=packed.wanted,
                packing=packed.packing,
            )
        logits: torch.Tensor = out.logits[0].float()
        return logits


def open_decoder(config: EngineConfig) -> Decoder:
    """Load a model. Raises ConfigError when files are missing or do not fit, or when its attention cannot be shared."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ConfigError(f"the engine needs torch and transformers: {_EXTRA}") from error
    if config.threads is not None:
        torch.set_num_threads(config.threads)
    described = _described(config)
    context = _context(described, config)
    device = _device(config.device)
    dtype = _dtype(config, described, device)
    module = _loaded(config, dtype, device, transformers)
    heads = getattr(described, "num_key_value_heads", None) or described.num_attention_heads
    dim = getattr(described, "head_dim", None) or described.hidden_size // described.num_attention_heads
    shape = KVShape(described.num_hidden_layers, heads, dim, dtype, device)
    defaults = generation_defaults(getattr(module, "generation_config", None), config.model)
    facts = {key: value for key, value in described.to_dict().items() if not key.startswith("_")}
    mark = fingerprint({"dtype": str(dtype), "config": facts}, module, weights=config.disk is not None)
    ends = _ends(module, described)
    decoder = Decoder(module, shape, described.vocab_size, context, mark, ends, defaults)
    _probe(decoder)
    return decoder


def _described(config: EngineConfig) -> Any:
    from transformers import AutoConfig

    folder = Path(config.model)
    if folder.is_dir() and not (folder / "config.json").is_file():
        raise ConfigError(
            f"model folder {config.model!r} holds no config.json: give the folder that save_pretrained wrote"
        )
    named = config.model.count("/") == 1 and not config.model.startswith((".", "/", "~"))
    if not folder.is_dir() and (folder.exists() or not named):
        raise ConfigError(f"model {config.model!r} is no folder here, nor an id such as Qwen/Qwen3-0.6B")
    try:
        return AutoConfig.from_pretrained(config.model, revision=config.revision).get_text_config()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"model {config.model!r}: its config.json cannot be used: {_brief(error)}") from error


def _context(described: Any, config: EngineConfig) -> int:
    """The context to serve. Raises ConfigError for attention whose prefixes cannot be shared block by block."""
    name = f"model {config.model!r} ({described.model_type})"
    most = getattr(described, "max_position_embeddings", None)
    if most is None:
        raise ConfigError(f"{name} does not say its max_position_embeddings: it is no decoder with full attention")
    context = min(config.context or most, most)
    if config.context is not None and config.context > most:
        raise ConfigError(f"engine context {config.context} is more than the {most} positions that {name} knows")
    scaling = getattr(described, "rope_parameters", None) or {}
    kinds = (
        {scaling.get("rope_type")}
        if "rope_type" in scaling
        else {one.get("rope_type") for one in scaling.values() if isinstance(one, dict)}
    )
    if kinds & {"dynamic", "longrope"}:
        raise ConfigError(
            f"{name} has positions of type {', '.join(sorted(filter(None, kinds)))}, which depend on the length of the "
            "text: keys of a prefix cannot be shared; use a model with default, linear, yarn or llama3 positions"
        )
    window = getattr(described, "sliding_window", None)
    layers = set(getattr(described, "layer_types", None) or ())
    others = layers - {"full_attention", "sliding_attention"}
    if others:
        raise ConfigError(
            f"{name} has layers of type {', '.join(sorted(others))}; the engine serves full attention alone"
        )
    slides = "sliding_attention" in layers or (not layers and getattr(described, "use_sliding_window", True))
    if window and slides and context > window:
        raise ConfigError(
            f"{name} attends to a sliding window of {window} tokens, and prefixes cannot be shared across it: serve it "
            f"with a context of at most {window}, within which its attention is full"
        )
    return int(context)


def _device(name: str) -> torch.device:
    import torch

    try:
        device = torch.device(
            "cuda" if name == "auto" and torch.cuda.is_available() else "cpu" if name == "auto" else name
        )
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"engine device {name!r} cannot be used: {_brief(error)}") from error
    return device


def _dtype(config: EngineConfig, described: Any, device: torch.device) -> torch.dtype:
    import torch

    if config.dtype != "auto":
        chosen: torch.dtype = getattr(torch, config.dtype)
        return chosen
    own = getattr(described, "dtype", None)
    return own if device.type != "cpu" and isinstance(own, torch.dtype) else torch.float32


def _loaded(config: EngineConfig, dtype: torch.dtype, device: torch.device, transformers: Any) -> Any:
    from semcache.engine.attention import register

    try:
        module, report = transformers.AutoModelForCausalLM.from_pretrained(
            config.model,
            revision=config.revision,
            dtype=dtype,
            attn_implementation=register(),
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are told below, by name
        )
    except Exception as error:  # safetensors, pickle and json each raise their own
        raise ConfigError(f"model {config.model!r} cannot be loaded: {_brief(error)}") from error
    missing = sorted(report.get("missing_keys") or ())
    if missing:
        raise ConfigError(
            f"model {config.model!r} lacks {len(missing)} weights, such as {missing[0]!r}: its files are incomplete"
        )
    wrong = sorted(str(key[0]) for key in report.get("mismatched_keys") or ())
    if wrong:
        raise ConfigError(f"model {config.model!r}: {wrong[0]!r} has another shape than config.json says")
    own = {name.partition(".layers.")[0] for name, _ in module.named_parameters() if ".layers." in name}
    unused = sorted(
        key
        for key in report.get("unexpected_keys") or ()
        if key.partition(".layers.")[0] in own and not key.endswith(".inv_freq")  # which old checkpoints hold
    )
    if unused:
        raise ConfigError(
            f"model {config.model!r} has {len(unused)} weights that config.json knows nothing of, such as "
            f"{unused[0]!r}: they do not belong together"
        )
    return module.to(device).eval()


def _ends(module: Any, described: Any) -> frozenset[int]:
    generation = getattr(module, "generation_config", None)
    found: set[int] = set()
    for value in (getattr(generation, "eos_token_id", None), getattr(described, "eos_token_id", None)):
        found.update([value] if isinstance(value, int) else value or ())
    return frozenset(found)


def _probe(decoder: Decoder) -> None:
    """Compare paged logits, in two steps and across pages, with the model's own in one."""
    import torch

    ids = [(7 * at + 3) % decoder.vocabulary for at in range(min(_PROBE, decoder.context))]
    store = KVTensor(decoder.shape, pages=4, block=4)
    cut, pages = len(ids) // 2, [2, 0, 3]
    kind = decoder.module.config.model_type
    try:
        decoder.logits([SequenceSlice(ids[:cut], 0, pages, 0)], store, share=1)
        seen = decoder.logits([SequenceSlice(ids[cut:], cut, pages, len(ids) - cut)], store, share=1)
        decoder.module.set_attn_implementation("eager")
        with torch.inference_mode():
            given = torch.tensor([ids], device=decoder.shape.device)
            whole = decoder.module(input_ids=given, use_cache=False).logits[0, cut:].float()
    except Exception as error:
        raise ConfigError(f"a model of type {kind!r} cannot be served with shared prefixes: {_brief(error)}") from error
    finally:
        from semcache.engine.attention import NAME

        decoder.module.set_attn_implementation(NAME)
    name = str(decoder.shape.dtype).removeprefix("torch.")
    spread = max(float(whole.std()), 1e-6)
    off = float((seen - whole).abs().max()) / spread
    if not off <= _TOLERANCE.get(name, 0.1):
        raise ConfigError(
            f"a model of type {kind!r} does not attend as the engine does: its logits are {off:.2g} standard "
            "deviations off; serve it with another server"
        )


def _brief(error: BaseException) -> str:
    """The first line of an error, which libraries follow with advice."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
