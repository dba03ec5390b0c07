"""A Whisper model small enough to write in a test: it hears speech of any kind and says one sentence, always the same.

In: a sentence and a language. Out: a folder that faster-whisper loads like any other model (CTranslate2 weights,
`tokenizer.json`), so that decoding, voice detection, features, generation and timestamps are the real ones; only what
is heard is decided here. All layers are zero but the positions, each of which names the token that comes next.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from ctranslate2.specs import WhisperSpec
from numpy.typing import NDArray
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

DIMENSIONS = 64  # and so many different tokens may be said
MULTILINGUAL = ""  # CTranslate2 knows a Whisper of many languages by this token
MELS = 80
SOUND_POSITIONS = 1500  # of a window of 30 s
TEXT_POSITIONS = 448
TIMESTAMP_STEP_S = 0.02
LOUD = 10.0  # a position outvotes the token that stands there
SURE = 5.0

LANGUAGES = ("en", "ru", "de")
TASKS = ("translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps")
NEVER_FIRST = (("Ġ", "-"), ("Ġ", "'"), ("Ġ", "â"))
"""Merged, because faster-whisper forbids the first token of " -", " '" and " ♩"; a lone space must stay allowed."""


def write_speech_model(folder: Path, *, says: str, language: str = "ru", until_s: float = 2.0) -> Path:
    """Write the model: for each window of 30 s it says `says` from second 0 to `until_s`."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    wanted = [f"<|{language}|>", "<|transcribe|>", _timestamp(0.0)]
    script = [_number(tokenizer, token) for token in wanted]
    script += tokenizer.encode(says, add_special_tokens=False).ids
    script += [_number(tokenizer, token) for token in (_timestamp(until_s), "<|endoftext|>")]
    _write_weights(folder, tokenizer, script)
    return folder


def _tokenizer() -> Tokenizer:
    merged = [first + second for first, second in NEVER_FIRST]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<|endoftext|>", "<|startoftranscript|>", *(f"<|{name}|>" for name in (*LANGUAGES, *TASKS))]
    timestamps = [_timestamp(step * TIMESTAMP_STEP_S) for step in range(SOUND_POSITIONS + 1)]
    vocabulary = {token: number for number, token in enumerate([*alphabet, *merged, MULTILINGUAL])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=list(NEVER_FIRST)))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in (*special, *timestamps)])
    return tokenizer


def _number(tokenizer: Tokenizer, token: str) -> int:
    number = tokenizer.token_to_id(token)
    if number is None:
        raise ValueError(f"no token {token}: seconds go in steps of {TIMESTAMP_STEP_S}")
    return number


def _timestamp(second: float) -> str:
    return f"<|{second:.2f}|>"


def _write_weights(folder: Path, tokenizer: Tokenizer, script: Sequence[int]) -> None:
    size = tokenizer.get_vocab_size()
    tokens = {token: place for place, token in enumerate(dict.fromkeys(script))}
    embeddings = np.zeros((size, DIMENSIONS), dtype=np.float32)
    for token, place in tokens.items():
        embeddings[token, place] = 1.0
    positions = np.zeros((TEXT_POSITIONS, DIMENSIONS), dtype=np.float32)
    for position, token in enumerate(script):
        positions[position, tokens[token]] = LOUD
    spec = WhisperSpec(1, 1, 1, 1)
    _silence(spec)
    spec.decoder.embeddings.weight = embeddings
    spec.decoder.projection.weight = embeddings * SURE
    spec.decoder.position_encodings.encodings = positions
    spec.register_vocabulary([tokenizer.id_to_token(token) or "" for token in range(size)])
    spec.config.suppress_ids = []
    spec.config.suppress_ids_begin = []
    spec.config.lang_ids = [_number(tokenizer, f"<|{name}|>") for name in LANGUAGES]
    spec.config.alignment_heads = [(0, 0)]
    spec.validate()
    spec.save(str(folder))
    (folder / "preprocessor_config.json").write_text(json.dumps({"feature_size": MELS}))


def _silence(spec: WhisperSpec) -> None:
    """Zeros everywhere, in the shapes that the runtime wants."""
    encoder, decoder = spec.encoder, spec.decoder
    encoder.conv1.weight, encoder.conv1.bias = _zeros(DIMENSIONS, MELS, 3), _zeros(DIMENSIONS)
    encoder.conv2.weight, encoder.conv2.bias = _zeros(DIMENSIONS, DIMENSIONS, 3), _zeros(DIMENSIONS)
    encoder.position_encodings.encodings = _zeros(SOUND_POSITIONS, DIMENSIONS)
    for layer in (*encoder.layer, *decoder.layer):
        _silence_attention(layer.self_attention, widths=(3, 1))
        _silence_norm(layer.ffn)
        _silence_linear(layer.ffn.linear_0, DIMENSIONS)
        _silence_linear(layer.ffn.linear_1, DIMENSIONS)
    for layer in decoder.layer:
        _silence_attention(layer.attention, widths=(1, 2, 1))
    _silence_norm(encoder)
    _silence_norm(decoder)


def _silence_attention(attention: object, *, widths: tuple[int, ...]) -> None:
    _silence_norm(attention)
    for linear, width in zip(attention.linear, widths, strict=True):  # type: ignore[attr-defined] # the library has no stubs
        _silence_linear(linear, DIMENSIONS * width)


def _silence_linear(linear: object, outputs: int) -> None:
    linear.weight, linear.bias = _zeros(outputs, DIMENSIONS), _zeros(outputs)  # type: ignore[attr-defined] # the library has no stubs


def _silence_norm(part: object) -> None:
    norm = part.layer_norm  # type: ignore[attr-defined] # the library has no stubs
    norm.gamma, norm.beta = np.ones(DIMENSIONS, dtype=np.float32), _zeros(DIMENSIONS)


def _zeros(*shape: int) -> NDArray[np.float32]:
    return np.zeros(shape, dtype=np.float32)
