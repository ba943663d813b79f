"""The parts of a report for each decoder: a page, a badge, and its part of the Markdown."""
