"""The bytes that partial JSON saves, or would save, in existing binary logs: ``binlog-lab matrix estimate``.

* ``difference``: from two documents to the bytes of the diffs that could lead from one to the other;
* ``costs``: from a column of a row to the bytes of its field in the log, with bounds;
* ``rows``: from a row to the bytes of the row with each row image;
* ``meter``: from the events of a log to measurements;
* ``questions``: from measurements to figures, by SQL;
* ``report``: from figures to text and JSON;
* ``inline``: all of it without Spark; ``scenarios.spark.estimates`` does the same on Spark;
* ``choice``: which of the two.
"""
