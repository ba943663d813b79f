"""The campaign of generated updates on one server: blocks, their events, workers, and recorded blocks."""
