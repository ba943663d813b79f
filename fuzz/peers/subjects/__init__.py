"""Any decoder as a target: its spec, the logs that it gets, and what counts as a defect of its answer."""
