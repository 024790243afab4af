"""Models for a real engine, made on the spot: nothing is downloaded.

A prefix cache keys on token ids and never looks at weights, so random ones (`--load-format dummy`) do. The
vocabulary is a byte-level BPE of English prose that comes with Python. The chat template renders tools first,
then messages in order, so that the binding's order of fragments is the rendered one (BND-2).

The *tiny* one is for whatever is counted. The *larger* one takes seconds for a prompt of 4,000 tokens on two
cores of a CPU, so that what a cache saves can be told from everything else that takes time.

This file runs in the engine's environment, where nothing of ours is installed:
`.vllm/bin/python reference_gateway/live/model.py FOLDER [tiny | larger]`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

VOCABULARY: Final = 2048
"""Entries of the vocabulary; the first 256 or so are the single bytes."""

CONTEXT: Final = 8192
"""Most tokens of prompt and answer."""

_END: Final = "<|end|>"

TEMPLATE: Final = """\
{%- if tools %}tools:
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}<|end|>
{% endif %}
{%- for message in messages %}{{ message.role }}:
{%- if message.tool_call_id %} ({{ message.tool_call_id }}){% endif %}
{%- if message.content %} {{ message.content }}{% endif %}
{%- for call in message.tool_calls or [] %} {{ call | tojson }}{% endfor %}<|end|>
{% endfor %}
{%- if add_generation_prompt %}assistant:{% endif %}"""
"""Tools, then messages. It has no opinion on the order of roles."""

_CONFIGURATION: Final[dict[str, Any]] = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "num_key_value_heads": 2,
    "head_dim": 64,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": CONTEXT,
    "tie_word_embeddings": True,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "initializer_range": 0.02,
    "torch_dtype": "bfloat16",
    "eos_token_id": 0,
    "bos_token_id": 0,
}


_SIZES: Final[dict[str, dict[str, int]]] = {
    "tiny": {
        "hidden_size": 256,
        "intermediate_size": 512,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    },
    "larger": {
        "hidden_size": 768,
        "intermediate_size": 2304,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
    },
}


def make_model(folder: Path, size: str = "tiny") -> None:
    """Write a model's files into `folder`, all but the weights."""
    from tokenizers import (  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - the engine has it
        Tokenizer,
        decoders,
        models,
        pre_tokenizers,
        trainers,
    )

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[_END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_prose(), trainer)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    _write(folder / "config.json", _CONFIGURATION | _SIZES[size])
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": _END,
            "model_max_length": CONTEXT,
            "clean_up_tokenization_spaces": False,
            "chat_template": TEMPLATE,
        },
    )


def _prose() -> Iterator[str]:
    """English that every Python has: the texts behind `help()`."""
    from pydoc_data.topics import topics  # noqa: PLC0415 - large

    yield from topics.values()


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    make_model(Path(sys.argv[1]), *sys.argv[2:])
