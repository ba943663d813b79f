"""The harness that every check uses: settings and profiles, the session with its servers, the recorder, and runs of
Cases."""
