-- What scripts see of Lua, and the guard of their calls. Runs once, when a runtime starts.
--
-- Gets the table of the server's functions, the limits, and what `print` calls; returns the
-- functions that emu/scripts/runtime.py uses. Scripts never see this file's locals.
local api, limits, printed, handler, compile_text = ...
local sethook, getinfo = debug.sethook, debug.getinfo
local count = collectgarbage
local load, error, type, rawget, setmetatable = load, error, type, rawget, setmetatable
local find, gsub, gmatch, match = string.find, string.gsub, string.gmatch, string.match
local rep, sub, format, char = string.rep, string.sub, string.format, string.char
local tostring, tonumber, select, concat, next = tostring, tonumber, select, table.concat, next
local os, math = os, math

-- The guard. The hook runs after every few instructions. Once a call is over its limit the
-- hook runs after every instruction, so that nothing can catch the error and go on.
local clock, own_time = python.as_function(limits.clock), python.as_function(limits.own_time)
local left, deadline, patience, began, ceiling = 0, nil, limits.seconds, 0, 0
local last, charged, longest_gap = 0, 0, limits.seconds / 5
local depth, reason = limits.depth, nil

local function over()
    sethook(over, "", 1)
    error(reason, 0)
end

local function stop(why)
    reason = why
    over()
end

local function beat()
    left = left - 1
    if left < 0 then stop("the call took too long") end
    if left % 8 == 0 then
        -- Level 1 is this function. Lua itself would allow 200,000 calls inside of each other.
        if getinfo(depth, "l") then stop("the functions call each other too deeply") end
        if count("count") > ceiling then stop("the call needs too much memory") end
    end
    local now = clock()
    -- The clock is first read here: most calls end before the first beat.
    if not deadline then
        deadline, began, charged = now + longest_gap, nil, 0
    else
        -- Where many machines share a processor, the time for which it served another one counts
        -- as this thread's own. A pause between two beats is charged up to a fifth of the limit.
        local gap = now - last
        charged = charged + (gap < longest_gap and gap or longest_gap)
        if now > deadline then
            -- This clock counts all threads, other programs, and Python's garbage collector; a
            -- script pays for none of them. To ask how much is its own takes five times as long,
            -- so a call is asked that takes longer than most.
            began = began or own_time() - charged
            local used = own_time() - began
            if used > charged then used = charged end
            if used > patience then stop("the call took too long") end
            deadline = now + patience - used
        end
    end
    last = now
end

-- `most` is the kilobytes that all scripts may have during the call.
local function arm(beats, most)
    left, deadline, patience, ceiling = beats, nil, limits.seconds, most
    sethook(beat, "", limits.step)
end

-- What a call causes inside of it adds to its time: a script that makes thirty spawns loads thirty
-- files, and calls as many functions.
local function extend()
    if patience < 4 * limits.seconds then patience = patience + limits.seconds / 15 end
end

-- Lupa numbers the objects of Python's that Lua has, with luaL_ref in a weak table. Without free numbers
-- luaL_ref takes the first empty place: that of an object which Lua has lost and whose finalizer has not
-- run yet. Two objects would have one number, and a script would get the other one. So there are always
-- free numbers; luaL_ref keeps them as a list in the table, whose head is at place 3, in old versions 0.
local refs, head = debug.getregistry().LUPA_PYTHON_REFERENCES_TABLE, nil
local highest, half, many = 0, 0, limits.free_numbers

local function add_numbers()
    for number = highest + 1, highest + many - 1 do refs[number] = number + 1 end
    refs[highest + many] = refs[head]
    refs[head] = highest + 1
    half, highest = highest + many // 2, highest + many
end

if refs then
    count("collect")
    for number in next, refs do if number > highest then highest = number end end
    head = math.type(refs[3]) == "integer" and 3 or 0
    refs[head] = refs[head] or 0
    add_numbers()
end

-- Begins a call; `beats` is nil inside of a running one.
local function begin(beats, most)
    if not beats then return extend() end
    if refs and refs[head] > half then
        local before = count("count")
        add_numbers()
        most = most + count("count") - before
    end
    arm(beats, most)
end

-- For tests: how many free numbers there are.
local function free()
    local found, number = 0, refs and refs[head] or 0
    while number ~= 0 do found, number = found + 1, refs[number] end
    return found
end

-- The library of scripts. No text is longer than `longest`: literals are measured before a script
-- is compiled, and everything below that makes a text bounds it. What takes long inside of a C
-- function is paid for in steps, of which each beat allows a number.
local longest = limits.text
local STEPS_OF_A_BEAT = 50000
local spent = 0

local function pay(steps)
    spent = spent + steps
    if spent > STEPS_OF_A_BEAT then
        spent = 0
        beat()
    end
end

-- Returns how long a value is as a text. A number has up to 24 digits.
local function length(value)
    local kind = type(value)
    return kind == "string" and #value or kind == "number" and 24 or 0
end

-- A script's `a .. b` is compiled as `a .. join .. b`. From the right, Lua first asks `join` to take
-- `b`, and then `taken` to join `a` with it. Nothing of a script runs in between. Both texts are
-- bounded, so joining them before the length is known takes no long time.
local second
local taken = setmetatable({}, { __metatable = false, __concat = function(first)
    local made = first .. second
    if #made > longest then
        error("the text would be too long: more than " .. longest .. " bytes", 2)
    end
    return made
end })
local join = setmetatable({}, { __metatable = false, __concat = function(_, other)
    second = other
    return taken
end })

-- Returns a text that is short enough, with blanks for zero bytes: Lua compares those slowly.
local function kept(text, name)
    if #text > longest then error("string." .. name .. ": the text would be too long", 3) end
    if find(text, "\0", 1, true) then return (gsub(text, "\0", " ")) end
    return text
end

local function limited(name, most)
    local call = string[name]
    return function(text, ...)
        if type(text) == "string" and #text > most then
            error("string." .. name .. ": the text has more than " .. most .. " bytes", 2)
        end
        pay(length(text))
        return call(text, ...)
    end
end

-- Functions that read each of their arguments: each can be a long text.
local MOST_UNPACKED = 250
local function few(call)
    return function(...)
        local many = select("#", ...)
        if many > MOST_UNPACKED then error("too many arguments", 2) end
        pay(many * 500)
        return call(...)
    end
end

-- A pattern with several repetitions can take years on a short text, and the hook does not run
-- inside of C functions. Each repetition may try every length of the text, and a pattern without an
-- anchor every beginning of it: the product is what a call can cost. Behind each length that a
-- repetition tries, all that follows it in the pattern is compared.
local MOST_STEPS = 200000
local MOST_COMPARED = 750000

local function pay_pattern(name, text, pattern, repeats, plain)
    local tries = repeats
    if name == "gmatch" or sub(pattern, 1, 1) ~= "^" then tries = tries + 1 end
    local steps = (#text + 1) ^ tries
    local compared = steps
    if repeats > 0 then
        compared = steps * (1 + #plain - find(plain, "[*+?-]")) / tries
    end
    if repeats > 1 and steps > MOST_STEPS or compared > MOST_COMPARED then
        error("string." .. name .. ": this pattern would take too long", 3)
    end
    pay(compared > steps and compared or steps)
end

local function checked(name, call)
    return function(text, pattern, ...)
        text, pattern = tostring(text), tostring(pattern)
        if name == "find" and select(2, ...) then
            -- Plain text too: each place of a long text may be like the beginning of a long pattern.
            if #text > longest or #pattern > 256 then error("string.find: the text is too long", 2) end
            pay(#text)
            return call(text, pattern, ...)
        end
        -- Before its signs are counted: that takes long as well.
        if #pattern > 64 then error("string." .. name .. ": this pattern would take too long", 2) end
        local plain = gsub(pattern, "%%[^bf]", "x")
        local _, repeats = gsub(plain, "[*+?-]", "")
        if find(pattern, "%%[bf]") or #text > (repeats > 0 and 256 or 4096) then
            error("string." .. name .. ": this pattern would take too long", 2)
        end
        pay_pattern(name, text, pattern, repeats, plain)
        return call(text, pattern, ...)
    end
end

-- The texts of all replacements together are bounded, whoever gives them.
local substitute = checked("gsub", gsub)
local function replace(text, pattern, replacement, ...)
    local kind = type(replacement)
    if kind == "string" or kind == "number" then
        if (#tostring(text) + 1) * length(replacement) > 16 * longest then
            error("string.gsub: the text would be too long", 2)
        end
    elseif kind == "table" or kind == "function" then
        local given, total = replacement, 0
        replacement = function(...)
            local found
            if kind == "table" then found = given[(...)] else found = given(...) end
            total = total + length(found)
            if total > longest then error("string.gsub: the text would be too long", 2) end
            return found
        end
    end
    local made, times = substitute(text, pattern, replacement, ...)
    return kept(made, "gsub"), times
end

local function formatted(pattern, ...)
    if type(pattern) == "string" and #pattern > 4096 then
        error("string.format: the text has more than 4096 bytes", 2)
    end
    local many, total = select("#", ...), 0
    if many > 100 then error("string.format: too many arguments", 2) end
    for i = 1, many do total = total + length((select(i, ...))) end
    if total > longest then error("string.format: the text would be too long", 2) end
    -- `%q` writes each byte anew.
    pay(many * 500 + total * 4)
    return kept(format(pattern, ...), "format")
end

local strings = {
    byte = limited("byte", 4096), len = string.len,
    char = few(function(...) return kept(char(...), "char") end),
    lower = limited("lower", longest), upper = limited("upper", longest),
    reverse = limited("reverse", longest), sub = limited("sub", longest),
    format = formatted,
    find = checked("find", find), match = checked("match", match),
    gsub = replace, gmatch = checked("gmatch", gmatch),
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

-- The loop counts each element, also an empty one.
local function concatenated(list, separator, first, last)
    separator, first, last = separator or "", first or 1, last or #list
    local total, between = 0, length(separator)
    for i = first, last do
        total = total + length(list[i]) + between
        if total > longest then error("table.concat: the text would be too long", 2) end
    end
    return concat(list, separator, first, last)
end

local unpack = table.unpack
local tables = {
    insert = insert, remove = remove, sort = sort, concat = concatenated, pack = table.pack,
    unpack = function(list, first, last)
        first, last = first or 1, last or #list
        if last - first >= MOST_UNPACKED then error("too many results to unpack", 2) end
        return unpack(list, first, last)
    end,
}

local numbers = {}
for name, value in pairs(math) do numbers[name] = value end
-- 195 scripts of the community would seed the generator of the whole server by the second.
numbers.randomseed = function() end
numbers.max, numbers.min = few(math.max), few(math.min)

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
local objects = debug.getmetatable(limits.own_time)
local function no_field(_, name) error("the server's values have no field " .. tostring(name), 2) end
objects.__index, objects.__newindex = no_field, no_field

-- To pass values to Python takes time by the square of their number: 24,000 take a second. They are
-- counted before, also for a handle, which refuses the call itself.
local call_object = objects.__call
objects.__call = function(object, ...)
    if select("#", ...) > MOST_UNPACKED then error("too many arguments", 2) end
    return call_object(object, ...)
end

local library = {
    _VERSION = _VERSION, assert = assert, error = error, ipairs = ipairs, next = next,
    pairs = pairs, rawequal = rawequal, rawget = rawget, rawlen = rawlen, select = select,
    tonumber = to_number, tostring = tostring, type = type,
    print = function(...)
        local words = {}
        for i = 1, select("#", ...) do words[i] = tostring((select(i, ...))) end
        printed(concatenated(words, "\t"))
    end,
    math = numbers, string = strings, table = tables,
    os = { time = os.time, date = date, clock = os.clock, difftime = os.difftime },
}

-- The server's functions stand beside the library; both are behind each script's own globals.
for name, value in next, library do api[name] = value end

-- Each environment has tables of its own before those of the library: a script that changes
-- `string.format`, or adds to `math`, changes it for itself. They are empty at first: a copy of
-- each for each cast of a spell took two kilobytes and half of the time to load its file.
local function before(source)
    return {
        __index = source, __metatable = false,
        __pairs = function(own)
            local all = {}
            for name, value in next, source do all[name] = value end
            for name, value in next, own do all[name] = value end
            return next, all, nil
        end,
    }
end

local own_math, own_string = before(numbers), before(strings)
local own_table, own_os = before(tables), before(library.os)

local behind = { __index = api, __metatable = false }

local function environment(run_module)
    -- Further arguments never reach Python: to read each of them takes time.
    local env = {
        require = function(name) return run_module(name, true) end,
        dofile = function(name) return run_module(name, false) end,
        math = setmetatable({}, own_math), string = setmetatable({}, own_string),
        table = setmetatable({}, own_table), os = setmetatable({}, own_os),
    }
    env._G = env
    return setmetatable(env, behind)
end

-- Returns a function that runs a script in the environment it is passed, or nil and the error. A
-- source may take so many seconds; without them the code is what emu/scripts/compiling.py has made.
-- All environments share the code: hundreds of scripts require the same modules.
local function compile(code, name, seconds)
    if seconds then return compile_text(code, name, {}, seconds) end
    return load(code, "@" .. name, "b", {})
end

-- Runs what `compile` returned in an environment; `beats` is nil inside of a running call.
local function run(compiled, env, beats, most)
    begin(beats, most)
    compiled(env, join)
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
local function call(env, beats, most, name, ...)
    local found = find_function(env, name)
    if not found then return false end
    begin(beats, most)
    return true, found(...)
end

-- Nothing else stays reachable: the globals of the runtime are emptied.
local globals, traceback = _G, python.as_function(handler)
for name in next, globals do globals[name] = nil end
-- Lupa looks for this one when a call fails; it finds the line of the script. A C function: the hook
-- would stop one in Lua.
globals.debug = { traceback = traceback }

-- The table at the end has the handles that are kept until they end. Python writes it itself: what
-- runs no Lua code is not stopped by the guard.
return environment, compile, run, has, call, free, {}
