"""`silverbirch cluster` on Dask and Spark: the same bytes from both, and labels like those of `silverbirch cut`."""

import contextlib
import importlib
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster

import silverbirch as sb
from commands import done, refused
from object_store import BUCKET, free_port, got, in_bytes, keys, put
from processes import started, wait_for
from silverbirch.cli.wording import OPTIONS, in_options
from silverbirch.engines.files import Spelled, on_files
from silverbirch.engines.work import Aggregate, Reading
from silverbirch.storage import container
from silverbirch.wording import InOptions, current_spelling, in_python, parameter, spelled_in_task
from unsteady_tasks import Waiting

SPARK = "local-cluster[2,1,1024]"
cluster_command = importlib.import_module("silverbirch.cli.cluster")  # the package has its function by this name


@pytest.fixture(scope="module")
def cluster():
    """The address of a scheduler with two worker processes."""
    with LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


def table(rows=400, seed=0):
    random = np.random.default_rng(seed)
    blobs = random.normal(size=(rows, 2)) + 20 * random.integers(0, 3, (rows, 1))
    frame = pd.DataFrame(blobs, columns=["x", "y"])
    frame["name"] = [f"{seed}-{number}" for number in range(rows)]
    frame["often"] = random.integers(1, 3, rows)
    frame["note"] = random.choice(["good", "bad"], rows)
    return frame


NAMES = [f"year={year}/part-{part}.parquet" for year in (2023, 2024) for part in range(5)]
EMPTY = NAMES[7]


@pytest.fixture
def folder(tmp_path):
    """Ten files in the folders of two years, one of them without rows; some values are missing."""
    for number, name in enumerate(NAMES):
        frame = table(seed=number)
        frame.loc[frame.index % 97 == 5, "y"] = np.nan
        write(tmp_path / "rows" / name, frame[:0] if name == EMPTY else frame)
    return tmp_path / "rows"


def write(path, frame):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, row_group_size=150)


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def in_process(*arguments):
    """A run of the command in a process of its own: Spark has one session in each."""
    package = os.path.dirname(os.path.dirname(sb.__file__))
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "silverbirch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path})


EVERYTHING = (
    *("-k", 3, "--id-column", "name", "--keep", "note", "--weight-column", "often"),
    *("--missing", "drop", "--scale", "standard", "--columns", "x,y,year", "--max-leaves", 100),
)


# -- both engines


def test_dask_and_spark_write_the_same_bytes(folder, cluster, tmp_path):
    for name, engine in {"dask": cluster, "spark": SPARK}.items():
        out = ("--model", tmp_path / f"{name}.sb", "--labels", f"{tmp_path / name}/")
        result = in_process("cluster", folder, *EVERYTHING, f"--{name}", engine, *out, "--quiet")
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert files_in(tmp_path / "dask") == files_in(tmp_path / "spark")
    (kind, one, arrays), (_, other, others) = (container.read(tmp_path / f"{name}.sb") for name in ("dask", "spark"))
    record = one.pop("run"), other.pop("run")  # how long it took
    assert kind == "model"
    assert one == other
    assert record[0]["preparation"] == record[1]["preparation"]
    assert arrays.keys() == others.keys()
    assert all(np.array_equal(arrays[name], others[name], equal_nan=arrays[name].dtype.kind == "f") for name in arrays)


def test_a_bad_value_on_spark_is_one_line_that_names_file_and_row(folder, tmp_path):
    frame = table(seed=3)
    frame.loc[77, "x"] = np.inf
    write(folder / NAMES[3], frame)
    how = ("-k", 3, "--columns", "x", "--spark", "local[2]", "--model", tmp_path / "m.sb")
    result = in_process("cluster", folder, *how)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert f"{folder / NAMES[3]}" in result.stderr
    assert "row 77" in result.stderr
    assert not (tmp_path / "m.sb").exists()


@pytest.mark.parametrize(
    ("master", "java", "message"),
    [("local", "/nowhere", "it needs Java 17"), ("nonsense", None, "Master must either be yarn or start with spark")],
)
def test_a_spark_that_does_not_start_is_one_line(folder, monkeypatch, master, java, message):
    if java is not None:
        monkeypatch.setenv("JAVA_HOME", java)
    result = in_process("cluster", folder, "-k", 3, "--columns", "x", "--spark", master)
    assert result.returncode == 1
    assert result.stderr.startswith(f"Error: Spark does not start at {master}: ")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_master_that_does_not_answer_is_named_as_the_reason():
    from silverbirch.engines.spark import _reason

    said = "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\n"
    reason = _reason(RuntimeError(said), io.BytesIO(), "spark://localhost:9999")
    assert reason.startswith("nobody answers there: check that a master of Spark runs")


# -- labels


def test_labels_are_one_a_row_in_the_layout_of_the_input(folder, cluster, tmp_path):
    done(
        "cluster", folder, *EVERYTHING, "--dask", cluster, "--model", tmp_path / "m.sb", "--labels", f"{tmp_path}/dask/"
    )
    done("cut", tmp_path / "m.sb", folder, "-k", 3, "--keep", "note", "--labels", f"{tmp_path}/cut/")
    labels = files_in(tmp_path / "dask")
    assert sorted(labels) == NAMES
    assert labels == files_in(tmp_path / "cut")
    model = sb.load(tmp_path / "m.sb")
    total = 0
    for name in NAMES:
        rows, found = pd.read_parquet(folder / name), pd.read_parquet(tmp_path / "dask" / name)
        assert list(found.columns) == ["name", "note", "label"]
        assert found["name"].tolist() == rows["name"].tolist()
        assert found["note"].tolist() == rows["note"].tolist()
        left_out = rows["y"].isna()
        assert found["label"].isna().tolist() == left_out.tolist()
        rest = rows[~left_out][["x", "y"]].assign(year=float(name[5:9]))
        if len(rest):
            assert found["label"][~left_out].tolist() == model.predict(rest).tolist()
        total += rows["often"][~left_out].sum()
    assert model[-1].features_.weight.sum() == total


@pytest.mark.parametrize(
    "how",
    [
        ("--missing", "mean", "--refine", 0, "--labels-format", "csv"),
        ("--missing", "drop", "--scale", "minmax", "--labels-format", "npy"),
        ("--missing", "drop", "--metric", "cosine", "--linkage", "average", "--labels-format", "arrow"),
    ],
)
def test_the_model_of_workers_labels_files_as_cut_does(folder, cluster, tmp_path, how):
    columns = ("--columns", "x,y")
    out = ("--model", tmp_path / "m.sb", "--labels", f"{tmp_path}/dask/")
    done("cluster", folder, "-k", 3, *columns, *how, "--dask", cluster, *out)
    done("cut", tmp_path / "m.sb", folder, "-k", 3, *how[-2:], "--labels", f"{tmp_path}/cut/")
    assert files_in(tmp_path / "dask") == files_in(tmp_path / "cut")
    assert len(files_in(tmp_path / "dask")) == len(NAMES)


def test_a_cluster_started_here_gives_the_same_bytes(folder, cluster, tmp_path):
    for name, engine in {"here": "local", "there": cluster}.items():
        result = in_process(
            "cluster", folder, *EVERYTHING, "--dask", engine, "--labels", f"{tmp_path / name}/", "--json"
        )
        assert (result.returncode, result.stderr) == (0, "")
    assert files_in(tmp_path / "here") == files_in(tmp_path / "there")


def test_rows_and_labels_may_be_in_an_object_store(store, cluster, tmp_path):
    for number, name in enumerate(NAMES[:4]):
        put(store, f"rows/{name}", in_bytes(table(seed=number), name))
        write(tmp_path / "rows" / name, table(seed=number))
    how = ("-k", 3, "--columns", "x,y", "--keep", "name", "--dask")
    # The workers of `cluster` were started before the server had an address: those started here know it.
    done(
        "cluster",
        f"s3://{BUCKET}/rows/",
        *how,
        "local",
        "--model",
        f"s3://{BUCKET}/m.sb",
        "--labels",
        f"s3://{BUCKET}/out/",
    )
    done("cluster", tmp_path / "rows", *how, cluster, "--labels", f"{tmp_path}/out/")
    remote = {key.removeprefix("out/"): got(store, key) for key in keys(store, "out/")}
    assert remote == files_in(tmp_path / "out")
    assert sb.load(f"s3://{BUCKET}/m.sb").features_.weight.sum() == 1600


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.null()])
def test_a_file_without_any_list_is_left_out_as_in_one_process(cluster, tmp_path, kind):
    (tmp_path / "rows").mkdir()
    lists = pa.array(table()[["x", "y"]].to_numpy().tolist(), pa.list_(pa.float64()))
    for name, values in {"a": lists, "b": pa.nulls(7, kind)}.items():
        pq.write_table(pa.table({"e": values}), tmp_path / "rows" / f"{name}.parquet")
    how = ("-k", 3, "--missing", "drop", "--max-leaves", 100, "--labels")
    done("cluster", tmp_path / "rows", *how, f"{tmp_path}/here/")
    done("cluster", tmp_path / "rows", *how, f"{tmp_path}/dask/", "--dask", cluster)
    assert files_in(tmp_path / "dask") == files_in(tmp_path / "here")
    assert pd.read_parquet(tmp_path / "dask" / "b.parquet")["label"].isna().all()


def runs(program, process):
    """Whether the process, or a process below it, has started a program."""
    for child in psutil.Process(process.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if program in child.cmdline():
                return True
    return False


@pytest.mark.parametrize(
    ("program", "seconds"), [("org.apache.spark.deploy.SparkSubmit", 0.5), ("pyspark.daemon", 0), ("pyspark.daemon", 1)]
)
def test_a_signal_while_spark_starts_or_works_is_one_line(folder, program, seconds):
    process = started(["cluster", folder, "-k", "3", "--columns", "x", "--spark", "local"])
    wait_for(process, lambda: runs(program, process))
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=300) == ("", "Error: interrupted\n")
    assert process.returncode == -signal.SIGINT


def test_a_signal_while_dask_writes_labels_is_one_line_and_the_next_run_leaves_whole_files_alone(tmp_path):
    for number, name in enumerate(NAMES[:4]):
        write(tmp_path / "rows" / name, pd.concat([table(20_000, number)] * 10))
    command = ["cluster", tmp_path / "rows", "-k", "3", "--columns", "x,y", "--dask", "local", "--labels"]
    process = started([*command, f"{tmp_path}/out/"])
    wait_for(process, lambda: any((tmp_path / "out").rglob("*.part")))
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=300) == ("", "Error: interrupted\n")
    assert in_process(*command, f"{tmp_path}/out/", "--force", "--quiet").stderr == ""
    assert sorted(files_in(tmp_path / "out")) == NAMES[:4]


# -- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rows", "--checkpoint", "c.sb"), "--checkpoint"),
        (("-",), "standard input"),
        (("features.sb",), "features are merged here"),
        (("rows", "--labels", "labels.parquet"), "name a folder"),
        (("rows", "--labels", "-"), "name a folder"),
        (("rows", "--max-memory", "1GB"), "limit the workers where Dask is set up"),
        (("rows", "--spark", "local"), "--dask and --spark"),
        (("rows", "--dask", "lokal"), "--dask lokal: it must be local, or an address such as tcp://host:8786"),
        (("rows", "--dask", "tcp://localhost"), "it must be local, or an address"),
    ],
)
def test_options_that_are_not_for_workers_are_refused_before_any_work(folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder.parent)
    sb.CFTree().insert(np.eye(3)).features.save("features.sb")
    before = files_in(".")
    assert message in refused("cluster", "--dask", "tcp://127.0.0.1:1", *arguments, "-k", 3, code=2)
    assert files_in(".") == before


def test_labels_beside_a_column_of_the_folders_have_a_remedy_for_workers(folder, cluster, tmp_path):
    how = ("-k", 3, "--columns", "x", "--keep", "year", "--dask", cluster, "--labels", f"{tmp_path}/out/")
    message = refused("cluster", folder, *how)
    assert message.endswith("leave it out, or name a single file for the labels, which --dask and --spark do not write")


def test_a_bad_value_is_one_line_that_names_file_row_and_option_and_nothing_is_written(folder, cluster, tmp_path):
    out = ("--model", tmp_path / "m.sb", "--labels", f"{tmp_path}/out/", "--dask", cluster)
    write(folder / NAMES[0], table())
    for name in NAMES[1:]:
        (folder / name).unlink()
    frame = table()
    frame.loc[77, "y"] = np.nan
    write(folder / NAMES[1], frame)
    message = refused("cluster", folder, "-k", 3, "--columns", "x,y", *out)
    assert f"{folder / NAMES[1]}" in message
    assert "row 77" in message
    assert message.endswith("(--missing)")
    assert files_in(tmp_path) == {f"rows/{name}": (folder / name).read_bytes() for name in NAMES[:2]}


def test_a_file_that_is_changed_between_the_passes_is_named_and_has_no_labels(folder, cluster, tmp_path, monkeypatch):
    model, labels, changed = tmp_path / "model.sb", tmp_path / "labels", folder / NAMES[3]
    between = cluster_command._cluster

    def cluster_and_change(*arguments):
        between(*arguments)
        write(changed, table(seed=99))  # as many rows as before

    monkeypatch.setattr(cluster_command, "_cluster", cluster_and_change)
    where = ("--dask", cluster, "--model", model, "--labels", f"{labels}/")
    message = refused("cluster", folder, "-k", 3, "--columns", "x,y", "--missing", "drop", *where)
    assert f"Error: {changed} was changed while it was read: try again" in message
    assert not list(labels.rglob("*.parquet"))
    assert f"label later: silverbirch cut {model}" in message


def test_a_scheduler_that_is_not_there_is_one_line(folder, monkeypatch):
    address = f"tcp://127.0.0.1:{free_port()}"
    monkeypatch.setattr("silverbirch.engines.dask._CONNECT_SECONDS", 1)
    message = refused("cluster", folder, "-k", 3, "--columns", "x", "--dask", address)
    assert message.startswith(f"Error: --dask {address} cannot be reached (")
    assert message.endswith("one here by --dask local")


def test_workers_need_no_command_line_to_speak_of_its_options():
    with in_options():
        work = Spelled(Reading(), Aggregate(Reading(), {"max_leaves": 10}), current_spelling())
    bad = """if True:
        import pickle, sys
        sys.modules["typer"] = None  # as if it were not installed
        work = pickle.loads(sys.stdin.buffer.read())
        try:
            work(4, [[1.0, float("nan")]])
        except ValueError as error:
            print(error)
    """
    path = os.pathsep.join(sys.path)
    environment = os.environ | {"PYTHONPATH": path}
    result = subprocess.run([sys.executable, "-c", bad], input=pickle.dumps(work), capture_output=True, env=environment)
    message = result.stdout.decode().strip()
    assert message.startswith("partition 4: "), result.stderr.decode()
    assert message.endswith("(--missing)")


def test_two_tasks_at_once_speak_their_own_words():
    both = threading.Barrier(2, timeout=60)

    def task(spelling):
        with spelled_in_task(spelling):
            both.wait()
            words = parameter("missing")
            both.wait()
        return words, parameter("missing")

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(task, [InOptions(OPTIONS), in_python]))
    assert found == [("--missing", "missing"), ("missing", "missing")]


# -- faults


@pytest.mark.parametrize(("engine", "died"), [("dask", "Dask gave up: 4 workers died of one"), ("spark", "(crashed)")])
def test_workers_that_die_of_one_file_end_the_run_with_the_reason(engine, died):
    script = """if True:
        import sys
        from silverbirch.engines.files import on_files
        from silverbirch.engines.work import Reading
        from unsteady_tasks import Killing

        if __name__ == "__main__":
            try:
                with on_files(sys.argv[1], "local", ["a file"]) as run:
                    run(Killing(Reading()))
            except OSError as error:
                print(error)
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    # Workers that start late, as on a busy machine: Dask would give them up before they are there.
    environment["DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT"] = "0.2s"
    command = [sys.executable, "-c", script, engine]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert died in result.stdout
    assert result.stdout.endswith("give each worker more, or divide the largest files\n")


def test_a_scheduler_that_ends_in_the_middle_is_named_as_the_reason(monkeypatch, tmp_path):
    monkeypatch.setattr("silverbirch.engines.dask._CONNECT_SECONDS", 120)  # it is being started
    port, begun = free_port(), tmp_path / "begun"
    begun.mkdir()
    address = f"tcp://127.0.0.1:{port}"
    with program_of_dask("scheduler", "--port", port) as scheduler, program_of_dask("worker", address) as worker:

        def end():
            try:
                wait_for(worker, lambda: any(begun.iterdir()))
            finally:
                scheduler.kill()

        thread = threading.Thread(target=end)
        thread.start()
        reason = f"Dask gave up: {address} cancelled the work, or its scheduler ended"
        with pytest.raises(ConnectionError, match=reason), on_files("dask", address, ["a file"]) as run:
            run(Waiting(Reading(), begun))
        thread.join()


@contextlib.contextmanager
def program_of_dask(name, *arguments):
    command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *map(str, arguments), "--no-dashboard"]
    patience = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "300s"}  # of the worker, while the scheduler starts
    environment = os.environ | patience | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment) as process:
        try:
            yield process
        finally:
            process.terminate()


def test_workers_killed_while_labels_are_written_leave_whole_files_and_the_same_bytes(tmp_path):
    for number, name in enumerate(NAMES):
        write(tmp_path / "rows" / name, pd.concat([table(20_000, number)] * 3))
    how = ("-k", 3, "--columns", "x,y", "--keep", "name", "--max-leaves", 500)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        address = ("--dask", cluster.scheduler_address)
        done("cluster", tmp_path / "rows", *how, *address, "--labels", f"{tmp_path}/calm/")
        with killing_writers_in(tmp_path / "dask", kills=2) as killed:
            done("cluster", tmp_path / "rows", *how, *address, "--labels", f"{tmp_path}/dask/")
        assert len(killed) == 2
    with killing_writers_in(tmp_path / "spark", kills=2) as killed:
        result = in_process("cluster", tmp_path / "rows", *how, "--spark", SPARK, "--labels", f"{tmp_path}/spark/")
    assert (result.returncode, result.stderr) == (0, "")
    assert len(killed) == 2
    assert files_in(tmp_path / "dask") == files_in(tmp_path / "spark") == files_in(tmp_path / "calm")


@contextlib.contextmanager
def killing_writers_in(folder, kills):
    """Kills so many processes that have a label file open, each time another one; the value lists them."""
    killed, over = [], threading.Event()

    def watching():
        while len(killed) < kills and not over.is_set():
            for part in folder.rglob("*.part"):
                writer = int(part.name.split(".")[-2].partition("-")[0])
                if writer not in killed and writer != os.getpid():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(writer, signal.SIGKILL)
                        killed.append(writer)
                        break
            time.sleep(0.001)

    thread = threading.Thread(target=watching)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()
