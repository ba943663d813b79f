"""Mutators whose inputs get through the outer layers: they correct lengths, checksums and bitmaps after a change."""
