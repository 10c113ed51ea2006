-- What scripts see of Lua, and the guard of their calls. Runs once, when a runtime starts.
--
-- Gets the table of the server's functions, the limits, and what `print` calls; returns the
-- functions that emu/scripts/runtime.py uses. Scripts never see this file's locals.
local api, limits, printed = ...
local sethook, clock = debug.sethook, os.clock
local load, error, type, rawget, setmetatable = load, error, type, rawget, setmetatable
local find, gsub, gmatch, match = string.find, string.gsub, string.gmatch, string.match
local rep, sub = string.rep, string.sub
local tostring, tonumber, select, concat, next = tostring, tonumber, select, table.concat, next
local os = os

-- The guard. The hook runs after every few instructions. Once a call is over its limit the
-- hook runs after every instruction, so that nothing can catch the error and go on.
local own_time = limits.own_time
local left, deadline, patience, began = 0, nil, limits.seconds, 0

local function over()
    sethook(over, "", 1)
    error("the call took too long", 0)
end

local function beat()
    left = left - 1
    if left < 0 then over() end
    local now = clock()
    -- The clock is first read here: most calls end before the first beat.
    if not deadline then
        deadline, began = now + patience, own_time()
    elseif now > deadline then
        -- This clock counts all threads, and Python's garbage collector; a script pays for neither.
        local used = own_time() - began
        if used > patience then over() end
        deadline = now + patience - used
    end
end

local function arm(beats)
    left, deadline, patience = beats, nil, limits.seconds
    sethook(beat, "", limits.step)
end

-- Files are loaded rarely, and run little but definitions.
local function arm_loading(beats)
    left, deadline, patience = beats, nil, limits.loading_seconds
    sethook(beat, "", limits.loading_step)
end

-- The library of scripts.
local function limited(name, longest)
    local call = string[name]
    return function(text, ...)
        if type(text) == "string" and #text > longest then
            error("string." .. name .. ": the text has more than " .. longest .. " bytes", 2)
        end
        return call(text, ...)
    end
end

-- A pattern with several repetitions can take years on a short text, and the hook does not run
-- inside of C functions. Each repetition may try every length of the text, and a pattern without an
-- anchor every beginning of it: the product is what a call can cost.
local MOST_STEPS = 200000
local STEPS_OF_A_BEAT = 50000
local spent = 0

local function pay(name, text, pattern, repeats)
    local tries = repeats
    if name == "gmatch" or sub(pattern, 1, 1) ~= "^" then tries = tries + 1 end
    local steps = (#text + 1) ^ tries
    if repeats > 1 and steps > MOST_STEPS then
        error("string." .. name .. ": this pattern would take too long", 3)
    end
    spent = spent + steps
    if spent > STEPS_OF_A_BEAT then
        spent = 0
        beat()
    end
end

local function checked(name, call)
    return function(text, pattern, ...)
        text, pattern = tostring(text), tostring(pattern)
        if name == "find" and select(2, ...) then
            -- Plain text too: each place of a long text may be like the beginning of a long pattern.
            if #text > limits.text or #pattern > 256 then error("string.find: the text is too long", 2) end
            return call(text, pattern, ...)
        end
        -- Before its signs are counted: that takes long as well.
        if #pattern > 64 then error("string." .. name .. ": this pattern would take too long", 2) end
        local _, repeats = gsub(gsub(pattern, "%%[^bf]", ""), "[*+?-]", "")
        if find(pattern, "%%[bf]") or #text > (repeats > 0 and 256 or 4096) then
            error("string." .. name .. ": this pattern would take too long", 2)
        end
        pay(name, text, pattern, repeats)
        return call(text, pattern, ...)
    end
end

local strings = {
    byte = limited("byte", 4096), len = string.len, char = string.char,
    lower = limited("lower", limits.text), upper = limited("upper", limits.text),
    reverse = limited("reverse", limits.text), sub = limited("sub", limits.text),
    format = limited("format", 4096),
    find = checked("find", find), match = checked("match", match),
    gsub = checked("gsub", gsub), gmatch = checked("gmatch", gmatch),
    rep = function(text, times, separator)
        text, separator = tostring(text), separator and tostring(separator) or ""
        -- Lua repeats an empty text as often as it is told, too.
        if #text + #separator == 0 then return "" end
        if (#text + #separator) * times > 4096 then error("string.rep: the text would be too long", 2) end
        return rep(text, times, separator)
    end,
}
getmetatable("").__index = strings

-- Written in Lua, because the hook runs in Lua code only: in a table with wrong borders the C
-- functions would move elements for years.
local function insert(list, place, value, ...)
    local count = #list
    if select("#", ...) > 0 then error("wrong number of arguments to 'insert'", 2) end
    if value == nil then
        list[count + 1] = place
        return
    end
    if place < 1 or place > count + 1 then error("position out of bounds", 2) end
    for i = count, place, -1 do list[i + 1] = list[i] end
    list[place] = value
end

local function remove(list, place)
    local count = #list
    if not place then place = count end
    if count == 0 and (place == 0 or place == count) then return list[place] end
    if place < 1 or place > count + 1 then error("position out of bounds", 2) end
    local value = list[place]
    for i = place, count do list[i] = list[i + 1] end
    return value
end

local function less(a, b) return a < b end

local function sift(list, from, to, before)
    while true do
        local child = 2 * from
        if child > to then return end
        if child < to and before(list[child], list[child + 1]) then child = child + 1 end
        if not before(list[from], list[child]) then return end
        list[from], list[child] = list[child], list[from]
        from = child
    end
end

local function sort(list, before)
    before = before or less
    local count = #list
    for i = count // 2, 1, -1 do sift(list, i, count, before) end
    for last = count, 2, -1 do
        list[1], list[last] = list[last], list[1]
        sift(list, 1, last - 1, before)
    end
end

local unpack = table.unpack
local tables = {
    insert = insert, remove = remove, sort = sort, concat = concat, pack = table.pack,
    unpack = function(list, first, last)
        first, last = first or 1, last or #list
        if last - first >= 250 then error("too many results to unpack", 2) end
        return unpack(list, first, last)
    end,
}

local numbers = {}
for name, value in pairs(math) do numbers[name] = value end
-- 195 scripts of the community would seed the generator of the whole server by the second.
numbers.randomseed = function() end

-- Each sign of a format, and each digit of a text, takes time.
local function date(format, ...)
    if type(format) == "string" and #format > 256 then error("os.date: the format is too long", 2) end
    return os.date(format, ...)
end

local function to_number(...)
    local text = ...
    if type(text) == "string" and #text > 4096 then error("tonumber: the text is too long", 2) end
    return tonumber(...)
end

-- Handles and the server's functions have no fields. An error of Lua's has its line, one of
-- Python's has none.
local objects = debug.getmetatable(own_time)
local function no_field(_, name) error("the server's values have no field " .. tostring(name), 2) end
objects.__index, objects.__newindex = no_field, no_field

local library = {
    _VERSION = _VERSION, assert = assert, error = error, ipairs = ipairs, next = next,
    pairs = pairs, rawequal = rawequal, rawget = rawget, rawlen = rawlen, select = select,
    tonumber = to_number, tostring = tostring, type = type,
    print = function(...)
        local words = {}
        for i = 1, select("#", ...) do words[i] = tostring((select(i, ...))) end
        printed(concat(words, "\t"))
    end,
    math = numbers, string = strings, table = tables,
    os = { time = os.time, date = date, clock = os.clock, difftime = os.difftime },
}

-- The server's functions stand beside the library; both are behind each script's own globals.
for name, value in pairs(library) do api[name] = value end

-- Each environment has copies of the library's tables: a script that changes `string.format`, or
-- adds to `math`, changes it for itself.
local function shallow(source)
    local copy = {}
    for name, value in next, source do copy[name] = value end
    return copy
end

local behind = { __index = api, __metatable = false }

local function environment(require, dofile)
    local env = {
        require = require, dofile = dofile, math = shallow(numbers), string = shallow(strings),
        table = shallow(tables), os = shallow(library.os),
    }
    env._G = env
    return setmetatable(env, behind)
end

-- Returns a function that runs a source in the environment it is passed, or nil and the error.
-- All environments share its code: hundreds of scripts require the same modules. The addition
-- stands in the first line, so that the numbers of lines stay right.
local function compile(source, name)
    return load("local _ENV = ...; " .. source, "@" .. name, "t", {})
end

-- Runs what `compile` returned in an environment; `beats` is nil inside of a running call.
local function run(compiled, env, beats)
    if beats then arm_loading(beats) end
    compiled(env)
end

local function find_function(env, name)
    local found = rawget(env, name)
    if type(found) == "function" then return found end
    if found ~= nil then return nil end
    found = api[name]
    -- The server's own functions are Python's, and so userdata here.
    return (type(found) == "function" or type(found) == "userdata") and found or nil
end

local function has(env, name) return find_function(env, name) ~= nil end

-- Calls a global function of an environment by its name, if there is one.
local function call(env, beats, name, ...)
    local found = find_function(env, name)
    if not found then return false end
    if beats then arm(beats) end
    return true, found(...)
end

local function names(env)
    local found = {}
    for name, value in next, env do
        if type(name) == "string" then found[#found + 1] = name .. "=" .. type(value) end
    end
    return concat(found, "\n")
end

-- Nothing else stays reachable: the globals of the runtime are emptied.
local globals, traceback = _G, debug.traceback
for name in next, globals do globals[name] = nil end
-- Lupa looks for this one when a call fails; it gives an error the line of the script. A C function:
-- the hook would stop one in Lua.
globals.debug = { traceback = traceback }

return environment, compile, run, has, call, names
