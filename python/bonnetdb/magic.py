"""`%sql` and `%%sql` of IPython."""


def load(shell):
    """Registers the magics with a shell. The connection is the variable `con` of the notebook, where it is one of ours, else
    one in memory that is made when it is first needed."""
    from bonnetdb.connection import Connection, connect

    own = []

    def connection():
        found = shell.user_ns.get("con")
        if isinstance(found, Connection):
            return found
        if not own:
            own.append(connect())
        return own[0]

    def sql(line, cell=None):
        """`%sql query`, or a cell that begins with `%%sql` or `%%sql name`: the rows of the last statement, in the variable
        `name` as well."""
        name = line.strip() if cell is not None else ""
        if name and not name.isidentifier():
            raise ValueError(f"%%sql takes the name of a variable, not {name!r}")
        rows = connection()._sql(line if cell is None else cell, None, [shell.user_ns])
        if name:
            shell.user_ns[name] = rows
        return rows

    shell.register_magic_function(sql, "line_cell", "sql")
