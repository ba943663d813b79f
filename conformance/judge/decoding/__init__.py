"""The judge of decoders: what a subject answered against what the Case expects."""
