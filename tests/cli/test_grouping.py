"""Groups of options: the shell sees the fields, the command gets the dataclass."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from silverbirch.cli.cutting import Cutting
from silverbirch.cli.grouping import grouped, words_of
from silverbirch.cli.groups import Labelling, Parsing


@dataclass(frozen=True)
class Sizes:
    least: Annotated[int, typer.Option("--least", "-l")] = 1
    most: int = 9


def command_with_groups(seen):
    def command(name: str, sizes: Sizes, loud: bool = False) -> None:
        seen.append((name, sizes, loud))

    app = typer.Typer()
    app.command()(grouped(command))
    return app


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (["a"], ("a", Sizes(), False)),
        (["a", "-l", "3"], ("a", Sizes(least=3), False)),
        (["--most", "4", "a", "--loud"], ("a", Sizes(most=4), True)),
    ],
)
def test_the_fields_of_a_group_are_options_and_arrive_as_one_object(arguments, given):
    seen = []
    result = CliRunner().invoke(command_with_groups(seen), arguments)
    assert result.exit_code == 0, result.output
    assert seen == [given]


def test_two_groups_cannot_share_an_option():
    @dataclass(frozen=True)
    class Others:
        most: int = 3

    def command(sizes: Sizes, others: Others) -> None: ...

    command.__annotations__ = {"sizes": Sizes, "others": Others, "return": None}
    with pytest.raises(ValueError, match="duplicate"):
        grouped(command)


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (Cutting(), 0),
        (Cutting(clusters=3), 2),
        (Cutting(cut_method="eom", min_size=2.5, noise=True), 5),
        (Parsing(separator=";", decimal=",", header=False), 5),
        (Labelling(labels="a b.csv", keep=["x,y z"]), 4),
    ],
    ids=str,
)
def test_a_group_as_words_is_the_same_group_again(group, words):
    seen = []

    def command(given) -> None:
        seen.append(given)

    command.__annotations__ = {"given": type(group), "return": None}
    app = typer.Typer()
    app.command()(grouped(command))
    assert len(words_of(group)) == words
    result = CliRunner().invoke(app, words_of(group))
    assert result.exit_code == 0, result.output
    assert seen == [group]
