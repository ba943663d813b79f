"""Settings that the owner of a server may have chosen otherwise: which the lab fixes, predicts or refuses."""
