"""InnoDB's data files: pages, index trees, records, and the dictionary information (SDI) in every tablespace.

``checksums`` CRC-32C and the older rules; ``pages`` page types, page headers, tablespaces; ``page_compression``
transparent page compression; ``page_zip`` pages of ROW_FORMAT=COMPRESSED; ``records`` the three record formats;
``btree`` walks; ``blob_chain`` and ``lob`` off-page values, ``lob_index`` their
lists of pieces with older versions; ``large_values`` the JSON columns of all rows; ``sdi`` dictionary objects.

Readers ask for bytes through a window function: offset and count in, bytes out. They verify what they read, and visit
each page of a walk once. So a hostile file costs no more than its size.
"""
