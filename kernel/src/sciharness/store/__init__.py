"""The run record: home, events, artifacts, vault and ledger."""
