"""What ``beam.xsuite`` offers: each operation beside the record that declares it."""
