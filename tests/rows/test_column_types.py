"""Types of columns: what becomes a number, what becomes one on request, and what is refused by its name."""

import datetime
import decimal
import math
import tempfile
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import silverbirch as sb
from carriers import CARRIERS
from tables import FORMATS, all_rows, write

TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
DAY = 86_400


def times_of_every_kind(n):
    """Columns of dates, times and durations in every unit, and their seconds as exact fractions."""
    rng = np.random.default_rng(n)
    columns, seconds = {}, {}
    for unit, ticks in TICKS.items():
        moments = rng.integers(-(2**62) // 10**9 * ticks, 2**62 // 10**9 * ticks, n)
        in_day = rng.integers(0, DAY * ticks, n)
        for name, kind, values in (
            (f"moment {unit}", pa.timestamp(unit), moments),
            (f"zoned {unit}", pa.timestamp(unit, "Europe/Berlin"), moments),
            (f"duration {unit}", pa.duration(unit), moments),
            (f"time {unit}", (pa.time32 if ticks <= 1000 else pa.time64)(unit), in_day),
        ):
            stored = pa.int32() if kind.bit_width == 32 else pa.int64()
            columns[name] = pa.array(values, stored).cast(kind)
            seconds[name] = [Fraction(int(value), ticks) for value in values]
    days = rng.integers(-100_000, 100_000, n)
    columns["date32"] = pa.array(days, pa.int32()).cast(pa.date32())
    columns["date64"] = columns["date32"].cast(pa.date64())
    seconds["date32"] = seconds["date64"] = [Fraction(int(day) * DAY) for day in days]
    return pa.table(columns), seconds


@pytest.mark.parametrize("carrier", CARRIERS)
def test_times_are_seconds_since_1970_from_every_carrier(carrier, tmp_path):
    table, seconds = times_of_every_kind(40)
    source = sb.read_chunks(CARRIERS[carrier](table, tmp_path, 7), times=True, chunk_rows=9)
    rows = all_rows(source)
    assert rows.dtype == np.float64
    for column, name in enumerate(source.names):
        for found, exact in zip(rows[:, column].tolist(), seconds[name], strict=True):
            assert abs(Fraction(found) - exact) <= Fraction(math.ulp(float(exact))), name


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_times_as_seconds_truths_as_0_and_1_and_decimals(name, tmp_path):
    moments = pd.date_range("2024-02-28 22:30", periods=300, freq="37min")
    table = pa.table(
        {
            "when": pa.array(moments.to_numpy().astype("M8[us]")),
            "day": pa.array([moment.date() for moment in moments]),
            "open": [i % 3 == 0 for i in range(300)],
            "price": pa.array([decimal.Decimal(i) / 8 for i in range(300)], pa.decimal128(12, 3)),
        }
    )
    source = sb.read_chunks(write(table, tmp_path / name), times=True, chunk_rows=50)
    assert source.names == ("when", "day", "open", "price")
    expected = np.stack(
        [
            moments.to_numpy().astype("M8[s]").astype(np.float64),
            moments.normalize().to_numpy().astype("M8[s]").astype(np.float64),
            np.arange(300) % 3 == 0,
            np.arange(300) / 8,
        ],
        axis=1,
    )
    np.testing.assert_array_equal(all_rows(source), expected)


@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame, lambda table: pa.table(table)])
def test_frames_give_times_as_seconds_and_missing_ones_as_nan(frame_of):
    moments = [datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), None]
    table = frame_of({"when": moments, "span": [datetime.timedelta(minutes=3), None], "x": [1.0, 2.0]})
    rows = all_rows(sb.read_chunks(table, times=True))
    np.testing.assert_array_equal(rows, [[1_704_067_200.0, 180.0, 1.0], [np.nan, np.nan, 2.0]])


def test_a_csv_column_that_begins_with_dates_may_continue_with_times_and_fractions(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("when,at\n" + "1970-01-02,00:00:01\n" * 90_000 + "1970-01-01 00:00:01.25,00:01:00.5\n")
    rows = all_rows(sb.read_chunks(path, times=True))
    np.testing.assert_array_equal(rows[[0, -1]], [[DAY, 1], [1.25, 60.5]])


def test_texts_of_json_that_are_times_become_seconds_on_request_and_stay_as_written_if_kept(tmp_path):
    path = tmp_path / "rows.jsonl"
    texts = ["1970-01-01T00:00:01.5Z", "1970-01-01 02:00:00+01:00"]
    path.write_text("".join(f'{{"when": "{text}", "day": "1970-01-02", "note": "{text[:10]}x"}}\n' for text in texts))
    assert all_rows(sb.read_chunks(path, times=True, columns="when,day")).tolist() == [[1.5, DAY], [3600, DAY]]
    with pytest.raises(ValueError, match=r"'when' \(timestamp\), 'day' .*'note' \(text\).*times=True"):
        sb.read_chunks(path)
    (chunk,) = sb.read_chunks(path, times=True, columns="day", keep="when").chunks(with_ids=True)
    assert chunk.kept.column("when").to_pylist() == texts


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows.arrow"])
def test_times_are_refused_by_name_and_type_unless_asked_for(name, tmp_path):
    path = write(pa.table({"x": [1.0], "when": pa.array([0], pa.timestamp("s"))}), tmp_path / name)
    with pytest.raises(ValueError, match=r"'when' \(timestamp\[.*times=True"):
        sb.read_chunks(path)
    assert sb.read_chunks(path, numeric_only=True).names == ("x",)
    assert sb.read_chunks(path, numeric_only=True, times=True).names == ("x", "when")


def test_the_remedy_for_times_is_named_only_where_there_are_times():
    with pytest.raises(ValueError, match="'name'") as error:
        sb.read_chunks(pa.table({"x": [1.0], "name": ["a"]}))
    assert "times" not in str(error.value)
    frame = pd.DataFrame({"x": [1.0], "when": [pd.Timestamp(0)]})
    with pytest.raises(ValueError, match=r"'when' holds dates or times .*times=True"):
        sb.Betula(1).fit(frame)


def test_one_column_cannot_hold_times_in_one_file_and_numbers_in_another(tmp_path):
    pq.write_table(pa.table({"t": pa.array([0], pa.timestamp("s"))}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"t": [0]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"'t' holds int64 in .*b\.parquet but timestamp\[ms\] in .*a\.parquet"):
        sb.read_chunks(tmp_path, times=True)
    pq.write_table(pa.table({"t": pa.array([None])}), tmp_path / "b.parquet")
    np.testing.assert_array_equal(all_rows(sb.read_chunks(tmp_path, times=True)), [[0.0], [np.nan]])


@pytest.mark.parametrize("values", [[1.0, datetime.datetime(2024, 1, 1)], [datetime.datetime(2024, 1, 1), 1.0]])
def test_a_stream_cannot_change_from_numbers_to_times_or_back(values):
    chunks = (pa.table({"t": [value]}) for value in values)
    source = sb.read_chunks(chunks, times=True)
    with pytest.raises(ValueError, match=r"'t' holds .* where (numbers|times) came before"):
        list(source.chunks())


def test_arrays_of_times_become_seconds_on_request(tmp_path):
    for unit, expected in (("D", [[0, 86_400], [np.nan, 31_536_000]]), ("ns", [[0, 86_400], [np.nan, 31_536_000]])):
        array = np.array([["1970-01-01", "1970-01-02"], ["NaT", "1971-01-01"]], f"M8[{unit}]")
        np.save(tmp_path / "rows.npy", array)
        np.testing.assert_array_equal(all_rows(sb.read_chunks(tmp_path / "rows.npy", times=True)), expected)
        durations = array - np.datetime64(0, "s")
        np.testing.assert_array_equal(all_rows(sb.read_chunks(durations, times=True)), expected)
        with pytest.raises(ValueError, match=rf"'0' \(datetime64\[{unit}\]\).*times=True"):
            sb.read_chunks(tmp_path / "rows.npy")


def test_scaling_to_0_and_1_does_not_mix_seconds_and_ticks(tmp_path):
    """Parquet stores durations as whole numbers, and their extremes are those numbers."""
    pq.write_table(pa.table({"t": pa.array([0, 500], pa.duration("ms"))}), tmp_path / "a.parquet")
    source = sb.read_chunks(tmp_path, times=True)
    np.testing.assert_array_equal(all_rows(source), [[0.0], [0.5]])
    assert source.extremes() in (None, ([0.0], [0.5]))


values = st.one_of(
    st.lists(st.none() | st.booleans(), min_size=1).map(lambda given: pa.array(given, pa.bool_())),
    st.lists(st.none() | st.decimals(-(10**9), 10**9, places=4), min_size=1).map(
        lambda given: pa.array(given, pa.decimal128(20, 4))
    ),
    st.lists(st.none() | st.integers(-50, 50), min_size=1).map(
        lambda given: pa.array(given, pa.int16()).dictionary_encode()
    ),
    st.lists(st.none() | st.floats(-9, 9, width=32), min_size=1).map(
        lambda given: pa.array(given, pa.float32()).dictionary_encode()
    ),
)


@pytest.mark.parametrize("carrier", ["Parquet", "Arrow", "stream", "table", "chunks"])
@given(column=values, batch=st.integers(1, 5), chunk_rows=st.integers(1, 10))
def test_truths_decimals_and_dictionaries_of_numbers_are_numbers(carrier, column, batch, chunk_rows):
    with tempfile.TemporaryDirectory() as folder:
        read = CARRIERS[carrier](pa.table({"v": column}), folder, batch)
        rows = all_rows(sb.read_chunks(read, chunk_rows=chunk_rows))
    expected = [math.nan if value is None else float(value) for value in column.to_pylist()]
    np.testing.assert_allclose(rows[:, 0], expected, rtol=3e-16)  # Arrow's decimals are the next float64 at times


@pytest.mark.parametrize("carrier", CARRIERS)
def test_dictionaries_of_text_are_refused_by_name_with_what_to_do(carrier, tmp_path):
    table = pa.table({"x": [1.0, 2.0], "city": pa.array(["a", "b"]).dictionary_encode()})
    with pytest.raises(ValueError, match=r"'city' \(categories of string\).*get_dummies"):
        sb.read_chunks(CARRIERS[carrier](table, tmp_path, 1))


@pytest.mark.parametrize("carrier", CARRIERS)
def test_structs_are_refused_by_name(carrier, tmp_path):
    table = pa.table({"x": [1.0, 2.0], "place": [{"lat": 1.0, "lon": 2.0}] * 2})
    read = CARRIERS[carrier](table, tmp_path, 1)
    with pytest.raises(ValueError, match=r"'place' \(struct<"):
        sb.read_chunks(read)


def test_columns_beside_a_struct_are_read(tmp_path):
    table = pa.table({"place": [{"lat": 1.0, "lon": 2.0}] * 2, "place.lat": [3.0, 4.0], "x": [5.0, 6.0]})
    pq.write_table(table, tmp_path / "rows.parquet")
    source = sb.read_chunks(tmp_path / "rows.parquet", columns="x", keep="place")
    (chunk,) = source.chunks(with_ids=True)
    assert chunk.rows.ravel().tolist() == [5.0, 6.0]
    assert chunk.kept.column("place").to_pylist() == table["place"].to_pylist()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("a,b", ["a,b"]),
        (["a", "b"], ["a", "b"]),
        ("b, c", ["b", "c"]),
        (["c", "a,b"], ["c", "a,b"]),
        (["c,b", "a"], ["c", "b", "a"]),
    ],
)
def test_a_text_with_a_comma_is_a_column_of_that_name_or_else_several_columns(asked, found):
    table = pa.table({"a": [1.0], "b": [2.0], "c": [3.0], "a,b": [4.0]})
    source = sb.read_chunks(table, columns=asked)
    assert source.names == tuple(found)
    assert all_rows(source)[0].tolist() == [table[name][0].as_py() for name in found]
    kept = next(sb.read_chunks(table.append_column("x", [[0.0]]), columns="x", keep=asked).chunks(with_ids=True)).kept
    assert kept.schema.names == found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": "a,c"}, "has no column 'c'; it has 'a', 'b'"),
        ({"columns": ["a,b", "a"]}, "columns names 'a' twice"),
        ({"columns": "a,b", "id_column": "b"}, "id_column='b' is also in columns"),
        ({"columns": "a,b", "weight_column": "b"}, "weight_column='b' is also in columns"),
        ({"columns": []}, "columns is empty"),
    ],
)
def test_the_names_in_a_text_are_checked_like_names_in_a_list(options, message):
    with pytest.raises(ValueError, match=message):
        sb.read_chunks(pa.table({"a": [1.0], "b": [2.0]}), **options)
