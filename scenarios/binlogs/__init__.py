"""Binary logs as rows, without Spark: finding the files, cutting them into parts, and reading a part as plain tuples.

``scenarios.spark.binlogs`` makes a Spark data source of these functions.
"""
