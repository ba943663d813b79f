"""Dictionary information in data files as it shipped: DDL on a real server, the files that it leaves, and ibd2sdi.

The design of WL#7053, which no server has, is judged in ``sdi_design``. What a data file holds is read by the kit's
reader. The witnesses are ibd2sdi, INFORMATION_SCHEMA, SHOW CREATE TABLE, and IMPORT TABLESPACE (innodb-sdi B).
"""
