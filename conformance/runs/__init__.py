"""Work that commands start from several packages: stored Cases, fuzz and matrix runs, exports, servers, predictions."""
