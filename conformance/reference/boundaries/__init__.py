"""Where transactions begin and end in a stream of events: the model of WL#4162, and the parser that servers shipped."""
