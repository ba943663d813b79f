"""Scenario matrices on Spark. Imports of pyspark and pyarrow stay inside: the extra ``spark`` brings them."""
