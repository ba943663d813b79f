"""Inputs that get through the outer layers: lengths, checksums and bitmaps put right behind a change."""
