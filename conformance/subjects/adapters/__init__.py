"""Adapters: programs that run inside a subject's own environment and speak the conversation.

Each uses the standard library and the subject's package only, and never imports the lab.
"""
