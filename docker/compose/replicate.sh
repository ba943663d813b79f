#!/bin/bash
# Makes REPLICA a replica of SOURCE, both reachable as root with MYSQL_ROOT_PASSWORD, and waits until it replicates.
# Statements by version: CHANGE MASTER TO and START SLAVE up to 8.0.22, CHANGE REPLICATION SOURCE TO from 8.0.23.
# Ends with 0 when both threads run and what was written on the source has arrived; else with 1 and the error.
set -euo pipefail

source=${1:?expected SOURCE REPLICA} replica=${2:?expected SOURCE REPLICA}
export MYSQL_PWD=$MYSQL_ROOT_PASSWORD

ask() { # HOST SQL
  mysql --no-defaults --protocol=TCP --host="$1" --user=root --batch --skip-column-names --execute="$2"
}

status() { # NAME NAME: the first of two columns that SHOW REPLICA STATUS has
  mysql --no-defaults --protocol=TCP --host="$replica" --user=root --execute="SHOW $noun STATUS\\G" |
    sed -n "s/^ *\\($1\\|$2\\): //p" | head -n 1
}

version=$(ask "$replica" 'SELECT VERSION()')
IFS=.- read -r major minor patch _ <<<"$version"
if ((major * 10000 + minor * 100 + patch >= 80023)); then
  noun=REPLICA change="REPLICATION SOURCE" word=SOURCE
else
  noun=SLAVE change=MASTER word=MASTER
fi

# TLS instead of the plain text that caching_sha2_password refuses; every version from 5.7 makes its own certificates.
ask "$replica" "CHANGE $change TO ${word}_HOST = '$source', ${word}_PORT = 3306, ${word}_USER = 'root',
  ${word}_PASSWORD = '${MYSQL_PWD//\'/\'\'}', ${word}_SSL = 1, ${word}_AUTO_POSITION = 1, ${word}_CONNECT_RETRY = 1"
ask "$replica" "START $noun"

token="lab_$RANDOM$RANDOM"
ask "$source" "CREATE DATABASE $token"
for _ in {1..60}; do
  if [[ -n $(ask "$replica" "SHOW DATABASES LIKE '$token'") ]]; then
    ask "$source" "DROP DATABASE $token"
    echo "$replica ($version) replicates from $source ($(ask "$source" 'SELECT VERSION()'))"
    exit 0
  fi
  sleep 1
done
echo "$replica does not replicate from $source:" >&2
for column in "Replica_IO_Running Slave_IO_Running" "Replica_SQL_Running Slave_SQL_Running" \
  "Last_IO_Error Last_IO_Error" "Last_SQL_Error Last_SQL_Error"; do
  # shellcheck disable=SC2086
  echo "  ${column%% *}: $(status $column)" >&2
done
exit 1
