"""Work that commands start from several packages: runs of checks and matrices, stored Cases, exports, servers."""
