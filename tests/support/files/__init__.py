"""Files for tests: captures, dumps, rows and structs, made by hand or recorded."""
