"""Consumers of the result stream: terminal, JSON, JUnit, Markdown, HTML. They know the records of the stream only."""
