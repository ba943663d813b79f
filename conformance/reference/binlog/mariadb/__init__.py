"""MariaDB's own events, whose type codes begin at 160, and its compression (MariaDB's documentation of its events;
observed on 10.11.19)."""
