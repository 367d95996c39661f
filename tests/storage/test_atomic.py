"""A file is complete or absent. tests/pipeline/test_labels.py tests the same for label files."""

import os
import tempfile
from pathlib import Path

import pytest

import silverbirch as sb
from silverbirch.pipeline.labels import LabelFolder
from silverbirch.storage.atomic import check_free, new_file, remove_leftovers


def test_nothing_is_there_under_the_name_until_it_is_whole(tmp_path):
    path = tmp_path / "page.html"
    with new_file(path) as file:
        file.write(b"half")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"half"


def test_a_file_url_is_written_and_its_leftovers_are_found(tmp_path):
    path = f"file://{tmp_path}/a b.sb"
    sb.CFTree().insert([[1.0, 2.0]]).features.save(path)
    assert sb.load(path).weight.tolist() == [1.0]
    (tmp_path / "a b.sb.12-345.part").touch()
    remove_leftovers([path])
    assert [found.name for found in tmp_path.iterdir()] == ["a b.sb"]


@pytest.fixture
def shared_folder():
    """A folder that any user reaches; who runs the test is not root here, who may write everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        is_root = os.getuid() == 0
        if is_root:
            os.setreuid(65534, -1)  # by this user the system says what may be written to
        try:
            yield Path(folder)
        finally:
            if is_root:
                os.setreuid(0, -1)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no permissions of folders")
def test_a_folder_that_may_not_be_written_to_is_refused(shared_folder, tmp_path):
    (tmp_path / "rows.npy").touch()
    rows = str(tmp_path / "rows.npy")
    labels = LabelFolder(shared_folder / "labels", ".npy", (rows,))  # of a folder that will be made
    shared_folder.chmod(0o777)
    check_free(shared_folder / "labels.npy")
    labels.check([rows], force=False)
    shared_folder.chmod(0o555)
    refused = f"the folder {shared_folder} may not be written to"
    with pytest.raises(PermissionError, match=refused):
        check_free(shared_folder / "labels.npy")
    with pytest.raises(PermissionError, match=refused):
        labels.check([rows], force=False)


def test_leftovers_are_found_beside_what_a_link_leads_to_and_files_of_others_stay(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "labels.csv").symlink_to(tmp_path / "real" / "l.csv")
    for name in ("l.csv.12-345.part", "l.csv.12-a0ff.part", "l.csv.old.part", "l.csv", "xl.csv.12-345.part"):
        (tmp_path / "real" / name).touch()
    remove_leftovers([tmp_path / "labels.csv", tmp_path / "nowhere" / "labels.csv"])
    assert {path.name for path in (tmp_path / "real").iterdir()} == {"l.csv.old.part", "l.csv", "xl.csv.12-345.part"}


def test_a_partial_file_that_is_being_written_is_no_leftover(tmp_path):
    path = tmp_path / "l.csv"
    with new_file(path) as file:
        file.write(b"whole")
        with new_file(path, force=True) as other:  # of another run, under another name
            other.write(b"other")
            remove_leftovers([path])
        assert path.read_bytes() == b"other"
        with pytest.raises(FileExistsError), new_file(path):
            pass
        path.unlink()
    assert path.read_bytes() == b"whole"
    assert [found.name for found in tmp_path.iterdir()] == ["l.csv"]
