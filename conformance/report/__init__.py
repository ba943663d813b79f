"""Consumers of the result stream: terminal, JSON, JUnit, Markdown, HTML. They know only the records of the stream."""
