"""Nothing that anybody runs."""
