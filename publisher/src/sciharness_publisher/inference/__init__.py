"""The parts that an inference.py is put together from; each is source text, run elsewhere.

``protocol`` reads and writes the tables of file-predictor-v1, one more part
computes predictions of one family of models. :mod:`sciharness_publisher.sources`
joins them into one file that needs Python and numpy only.
"""
