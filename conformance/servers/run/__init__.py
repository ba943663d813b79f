"""Servers as processes of this machine: options, data directories, supervision, reports of crashes."""
