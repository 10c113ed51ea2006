"""Small maps, regions and meshes in EQ2Emulator's formats, and plain searches over them."""
