"""The ops, one family per file."""
