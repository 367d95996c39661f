"""The recipes of the documentation run here as they are printed, with small data and without a network."""

import re
import socket
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """Runs the Python blocks below a heading of a page with the names they need; returns all names they leave."""

    def run(heading, *, page="recipes.md", **names):
        introduction, *sections = re.split(r"(?m)^## ", (DOCS / page).read_text())
        (section,) = (section for section in sections if section.partition("\n")[0] == heading)
        code = "".join(re.findall(r"(?ms)^```python\n(.*?)^```", introduction + section))
        exec(compile(code, f"docs/{page}: {heading}", "exec"), names)
        return SimpleNamespace(**names)

    monkeypatch.chdir(tmp_path)  # what a recipe writes goes there
    return run


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*_):
        raise OSError("recipes may not download anything")

    monkeypatch.setattr(socket.socket, "connect", refuse)


WORDS = {
    "animals": {
        "cats": "kitten whiskers purr meow litter tabby claws siamese",
        "dogs": "puppy bark leash kennel terrier fetch beagle collar",
        "horses": "saddle stable gallop pony hoof bridle mare jockey",
    },
    "food": {
        "bread": "flour dough yeast bakery crust loaf rye sourdough",
        "cheese": "cheddar milk brie rind dairy gouda curd goat",
        "fruit": "apple cherry orchard juice peach ripe plum berry",
    },
    "travel": {
        "trains": "railway station carriage locomotive track timetable conductor platform",
        "ships": "harbour captain deck anchor voyage ferry sailor cabin",
        "planes": "airport runway pilot wings boarding cockpit gate landing",
    },
}
SHARED_WORDS = {
    "animals": "fur tail breed vet feed paw",
    "food": "kitchen taste recipe market cook meal",
    "travel": "ticket luggage journey passenger arrival route",
}
COMMON_WORDS = ["morning", "story", "winter", "village", "friend"]


@pytest.fixture(scope="session")
def sentences():
    """540 sentences about nine subjects in three fields, with embeddings of 20 columns."""
    rng = np.random.default_rng(0)
    docs, subjects, fields = [], [], []
    for _ in range(60):
        for field, words_of_subject in WORDS.items():
            for subject, words in words_of_subject.items():
                own = rng.choice(words.split(), 5, replace=False)
                shared = rng.choice(SHARED_WORDS[field].split(), 3)
                docs.append(" ".join(["the", *own, "and", *shared, rng.choice(COMMON_WORDS)]))
                subjects.append(subject)
                fields.append(field)
    embeddings = TruncatedSVD(20, random_state=0).fit_transform(TfidfVectorizer().fit_transform(docs))
    return SimpleNamespace(
        docs=docs,
        embeddings=embeddings,
        subjects=np.array(subjects),
        fields=np.array(fields),
        words={subject: set(words.split()) for field in WORDS.values() for subject, words in field.items()},
    )


@pytest.fixture(scope="session")
def blobs():
    """300 rows of five columns in six groups, two of them near each other."""
    rng = np.random.default_rng(1)
    centres = rng.normal(scale=10, size=(6, 5))
    centres[5] = centres[4] + 3
    group = np.arange(300) % 6
    return rng.normal(size=(300, 5)) + centres[group], group
