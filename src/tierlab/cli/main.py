"""The command ``tierlab``: its verbs, and how every failure of theirs ends."""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import version

import typer
from rich.console import Console

from tierlab.cli.verbs import Verbs
from tierlab.errors import Interrupted, UserError
from tierlab.tables.interruption import interruptible_queries

FAILED = 2
INTERRUPTED = 130

app = typer.Typer(
    name="tierlab",
    cls=Verbs,
    help="A performance laboratory for n-tier applications.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"tierlab {version('tierlab')}")
        raise typer.Exit


@app.callback()
def options(
    _version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """A performance laboratory for n-tier applications."""


def main() -> None:
    """Run the command line; expected failures end in one sentence, status 2."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    warnings.formatwarning = lambda message, *_: f"tierlab: {message}\n"
    try:
        with interruptible_queries():
            app(prog_name="tierlab")
    except Interrupted as interrupted:
        errors.print(f"tierlab: {interrupted}", markup=False)
        sys.exit(INTERRUPTED)
    except KeyboardInterrupt:
        errors.print("tierlab: interrupted.")
        sys.exit(INTERRUPTED)
    except UserError as error:
        errors.print(f"tierlab: {error}", markup=False)
        sys.exit(FAILED)
    except BrokenPipeError:
        # Whoever read our output has seen enough (`tierlab doctor | head`).
        sys.stderr.close()
        sys.exit(FAILED)
