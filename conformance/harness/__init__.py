"""What every check uses: settings and profiles, the session with its servers, the recorder, Cases that are run."""
