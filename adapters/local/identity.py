"""Identifies the model in a folder by its content.

In: a model's files, and how its outputs are used. Out: a short name of that content. Vectors of two models in folders
of the same name must not be mixed, and a folder that is moved or copied is the same model. Weights of gigabytes are not
read whole: a start of the bot would wait for it.
"""

import hashlib
from pathlib import Path

from adapters.local.errors import LocalModelError
from adapters.local.layout import EncoderLayout

SAMPLES, SAMPLE_BYTES = 64, 4096
"""Of each file, evenly spread, first and last bytes among them. Trained weights differ nearly everywhere; two models
that differ in fewer bytes than lie between two samples (1.6 % of the file) could be taken for one."""
DIGEST_BYTES = 4


def identity_of(layout: EncoderLayout) -> str:
    """Eight hexadecimal digits. Raises LocalModelError."""
    files = layout.files
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    digest.update(repr((layout.pooling, layout.question, layout.passage)).encode())
    try:
        # Weights above 2 GB lie beside the graph, as `model.onnx_data` or `model.onnx.data`.
        beside = sorted(path for path in files.graph.parent.iterdir() if path.name.startswith(files.graph.name))
        for path in (files.tokenizer, *beside):
            digest.update(_sample(path))
    except OSError as error:
        raise LocalModelError(f"{error.filename} cannot be read: {error.strerror}.") from error
    return digest.hexdigest()


def _sample(path: Path) -> bytes:
    size = path.stat().st_size
    last = max(size - SAMPLE_BYTES, 0)
    with path.open("rb") as file:
        parts = [str(size).encode()]
        for number in range(SAMPLES):
            file.seek(last * number // (SAMPLES - 1))
            parts.append(file.read(SAMPLE_BYTES))
    return b"".join(parts)
