#!/bin/bash
# Starts mysqld as user mysql; on an empty data directory it makes the system tables, the accounts and the database
# first, as the environment variables of the official MySQL image say (their names, forms and meaning are the same).
# Root's accounts are made inside `mysqld --initialize`, so a temporary server is needed only for a database, a user or
# scripts. It never listens on TCP: whoever waits for the server asks 127.0.0.1:3306, not the socket.
set -euo pipefail
shopt -s nullglob

say() { printf '%s [entrypoint] %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" >&2; }
die() {
  say "ERROR: $*"
  exit 1
}

# NAME_FILE names a file whose content is the value of NAME.
from_file() { # NAME
  local name=$1 file=${1}_FILE
  [[ -n ${!file:-} ]] || return 0
  [[ -z ${!name:-} ]] || die "$name and $file are both set: expected one of them"
  [[ -r ${!file} ]] || die "$file: cannot read ${!file}"
  export "$name=$(<"${!file}")"
  unset "$file"
}

# A string literal of SQL, under an sql_mode without NO_BACKSLASH_ESCAPES; no newline stays in it.
quoted() {
  local text=$1
  text=${text//\\/\\\\}
  text=${text//\'/\\\'}
  text=${text//$'\n'/\\n}
  printf "'%s'" "$text"
}

identifier() { printf '`%s`' "${1//\`/\`\`}"; }

# The path that mysqld would use for an option, given its files and the command line.
path_of() { # NAME
  local value
  value=$(awk -v name="$1 " 'index($0, name) == 1 { sub(/^[^ ]+ +/, ""); print; exit }' <<<"$options")
  [[ $value == /?* ]] || die "$1: expected an absolute path, got '$value'"
  printf '%s' "${value%/}"
}

check_environment() {
  local name
  for name in MYSQL_ROOT_PASSWORD MYSQL_ROOT_HOST MYSQL_DATABASE MYSQL_USER MYSQL_PASSWORD; do
    from_file "$name"
  done
  [[ -n ${MYSQL_ROOT_PASSWORD:-}${MYSQL_ALLOW_EMPTY_PASSWORD:-}${MYSQL_RANDOM_ROOT_PASSWORD:-} ]] || die \
    "the data directory is empty and no password option is set: expected one of" \
    "MYSQL_ROOT_PASSWORD, MYSQL_ALLOW_EMPTY_PASSWORD, MYSQL_RANDOM_ROOT_PASSWORD"
  [[ ${MYSQL_USER:-} != root ]] || die "MYSQL_USER is root, whom MYSQL_ROOT_PASSWORD and MYSQL_ROOT_HOST are for"
  [[ -z ${MYSQL_USER:-} || -n ${MYSQL_PASSWORD:-} ]] || die "MYSQL_USER is set, and MYSQL_PASSWORD is not"
  [[ -n ${MYSQL_USER:-} || -z ${MYSQL_PASSWORD:-} ]] || die "MYSQL_PASSWORD is set, and MYSQL_USER is not"
  if [[ -n ${MYSQL_RANDOM_ROOT_PASSWORD:-} ]]; then
    MYSQL_ROOT_PASSWORD=$(od -An -N18 -tx1 /dev/urandom | tr -d ' \n')
    say "GENERATED ROOT PASSWORD: $MYSQL_ROOT_PASSWORD"
  fi
  export MYSQL_ROOT_PASSWORD=${MYSQL_ROOT_PASSWORD:-} MYSQL_ROOT_HOST=${MYSQL_ROOT_HOST-%}
}

# One statement a line, as mysqld wants it in an init file.
root_accounts() {
  local password account="'root'@'localhost'"
  password=$(quoted "$MYSQL_ROOT_PASSWORD")
  printf "SET SESSION sql_log_bin = 0, sql_mode = '';\n"
  printf 'ALTER USER %s IDENTIFIED BY %s;\n' "$account" "$password"
  if [[ -n $MYSQL_ROOT_HOST && $MYSQL_ROOT_HOST != localhost ]]; then
    account="'root'@$(quoted "$MYSQL_ROOT_HOST")"
    printf 'CREATE USER %s IDENTIFIED BY %s;\n' "$account" "$password"
    printf 'GRANT ALL ON *.* TO %s WITH GRANT OPTION;\n' "$account"
  fi
  [[ -z ${MYSQL_ONETIME_PASSWORD:-} ]] || printf 'ALTER USER %s PASSWORD EXPIRE;\n' "$account"
}

make_data_directory() { # MYSQLD ARGUMENTS...
  local statements log status=0
  say "making the data directory $data"
  statements=$(mktemp) && log=$(mktemp)
  root_accounts >"$statements"
  "$@" --initialize-insecure --init-file="$statements" >"$log" 2>&1 || status=$?
  cat "$log" >&2
  # A statement of an init file that fails does not end mysqld: it only leaves a line in the log.
  if [[ $status == 0 ]] && grep -q '\[ERROR\]' "$log"; then status=1; fi
  rm -f "$statements" "$log"
  [[ $status == 0 ]] || die "mysqld --initialize-insecure failed, see above"
}

client() { MYSQL_PWD=$MYSQL_ROOT_PASSWORD "$1" --no-defaults --user=root --socket="$socket" "${@:2}"; }

user_statements() {
  printf "SET SESSION sql_mode = '';\n"
  if [[ -n ${MYSQL_DATABASE:-} ]]; then
    printf 'CREATE DATABASE IF NOT EXISTS %s;\n' "$(identifier "$MYSQL_DATABASE")"
  fi
  if [[ -n ${MYSQL_USER:-} ]]; then
    printf "CREATE USER %s@'%%' IDENTIFIED BY %s;\n" "$(quoted "$MYSQL_USER")" "$(quoted "$MYSQL_PASSWORD")"
    if [[ -n ${MYSQL_DATABASE:-} ]]; then # an underscore in a grant is a pattern unless it is escaped
      local pattern=${MYSQL_DATABASE//\\/\\\\}
      pattern=${pattern//_/\\_}
      printf "GRANT ALL ON %s.* TO %s@'%%';\n" "$(identifier "$pattern")" "$(quoted "$MYSQL_USER")"
    fi
  fi
}

run_script() { # FILE
  local database=()
  [[ -z ${MYSQL_DATABASE:-} ]] || database=(--database="$MYSQL_DATABASE")
  say "running $1"
  case $1 in
    *.sh)
      if [[ -x $1 ]]; then "$1"; else
        # shellcheck disable=SC1090
        . "$1"
      fi
      ;;
    *.sql) client mysql "${database[@]}" <"$1" ;;
    *.sql.gz) gzip -dc "$1" | client mysql "${database[@]}" ;;
    *.sql.bz2) bzip2 -dc "$1" | client mysql "${database[@]}" ;;
    *.sql.xz) xz -dc "$1" | client mysql "${database[@]}" ;;
    *.sql.zst) zstd -dc "$1" | client mysql "${database[@]}" ;;
    *) say "$1 is no script: ignored" ;;
  esac
}

fill_database() { # MYSQLD ARGUMENTS...
  local scripts=(/docker-entrypoint-initdb.d/*) script server
  [[ -n ${MYSQL_DATABASE:-}${MYSQL_USER:-} || ${#scripts[@]} -gt 0 ]] || return 0
  say "starting a temporary server, without TCP"
  "$@" --skip-networking --mysqlx=OFF --skip-replica-start &
  server=$!
  until client mysqladmin ping >/dev/null 2>&1; do
    kill -0 "$server" 2>/dev/null || die "the temporary server ended, see above"
    sleep 0.1
  done
  user_statements | client mysql
  for script in "${scripts[@]}"; do run_script "$script"; done
  kill -TERM "$server"
  wait "$server" || die "the temporary server did not stop well, see above"
}

[[ $# -gt 0 && ${1:0:1} != - ]] || set -- mysqld "$@"

wants_server=yes
[[ $1 == mysqld ]] || wants_server=
for argument in "$@"; do
  case $argument in --help | -\? | --version | -V | --print-defaults) wants_server= ;; esac
done
[[ -n $wants_server ]] || exec "$@"

if ! options=$("$@" --verbose --help 2>/tmp/options.err); then
  cat /tmp/options.err >&2
  die "mysqld does not accept its options: $*"
fi
rm -f /tmp/options.err
data=$(path_of datadir)
socket=$(path_of socket)

if [[ $(id -u) == 0 ]]; then
  for directory in "$data" "${socket%/*}"; do
    [[ -d $directory ]] || install -d -o mysql -g mysql "$directory"
  done
  find "$data" ! -user mysql -exec chown mysql:mysql {} +
  exec setpriv --reuid=mysql --regid=mysql --clear-groups "$0" "$@"
fi

if [[ ! -d $data/mysql ]]; then
  check_environment
  make_data_directory "$@"
  fill_database "$@"
  say "the data directory is ready"
fi
unset MYSQL_ROOT_PASSWORD MYSQL_PASSWORD
exec "$@"
