"""What partial JSON saves, or would save, in binary logs that are there: ``binlog-lab matrix estimate``.

difference   two documents -> bytes of the diffs that could lead from one to the other
costs        a column of a row -> bytes of its field in the log, with bounds
rows         a row -> bytes of the row with each row image
meter        events of a log -> measurements
questions    measurements -> figures, by SQL
report       figures -> text, JSON
    inline       all of it without Spark; scenarios.spark.estimates is the same on Spark
    choice       which of the two
"""
