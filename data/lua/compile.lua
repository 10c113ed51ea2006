-- Compiles the source of a script in pieces, so that one that takes long can be ended: Lua needs
-- seconds for some sources of 200 kilobytes. Returns two functions for emu/scripts.
local load, sub, clock, dump = load, string.sub, os.clock, string.dump
local PIECE = 1024

-- Returns a function that runs the source in an environment, or nil and the error. `most` is the
-- seconds of CPU, of all threads of the process.
local function compile(source, name, environment, most)
    local at, deadline = 1, clock() + most
    local function piece()
        if clock() > deadline then error("takes too long to compile", 0) end
        local found = sub(source, at, at + PIECE - 1)
        at = at + PIECE
        return found ~= "" and found or nil
    end
    return load(piece, "@" .. name, "t", environment)
end

-- Returns the compiled form of a source, for another runtime of the same Lua.
local function compile_apart(source, name, most)
    local made, fault = compile(source, name, {}, most)
    if made then return dump(made) end
    return nil, fault
end

return compile, compile_apart
