"""`prepare` makes all parts of the rows alike, on any machine; `merge` refuses what does not go together."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import silverbirch as sb
from commands import done, refused, silverbirch
from model_files import file_of
from silverbirch.pipeline.shared_preparation import SharedPreparation
from silverbirch.storage import container

NAMES = list("xyz")
CHOICES = ["--scale", "standard", "--missing", "mean"]


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    X = (random.normal(size=(3000, 3)) + 15 * random.integers(0, 2, size=(3000, 3))) * [1, 100, 1e-4]
    X[random.random(X.shape) < 0.05] = np.nan
    return pd.DataFrame(X, columns=NAMES)


@pytest.fixture
def parts(frame, tmp_path):
    """Three files of different formats and sizes, with differently ordered columns."""
    (tmp_path / "rows").mkdir()
    paths = [tmp_path / "rows" / name for name in ("0.parquet", "1.csv", "2.feather")]
    frame[:500].to_parquet(paths[0])
    frame[500:1700][NAMES[::-1]].to_csv(paths[1], index=False)
    frame[1700:].reset_index(drop=True).to_feather(paths[2])
    return paths


def sums_of(path):
    """The bytes of all arrays but the list of inputs, whose order may differ."""
    _, _, arrays = container.read(path)
    return {name: array.tobytes() for name, array in arrays.items() if name != "run.made_of"}


SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler}


@pytest.mark.parametrize("scale", SCALERS)
@pytest.mark.parametrize("missing", ["mean", "drop"])
def test_preparations_of_parts_join_to_that_of_the_whole_to_the_bit(scale, missing, parts, frame, tmp_path):
    choices = ["--scale", scale, "--missing", missing]
    done("prepare", tmp_path / "rows", *choices, "-o", tmp_path / "whole.sb")
    (tmp_path / "preps").mkdir()
    for number, part in enumerate(parts):
        done("prepare", part, "--columns", "x,y,z", *choices, "-o", tmp_path / "preps" / f"{number}.sb")
    done("prepare", tmp_path / "preps", "-o", tmp_path / "joined.sb")
    two = [tmp_path / "preps" / f"{number}.sb" for number in (2, 0)]
    done("prepare", *two, "-o", tmp_path / "two.sb")
    done("prepare", tmp_path / "preps" / "1.sb", tmp_path / "two.sb", "-o", tmp_path / "again.sb")
    assert sums_of(tmp_path / "whole.sb") == sums_of(tmp_path / "joined.sb") == sums_of(tmp_path / "again.sb")

    found = SharedPreparation.read(tmp_path / "whole.sb").completed()
    rows = frame.dropna() if missing == "drop" else frame
    steps = make_pipeline(SimpleImputer(), SCALERS[scale]()).fit(rows.to_numpy())
    rows = SimpleImputer().fit_transform(rows.to_numpy())
    np.testing.assert_allclose((rows - found.shift) * found.factor, steps.transform(rows), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("command", ["aggregate", "cluster"])
def test_a_preparation_of_the_same_rows_gives_the_features_of_the_options(command, parts, tmp_path):
    done("prepare", tmp_path / "rows", *CHOICES, "-o", tmp_path / "prep.sb")
    out = "-o" if command == "aggregate" else "--model"
    done(command, tmp_path / "rows", *CHOICES, out, tmp_path / "options.sb")
    done(command, tmp_path / "rows", "--prepare", tmp_path / "prep.sb", out, tmp_path / "prepared.sb")
    assert sums_of(tmp_path / "options.sb") == sums_of(tmp_path / "prepared.sb")


def test_parts_prepared_alike_are_the_parts_of_the_whole(parts, frame, tmp_path):
    done("prepare", tmp_path / "rows", *CHOICES, "-o", tmp_path / "prep.sb")
    (tmp_path / "parts").mkdir()
    for part in parts:
        done("aggregate", part, "--prepare", tmp_path / "prep.sb", "-o", tmp_path / "parts" / f"{part.stem}.sb")
    done("merge", tmp_path / "parts", "-o", tmp_path / "all.sb")
    expected = make_pipeline(SimpleImputer(), StandardScaler()).fit_transform(frame)
    total = sb.ClusterFeatures.load(tmp_path / "all.sb").total()
    assert total.weight[0] == len(frame)
    np.testing.assert_allclose(total.mean[0], 0, atol=1e-12)
    assert total.sse[0] == pytest.approx((expected**2).sum(), rel=1e-12)

    done("cluster", tmp_path / "parts", "-k", 4, "--model", tmp_path / "a.sb")
    done("cluster", tmp_path / "parts" / "*.sb", "-k", 4, "--model", tmp_path / "b.sb")
    done("cluster", tmp_path / "all.sb", "-k", 4, "--model", tmp_path / "c.sb")
    for name in "ac":
        done("cut", tmp_path / f"{name}.sb", "-k", 4, tmp_path / "rows", "--labels", tmp_path / f"{name}.npy")
    assert (tmp_path / "a.sb").read_bytes() == (tmp_path / "b.sb").read_bytes()
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "c.npy"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--missing", "mean"], "column 'x' was filled with"),
        (["--missing", "drop", "--scale", "minmax"], "column 'x' was moved by"),
    ],
)
def test_parts_prepared_one_by_one_do_not_merge_in_either_order(options, words, parts, tmp_path):
    for part in parts[:2]:
        done("aggregate", part, "--columns", "x,y,z", *options, "-o", tmp_path / f"{part.stem}.sb")
    for first, second in ("01", "10"):
        files = [tmp_path / f"{first}.sb", tmp_path / f"{second}.sb"]
        for command in (["merge", *files, "-o", tmp_path / "all.sb"], ["cluster", *files, "-k", 2]):
            message = refused(*command)
            assert f"{files[1]} was prepared differently from {files[0]}: {words}" in message
            assert "silverbirch prepare" in message
    assert not (tmp_path / "all.sb").exists()


def test_all_files_are_looked_at_before_the_first_is_merged(parts, tmp_path, monkeypatch):
    for part, missing in zip(parts, ("drop", "drop", "mean"), strict=True):
        done("aggregate", part, "--columns", "x,y,z", "--missing", missing, "-o", tmp_path / f"{part.stem}.sb")
    monkeypatch.setattr("silverbirch.model.AggregateModel.insert", None)
    message = refused("merge", *(tmp_path / f"{number}.sb" for number in "012"), "-o", tmp_path / "all.sb")
    assert "2.sb was prepared differently" in message
    assert "--missing was mean, not drop" in message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scale", "minmax"], "--scale minmax but"),
        (["--scale", "none"], "--scale none but"),
        (["--missing", "error"], "--missing error but"),
        (["--metric", "cosine"], "--metric cosine but"),
        (["--columns", "x,y"], "the input has 2 columns with names (x, y), but"),
    ],
)
def test_options_that_contradict_the_preparation_are_refused(options, words, parts, tmp_path):
    done("prepare", parts[0], *CHOICES, "-o", tmp_path / "prep.sb")
    command = ["aggregate", parts[0], "--prepare", tmp_path / "prep.sb", "-o", tmp_path / "part.sb"]
    assert words in refused(*command, *options)
    done(*command, *CHOICES, "--columns", "x,y,z")  # those that agree are taken


def test_columns_agree_by_name_or_by_number(frame, parts, tmp_path):
    done("prepare", parts[0], *CHOICES, "-o", tmp_path / "named.sb")
    np.save(tmp_path / "rows.npy", frame)
    done("prepare", tmp_path / "rows.npy", *CHOICES, "-o", tmp_path / "numbered.sb")
    frame.rename(columns={"z": "height"}).to_csv(tmp_path / "other.csv", index=False)
    out = ["-o", tmp_path / "part.sb"]
    assert "no column 'z'" in refused("aggregate", tmp_path / "other.csv", "--prepare", tmp_path / "named.sb", *out)
    message = refused("aggregate", tmp_path / "other.csv", "--prepare", tmp_path / "numbered.sb", *out)
    assert "3 columns with names" in message
    assert "3 columns without names" in message
    np.save(tmp_path / "narrow.npy", frame.iloc[:, :2])
    message = refused("aggregate", tmp_path / "narrow.npy", "--prepare", tmp_path / "numbered.sb", *out)
    assert "2 columns without names" in message
    done("aggregate", tmp_path / "rows.npy", "--prepare", tmp_path / "numbered.sb", *out)


def test_a_column_that_is_empty_in_one_part_is_filled_from_the_others(frame, tmp_path):
    frame.assign(y=np.nan)[:1000].to_parquet(tmp_path / "0.parquet")
    frame[1000:].to_parquet(tmp_path / "1.parquet")
    for number in "01":
        done("prepare", tmp_path / f"{number}.parquet", *CHOICES, "-o", tmp_path / f"prep-{number}.sb")
    alone = ["aggregate", tmp_path / "0.parquet", "--prepare", tmp_path / "prep-0.sb", "-o", tmp_path / "part.sb"]
    assert "column 'y' has no value in any row" in refused(*alone)
    facts = json.loads(done("info", tmp_path / "prep-0.sb", "--json").stdout)
    assert facts["least"][1] is None
    done("prepare", tmp_path / "prep-0.sb", tmp_path / "prep-1.sb", "-o", tmp_path / "prep.sb")
    done("aggregate", tmp_path / "0.parquet", "--prepare", tmp_path / "prep.sb", "-o", tmp_path / "part.sb")


def test_preparations_that_do_not_go_together_are_not_joined(parts, tmp_path):
    for name, options in {"a": CHOICES, "b": ["--missing", "mean"], "c": CHOICES}.items():
        part, columns = (parts[0] if name == "a" else parts[1]), ("x,y" if name == "c" else "x,y,z")
        done("prepare", part, "--columns", columns, *options, "-o", tmp_path / f"{name}.sb")
    a, b, c = (tmp_path / f"{name}.sb" for name in "abc")
    assert "--scale was none, not standard" in refused("prepare", a, b, "-o", tmp_path / "d.sb")
    assert "the columns are x, y, not x, y, z" in refused("prepare", a, c, "-o", tmp_path / "d.sb")
    (tmp_path / "weighted.csv").write_text("x,y,w\n1,2,1\n3,4,2\n")
    done("prepare", tmp_path / "weighted.csv", "--weight-column", "w", *CHOICES, "-o", tmp_path / "w.sb")
    assert "has the weight column 'w' but" in refused("prepare", c, tmp_path / "w.sb", "-o", tmp_path / "d.sb")
    assert "is given twice" in refused("prepare", a, a, "-o", tmp_path / "d.sb")
    done("prepare", a, a, "--allow-overlap", "-o", tmp_path / "d.sb")
    assert SharedPreparation.read(tmp_path / "d.sb").statistics.rows == 1000
    assert "some inputs are preparations" in refused("prepare", a, parts[0], "-o", tmp_path / "e.sb", code=2)
    assert "leave those options out" in refused("prepare", a, b, *CHOICES, "-o", tmp_path / "e.sb", code=2)
    checkpoint = ["--checkpoint", tmp_path / "state.sb"]
    assert "leave --checkpoint out" in refused("prepare", a, b, *checkpoint, "-o", tmp_path / "e.sb", code=2)


def test_other_files_are_no_preparations_and_preparations_no_features(parts, tmp_path):
    done("aggregate", parts[0], "--missing", "drop", "-o", tmp_path / "part.sb")
    done("prepare", parts[0], *CHOICES, "-o", tmp_path / "prep.sb")
    command = ["aggregate", parts[0], "--prepare", tmp_path / "part.sb", "-o", tmp_path / "new.sb"]
    assert "is a file of the kind 'features', not a preparation" in refused(*command)
    for command in (["merge", tmp_path / "prep.sb", "-o", tmp_path / "n.sb"], ["cluster", tmp_path / "prep.sb"]):
        assert "holds a preparation, not features: `aggregate --prepare" in refused(*command)
    with pytest.raises(sb.ModelFileError, match="holds a preparation"):
        sb.load(tmp_path / "prep.sb")
    command = ["aggregate", parts[0], "--prepare", tmp_path / "prep.sb", "--force", "-o", tmp_path / "prep.sb"]
    assert "is an input and would also be the features" in refused(*command)


def test_the_pass_of_prepare_resumes_with_the_same_bits(parts, tmp_path, monkeypatch):
    command = ["prepare", tmp_path / "rows", *CHOICES, "--checkpoint", tmp_path / "state.sb", "--checkpoint-every", 0]
    from silverbirch.pipeline import statistics

    calls = []

    def stopping(rows, weight=None):
        calls.append(len(rows))
        if len(calls) == 5:  # two for each file
            raise KeyboardInterrupt
        return sums(rows, weight)

    sums = statistics.exact_sums
    monkeypatch.setattr(statistics, "exact_sums", stopping)
    assert silverbirch(*command, "-o", tmp_path / "prep.sb").exit_code != 0
    assert json.loads(done("info", tmp_path / "state.sb", "--json").stdout)["rows"] == 1700
    monkeypatch.setattr(statistics, "exact_sums", sums)
    assert "resuming after row 1,700" in done(*command, "-o", tmp_path / "prep.sb").stdout
    done("prepare", tmp_path / "rows", *CHOICES, "-o", tmp_path / "whole.sb")
    assert sums_of(tmp_path / "prep.sb") == sums_of(tmp_path / "whole.sb")


def test_a_checkpoint_of_another_preparation_is_refused(parts, tmp_path):
    for number in "02":
        done("prepare", parts[int(number)], *CHOICES, "-o", tmp_path / f"prep-{number}.sb")
    command = ["cluster", parts[0], "--checkpoint", tmp_path / "state.sb", "--checkpoint-every", 0]
    too_many = [*command, "-k", 100, "--max-leaves", 100, "--prepare"]
    assert "-k 100 but there are" in refused(*too_many, tmp_path / "prep-0.sb")
    assert "belongs to a run with other --prepare" in refused(*too_many, tmp_path / "prep-2.sb")


# --- hostile files


def content(path):
    _, state, arrays = container.read(path)
    return state, arrays


@pytest.mark.parametrize(
    "damage",
    [
        lambda state, arrays: state.pop("run"),
        lambda state, arrays: state.update(run=None),
        lambda state, arrays: state.update(run=[]),
        lambda state, arrays: state["run"].pop("preparation"),
        lambda state, arrays: state["run"].update(columns=["x"]),
        lambda state, arrays: state["run"].update(columns=7),
        lambda state, arrays: state["run"].update(record=None),
        lambda state, arrays: arrays.update({"run.made_of": np.frombuffer(b'[{"name":3}]', np.uint8)}),
        lambda state, arrays: arrays.update({"run.made_of": np.frombuffer(b"[" * 99_999, np.uint8)}),
        lambda state, arrays: arrays.update({"run.made_of": np.frombuffer(b"\xff[]", np.uint8)}),
        lambda state, arrays: arrays.update({"run.made_of": np.ones(3)}),
        lambda state, arrays: (arrays.pop("run.made_of"), state["run"]["record"].update(input=[{"bytes": {}}])),
        lambda state, arrays: state["run"]["preparation"].update(scale="logarithmic"),
        lambda state, arrays: arrays.pop("statistics.sums"),
        lambda state, arrays: arrays.pop("statistics.weight"),
        lambda state, arrays: arrays.update({"statistics.least": arrays["statistics.least"] + 1e50}),
        lambda state, arrays: arrays.update({"statistics.sums": np.pad(arrays["statistics.sums"], ((0, 0), (2, 0)))}),
        lambda state, arrays: arrays.update({"run.fill": np.array([np.nan, 0, 0])}),
    ],
)
def test_a_preparation_with_wrong_content_is_refused_with_one_line(damage, parts, tmp_path):
    done("prepare", parts[0], *CHOICES, "-o", tmp_path / "prep.sb")
    state, arrays = content(tmp_path / "prep.sb")
    damage(state, arrays)
    (tmp_path / "prep.sb").write_bytes(file_of("preparation", state, arrays))
    for command in (
        ["aggregate", parts[0], "--prepare", tmp_path / "prep.sb", "-o", tmp_path / "part.sb"],
        ["prepare", tmp_path / "prep.sb", "-o", tmp_path / "again.sb"],
        ["info", tmp_path / "prep.sb"],
    ):
        message = refused(*command)
        assert "prep.sb does not hold a whole preparation: " in message
        assert message.isprintable()
