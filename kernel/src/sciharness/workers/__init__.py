"""Workers: confined child processes that run verified plugin code."""
