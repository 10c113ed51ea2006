-- Protocol packets ---------------------------------------------------------------------------

local dissect_packet

local function complain(tree, text)
    tree:add_proto_expert_info(malformed, text)
end

local function note(state, text)
    state.info[#state.info + 1] = text
end

-- Length of a part: u8, or FF + u16, or (wide) FF FFFF + u32. Returns length, bytes it took.
local function part_length(range, at, wide)
    local left = range:len() - at
    if left < 1 then return nil end
    local length = range:range(at, 1):uint()
    if length < 255 then return length, 1 end
    if left < 3 then return nil end
    length = range:range(at + 1, 2):uint()
    if length < 65535 or not wide then return length, 3 end
    if left < 7 then return nil end
    return range:range(at + 3, 4):uint(), 7
end

-- Walk the parts of Combined or AppCombined and hand each to `dissect`.
local function each_part(state, range, at, tree, wide, dissect)
    local count = 0
    while at < range:len() do
        local length, took = part_length(range, at, wide)
        count = count + 1
        if not length or at + took + length > range:len() or count > MAX_PARTS then
            return complain(tree, "A part runs past the end")
        end
        local part = tree:add(f.part, range:range(at, took + length)):set_text("Part " .. count)
        part:add(f.part_length, range:range(at, took), length)
        if length > 0 then dissect(state, range:range(at + took, length), part) end
        at = at + took + length
    end
end

local function show_rc4(range)
    local key = {}
    for at = range:len() - 1, range:len() - 8, -1 do
        key[#key + 1] = string.format("%02x", range:range(at, 1):uint())
    end
    return table.concat(key)
end

-- Opcode 2 names another message in the tables; this one comes before the encryption of a session.
local KEY_REQUEST = "key request"

local function is_key_request(range)
    return range:len() >= 10 and range:range(0, 1):uint() == 2 and range:range(1, 4):le_uint() == 60
        and range:len() >= 69
end

local function is_key_block(range)
    return range:len() == 68 and range:range(0, 4):uint() == 0xffffffff
        and range:range(4, 4):le_uint() == 60
end

local function app_name(opcode)
    return names_of(eq2.prefs.version)[opcode] or "unknown"
end

-- Size of a command and bytes it took: u32 above client version 374, else u8 or FF + u16.
local function command_size(range, at)
    local left = range:len() - at
    if eq2.prefs.version > 374 then
        if left < 4 then return nil end
        return range:range(at, 4):le_uint(), 4
    end
    local size = range:range(at, 1):uint()
    if size < 255 then return size, 1 end
    if left < 3 then return nil end
    return range:range(at + 1, 2):le_uint(), 3
end

-- Walk the commands in OP_ClientCmdMsg: size, then opcode (u8, or FF + u16) and payload.
local function show_commands(state, range, tree)
    local at, count = 0, 0
    while at < range:len() do
        local size, took = command_size(range, at)
        count = count + 1
        if not size or size < 1 or at + took + size > range:len() or count > MAX_PARTS then
            return complain(tree, "A command runs past the end")
        end
        local item = tree:add(f.command, range:range(at, took + size))
        item:add(f.command_size, range:range(at, took), size)
        local body = range:range(at + took, size)
        local head, opcode = 1, body:range(0, 1):uint()
        if opcode == 255 then
            if size < 3 then return complain(item, "A command without opcode") end
            head, opcode = 3, body:range(1, 2):le_uint()
        end
        item:add(f.command_opcode, body:range(0, head), opcode)
        item:add(f.command_name, body:range(0, head), app_name(opcode)):set_generated()
        item:set_text("Command " .. app_name(opcode) .. " (" .. opcode .. ")")
        if size > head then item:add(f.command_data, body:range(head)) end
        note(state, app_name(opcode) .. " (" .. opcode .. ")")
        at = at + took + size
    end
end

local function show_clear(state, range, tree, flagged)
    local at = 0
    if flagged then
        tree:add(f.app_flag, range:range(0, 1))
        if range:range(0, 1):uint() == 1 then
            note(state, "compressed message")
            return
        end
        at = 1
    end
    if range:len() <= at then return complain(tree, "A message without opcode") end
    local size, opcode = 1, range:range(at, 1):uint()
    if opcode == 255 and range:len() >= at + 3 then
        opcode, size = range:range(at + 1, 2):le_uint(), 3
    end
    if size == 3 then
        tree:add(f.app_opcode, range:range(at, 3), opcode)
    else
        tree:add(f.app_opcode, range:range(at, 1))
    end
    tree:add(f.app_name, range:range(at, size), app_name(opcode)):set_generated()
    note(state, app_name(opcode) .. " (" .. opcode .. ")")
    if range:len() == at + size then return end
    local data = range:range(at + size)
    tree:add(f.app_data, data)
    if app_name(opcode) == "OP_ClientCmdMsg" then show_commands(state, data, tree) end
end

local function learn_key_block(state, range)
    local session = state.session
    if session and not session.key_frame then
        session.key_frame, session.key_offset = state.pinfo.number, range:offset()
    end
end

-- Is this message after the key block, that is, encrypted?
local function after_key(state, range)
    local session = state.session
    if not session then return true end
    if not session.key_frame then return false end
    if session.key_frame ~= state.pinfo.number then
        return session.key_frame < state.pinfo.number
    end
    return range:offset() > session.key_offset
end

local function dissect_message(state, range, tree)
    if is_key_block(range) and (state.from_client or not state.session) then
        learn_key_block(state, range)
        tree:add(f.key_size, range:range(4, 4), range:range(4, 4):le_uint())
        tree:add(f.key_block, range:range(8, 60))
        tree:add(f.rc4_key, range:range(60, 8), show_rc4(range)):set_generated()
        note(state, "key block")
    elseif is_key_request(range) and not state.from_client then
        tree:add(f.app_opcode, range:range(0, 1))
        tree:add(f.app_name, range:range(0, 1), KEY_REQUEST):set_generated()
        tree:add(f.key_size, range:range(1, 4), range:range(1, 4):le_uint())
        tree:add(f.modulus, range:range(5, 60))
        if range:len() > 69 then tree:add(f.exponent, range:range(69)) end
        note(state, KEY_REQUEST)
    elseif after_key(state, range) then
        if range:len() > 1 and range:range(0, 1):uint() == 0 then
            tree:add(f.escape, range:range(0, 1))
            range = range:range(1)
        end
        tree:add(f.encrypted, range)
        note(state, "encrypted " .. range:len())
    else
        show_clear(state, range, tree, not state.from_client)
    end
end

local function dissect_payload(state, range, tree)
    if range:len() >= 2 and range:range(0, 2):uint() == 0x0019 then
        tree:add(f.op, range:range(0, 2))
        note(state, "AppCombined")
        each_part(state, range, 2, tree, true, dissect_message)
    elseif range:len() > 0 then
        dissect_message(state, range, tree)
    end
end

local function serial_after(a, b)
    local distance = (a - b) % 65536
    return distance > 0 and distance < 32768
end

-- Only the first fragment of a run has the total length: follow the runs on the first pass.
local function begins_run(state, range, sequence)
    local session = state.session
    if not session then return false end
    local name = state.pinfo.number .. ":" .. range:offset()
    if session.first[name] ~= nil then return session.first[name] end
    local side = state.from_client and "client" or "server"
    local run = session.runs[side] or { left = 0, known = {} }
    session.runs[side] = run
    local first = run.known[sequence]
    if first == nil then
        first = run.left <= 0 and range:len() >= 6
        if first then
            run.left, run.known = range:range(2, 4):uint() - (range:len() - 6), {}
            run.at = sequence
        elseif run.at and serial_after(sequence, run.at) then
            run.left = run.left - (range:len() - 2)
        end
        run.known[sequence] = first
    end
    session.first[name] = first
    return first
end

local function dissect_fragment(state, range, tree)
    if range:len() < 2 then return complain(tree, "A fragment without sequence") end
    local sequence = range:range(0, 2):uint()
    tree:add(f.sequence, range:range(0, 2))
    local at = 2
    if begins_run(state, range, sequence) then
        tree:add(f.total, range:range(2, 4))
        note(state, "seq " .. sequence .. " first of " .. range:range(2, 4):uint())
        at = 6
    else
        note(state, "seq " .. sequence)
    end
    if range:len() > at then tree:add(f.chunk, range:range(at)) end
end

local function dissect_sequenced(state, range, tree)
    if range:len() < 2 then return complain(tree, "A packet without sequence") end
    tree:add(f.sequence, range:range(0, 2))
    note(state, "seq " .. range:range(0, 2):uint())
    if range:len() > 2 then dissect_payload(state, range:range(2), tree) end
end

local function dissect_ack(state, range, tree)
    if range:len() < 2 then return complain(tree, "An ack without sequence") end
    tree:add(f.sequence, range:range(0, 2))
    note(state, "seq " .. range:range(0, 2):uint())
end

local function add_fields(range, tree, layout)
    local at = 0
    for _, item in ipairs(layout) do
        if at + item[2] > range:len() then return complain(tree, "Too short") end
        tree:add(item[1], range:range(at, item[2]))
        at = at + item[2]
    end
    return at
end

local REQUEST = { { f.unknown_a, 4 }, { f.session, 4 }, { f.max_length, 4 } }
local RESPONSE = { { f.session, 4 }, { f.key, 4 }, { f.unknown_a, 1 }, { f.format, 1 },
    { f.unknown_b, 1 }, { f.max_length, 4 }, { f.unknown_d, 4 } }
local STATISTICS = { { f.request_id, 2 }, { f.last, 4 }, { f.average, 4 }, { f.low, 4 },
    { f.high, 4 }, { f.server_last, 4 }, { f.client_sent, 8 }, { f.client_received, 8 } }
local STATISTICS_ANSWER = { { f.request_id, 2 }, { f.clock, 4 }, { f.client_sent, 8 },
    { f.client_received, 8 }, { f.server_sent, 8 }, { f.server_received, 8 } }
local DISCONNECT = { { f.session, 4 }, { f.reason, 2 } }

local function layout_dissector(layout)
    return function(_, range, tree) add_fields(range, tree, layout) end
end

local function dissect_request(state, range, tree)
    local at = add_fields(range, tree, REQUEST)
    if not at then return end
    if range:len() > at then tree:add(f.protocol_name, range:range(at)) end
    if state.depth == 0 then begin_session(state.pinfo, range:range(4, 4):uint()) end
end

local function dissect_response(state, range, tree)
    if not add_fields(range, tree, RESPONSE) or state.depth > 0 then return end
    learn_response(state.pinfo, range:range(0, 4):uint(), range:range(4, 4):uint(),
        range:range(9, 1):uint(), range:range(8, 1):uint())
end

local function dissect_combined(state, range, tree)
    if state.depth >= MAX_DEPTH then return complain(tree, "Combined too deep") end
    state.depth = state.depth + 1
    each_part(state, range, 0, tree, false, dissect_packet)
    state.depth = state.depth - 1
end

local BODIES = {
    [0x01] = dissect_request, [0x02] = dissect_response, [0x03] = dissect_combined,
    [0x05] = layout_dissector(DISCONNECT), [0x07] = layout_dissector(STATISTICS),
    [0x08] = layout_dissector(STATISTICS_ANSWER), [0x19] = function(state, range, tree)
        each_part(state, range, 0, tree, true, dissect_message)
    end,
}
for channel = 0, 3 do
    BODIES[0x09 + channel] = dissect_sequenced
    BODIES[0x0d + channel] = dissect_fragment
    BODIES[0x11 + channel] = dissect_ack
    BODIES[0x15 + channel] = dissect_ack
end

function dissect_packet(state, range, tree)
    if range:len() < 2 then return complain(tree, "A packet without opcode") end
    local op = range:range(0, 2):uint()
    tree:add(f.op, range:range(0, 2))
    note(state, PROTOCOL[op] or string.format("unknown 0x%04x", op))
    if not PROTOCOL[op] then return complain(tree, "Unknown protocol opcode") end
    if BODIES[op] and range:len() > 2 then
        BODIES[op](state, range:range(2), tree)
    elseif BODIES[op] then
        complain(tree, "A packet without body")
    end
end
