"""``binlog-lab predict``: the bytes that MySQL will write for ``UPDATE t SET j = EXPR``, without a server."""

from __future__ import annotations

from typing import Any

import click

from conformance.cli.dialects import named_dialect
from conformance.cli.helpful import LabCommand


@click.command(cls=LabCommand)
@click.option("-d", "--document", metavar="JSON|@FILE",
              help="The document before the update, as JSON text or a file of it; stored without holes.")  # fmt: skip
@click.option(
    "--document-hex", metavar="JSONB|-", help="The document's stored bytes, in hexadecimal; - reads them from stdin."
)
@click.option("-u", "--update", required=True, metavar="EXPR|UPDATE",
              help="The right-hand side of UPDATE t SET j = EXPR, or a whole UPDATE statement.")  # fmt: skip
@click.option("--then", "then", multiple=True, metavar="EXPR|UPDATE", help="A further update; repeatable.")
@click.option("--row-changes", is_flag=True, help="Another column of the row changes too, in every step.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another column of the row, which EXPR may read; VALUE as SQL, CAST('…' AS JSON) for a JSON column.",
)
@click.option("--now", metavar="MOMENT", help="What NOW() gives: YYYY-MM-DD HH:MM:SS[.ffffff]; in UTC.")
@click.option(
    "--row-value-options",
    type=click.Choice(("PARTIAL_JSON", "")),
    default="PARTIAL_JSON",
    show_default=True,
    help="The session's binlog_row_value_options.",
)
@click.option(
    "--dialect", default="mysql-9.7", show_default=True, metavar="V", help="The server to model: a version or a name."
)
@click.option("-f", "--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(*, dialect: str, **options: Any) -> int:
    """Predict the binary log of UPDATE t SET j = EXPR, byte for byte.

    EXPR is SQL on the column j and columns given with --column: the JSON functions that change documents, ->, ->>,
    JSON_EXTRACT, IFNULL, CAST, arithmetic, NOW() and its like, literals. A whole UPDATE of one table may stand there:
    the document is the column that it sets, and the row is the one given, whatever its WHERE says. Each step starts
    from the document that the previous step left, with its holes. Where MySQL logs the document whole, the output says
    why, and which form would be logged as diffs. The table is InnoDB, with binlog_row_image = FULL, the default
    sql_mode and the time zone UTC.
    """
    from conformance.runs.prediction import print_prediction

    return print_prediction(dialect=named_dialect(dialect), version=dialect, **options)
