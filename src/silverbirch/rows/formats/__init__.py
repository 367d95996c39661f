"""The formats that rows are read from, one module each."""
