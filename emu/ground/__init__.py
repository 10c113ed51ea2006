"""The ground of zones: EQ2Emulator's map, region and mesh files, and the files made from them.

`map_files`, `region_files` and `mesh_files` read EQ2Emulator's files. `building` and
`mesh_building` make a ground file and a path file of them, which a server reads in place:
`ground_map` answers heights and lines of sight, `path_mesh` and `routes` find ways. Nothing here
knows a clock, a thread or the network. Only `building` needs numpy (the extra ``maps``).
"""
