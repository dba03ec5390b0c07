"""Models that run on this machine: an ONNX encoder for vectors and an ONNX cross-encoder for the order of passages.

In: a folder with `model.onnx`, `tokenizer.json` and the usual configuration files. Out: what meets the ports
`Embedder`, `QueryEmbedder` and `Reranker`. Nothing is sent anywhere; a model given by its name is fetched once.
"""
