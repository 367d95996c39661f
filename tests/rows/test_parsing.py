"""What the user says about files of text, and what is found: the same numbers as pandas reads, to the last bit."""

import csv
import io
import itertools
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import silverbirch as sb
from silverbirch.rows import Position
from silverbirch.rows.formats import dialect
from silverbirch.rows.formats.text import ConvertedStream
from tables import all_rows

NAMES = st.text(st.characters(categories=("L", "N", "Zs")), max_size=6)
NUMBERS = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53), 2**53).map(float))
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1", "cp1252"])


def said(encoding):
    """What has to be said of an encoding: a byte order mark says it as well."""
    return None if encoding in ("utf-8", "utf-8-sig", "utf-16") else encoding


@st.composite
def files(draw):
    rows = draw(st.integers(1, 12))
    columns = draw(st.integers(2, 4))
    values = np.array(draw(st.lists(NUMBERS, min_size=rows * columns, max_size=rows * columns))).reshape(rows, -1)
    missing = draw(st.sets(st.integers(0, rows * columns - 1), max_size=5))
    values.ravel()[np.array(sorted(missing), dtype=int)] = np.nan
    names = [f"n{number}{draw(NAMES)}" for number in range(columns)]
    written = {
        "sep": draw(st.sampled_from(",;\t|")),
        "decimal": draw(st.sampled_from(".,")),
        "header": draw(st.booleans()),
        "encoding": draw(ENCODINGS),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "lineterminator": draw(st.sampled_from(["\n", "\r\n"])),
    }
    return pd.DataFrame(values, columns=names), written


@pytest.mark.filterwarnings("ignore:The 'float_precision'")  # newer versions of pandas always read exactly
@given(files())
@settings(deadline=None, max_examples=60)
def test_csv_files_of_pandas_are_read_with_the_same_bits_as_pandas_reads(tmp_path_factory, case):
    table, written = case
    text = io.BytesIO()
    try:
        table.to_csv(text, index=False, **written)
    except UnicodeEncodeError:
        assume(False)
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    path.write_bytes(text.getvalue())
    by_pandas = pd.read_csv(
        io.BytesIO(text.getvalue()),
        sep=written["sep"],
        decimal=written["decimal"],
        header=0 if written["header"] else None,
        encoding=written["encoding"],
        float_precision="round_trip",
    )
    source = sb.read_chunks(
        path,
        separator=written["sep"],
        decimal=written["decimal"],
        header=written["header"],
        encoding=said(written["encoding"]),
        chunk_rows=7,
    )
    expected = by_pandas.to_numpy(np.float64)
    assert all_rows(source).tobytes() == np.ascontiguousarray(expected).tobytes()
    assert source.names == (tuple(name.strip() for name in table.columns) if written["header"] else None)


@given(files())
@settings(deadline=None, max_examples=30)
def test_a_separator_that_is_found_gives_what_the_same_one_gives_if_it_is_named(tmp_path_factory, case):
    table, written = case
    assume(written["sep"] != written["decimal"])
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    table.to_csv(path, index=False, **written | {"encoding": "utf-8", "quoting": csv.QUOTE_ALL})
    how = {"decimal": written["decimal"], "header": written["header"]}
    found, named = sb.read_chunks(path, **how), sb.read_chunks(path, separator=written["sep"], **how)
    assert found.names == named.names
    assert all_rows(found).tobytes() == all_rows(named).tobytes()


@pytest.mark.parametrize("how", ["comments", "spaces", "columns by spaces", "utf-16", "decimal comma", "xz"])
def test_reading_goes_on_anywhere_whatever_was_done_to_the_text(how, tmp_path):
    X = np.random.default_rng(0).normal(size=(30_000, 3))
    table, path, options = pd.DataFrame(X, columns=["x", "y", "z"]), tmp_path / "rows.csv", {}
    text = table.to_csv(index=False)
    if how == "comments":
        lines = text.splitlines(keepends=True)
        text, options = "".join(itertools.chain.from_iterable((line, '# a "\n') for line in lines)), {"comment": "#"}
    elif how == "spaces":
        text = text.replace(",", " , ")
    elif how == "columns by spaces":
        text = table.to_string(index=False, float_format=lambda value: repr(float(value)))
    elif how == "decimal comma":
        text, options = table.to_csv(index=False, sep=";", decimal=","), {"decimal": ","}
    elif how == "xz":
        path = tmp_path / "rows.csv.xz"
        table.to_csv(path, index=False)
    if how != "xz":
        path.write_text(text, encoding="utf-16" if how == "utf-16" else "utf-8")
    source = sb.read_chunks(path, chunk_rows=4096, **options)
    chunks = list(source.chunks())
    assert np.concatenate([chunk.rows for chunk in chunks]).tobytes() == X.tobytes()
    for chunk in chunks[::3]:
        assert all_rows(source, chunk.begin).tobytes() == X[chunk.begin.row :].tobytes()
    assert source.fraction(Position(1, 0)) == 1
    assert 0 < source.fraction(chunks[0].end) <= 1


# -- separators, spaces and comments


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ('"a;b",c\n1,2\n', ","),
        ("a b\n1 2\n", " "),
        ("  a    b\n  1    2\n100 2e-3\n", " "),
        ("first name\nAda Lovelace\n", ","),  # no column of numbers: not aligned by spaces
        ("a\n1\n", ","),
        ("a,b\n", ","),
    ],
)
def test_the_separator_is_the_one_that_gives_every_line_as_many_values(text, separator):
    assert dialect.found_separator(text.encode(), ",", ".") == separator


@given(
    st.lists(
        st.text("ab ,;\t\n\"'#", max_size=6) | st.from_regex(r"[ab5][ab\"]{0,4}", fullmatch=True),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(",;\t"),
    st.integers(1, 40),
)
@settings(deadline=None, max_examples=100)
def test_spaces_are_left_out_around_values_and_nowhere_else(values, separator, piece):
    """Quoted values stay as they are, in whatever pieces the text comes. A quote within a value, as in 5", is one."""
    needed = [re.fullmatch(r"[ab5][ab\"]*", value) is None for value in values]
    quoted = [
        f'"{value.replace(chr(34), 2 * chr(34))}"' if needs else value
        for value, needs in zip(values, needed, strict=True)
    ]
    text = io.BytesIO(f" {f' {separator}  '.join(quoted)}  \n".encode() * 3)
    stream = ConvertedStream(lambda _: text.read(piece), dialect.SpaceRemover(separator))
    assert list(csv.reader(io.StringIO(stream.read().decode(), newline=""), delimiter=separator)) == [values] * 3


def test_a_quote_within_a_value_does_not_keep_the_rest_of_the_file_in_memory():
    remover = dialect.SpaceRemover(",")
    assert remover(b'name, x\n5" pipe, 1\n' + b"rod, 2\n" * 1000, False).endswith(b"rod,2\n")


def test_lines_within_quotes_are_no_comments_and_quotes_within_comments_open_nothing(tmp_path):
    text = '# it\'s 5" wide\nx,note\n1,"a\n# b"\n#2,c\n3,d\n'
    (tmp_path / "rows.csv").write_text(text)
    (chunk,) = sb.read_chunks(tmp_path / "rows.csv", comment="#", id_column="note").chunks(with_ids=True)
    assert (chunk.rows.ravel().tolist(), chunk.ids.to_pylist()) == ([1, 3], ["a\n# b", "d"])


def test_a_comment_may_follow_a_byte_order_mark(tmp_path):
    (tmp_path / "rows.csv").write_text("# made by hand\nx,y\n1,2\n", encoding="utf-8-sig")
    assert all_rows(sb.read_chunks(tmp_path / "rows.csv", comment="#")).tolist() == [[1, 2]]


def test_the_separator_is_found_behind_any_number_of_comments(tmp_path):
    (tmp_path / "rows.csv").write_text("# more and more\n" * 100_000 + "x;y\n1;2\n")
    assert all_rows(sb.read_chunks(tmp_path / "rows.csv", comment="#")).tolist() == [[1, 2]]


@pytest.mark.parametrize("count", [10, 50_000, 400_000])
def test_spaces_around_a_missing_value_are_left_out_however_far_down(count, tmp_path):
    (tmp_path / "rows.csv").write_text("x,y\n" + "3,4\n" * count + "5, NA\n 6 , 7\n")
    rows = all_rows(sb.read_chunks(tmp_path / "rows.csv"))
    np.testing.assert_array_equal(rows[-2:], [[5, np.nan], [6, 7]])
    assert len(rows) == count + 2


@pytest.mark.parametrize("decimal", [".", ","])
def test_numbers_with_the_other_decimal_mark_are_never_left_out(decimal, tmp_path):
    other = {".": ",", ",": "."}[decimal]
    (tmp_path / "rows.csv").write_text(f"x;y\n1{other}5;2\n;3\n")
    for options in ({}, {"numeric_only": True}, {"columns": "x"}, {"columns": "y", "weight_column": "x"}):
        with pytest.raises(ValueError, match=f"column 'x' holds '1{re.escape(other)}5', which .* decimal='{other}'"):
            sb.read_chunks(tmp_path / "rows.csv", decimal=decimal, **options)
    assert all_rows(sb.read_chunks(tmp_path / "rows.csv", decimal=decimal, columns="y")).tolist() == [[2], [3]]
    assert len(all_rows(sb.read_chunks(tmp_path / "rows.csv", decimal=other))) == 2


@pytest.mark.parametrize("value", ["2.013,83", "1 000,5", "5%", "n/v"])
def test_a_column_of_text_is_refused_with_a_value_that_is_no_number(value, tmp_path):
    (tmp_path / "rows.csv").write_text(f"a;b\n966,5;1\n{value};2\n;3\n")
    with pytest.raises(ValueError, match=re.escape(f"columns that are not numbers: 'a' (text such as {value!r})")):
        sb.read_chunks(tmp_path / "rows.csv", decimal=",")


def test_the_line_that_tells_excel_the_separator_is_refused_with_how_to_leave_it_out(tmp_path):
    (tmp_path / "rows.csv").write_text("sep=;\na;b\n1;2\n3;4\n")
    with pytest.raises(ValueError, match=r"begins with 'sep=', .* comment='sep='"):
        sb.read_chunks(tmp_path / "rows.csv")
    assert all_rows(sb.read_chunks(tmp_path / "rows.csv", comment="sep=")).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"separator": ";;"}, ValueError, "separator=';;': must be one ASCII character"),
        ({"separator": 5}, TypeError, "separator=5: must be a text"),
        ({"decimal": "'"}, ValueError, "must be '.' or ','"),
        ({"header": 1}, TypeError, "header=1: must be True or False"),
        ({"encoding": "klingon"}, ValueError, "encoding='klingon' is not known"),
        ({"encoding": "base64"}, ValueError, "encoding='base64' is not known"),
        ({"comment": ""}, ValueError, "comment=''"),
        ({"format": "docx"}, ValueError, "format='docx' is not known: it must be one of parquet, "),
    ],
)
def test_wrong_values_are_refused_before_anything_is_read(options, error, message):
    with pytest.raises(error, match=message):
        sb.read_chunks("nowhere.csv", **options)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"separator": ";"}, "separator=';'"),
        ({"decimal": ","}, "decimal=','"),
        ({"header": False}, "header=False"),
        ({"encoding": "latin-1"}, "encoding='iso8859-1'"),
        ({"comment": "#"}, "comment='#'"),
    ],
)
def test_an_option_that_means_nothing_to_any_file_is_refused(options, what, tmp_path):
    pd.DataFrame({"x": [1.0]}).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=f"^{what} means nothing to .*rows.parquet: leave it out"):
        sb.read_chunks(tmp_path / "rows.parquet", **options)
    for other in (np.ones((2, 2)), pd.DataFrame({"x": [1.0]}), sb.read_chunks(np.ones((2, 2))), iter([])):
        with pytest.raises(ValueError, match=f"^{what} means nothing to a .*, which is not a file"):
            sb.read_chunks(other, **options)
    if "header" not in options:
        (tmp_path / "rows.csv").write_text("x\n1\n")
        assert len(all_rows(sb.read_chunks(tmp_path, **options))) == 2  # one of the files is a CSV file


def test_a_format_says_what_files_are_and_which_of_a_folder_are_read(tmp_path):
    (tmp_path / "rows.txt").write_text("x\n1\n")
    (tmp_path / "rows.csv").write_text("x\n2\n")
    pd.DataFrame({"x": [3.0]}).to_parquet(tmp_path / "rows.parquet")
    assert all_rows(sb.read_chunks(tmp_path / "rows.txt", format="csv")).tolist() == [[1]]
    assert all_rows(sb.read_chunks(tmp_path, format=".CSV")).tolist() == [[2]]
    with pytest.raises(FileNotFoundError, match=r"that can be read \(\.npy\)"):
        sb.read_chunks(tmp_path, format="npy")


def test_the_names_of_joined_files_are_recognised(tmp_path):
    (tmp_path / "rows.csv").write_text("x,y\n" + "1,2\n" * 300_000 + "x,y\n3,4\n")
    with pytest.raises(ValueError, match=r"line 300002: column 'x' holds 'x' .* the names again, as in files"):
        list(sb.read_chunks(tmp_path / "rows.csv"))
