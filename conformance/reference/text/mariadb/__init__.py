"""Logs of MariaDB as text, in the words of mariadb-binlog (observed with 10.11.18)."""
