-- EverQuest II session layer: a dissector for Wireshark and tshark (Lua 5.1 to 5.4).
--
-- Made by `emu capture dissector`, which puts the opcode tables into the two lists below. Put it
-- into Wireshark's personal Lua plugin folder, or: tshark -X lua_script:eq2.lua -r FILE
--
-- Shows protocol opcodes, sequence numbers, checks (computed with the key of the session's own
-- SessionResponse), Combined and AppCombined parts, fragment headers, acks, the key exchange, and
-- application opcodes and the commands in OP_ClientCmdMsg where they are in clear. What needs the
-- whole stream before it - encrypted and compressed messages, messages in fragments, and all that is
-- sent as a change (ghosts, sheets, books, predictions) - is read by `emu capture decode`.

local NAMES = {} -- @names@
-- Each range: {lowest client version, highest, "number=index in NAMES number=index ..."}
local RANGES = {} -- @ranges@

local eq2 = Proto("eq2", "EverQuest II Session")

local PROTOCOL = {
    [0x01] = "SessionRequest", [0x02] = "SessionResponse", [0x03] = "Combined",
    [0x05] = "SessionDisconnect", [0x06] = "KeepAlive", [0x07] = "ServerKeyRequest",
    [0x08] = "SessionStatResponse",
    [0x09] = "Packet", [0x0a] = "Packet2", [0x0b] = "Packet3", [0x0c] = "Packet4",
    [0x0d] = "Fragment", [0x0e] = "Fragment2", [0x0f] = "Fragment3", [0x10] = "Fragment4",
    [0x11] = "OutOfOrderAck", [0x12] = "OutOfOrderAck2", [0x13] = "OutOfOrderAck3",
    [0x14] = "OutOfOrderAck4",
    [0x15] = "Ack", [0x16] = "Ack2", [0x17] = "Ack3", [0x18] = "Ack4",
    [0x19] = "AppCombined", [0x1d] = "OutOfSession",
}
local UNCHECKED = { [0x01] = true, [0x02] = true, [0x1d] = true }
local MAX_DEPTH = 4
local MAX_PARTS = 1400

local f = {
    op = ProtoField.uint16("eq2.op", "Protocol opcode", base.HEX, PROTOCOL),
    session = ProtoField.uint32("eq2.session", "Session", base.HEX),
    unknown_a = ProtoField.uint32("eq2.unknown_a", "UnknownA (check bytes)"),
    max_length = ProtoField.uint32("eq2.max_length", "MaxLength"),
    protocol_name = ProtoField.string("eq2.protocol_name", "Protocol name"),
    key = ProtoField.uint32("eq2.key", "Key (check seed)", base.HEX),
    format = ProtoField.uint8("eq2.format", "Format", base.HEX),
    unknown_b = ProtoField.uint8("eq2.unknown_b", "UnknownB"),
    unknown_d = ProtoField.uint32("eq2.unknown_d", "UnknownD"),
    reason = ProtoField.uint16("eq2.reason", "Reason"),
    sequence = ProtoField.uint16("eq2.sequence", "Sequence"),
    total = ProtoField.uint32("eq2.fragment.total", "Total payload length"),
    chunk = ProtoField.bytes("eq2.fragment.chunk", "Fragment"),
    check = ProtoField.uint16("eq2.check", "Check", base.HEX),
    status = ProtoField.uint8("eq2.check.status", "Check status", base.DEC,
        { [0] = "Bad", [1] = "Good", [2] = "Unverified" }),
    part = ProtoField.none("eq2.part", "Part"),
    part_length = ProtoField.uint32("eq2.part.length", "Part length"),
    request_id = ProtoField.uint16("eq2.request_id", "Request id"),
    last = ProtoField.uint32("eq2.round_trip.last", "Last round trip (ms)"),
    average = ProtoField.uint32("eq2.round_trip.average", "Average round trip (ms)"),
    low = ProtoField.uint32("eq2.round_trip.low", "Low round trip (ms)"),
    high = ProtoField.uint32("eq2.round_trip.high", "High round trip (ms)"),
    server_last = ProtoField.uint32("eq2.round_trip.server", "Last server round trip (ms)"),
    clock = ProtoField.uint32("eq2.clock", "Server clock (ms)"),
    client_sent = ProtoField.uint64("eq2.client_sent", "Packets the client sent"),
    client_received = ProtoField.uint64("eq2.client_received", "Packets the client received"),
    server_sent = ProtoField.uint64("eq2.server_sent", "Packets the server sent"),
    server_received = ProtoField.uint64("eq2.server_received", "Packets the server received"),
    escape = ProtoField.uint8("eq2.escape", "Escape byte", base.HEX),
    compression = ProtoField.uint8("eq2.compression", "Compression", base.HEX,
        { [0x5a] = "zlib", [0xa5] = "none" }),
    app_flag = ProtoField.uint8("eq2.app.flag", "Compressed", base.DEC, { [0] = "no", [1] = "yes" }),
    app_opcode = ProtoField.uint16("eq2.app.opcode", "Application opcode"),
    app_name = ProtoField.string("eq2.app.name", "Application message"),
    app_data = ProtoField.bytes("eq2.app.data", "Application payload"),
    command = ProtoField.none("eq2.command", "Command"),
    command_size = ProtoField.uint32("eq2.command.size", "Command size"),
    command_opcode = ProtoField.uint16("eq2.command.opcode", "Command opcode"),
    command_name = ProtoField.string("eq2.command.name", "Command name"),
    command_data = ProtoField.bytes("eq2.command.data", "Command payload"),
    encrypted = ProtoField.bytes("eq2.app.encrypted", "Encrypted message"),
    key_size = ProtoField.uint32("eq2.key_exchange.size", "Key size"),
    modulus = ProtoField.bytes("eq2.key_exchange.modulus", "RSA modulus"),
    exponent = ProtoField.bytes("eq2.key_exchange.exponent", "RSA exponent"),
    key_block = ProtoField.bytes("eq2.key_exchange.block", "Key block"),
    rc4_key = ProtoField.string("eq2.key_exchange.rc4", "RC4 key (if the modulus is all ones)"),
}
eq2.fields = f

local bad_check = ProtoExpert.new("eq2.check.bad", "Check does not fit", expert.group.CHECKSUM,
    expert.severity.ERROR)
local malformed = ProtoExpert.new("eq2.malformed", "Malformed", expert.group.MALFORMED,
    expert.severity.ERROR)
eq2.experts = { bad_check, malformed }

eq2.prefs.ports = Pref.range("UDP ports", "9001,9100",
    "Ports to dissect even when the capture does not show a session's beginning", 65535)
eq2.prefs.version = Pref.uint("Client version", 546,
    "Client data version whose opcode names are shown")
