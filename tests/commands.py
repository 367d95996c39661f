"""The command line, called within this process."""

from typer.testing import CliRunner

from silverbirch.cli import app


def silverbirch(*arguments):
    """Runs a command; returns exit_code, stdout and stderr."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])
