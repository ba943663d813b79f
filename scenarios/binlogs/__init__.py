"""Binary logs as rows, without Spark: finding the files, cutting them into parts, and reading a part as plain tuples.

``scenarios.spark.binlogs`` makes a data source of it.
"""
