-- Names of application opcodes ---------------------------------------------------------------

local tables = {}

local function names_of(version)
    if tables[version] then return tables[version] end
    local found = {}
    for _, range in ipairs(RANGES) do
        if version >= range[1] and version <= range[2] then
            for number, index in range[3]:gmatch("(%d+)=(%d+)") do
                found[tonumber(number)] = NAMES[tonumber(index)]
            end
            break
        end
    end
    tables[version] = found
    return found
end

-- The check: CRC-32 started with the CRC-32 of the key, low 16 bits --------------------------

local bxor, band, rshift, lshift = bit.bxor, bit.band, bit.rshift, bit.lshift
local CRC = {}
for n = 0, 255 do
    local c = n
    for _ = 1, 8 do
        if band(c, 1) == 1 then c = bxor(0xedb88320, rshift(c, 1)) else c = rshift(c, 1) end
    end
    CRC[n] = c
end

local function crc32(bytes, first, last, start)
    local c = bxor(start, 0xffffffff)
    for at = first, last do
        c = bxor(CRC[band(bxor(c, bytes:get_index(at)), 0xff)], rshift(c, 8))
    end
    return bxor(c, 0xffffffff)
end

local function check_of(tvb, key)
    local seed = ByteArray.new(string.format("%02x%02x%02x%02x", key % 256,
        math.floor(key / 256) % 256, math.floor(key / 65536) % 256, math.floor(key / 16777216)))
    local bytes = tvb:range(0, tvb:len() - 2):bytes()
    return band(crc32(bytes, 0, bytes:len() - 1, crc32(seed, 0, 3, 0)), 0xffff)
end

-- Sessions: learnt on the first pass, found again by frame number ----------------------------

local conversations = {}

function eq2.init()
    conversations = {}
end

local function ends(pinfo)
    return tostring(pinfo.src) .. " " .. pinfo.src_port, tostring(pinfo.dst) .. " " .. pinfo.dst_port
end

local function conversation_of(pinfo)
    local from, to = ends(pinfo)
    local name = from < to and from .. " " .. to or to .. " " .. from
    conversations[name] = conversations[name] or {}
    return conversations[name], from
end

local function session_of(pinfo)
    local list, from = conversation_of(pinfo)
    for index = #list, 1, -1 do
        if list[index].frame <= pinfo.number then return list[index], from end
    end
    return nil, from
end

local function begin_session(pinfo, id)
    if pinfo.visited then return end
    local list, from = conversation_of(pinfo)
    local latest = list[#list]
    if latest and latest.id == id then return end
    list[#list + 1] = { frame = pinfo.number, id = id, client = from, runs = {}, first = {} }
end

local function learn_response(pinfo, id, key, format, check_bytes)
    if pinfo.visited then return end
    local list = conversation_of(pinfo)
    local session = list[#list]
    if not session or session.id ~= id then
        local _, to = ends(pinfo)
        session = { frame = pinfo.number, id = id, client = to, runs = {}, first = {} }
        list[#list + 1] = session
    end
    session.key, session.format, session.check_bytes = key, format, check_bytes
end
