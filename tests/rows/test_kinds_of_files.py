"""Every kind of file in the table of docs/input.md does what the table says: one check for each row."""

import bz2
import contextlib
import errno
import gzip
import io
import json
import lzma
import os
import pty
import re
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import silverbirch as sb
from tables import all_rows

PAGE = Path(__file__).parents[2] / "docs" / "input.md"
X = np.array([[1.5, -2.0], [3.25, 4.0], [0.1, 1e300]])
TABLE = pd.DataFrame(X, columns=["x", "y"])
TEXT = TABLE.to_csv(index=False)

CHECKS = {}


def kind(name):
    def add(check):
        assert name not in CHECKS
        CHECKS[name] = check
        return check

    return add


def kinds_in_the_docs():
    table = PAGE.read_text(encoding="utf-8").partition("## What files look like")[2].partition("\n## ")[0]
    return [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines() if line.startswith("| ")][1:]


def test_every_row_of_the_table_has_a_check_and_every_check_a_row():
    rows = kinds_in_the_docs()
    assert len(rows) == len(set(rows))
    assert sorted(rows) == sorted(CHECKS)


@pytest.mark.parametrize("name", kinds_in_the_docs())
def test_a_kind_of_file_does_what_the_table_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CHECKS[name]()


# -- what the checks share


def written(name, content):
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def rows_of(name, content=None, **options):
    if content is not None:
        written(name, content)
    return all_rows(sb.read_chunks(name, **options))


def reads_x(name, content=None, **options):
    np.testing.assert_array_equal(rows_of(name, content, **options), X)


def refuses(message, name, content=None, error=ValueError, **options):
    with pytest.raises(error, match=message) as caught:
        rows_of(name, content, **options)
    assert "\n" not in str(caught.value)


def json_lines(table=TABLE):
    return table.to_json(orient="records", lines=True, double_precision=15)


# -- formats


@kind("`.parquet`, `.pq`")
def _():
    for name in ("rows.parquet", "rows.pq"):
        TABLE.to_parquet(name)
        reads_x(name)


@kind("`.arrow`, `.feather`, `.ipc`")
def _():
    for name in ("rows.arrow", "rows.feather", "rows.ipc"):
        feather.write_feather(TABLE, name)
        reads_x(name)


def write_stream(name):
    with pa.ipc.new_stream(name, pa.Schema.from_pandas(TABLE)) as writer:
        writer.write_table(pa.Table.from_pandas(TABLE))


@kind("`.arrows`")
def _():
    write_stream("rows.arrows")
    reads_x("rows.arrows")


@kind("an Arrow stream whose name ends in `.arrow`")
def _():
    write_stream("rows.arrow")
    refuses("rows.arrow is an Arrow stream.*format='arrows'", "rows.arrow")
    reads_x("rows.arrow", format="arrows")


@kind("`.csv`, `.tsv`")
def _():
    reads_x("rows.csv", TEXT)
    reads_x("rows.tsv", TEXT.replace(",", "\t"))
    assert sb.read_chunks("rows.tsv").names == ("x", "y")


@kind("`.jsonl`, `.ndjson`")
def _():
    lines = "".join(json.dumps(row) + "\n" for row in TABLE.to_dict("records"))
    for name in ("rows.jsonl", "rows.ndjson"):
        reads_x(name, lines)
    assert sb.read_chunks("rows.jsonl").names == ("x", "y")


@kind("`.npy`")
def _():
    np.save("rows.npy", X)
    reads_x("rows.npy")
    assert sb.read_chunks("rows.npy").names is None
    np.testing.assert_array_equal(rows_of("rows.npy", columns=[1]), X[:, [1]])


@kind("`.npz` with one array")
def _():
    for save in (np.savez, np.savez_compressed):
        for array in (X, np.asfortranarray(X)):
            save("rows.npz", array)
            reads_x("rows.npz")


@kind("`.npz` with several arrays")
def _():
    np.savez("rows.npz", first=X, second=X)
    refuses(r"rows.npz holds 2 arrays \(first, second\).*np.save\('first.npy'", "rows.npz")


@kind("`.csv`, `.tsv`, `.jsonl`, `.ndjson` with `.gz`, `.zst`, `.bz2`, `.xz`")
def _():
    zstd = pa.Codec("zstd")
    for end, packed in {
        ".gz": gzip.compress,
        ".zst": lambda data: zstd.compress(data, asbytes=True),
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
    }.items():
        reads_x(f"rows.csv{end}", packed(TEXT.encode()))
        reads_x(f"rows.tsv{end}", packed(TEXT.replace(",", "\t").encode()))
        lines = "".join(json.dumps(row) + "\n" for row in TABLE.to_dict("records"))
        reads_x(f"rows.jsonl{end}", packed(lines.encode()))
        reads_x(f"rows.ndjson{end}", packed(lines.encode()))


@kind("compressed text whose name does not say so")
def _():
    for pack in (gzip, bz2, lzma):
        reads_x("rows.csv", pack.compress(TEXT.encode()))


@kind("`.xlsx`, `.xls`, `.ods` (Excel and others)")
def _():
    for name in ("rows.xlsx", "rows.xls", "rows.ods"):
        refuses(rf"pandas.read_excel\('{name}'\).to_parquet\('rows.parquet'\)", name, b"PK")


@kind("`.json`, `.pkl`, `.h5`, `.sas7bdat`, `.dta`, `.sav`, `.orc`")
def _():
    readers = {"json": "json", "pkl": "pickle", "h5": "hdf", "sas7bdat": "sas", "dta": "stata", "sav": "spss"}
    for suffix, reader in (readers | {"orc": "orc"}).items():
        assert hasattr(pd, f"read_{reader}")
        refuses(rf"pandas.read_{reader}\('rows.{suffix}'\).to_parquet", f"rows.{suffix}", b"x")


@kind("`.zip`, `.tar`, `.7z`")
def _():
    for name in ("rows.zip", "rows.tar", "rows.7z"):
        refuses(f"{name} is an archive of files: unpack it first", name, b"x")


@kind("another suffix, or none (`.txt`, `.dat`)")
def _():
    for name in ("rows.txt", "rows.dat", "rows"):
        refuses(f"{name} has a suffix that is not known.*format='csv'", name, TEXT)
        reads_x(name, format="csv")


# -- folders and streams


@kind("a folder")
def _():
    Path("folder/b").mkdir(parents=True)
    TABLE[1:].to_parquet("folder/b/1.parquet", index=False)
    written("folder/a.csv", TABLE[:1].to_csv(index=False))
    written("folder/notes.txt", "nothing")
    reads_x("folder")


@kind("a pattern")
def _():
    written("2.csv", TABLE[1:].to_csv(index=False))
    written("1.csv", TABLE[:1].to_csv(index=False))
    reads_x("*.csv")


@kind("a folder of no readable files")
def _():
    Path("folder").mkdir()
    refuses(r"folder: there are no files .* can be read \(.parquet", "folder", error=FileNotFoundError)


@kind("a file that does not exist")
def _():
    refuses("nowhere.csv: there is no such file", "nowhere.csv", error=FileNotFoundError)


@contextlib.contextmanager
def standard_input(content):
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(content))
    try:
        yield
    finally:
        sys.stdin = before


@kind("standard input (`-`)")
def _():
    with standard_input(TEXT.encode()):
        refuses("- is the standard input.*format='csv'", "-")
        reads_x("-", format="csv")
    np.save("rows.npy", X)
    with standard_input(Path("rows.npy").read_bytes()):
        source = sb.read_chunks("-", format="npy")
    np.testing.assert_array_equal(all_rows(source), X)
    np.testing.assert_array_equal(all_rows(source), X)
    assert source.fingerprint()[0]["name"] == "-"


@kind("a pipe, process substitution")
def _():
    os.mkfifo("rows.csv")
    writer = threading.Thread(target=Path("rows.csv").write_bytes, args=(TEXT.encode(),))
    writer.start()
    reads_x("rows.csv")
    writer.join()
    reading, writing = os.pipe()
    os.write(writing, TEXT.encode())
    os.close(writing)
    reads_x(f"/dev/fd/{reading}", format="csv")
    os.close(reading)


@kind("a terminal as standard input")
def _():
    terminal, its_end = pty.openpty()
    before = sys.stdin
    with os.fdopen(its_end) as sys.stdin:
        try:
            refuses("is a terminal: name a file, or pipe rows", "-", format="csv")
        finally:
            sys.stdin = before
    os.close(terminal)


@kind("the standard input twice")
def _():
    with pytest.raises(ValueError, match="- is given twice"):
        sb.read_chunks(["-", "-"], format="csv")


@kind("a stream larger than the disk")
def _():
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.MonkeyPatch.context() as patch, standard_input(TEXT.encode()):
        patch.setattr("silverbirch.rows.input_file.TemporaryCopy", lambda: type("Copy", (), {"file": Full()}))
        refuses("No space left on device: let TMPDIR name a folder", "-", error=OSError, format="csv")


# -- CSV


@kind("values separated by commas, semicolons, tabs or bars")
def _():
    for separator in ",;\t|":
        for name in ("rows.csv", "rows.tsv"):
            reads_x(name, TEXT.replace(",", separator))


@kind("columns aligned by spaces")
def _():
    reads_x("rows.csv", TABLE.to_string(index=False, float_format=lambda value: repr(float(value))))
    refuses("'first name' \\(text such as 'Ada Lovelace'\\)", "rows.csv", "first name\nAda Lovelace\nGrace Hopper\n")


@kind("another separator")
def _():
    refuses("'x:y'", "rows.csv", TEXT.replace(",", ":"))
    reads_x("rows.csv", separator=":")


@kind("a decimal comma")
def _():
    text = TABLE.to_csv(index=False, sep=";", decimal=",")
    refuses("column 'x' holds '1,5'.*decimal=','", "rows.csv", text)
    reads_x("rows.csv", decimal=",")


@kind("quoted values with separators and line breaks in them")
def _():
    written("rows.csv", 'x,"y,\nz"\n"1.5","a,\nb ""c"""\n')
    (chunk,) = sb.read_chunks("rows.csv", id_column="y,\nz").chunks(with_ids=True)
    assert (chunk.rows.tolist(), chunk.ids.to_pylist()) == ([[1.5]], ['a,\nb "c"'])


@kind("a first line of numbers")
def _():
    refuses("begins with numbers.*header=False", "rows.csv", TABLE.to_csv(index=False, header=False))
    reads_x("rows.csv", header=False)
    np.testing.assert_array_equal(rows_of("rows.csv", header=False, columns=[1]), X[:, [1]])


@kind("the names `0,1,2,…`")
def _():
    reads_x("rows.csv", pd.DataFrame(X).to_csv(index=False))


@kind("UTF-8, UTF-16 with a byte order mark")
def _():
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        reads_x("rows.csv", TEXT.replace("x", "größe").encode(encoding))
        assert sb.read_chunks("rows.csv").names == ("größe", "y")


@kind("another encoding")
def _():
    for text in (TEXT.replace("x", "größe"), "größe,y\n1,2\n"):
        refuses("is not in UTF-8.*encoding='latin-1'", "rows.csv", text.encode("latin-1"))
        assert sb.read_chunks("rows.csv", encoding="latin-1").names == ("größe", "y")
    written("rows.csv", "x,name\n1,Zoë\n".encode("latin-1"))
    with pytest.raises(ValueError, match="is not in UTF-8"):
        list(sb.read_chunks("rows.csv", id_column="name").chunks(with_ids=True))


@kind("UTF-16 without a byte order mark")
def _():
    refuses("holds zero bytes.*encoding='utf-16-le'", "rows.csv", TEXT.encode("utf-16-le"))
    reads_x("rows.csv", encoding="utf-16-le")


@kind("comment lines")
def _():
    commented = "# made by hand\n" + TEXT.replace("\n", "\n# 1,2\n")
    refuses("comment", "rows.csv", commented)
    reads_x("rows.csv", comment="#")


@kind("spaces around names and values")
def _():
    reads_x("rows.csv", TEXT.replace(",", "  , ").replace("\n", " \n "))
    assert sb.read_chunks("rows.csv").names == ("x", "y")
    np.testing.assert_array_equal(rows_of("rows.csv", "x, y\n1, NA\n2, \n"), [[1, np.nan], [2, np.nan]])


@kind("empty lines")
def _():
    reads_x("rows.csv", TEXT.replace("\n", "\n\n"))
    np.testing.assert_array_equal(rows_of("rows.csv", "x\n1\n\n2\n"), [[1], [np.nan], [2]])


@kind("Windows and Unix line ends")
def _():
    reads_x("rows.csv", TEXT)
    reads_x("rows.csv", TEXT.replace("\n", "\r\n"))


@kind("a line of too many or too few values")
def _():
    for line in ("1,2,3", "1"):
        refuses("rows.csv, line 5 has . values?, but 2 came before", "rows.csv", TEXT + line)


@kind("text far down in a column of numbers")
def _():
    refuses("line 400002: column 'x' holds 'one'", "rows.csv", "x,y\n" + "1,2\n" * 400_000 + "one,2\n")


@kind("empty fields, `NA`, `NaN`, `null`")
def _():
    rows = rows_of("rows.csv", "x,y\n,1\nNA,1\nNaN,1\nnull,1\n2,1\n")
    np.testing.assert_array_equal(rows[:, 0], [np.nan, np.nan, np.nan, np.nan, 2])


@kind("`true`, `false`")
def _():
    assert rows_of("rows.csv", "x,y\ntrue,1\nfalse,2\n").tolist() == [[1, 1], [0, 2]]


@kind("whole numbers that go on as fractions")
def _():
    text = "".join(f'{{"x": {value}}}\n' for value in [1] * 200_000 + [1.5])
    assert rows_of("rows.jsonl", text)[-1] == 1.5
    assert rows_of("rows.csv", "x\n" + "1\n" * 600_000 + "1.5\n")[-1] == 1.5


@kind("numbers of many digits")
def _():
    digits = [
        "0.1000000000000000055511151231257827021181583404541015625",
        "9007199254740993",
        "2.2250738585072011e-308",
    ]
    expected = [float(Fraction(text)) for text in digits]
    assert rows_of("rows.csv", "x\n" + "\n".join(digits)).ravel().tolist() == expected
    with_comma = "x;y\n" + "".join(f"{text.replace('.', ',')};1\n" for text in digits)
    assert rows_of("rows.csv", with_comma, decimal=",")[:, 0].tolist() == expected
    assert rows_of("rows.jsonl", "".join(f'{{"x": {text}}}\n' for text in digits)).ravel().tolist() == expected


# -- columns


@kind("integers, float16, float32, float64")
def _():
    for dtype in ("i1", "u8", "f2", "f4", "f8"):
        values = np.array([1, 2, 3], dtype)
        pq.write_table(pa.table({"x": values}), "rows.parquet")
        rows = rows_of("rows.parquet")
        assert rows.dtype == (np.float32 if dtype in ("f2", "f4") else np.float64)
        np.testing.assert_array_equal(rows[:, 0], values)


@kind("booleans")
def _():
    pq.write_table(pa.table({"x": [True, False, None]}), "rows.parquet")
    np.testing.assert_array_equal(rows_of("rows.parquet").ravel(), [1, 0, np.nan])
    assert rows_of("rows.jsonl", '{"x": true}\n{"x": false}\n').ravel().tolist() == [1, 0]


@kind("decimals")
def _():
    pq.write_table(pa.table({"x": [Decimal("0.1"), Decimal("123456.789")]}), "rows.parquet")
    assert rows_of("rows.parquet").ravel().tolist() == [0.1, 123456.789]


@kind("dates, timestamps, times of day, durations")
def _():
    seconds = {"date": 86_400, "stamp": 1.5, "time": 90, "duration": 0.25}
    table = {
        "date": pa.array([1], pa.int32()).cast(pa.date32()),
        "stamp": pa.array([1_500_000], pa.timestamp("us")),
        "time": pa.array([90_000], pa.int32()).cast(pa.time32("ms")),
        "duration": pa.array([250], pa.duration("ms")),
    }
    pq.write_table(pa.table(table), "rows.parquet")
    refuses(r"not numbers: 'date' \(date32.*times=True", "rows.parquet")
    assert rows_of("rows.parquet", times=True).tolist() == [list(seconds.values())]
    assert rows_of("rows.csv", "t,s\n1970-01-02,00:01:30\n", times=True).tolist() == [[86_400, 90]]
    refuses(r"not numbers: 't' \(timestamp\).*times=True", "rows.jsonl", '{"t": "1970-01-01T00:00:01.5Z"}\n')
    assert rows_of("rows.jsonl", times=True).tolist() == [[1.5]]


@kind("dictionaries (categories) of numbers")
def _():
    pq.write_table(pa.table({"x": pa.array([1.5, 2.5, 1.5]).dictionary_encode()}), "rows.parquet")
    assert rows_of("rows.parquet").ravel().tolist() == [1.5, 2.5, 1.5]


@kind("dictionaries (categories) of text")
def _():
    pq.write_table(pa.table({"x": [1.0], "c": pa.array(["a"]).dictionary_encode()}), "rows.parquet")
    refuses(r"not numbers: 'c' \(.*get_dummies", "rows.parquet")


@kind("a column of weights")
def _():
    written("rows.csv", "x,w\n1,2\n5,1.5\n")
    source = sb.read_chunks("rows.csv", weight_column="w")
    assert source.names == ("x",)
    assert sb.CFTree().insert(source).n_points == 3.5


@kind("folders `year=2024` right above a file (Hive)")
def _():
    Path("rows/year=2024").mkdir(parents=True)
    written("rows/year=2024/a.csv", "x\n1\n2\n")
    assert sb.read_chunks("rows").names == ("x", "year")
    assert rows_of("rows").tolist() == [[1, 2024], [2, 2024]]


@kind("lists of numbers of equal lengths")
def _():
    lists = X.tolist()
    pq.write_table(pa.table({"e": lists}), "rows.parquet")
    reads_x("rows.parquet")
    reads_x("rows.jsonl", "".join(json.dumps({"e": one}) + "\n" for one in lists))
    assert sb.read_chunks("rows.jsonl").names == sb.read_chunks("rows.parquet").names == ("e[0]", "e[1]")


@kind("lists of different lengths")
def _():
    pq.write_table(pa.table({"e": [[1.0, 2.0], [3.0]]}), "rows.parquet")
    refuses("row 1 of rows.parquet, column 'e' has a list of 1 numbers", "rows.parquet")
    refuses("row 1 of rows.jsonl, column 'e' has a list of 1 numbers", "rows.jsonl", '{"e":[1,2]}\n{"e":[3]}\n')


@kind("nested objects, structs")
def _():
    pq.write_table(pa.table({"x": [1.0], "s": [{"a": 1}]}), "rows.parquet")
    refuses(r"not numbers: 's' \(struct", "rows.parquet")
    refuses(r"not numbers: 's' \(object\)", "rows.jsonl", '{"x": 1, "s": {"a": 1}}\n')
    assert rows_of("rows.jsonl", columns="x").tolist() == [[1]]


@kind("keys that some objects do not have")
def _():
    rows = rows_of("rows.jsonl", '{"x": 1}\n{"y": 2}\n{}\n')
    np.testing.assert_array_equal(rows, [[1, np.nan], [np.nan, 2], [np.nan, np.nan]])


@kind("text")
def _():
    for name, content in {"rows.csv": "x,t\n1,a\n", "rows.jsonl": '{"x": 1, "t": "a"}\n'}.items():
        refuses(r"not numbers: 't' \(.*numeric_only=True", name, content)
        assert rows_of(name, numeric_only=True).tolist() == [[1]]


@kind("row numbers that pandas wrote")
def _():
    refuses("looks like the row numbers of pandas", "rows.csv", TABLE.to_csv())
    TABLE.set_index(np.array([2, 0, 1])).to_parquet("rows.parquet")
    refuses("looks like the row numbers of pandas", "rows.parquet")


@kind("two columns of the same name")
def _():
    refuses("several columns named 'x'", "rows.csv", "x,x\n1,2\n")
    refuses("several columns named 'x'", "rows.csv", "x, x \n1,2\n")


@kind("nulls")
def _():
    pq.write_table(pa.table({"x": [1.0, None]}), "rows.parquet")
    np.testing.assert_array_equal(rows_of("rows.parquet").ravel(), [1, np.nan])
    np.testing.assert_array_equal(rows_of("rows.jsonl", '{"x": 1}\n{"x": null}\n').ravel(), [1, np.nan])


@kind("missing and infinite values")
def _():
    for text in ("", "inf", "-1e999"):
        written("rows.csv", f"x,y\n1,2\n3,{text}\n")
        with pytest.raises(ValueError, match=r"row 1 of rows.csv, column 'y' is (nan|-?inf)"):
            sb.CFTree().insert("rows.csv")


# -- broken files

FORMATS = ["rows.parquet", "rows.arrow", "rows.arrows", "rows.csv.gz", "rows.jsonl.xz", "rows.npy", "rows.npz"]
TEXT_FORMATS = ["rows.csv", "rows.tsv", "rows.jsonl"]


def write_any(name, rows=X):
    table = pd.DataFrame(rows, columns=["x", "y"])
    if name.endswith(".npy"):
        np.save(name, rows)
    elif name.endswith(".npz"):
        np.savez_compressed(name, rows)
    elif name.endswith(".arrows"):
        write_stream(name)
    elif ".jsonl" in name:
        text = json_lines(table).encode()
        written(name, lzma.compress(text) if name.endswith(".xz") else text)
    elif ".csv" in name or ".tsv" in name:
        table.to_csv(name, index=False)
    else:
        getattr(table, f"to_{'parquet' if name.endswith('.parquet') else 'feather'}")(name)
    return Path(name).read_bytes()


@kind("an empty file")
def _():
    for name in FORMATS + TEXT_FORMATS:
        refuses(name, name, b"")


@kind("a file without rows")
def _():
    for name in ("rows.parquet", "rows.arrow", "rows.csv", "rows.npy", "rows.npz"):
        write_any(name, X[:0])
        refuses(f"{name} has no rows: at least one is needed", name)
    refuses("rows.jsonl has no rows", "rows.jsonl", "\n\n")


@kind("a file cut short")
def _():
    for name in FORMATS:
        data = write_any(name)
        for length in (len(data) - 1, len(data) // 2):
            refuses(re.escape(name), name, data[:length])
    refuses("row 1 of rows.jsonl is not JSON: Invalid value; is it complete", "rows.jsonl", '{"x": 1}\n{"x": ')
    refuses("line 3 has 1 values", "rows.csv", "x,y\n1,2\n3")
    assert rows_of("rows.csv", "x,y\n1,2\n").tolist() == [[1, 2]]


@kind("a file that is not what its name says")
def _():
    for name in FORMATS + TEXT_FORMATS:
        refuses(re.escape(name), name, b"\x00\xff" * 5000)


@kind("a file that is written while it is read")
def _():
    written("rows.csv", TEXT)
    source = sb.read_chunks("rows.csv")
    written("rows.csv", TEXT + TEXT.partition("\n")[2])
    with pytest.raises(ValueError, match=r"rows.csv was changed while it was read"):
        all_rows(source)


@kind("files with different columns")
def _():
    written("a.csv", "x,y\n1,2\n")
    written("b.csv", "x,z\n3,4\n")
    refuses("b.csv has no column 'y', which a.csv has", "*.csv")
    assert rows_of("*.csv", columns="x").tolist() == [[1], [3]]


@kind("files with names and files without")
def _():
    written("a.csv", TEXT)
    np.save("b.npy", X)
    with pytest.raises(ValueError, match=r"b.npy has columns without names but a.csv has names"):
        sb.read_chunks(["a.csv", "b.npy"])
    written("c.csv", TABLE.to_csv(index=False, header=False))
    assert len(all_rows(sb.read_chunks(["b.npy", "c.csv"], header=False))) == 2 * len(X)
