"""The command line, called within this process."""

from typer.testing import CliRunner

from silverbirch.cli import app


def silverbirch(*arguments):
    """Runs a command; returns exit_code, stdout and stderr."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def done(*arguments):
    """The result of a command, which must succeed."""
    result = silverbirch(*arguments)
    assert result.exit_code == 0, result.stderr
    return result


def refused(*arguments, code=1):
    """The message of a command, which must fail; without its frame and line breaks."""
    result = silverbirch(*arguments)
    assert result.exit_code == code, result.stderr or result.stdout
    return " ".join(result.stderr.replace("│", " ").split())
