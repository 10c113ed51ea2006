-- Whole datagrams ----------------------------------------------------------------------------

local function show_check(session, tvb, tree)
    local range = tvb:range(tvb:len() - 2, 2)
    local item = tree:add(f.check, range)
    local status = 2
    if session and session.key then
        local wanted = check_of(tvb, session.key)
        status = wanted == range:uint() and 1 or 0
        if status == 0 then
            item:append_text(string.format(" [should be 0x%04x]", wanted))
            tree:add_proto_expert_info(bad_check, "Check does not fit the session's key")
        end
    end
    tree:add(f.status, range, status):set_generated()
end

-- Undo the Encoded form: each little-endian word was XORed with the one before it (the first with
-- the key), so byte by byte; the tail with the low byte of the last word.
local function decoded(body, key)
    local out, chain = body:bytes(), {}
    for n = 0, 3 do chain[n] = band(rshift(key, 8 * n), 0xff) end
    local words = out:len() - out:len() % 4
    for at = 0, out:len() - 1 do
        local n = at < words and at % 4 or 0
        local byte = out:get_index(at)
        out:set_index(at, bxor(byte, chain[n]))
        if at < words then chain[n] = byte end
    end
    return out
end

-- Wireshark 4.4 renamed the method; asking for one that is not there is an error.
local function inflated(range)
    for _, method in ipairs({ "uncompress_zlib", "uncompress" }) do
        local ok, plain = pcall(function() return range[method](range, "Inflated") end)
        if ok and plain then return plain end
    end
    return nil
end

-- The body behind the opcode as the packet's sender built it, or nil when it cannot be had.
local function plain_packet(session, tvb, tree, size)
    local op = tvb:range(0, 2):uint()
    local format = session and session.format or 0
    if UNCHECKED[op] or size <= 2 or band(format, 5) == 0 then return tvb:range(0, size) end
    local head, body = tvb:range(0, 2):bytes(), tvb:range(2, size - 2)
    local bytes
    if band(format, 4) ~= 0 then
        bytes = decoded(body, session.key)
    else
        tree:add(f.compression, body:range(0, 1))
        if body:range(0, 1):uint() ~= 0x5a then
            if body:len() < 2 then return tvb:range(0, 2) end
            bytes = body:range(1):bytes()
        else
            local plain = body:len() > 1 and inflated(body:range(1))
            if not plain then return nil end
            bytes = plain:bytes()
        end
    end
    head:append(bytes)
    return head:tvb("Packet"):range()
end

function eq2.dissector(tvb, pinfo, root)
    if tvb:len() < 2 or tvb:range(0, 1):uint() ~= 0 then return 0 end
    pinfo.cols.protocol = "EQ2"
    local tree = root:add(eq2, tvb:range())
    local op = tvb:range(0, 2):uint()
    local session, from = session_of(pinfo)
    local state = { pinfo = pinfo, session = session, info = {}, depth = 0,
        from_client = session ~= nil and session.client == from }
    local size = tvb:len()
    if PROTOCOL[op] and not UNCHECKED[op] and (not session or session.check_bytes ~= 0) then
        if size < 4 then
            complain(tree, "Too short for a check")
            return size
        end
        size = size - 2
        show_check(session, tvb, tree)
    end
    local packet = plain_packet(session, tvb, tree, size)
    if packet then
        dissect_packet(state, packet, tree)
    else
        complain(tree, "The compressed packet cannot be inflated")
    end
    pinfo.cols.info = table.concat(state.info, " ")
    tree:append_text(": " .. table.concat(state.info, " "))
    return tvb:len()
end

-- Which conversations are ours ---------------------------------------------------------------

local function looks_like_a_beginning(tvb)
    if tvb:len() < 14 then return false end
    local op = tvb:range(0, 2):uint()
    if op == 1 then
        return tvb:range(2, 4):uint() <= 4 and tvb:range(10, 4):uint() <= 65535
    end
    return op == 2 and tvb:len() == 21 and tvb:range(10, 1):uint() <= 4
        and tvb:range(13, 4):uint() <= 65535
end

eq2:register_heuristic("udp", function(tvb, pinfo, root)
    local known = session_of(pinfo)
    if not known and not looks_like_a_beginning(tvb) then return false end
    if tvb:len() < 2 or tvb:range(0, 1):uint() ~= 0 then return false end
    pinfo.conversation = eq2
    eq2.dissector(tvb, pinfo, root)
    return true
end)

local udp_ports = DissectorTable.get("udp.port")
local registered = tostring(eq2.prefs.ports)
udp_ports:add(registered, eq2)

function eq2.prefs_changed()
    local wanted = tostring(eq2.prefs.ports)
    if wanted ~= registered then
        if registered ~= "" then udp_ports:remove(registered, eq2) end
        if wanted ~= "" then udp_ports:add(wanted, eq2) end
        registered = wanted
    end
end
