"""Labels beside columns of the input, on standard output and in folders; pandas and pyarrow read them back."""

import io
import json
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from commands import done, silverbirch

ROWS = 900


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, 2)) + 30 * random.integers(0, 3, size=(ROWS, 1))
    return pd.DataFrame({
        "id": np.arange(ROWS) * 7,
        "x": X[:, 0],
        "y": X[:, 1],
        "city": [["Bern", "Zürich", 'the "Hague"', "A,B", None][i % 5] for i in range(ROWS)],
        "when": pd.date_range("2026-01-01", periods=ROWS, freq="h", tz="UTC"),
        "tags": [[i, i + 1] for i in range(ROWS)],
    })  # fmt: skip


@pytest.fixture
def table(frame, tmp_path):
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


@pytest.fixture
def model(table, tmp_path):
    done("cluster", table, "-k", 3, "--columns", "x,y", "--model", tmp_path / "run.sb")
    return tmp_path / "run.sb"


def words(text):
    """The text of an error without its frame."""
    return " ".join(text.replace("│", " ").split())


def expected(frame, *columns):
    """The clusters are 30 apart along the diagonal; 0 is the largest."""
    group = (frame["x"] / 30).round().astype(int)
    label = group.map({name: number for number, name in enumerate(group.value_counts().index)})
    return frame[list(columns)].assign(label=label.astype("int64"))


# --- beside columns of the input


@pytest.mark.parametrize("command", ["cluster", "cut"])
def test_kept_columns_of_any_type_stand_between_ids_and_labels(command, frame, table, model, tmp_path):
    start = ["cluster", table, "--columns", "x,y"] if command == "cluster" else ["cut", model, table]
    labels = tmp_path / "labels.parquet"
    done(*start, "-k", 3, "--id-column", "id", "--keep", "when, tags,x,city", "--labels", labels)
    found, source = pq.read_table(labels), pq.read_table(table)
    assert found.column_names == ["id", "when", "tags", "x", "city", "label"]
    for name in found.column_names[:-1]:
        assert found[name].type == source[name].type
        assert found[name].to_pylist() == source[name].to_pylist()
    assert found["label"].to_pylist() == expected(frame)["label"].tolist()


def test_kept_columns_are_not_clustered_unless_they_are_chosen(table, tmp_path):
    labels = ["--labels", tmp_path / "l.csv", "-k", 3, "--force"]
    kept = done("cluster", table, "--keep", "id,city,when,tags", "--labels", tmp_path / "l.parquet", "-k", 3)
    assert "columns   x, y\n" in kept.stdout
    both = done("cluster", table, "--columns", "x,y", "--keep", "y", *labels)
    assert "columns   x, y\n" in both.stdout
    assert pd.read_csv(tmp_path / "l.csv").columns.tolist() == ["y", "label"]


def test_kept_columns_of_csv_are_written_as_they_were_read(frame, tmp_path):
    texts = frame[["city", "x", "y"]].assign(code=[f"{i:04}" for i in range(ROWS)])
    texts.to_csv(tmp_path / "rows.csv", index=False)
    done("cluster", tmp_path / "rows.csv", "-k", 3, "--columns", "x,y", "--keep", "code,city",
         "--labels", tmp_path / "l.csv")  # fmt: skip
    found = pd.read_csv(tmp_path / "l.csv", dtype={"code": str})
    pd.testing.assert_frame_equal(found, expected(texts, "code", "city"))


@pytest.mark.parametrize(
    ("labels", "keep", "code", "message"),
    [
        ("l.npy", "city", 2, "cannot write 'city' beside the labels: .npy holds labels only; write .parquet or .csv"),
        ("l.csv", "tags", 1, "column 'tags' holds list<element: int64>, which has no text: write labels as .parquet"),
        ("l.tsv.gz", "city,tags", 1, "column 'tags' holds list"),
        ("l.csv", "town", 1, "has no column 'town'"),
        ("l.csv", "city,city", 1, "names 'city' twice"),
        (None, "city", 2, "add --labels"),
    ],
)
@pytest.mark.parametrize("command", ["cluster", "cut"])
def test_columns_that_cannot_be_kept_are_refused_before_any_work(
    command, labels, keep, code, message, table, model, tmp_path
):
    start = ["cluster", table, "--columns", "x,y"] if command == "cluster" else ["cut", model]
    target = [] if labels is None else [*([table] if command == "cut" else []), "--labels", tmp_path / labels]
    outputs = ["--model", tmp_path / "new.sb"]
    result = silverbirch(*start, "-k", 3, *target, "--keep", keep, *outputs)
    assert result.exit_code == code
    assert message in words(result.stderr)
    assert {path.name for path in tmp_path.iterdir()} == {"rows.parquet", "run.sb"}


def test_a_column_called_label_is_not_kept(frame, tmp_path):
    frame[["x", "y"]].assign(label=0).to_parquet(tmp_path / "rows.parquet")
    result = silverbirch("cluster", tmp_path / "rows.parquet", "-k", 3, "--columns", "x,y", "--keep", "label",
                         "--labels", tmp_path / "l.csv")  # fmt: skip
    assert result.exit_code == 2
    assert "called 'label', as they are: rename it, or leave it out" in words(result.stderr)


def test_features_have_no_columns_to_keep(model, tmp_path):
    result = silverbirch("cut", model, "-k", 2, "--keep", "city", "--labels", tmp_path / "l.csv")
    assert result.exit_code == 2
    assert "no rows are given" in result.stderr


# --- standard output


@pytest.mark.parametrize(("options", "separator"), [([], ","), (["--labels-format", "tsv"], "\t")])
def test_labels_go_to_standard_output_and_the_summary_to_stderr(options, separator, frame, table, model):
    result = done("cut", model, table, "-k", 3, "--keep", "id,city", "--labels", "-", *options)
    found = pd.read_csv(io.StringIO(result.stdout), sep=separator)
    pd.testing.assert_frame_equal(found, expected(frame, "id", "city"))
    assert "clusters  3, of" in result.stderr
    assert "written   standard output\n" in result.stderr


def test_without_rows_the_labels_of_the_features_go_to_standard_output(model):
    result = done("cut", model, "-k", 3, "--labels", "-", "--quiet")
    assert len(pd.read_csv(io.StringIO(result.stdout))) == ROWS
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--json"], 2, "both write to standard output"),
        (["--labels-format", "parquet"], 2, "standard output takes labels as csv or tsv, not as parquet"),
        (["--labels-format", "txt"], 2, "is not one of"),
    ],
)
def test_what_standard_output_cannot_take_is_refused(options, code, message, table, model):
    result = silverbirch("cut", model, table, "-k", 3, "--labels", "-", *options)
    assert result.exit_code == code
    assert message in words(result.stderr)
    assert result.stdout == ""


def test_a_closed_pipe_ends_the_command_quietly(tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(300_000, 1)))
    command = [sys.executable, "-m", "silverbirch", "cluster", tmp_path / "rows.npy", "-k", "3", "--max-leaves", "50",
               "--labels", "-", "--quiet", "--model", tmp_path / "run.sb"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"label\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == -signal.SIGPIPE
    assert silverbirch("info", tmp_path / "run.sb").exit_code == 0


# --- folders


@pytest.fixture
def months(frame, tmp_path):
    """The rows as a folder that is partitioned by month; one file has no rows."""
    for month, part in zip(("01", "02", "03"), np.array_split(np.arange(ROWS), 3), strict=True):
        file = tmp_path / "months" / f"month={month}" / "part-0.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pandas(frame.iloc[part], preserve_index=False), file)
    empty = tmp_path / "months" / "month=00" / "part-0.parquet"
    empty.parent.mkdir()
    pq.write_table(pa.Table.from_pandas(frame[:0], preserve_index=False).cast(pq.read_schema(file)), empty)
    return tmp_path / "months"


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
@pytest.mark.parametrize("command", ["cluster", "cut"])
def test_a_folder_of_labels_has_the_partitions_of_the_input(command, form, frame, months, model, tmp_path):
    start = ["cluster", months, "--columns", "x,y"] if command == "cluster" else ["cut", model, months]
    options = [] if form == "parquet" else ["--labels-format", form]
    result = done(*start, "-k", 3, "--keep", "id,city", "--labels", f"{tmp_path}/labels/", *options)
    assert f"written   {tmp_path}/labels/\n" in result.stdout
    files = {str(path.relative_to(tmp_path / "labels")) for path in (tmp_path / "labels").rglob("*") if path.is_file()}
    assert files == {f"month=0{number}/part-0.{form}" for number in range(4)}
    # An empty CSV file has no types, so the reader is told.
    schema = pa.schema({"id": "int64", "city": "string", "label": "int64", "month": "int32"}) if form == "csv" else None
    found = ds.dataset(tmp_path / "labels", schema, format=form, partitioning="hive").to_table().to_pandas()
    by_id = found.sort_values("id").reset_index(drop=True)
    assert by_id["month"].tolist() == [1] * 300 + [2] * 300 + [3] * 300
    assert by_id["label"].tolist() == expected(frame)["label"].tolist()


def test_a_folder_of_labels_holds_the_rows_of_one_file(months, model, tmp_path):
    done("cut", model, months, "-k", 3, "--keep", "id", "--labels", f"{tmp_path}/folder/")
    done("cut", model, months, "-k", 3, "--keep", "id", "--labels", tmp_path / "file.parquet")
    parts = [pq.ParquetFile(path).read() for path in sorted((tmp_path / "folder").rglob("*.parquet"))]
    assert pa.concat_tables(parts).equals(pq.read_table(tmp_path / "file.parquet"))


@pytest.mark.parametrize(
    ("inputs", "places"),
    [
        (["months"], {"month=01/part-0", "month=02/part-0", "month=03/part-0", "month=00/part-0"}),
        (["months/*1/*.parquet", "months/month=02"], {"month=01/part-0", "part-0"}),
        (["months/month=01/part-0.parquet", "rows.parquet"], {"part-0", "rows"}),
        (["month*/month=01"], {"months/month=01/part-0"}),
    ],
)
def test_a_label_file_lies_where_its_input_lies_below_what_was_given(inputs, places, months, model, tmp_path):
    (tmp_path / "out").mkdir()
    done("cut", model, *(tmp_path / name for name in inputs), "-k", 3, "--labels", tmp_path / "out")
    found = {path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*.parquet")}
    assert {str(path.with_suffix("")) for path in found} == places


@pytest.mark.parametrize(
    ("inputs", "options", "message"),
    [
        (["months/month=01", "months/month=02"], [], "would both be"),
        (["months/month=01", "months/month=01"], [], "would both be"),
        (["months"], ["--labels-format", "npy", "--keep", "id"], ".npy holds labels only"),
        (["months"], ["--keep", "month"], "column 'month' is in the names of the folders"),
        ([], [], "there is none: name a file"),
    ],
)
def test_a_folder_that_cannot_be_written_is_refused_before_any_work(inputs, options, message, months, model, tmp_path):
    paths = [tmp_path / name for name in inputs]
    result = silverbirch("cut", model, *paths, "-k", 3, "--labels", f"{tmp_path}/out/", *options)
    assert result.exit_code == (2 if "npy" in options else 1)
    assert message in words(result.stderr)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_labels_lies_outside_of_the_input(months, model):
    command = ["cut", model, months, "-k", 3, "--force", "--labels"]
    within = silverbirch(*command, f"{months}/labels/")
    assert within.exit_code == 1
    assert "would be read as input next time" in within.stderr
    same = silverbirch(*command, f"{months}/")
    assert same.exit_code == 1
    assert "is an input and would also be the labels" in same.stderr


def test_labels_of_standard_input_go_to_standard_output_but_not_to_a_folder(tmp_path):
    def labels_to(target):
        command = [sys.executable, "-m", "silverbirch", "cluster", "-", "--format", "csv", "-k", "1", "--columns", "x",
                   "--keep", "name", "--labels", target]  # fmt: skip
        return subprocess.run(command, cwd=tmp_path, input=b"x,name\n1,a\n2,b\n", capture_output=True)

    assert labels_to("-").stdout == b"name,label\na,0\nb,0\n"
    refused = labels_to("labels/")
    assert refused.returncode == 1
    assert b"no place in a folder" in refused.stderr


def test_existing_label_files_are_overwritten_by_force_only(months, model, tmp_path):
    old = tmp_path / "out" / "month=02" / "part-0.parquet"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    command = ["cut", model, months, "-k", 3, "--labels", tmp_path / "out"]
    refused = silverbirch(*command)
    assert refused.exit_code == 1
    assert f"{old} exists" in refused.stderr
    assert list((tmp_path / "out").iterdir()) == [old.parent]
    done(*command, "--force")
    assert pq.read_table(old).num_rows == 300


def test_a_file_in_place_of_a_folder_is_refused(months, model, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "month=01").write_text("a file")
    result = silverbirch("cut", model, months, "-k", 3, "--labels", tmp_path / "out")
    assert result.exit_code == 1
    assert "is a file, not a folder" in result.stderr


def test_the_name_of_a_file_decides_its_format(table, model, tmp_path):
    result = silverbirch("cut", model, table, "-k", 3, "--labels", tmp_path / "l.csv", "--labels-format", "tsv")
    assert result.exit_code == 2
    assert "is for folders and standard output" in words(result.stderr)


# --- what `cut` takes and records


def test_a_cut_stays_within_its_memory_or_is_refused_with_what_it_needs(tmp_path):
    X = np.random.default_rng(0).normal(size=(100_000, 16))
    pd.DataFrame(X, columns=[f"x{i}" for i in range(16)]).to_parquet(tmp_path / "rows.parquet")
    done("cluster", tmp_path / "rows.parquet", "--max-leaves", 8000, "--model", tmp_path / "run.sb")
    command = ["cut", tmp_path / "run.sb", tmp_path / "rows.parquet", "-k", 9, "--labels", tmp_path / "l.parquet"]
    refused = silverbirch(*command, "--max-memory", "100MB")
    assert refused.exit_code == 1
    needed = re.search(r"--max-memory 100MB: to label these rows takes at least (\d+) MB; allow more", refused.stderr)
    limit = int(needed[1]) + 1
    record = tmp_path / "cut.json"
    words = [*command, "--max-memory", f"{limit}MB", "--record", record, "--quiet"]
    subprocess.run([sys.executable, "-m", "silverbirch", *map(str, words)], check=True)  # its own peak
    assert json.loads(record.read_text())["peak_memory_bytes"] <= limit * 1_000_000


def test_the_record_of_a_cut_has_counts_and_outputs(table, model, tmp_path):
    labels = tmp_path / "l.csv"
    done("cut", model, table, "-k", 3, "--labels", labels, "--record", tmp_path / "cut.json")
    record = json.loads((tmp_path / "cut.json").read_text())
    assert record["command"] == "cut"
    assert record["counts"]["labelled"] == ROWS
    assert record["outputs"] == {"labels": str(labels), "record": str(tmp_path / "cut.json")}
    assert "label" in record["seconds"]
