#!/bin/bash
# Starts a server in the way in which the official images do it: the configuration is checked by a first mysqld, whose
# complaint comes indented; an empty data directory is made and filled by a temporary server; then mysqld takes over.
# Written from a description of that behaviour, to test against.
set -eo pipefail
shopt -s nullglob

log() { # LEVEL TEXT...
  printf '%s [%s] [Entrypoint]: %s\n' "$(date --rfc-3339=seconds)" "$1" "${*:2}"
}
die() {
  log ERROR "$@" >&2
  exit 1
}

# NAME_FILE names a file whose content is the value of NAME.
from_file() { # NAME
  local file=${1}_FILE
  [[ -z ${!1:-} || -z ${!file:-} ]] || die "Both $1 and $file are set (but are exclusive)"
  if [[ -n ${!file:-} ]]; then export "$1=$(<"${!file}")"; fi
  unset "$file"
}

setting() { # NAME MYSQLD...
  "${@:2}" --verbose --help --log-bin-index="$(mktemp -u)" 2>/dev/null | awk -v name="$1" '/^[^ \t]/ && $1 == name { print $2; exit }'
}

wants_help() {
  local argument
  for argument; do
    case $argument in -\? | --help | --print-defaults | -V | --version) return 0 ;; esac
  done
  return 1
}

check_configuration() { # MYSQLD...
  local errors
  if ! errors=$("$@" --verbose --help --log-bin-index="$(mktemp -u)" 2>&1 >/dev/null); then
    die $'mysqld failed while attempting to check config\n\tcommand was: '"$*"$' --verbose --help\n\t'"$errors"
  fi
}

make_directories() { # MYSQLD...
  local name value
  for name in datadir socket general-log-file pid-file secure-file-priv slow-query-log-file; do
    value=$(setting "$name" "$@")
    [[ $value == /* ]] || continue
    [[ $name == datadir || $name == secure-file-priv ]] || value=${value%/*}
    mkdir -p "$value"
    if [[ $(id -u) == 0 ]]; then find "$value" \! -user mysql -exec chown mysql '{}' +; fi
  done
}

client() { MYSQL_PWD=$MYSQL_ROOT_PASSWORD mysql --no-defaults -uroot --socket="$socket" --comments "$@"; }

literal() { printf "'%s'" "$(sed -e "s/\\\\/\\\\\\\\/g" -e "s/'/\\\\'/g" <<<"$1")"; }

fill() { # MYSQLD...
  local file with=()
  if [[ -n ${MYSQL_RANDOM_ROOT_PASSWORD:-} ]]; then
    MYSQL_ROOT_PASSWORD=$(od -An -N18 -tx1 /dev/urandom | tr -d ' \n')
    log Note "GENERATED ROOT PASSWORD: $MYSQL_ROOT_PASSWORD"
  fi
  if [[ -z ${MYSQL_INITDB_SKIP_TZINFO:-} ]]; then
    mysql_tzinfo_to_sql /usr/share/zoneinfo 2>/dev/null | MYSQL_PWD='' mysql -uroot --socket="$socket" --database=mysql
  fi
  {
    printf 'SET @@SESSION.SQL_LOG_BIN=0;\n'
    if [[ -n ${MYSQL_ROOT_HOST:=%} && $MYSQL_ROOT_HOST != localhost ]]; then
      printf "CREATE USER 'root'@%s IDENTIFIED BY %s;\n" "$(literal "$MYSQL_ROOT_HOST")" "$(literal "$MYSQL_ROOT_PASSWORD")"
      printf "GRANT ALL ON *.* TO 'root'@%s WITH GRANT OPTION;\n" "$(literal "$MYSQL_ROOT_HOST")"
    fi
    printf "ALTER USER 'root'@'localhost' IDENTIFIED BY %s;\n" "$(literal "$MYSQL_ROOT_PASSWORD")"
    printf 'FLUSH PRIVILEGES;\nDROP DATABASE IF EXISTS test;\n'
  } | MYSQL_PWD='' mysql --no-defaults -uroot --socket="$socket"
  if [[ -n ${MYSQL_DATABASE:-} ]]; then
    client <<<"CREATE DATABASE IF NOT EXISTS \`$MYSQL_DATABASE\`;"
    with=(--database="$MYSQL_DATABASE")
  fi
  if [[ -n ${MYSQL_USER:-} && -n ${MYSQL_PASSWORD:-} ]]; then
    client <<<"CREATE USER $(literal "$MYSQL_USER")@'%' IDENTIFIED BY $(literal "$MYSQL_PASSWORD");"
    [[ -z ${MYSQL_DATABASE:-} ]] ||
      client <<<"GRANT ALL ON \`${MYSQL_DATABASE//_/\\_}\`.* TO $(literal "$MYSQL_USER")@'%';"
  fi
  for file in /docker-entrypoint-initdb.d/*; do
    case $file in
      *.sh) if [[ -x $file ]]; then "$file"; else . "$file"; fi ;;
      *.sql) client "${with[@]}" <"$file" ;;
      *.sql.gz) gunzip -c "$file" | client "${with[@]}" ;;
      *.sql.bz2) bunzip2 -c "$file" | client "${with[@]}" ;;
      *.sql.xz) xzcat "$file" | client "${with[@]}" ;;
      *.sql.zst) zstd -dc "$file" | client "${with[@]}" ;;
      *) log Warn "ignoring $file" ;;
    esac
  done
}

if [[ ${1:0:1} == - || $# == 0 ]]; then set -- mysqld "$@"; fi
if [[ $1 != mysqld ]] || wants_help "$@"; then exec "$@"; fi

log Note "Entrypoint script for a MySQL server started."
check_configuration "$@"
make_directories "$@"
if [[ $(id -u) == 0 ]]; then
  log Note "Switching to dedicated user 'mysql'"
  exec setpriv --reuid=mysql --regid=mysql --clear-groups "$BASH_SOURCE" "$@"
fi

for name in MYSQL_ROOT_HOST MYSQL_DATABASE MYSQL_USER MYSQL_PASSWORD MYSQL_ROOT_PASSWORD; do from_file "$name"; done
data=$(setting datadir "$@") socket=$(setting socket "$@")
if [[ ! -d $data/mysql ]]; then
  [[ -n ${MYSQL_ROOT_PASSWORD:-}${MYSQL_ALLOW_EMPTY_PASSWORD:-}${MYSQL_RANDOM_ROOT_PASSWORD:-} ]] || die \
    $'Database is uninitialized and password option is not specified\n\tYou need to specify one of MYSQL_ROOT_PASSWORD, MYSQL_ALLOW_EMPTY_PASSWORD and MYSQL_RANDOM_ROOT_PASSWORD'
  log Note "Initializing database files"
  "$@" --initialize-insecure --default-time-zone=SYSTEM
  log Note "Starting temporary server"
  "$@" --daemonize --skip-networking --default-time-zone=SYSTEM --socket="$socket" || die "Unable to start server."
  fill "$@"
  log Note "Stopping temporary server"
  MYSQL_PWD=$MYSQL_ROOT_PASSWORD mysqladmin --no-defaults shutdown -uroot --socket="$socket"
  log Note "MySQL init process done. Ready for start up."
fi
exec "$@"
