"""What a report holds for each decoder: a page, a badge, and its part of the Markdown."""
