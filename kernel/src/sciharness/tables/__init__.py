"""Tables as scientists have them: read, checked, split and sealed."""
