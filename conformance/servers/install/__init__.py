"""Where the programs of MySQL are: installed, unpacked, fetched from a distribution, or in the cache."""
