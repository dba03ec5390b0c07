"""Speech into text by faster-whisper, in a process of its own.

In: recordings on disk. Out: `ingestion.ports.Transcript`. `transcriber` is what the worker holds, `listener` what runs
in the other process, `wire` what goes between them.
"""
