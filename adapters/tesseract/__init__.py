"""Recognises words with the program `tesseract`, which runs as a limited process for each picture.

In: pictures. Out: blocks with how sure the program was. Without the program `find_tesseract` returns None.
"""
