"""datamapplot draws the layers of one dendrogram, each cluster with a name from its own words."""

import base64
import gzip
import json
import re

import numpy as np
from sklearn.metrics import adjusted_rand_score


def data_map_of(sentences):
    """Two coordinates a sentence: the fields on a circle, the subjects of each on a smaller circle around it."""
    rng = np.random.default_rng(3)
    subject = np.arange(len(sentences.docs)) % 9
    turns = np.stack([subject // 3 / 3, subject % 3 / 3 + 0.1])
    circles = np.exp(2j * np.pi * turns) * [[2.5], [1]]
    return np.stack([circles.sum(axis=0).real, circles.sum(axis=0).imag], axis=1) + rng.normal(scale=0.2, size=(540, 2))


def test_layers_and_their_names_are_drawn(recipe, sentences, tmp_path):
    names = {"docs": sentences.docs, "embeddings": sentences.embeddings, "data_map": data_map_of(sentences)}
    page = recipe("datamapplot", **names)

    subjects, fields = page.layers
    assert adjusted_rand_score(sentences.subjects, subjects) == 1
    assert adjusted_rand_score(sentences.fields, fields) == 1
    for subject, words in sentences.words.items():
        (name,) = set(subjects[sentences.subjects == subject])
        assert set(name.split(", ")) <= words
    assert {one_line(text.get_text()) for text in page.axes.texts} == {*subjects}

    encoded = re.search(r'labelDataEncoded = "([^"]+)"', (tmp_path / "map.html").read_text())[1]
    labels = json.loads(gzip.decompress(base64.b64decode(encoded)))
    assert {one_line(label["label"]) for label in labels} == {*subjects, *fields}


def one_line(text):
    return text.replace("\n", " ")
