"""Tables with their rows as columns, in which texts that are alike stand beside each other and pack well."""

from typing import Any

Table = dict[str, Any]
_BETWEEN = "\0"  # texts of a column


def by_columns(table: Table) -> Table:
    """A table whose rows stand as columns: of each field, in which rows it is, and its values."""
    arrays = {name: rows for name, rows in table.items() if isinstance(rows, list) and rows and isinstance(rows[0], dict)}
    rest = {name: value for name, value in table.items() if name not in arrays}
    return {"rest": rest, "arrays": {name: [len(rows), _columns(rows)] for name, rows in arrays.items()}}


def _columns(rows: list[Table]) -> Table:
    columns: Table = {}
    for field in dict.fromkeys(field for row in rows for field in row):
        numbers = [number for number, row in enumerate(rows) if field in row]
        values = [rows[number][field] for number in numbers]
        joined = all(isinstance(value, str) and _BETWEEN not in value for value in values)
        columns[field] = [None if len(numbers) == len(rows) else numbers, _BETWEEN.join(values) if joined else values]
    return columns


def by_rows(packed: Table) -> Table:
    """The table that `by_columns` was given."""
    table: Table = dict(packed["rest"])
    for name, (count, columns) in packed["arrays"].items():
        table[name] = [{} for _row in range(count)]
        for field, (numbers, values) in columns.items():
            cells = values.split(_BETWEEN) if isinstance(values, str) else values
            for number, value in zip(range(count) if numbers is None else numbers, cells, strict=True):
                table[name][number][field] = value
    return table
