"""The programs of a double: shell scripts in front of those of the server behind it.

``mysqld`` says the older version, has its defaults, and ends at an option that the version does not know.
``mysqlbinlog`` prints what the older client prints. All others are the server's own.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from conformance.servers.install.installation import Installation

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.dialect import Dialect
    from tests.doubles.lacking import Lacking

_PROGRAMS: Final = ("mysql", "mysqldump", "ibd2sdi", "perror", "mysqladmin")
_MYSQLD: Final = """#!/bin/sh
# The double of {version}: options that came later are unknown, and its defaults stand before all options.
first=
case "$1" in --no-defaults|--defaults-file=*) first="$1"; shift;; esac
count=$#
while [ "$count" -gt 0 ]; do
  word="$1"; shift; count=$((count - 1))
  case "$word" in
    --version) echo "mysqld  Ver {version} for Linux on x86_64 (a double)"; exit 0;;
    {loose}) continue;;
    {unknown})
      echo "[ERROR] [MY-000067] [Server] unknown variable '${{word#--}}'." >&2
      echo "[ERROR] [MY-010119] [Server] Aborting" >&2
      exit 1;;
  esac
  set -- "$@" "$word"
done
exec {program} $first {defaults} "$@"
"""
_SAYS: Final = """#!/bin/sh
case " $* " in *" --version "*) echo "{name}  Ver {version} for Linux on x86_64 (a double)"; exit 0;; esac
"""
_MYSQLBINLOG: Final = """# The double of {version}: the client prints as the older one.
exec 4>&1
status=$({{ {{ {program} "$@"; echo $? >&3; }} | LC_ALL=C sed -E {script} >&4; }} 3>&1)
# The end of a client that died is its signal, as without the script.
[ "$status" -le 128 ] || {{ ulimit -c 0; kill "-$((status - 128))" $$; }}
exit "$status"
"""
_OTHER: Final = 'exec {program} "$@"\n'
# The character sets around a user variable: those under its own header line, which is held.
_CHARSETS: Final = (
    r"/^#[0-9]+ .*end_log_pos/h"
    "\n"
    r"/^(\/\*!\\C|SET @@session\.character_set_client=)/{x;/\tUser_var/{x;d};x}"
)
# Of the flags of a row event only the end of the statement has a name.
_FLAGS: Final = (
    r"/^#.*_rows(_partial)?: table id .* flags: /"
    r"{s/ flags: .*STMT_END_F.*/ flags: STMT_END_F/;t;s/ flags: .*//}"
)


def install(folder: Path, real: Installation, lacks: Lacking, dialect: Dialect) -> Installation:
    """Write the scripts; the installation that they make."""
    defaults = " ".join(f"--{name.replace('_', '-')}={value}" for name, value in lacks.defaults.items())
    names = [name.replace("_", "[-_]") for name in sorted(lacks.variables)]
    texts = {
        "mysqld": _MYSQLD.format(
            version=lacks.version,
            loose="|".join(f"--loose-{name}|--loose-{name}=*" for name in names),
            unknown="|".join(f"--{name}|--{name}=*" for name in names),
            program=shlex.join([*real.launcher, str(real.mysqld)]),
            defaults=defaults,
        )
    }
    for name in (*_PROGRAMS, "mysqlbinlog"):
        words = shlex.join(real.program(name))
        script = shlex.quote(_script(dialect))
        text = _SAYS + (_MYSQLBINLOG if name == "mysqlbinlog" else _OTHER)
        texts[name] = text.format(name=name, version=lacks.version, program=words, script=script)
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return Installation(
        mysqld=folder / "mysqld",
        options=real.options,
        program_directories=(folder,),
        version=lacks.version,
        number=lacks.number,
        origin=f"double of {lacks.version} over {real.origin}",
    )


def _script(dialect: Dialect) -> str:
    """The sed script that puts the client's text into the words of the version."""
    server = dialect.server
    return "\n".join(
        [_CHARSETS] * (not server.mysqlbinlog_variable_charset) + [_FLAGS] * (server.mysqlbinlog_flags == "STMT_END_F")
    )
