"""BERTopic with Betula finds the subjects that were planted, and with linkage the fields they belong to."""

import numpy as np
from bertopic import BERTopic
from bertopic.dimensionality import BaseDimensionalityReduction
from bertopic.vectorizers import OnlineCountVectorizer
from scipy.cluster.hierarchy import linkage
from sklearn.metrics import adjusted_rand_score

import silverbirch as sb


def test_topics_are_the_planted_subjects(recipe, sentences):
    page = recipe("BERTopic", docs=sentences.docs, embeddings=sentences.embeddings)

    assert adjusted_rand_score(sentences.subjects, page.topics) == 1
    for topic, words in page.topic_model.get_topics().items():
        (subject,) = set(sentences.subjects[np.array(page.topics) == topic])
        assert {word for word, _ in words[:5]} <= sentences.words[subject]


def test_new_texts_get_the_topic_of_their_subject(recipe, sentences):
    page = recipe("BERTopic", docs=sentences.docs[90:], embeddings=sentences.embeddings[90:])

    topics, _ = page.topic_model.transform(sentences.docs[:90], sentences.embeddings[:90])
    topic_of = dict(zip(sentences.subjects[90:], page.topics, strict=True))
    assert topics == [topic_of[subject] for subject in sentences.subjects[:90]]


def test_the_hierarchy_of_topics_has_the_planted_fields_and_is_that_of_scipy(recipe, sentences):
    page = recipe("BERTopic", docs=sentences.docs, embeddings=sentences.embeddings)

    merged = [frozenset(topics) for topics in page.hierarchy.Topics]
    for field in set(sentences.fields):
        assert frozenset(np.array(page.topics)[sentences.fields == field].tolist()) in merged
    expected = page.topic_model.hierarchical_topics(
        sentences.docs, linkage_function=lambda distances: linkage(distances, "average", optimal_ordering=True)
    )
    assert merged == [frozenset(topics) for topics in expected.Topics]
    np.testing.assert_allclose(page.hierarchy.Distance.astype(float), expected.Distance.astype(float), rtol=1e-12)
    leaves = page.figure.layout.yaxis.ticktext
    assert len(leaves) == 9


def test_online_topics_keep_their_words_when_another_cluster_becomes_the_heaviest(recipe, sentences):
    subject_number = np.unique(sentences.subjects, return_inverse=True)[1]
    rng = np.random.default_rng(2)
    batches = []
    for frequent in (0, 4, 8):
        share = np.where(subject_number == frequent, 9.0, 1.0)
        rows = rng.choice(len(share), 180, p=share / share.sum())
        batches.append(([sentences.docs[row] for row in rows], sentences.embeddings[rows]))
    model = recipe("BERTopic, online", batches=batches).topic_model

    topics, _ = model.transform(sentences.docs, sentences.embeddings)
    assert adjusted_rand_score(sentences.subjects, topics) == 1
    for subject, topic in zip(sentences.subjects[:9], topics, strict=False):
        assert {word for word, _ in model.get_topic(topic)[:3]} <= sentences.words[subject]


def test_online_topics_of_betula_alone_are_the_labels_of_the_last_batch(sentences):
    topic_model = BERTopic(
        umap_model=BaseDimensionalityReduction(),
        hdbscan_model=sb.Betula(n_clusters=9, linkage="average", metric="cosine"),
        vectorizer_model=OnlineCountVectorizer(stop_words="english"),
    )
    for start in (0, 180, 360):
        batch = slice(start, start + 180)
        topic_model.partial_fit(sentences.docs[batch], sentences.embeddings[batch])
        assert adjusted_rand_score(sentences.subjects[batch], topic_model.topics_) == 1
        np.testing.assert_array_equal(
            topic_model.topics_, topic_model.hdbscan_model.predict(sentences.embeddings[batch])
        )
