"""`emu structs`: the verbs on packet structs."""
