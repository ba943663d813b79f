"""The catalogue of requirements, listed deviations, and the table from server versions to dialects.

Data and its loaders.
"""
