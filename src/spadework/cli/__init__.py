"""The command ``spadework``: one file a verb, each parses, calls, prints."""
