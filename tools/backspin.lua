-- Wireshark dissector for the four dialects of PROTOCOL.md: lan, rtype (with its TCP stream),
-- native and ack.
--
--   wireshark -X lua_script:tools/backspin.lua
--   tshark -X lua_script:tools/backspin.lua -r capture.pcap -Y backspin
--
-- Or copy it into the folder of personal Lua plugins (Help, About, Folders). It takes the
-- default ports, and on any other UDP port what has the shape of a dialect. Fields are named
-- backspin.<dialect>.<field>, as in PROTOCOL.md; backspin.malformed names a fault.

local backspin = Proto("backspin", "Backspin")
local backspin_tcp = Proto("backspin_tcp", "Backspin rtype stream")

local UDP_PORTS = { 54000, 4242, 4300 }
local TCP_PORT = 4243

local LAN_HOST_HERE_LONG = 8
local RTYPE_HEADER = 4
local RTYPE_ENTITY, RTYPE_PLAYER = 25, 21
local NATIVE_HEADER = 9
local NATIVE_MAX_DATAGRAM = 1200
local NATIVE_PLAYER, NATIVE_ROOM, NATIVE_MAX_ROSTER = 24, 27, 1024
local NATIVE_MAX_MESSAGE, NATIVE_MAX_SELECTIVE = 900, 64
local NATIVE_REPORT, NATIVE_SERVER, MATCH_SERVERS_MAX = 21, 18, 16
local NATIVE_MAX_HISTORY, NATIVE_MAX_BASELINE = 63, 32
local ACK_INPUT, ACK_MORE, ACK_ENTITY = 14, 4, 26
local NATIVE_HISTORY_LEN, JOIN_DATA_MAX, SENTENCE_MAX = 253, 200, 80
local NAME, NAME_MAX, RAW_NAME_MAX, TOKEN_MAX = 16, 15, 64, 800

------------------------------------------------------------------------------------------------
-- Fields

-- How each kind is read, shown and how long it is. Integers of both byte orders.
local KINDS = {
    u8 = { 1, ProtoField.uint8, base.DEC },
    x8 = { 1, ProtoField.uint8, base.HEX },
    i8 = { 1, ProtoField.int8, base.DEC, signed = true },
    u16 = { 2, ProtoField.uint16, base.DEC },
    x16 = { 2, ProtoField.uint16, base.HEX },
    i16 = { 2, ProtoField.int16, base.DEC, signed = true },
    u32 = { 4, ProtoField.uint32, base.DEC },
    x32 = { 4, ProtoField.uint32, base.HEX },
    i32 = { 4, ProtoField.int32, base.DEC, signed = true },
    u64 = { 8, ProtoField.uint64, base.DEC, wide = true },
    f32 = { 4, ProtoField.float, float = true },
    name = { NAME, ProtoField.string, text = true },
    bytes = { 0, ProtoField.bytes, opaque = true },
    secret = { 16, ProtoField.bytes, opaque = true },
}

local SCHEMA = {
    lan = {
        type = "u8", port = "u16", native_port = "u16", flags = "x8", tick = "u16", y = "i8",
        seq = "u32", p1y = "f32", p2y = "f32", ballx = "f32", bally = "f32", ballvx = "f32",
        ballvy = "f32", p1 = "u8", p2 = "u8",
    },
    rtype = {
        size = "u16", type = "u8", version = "u8", token = "x32", name = "name",
        sequence = "u32", bits = "x8", timestamp = "u32", count = "u16", id = "u32",
        kind = "u8", x = "f32", y = "f32", vx = "f32", vy = "f32", rgba = "x32", lives = "u8",
        score = "i32", host = "u32", base_lives = "u8", difficulty = "u8", started = "u8",
        reserved = "u8", reason = "u8", tail = "bytes", udp_port = "u16",
        ["entities.id"] = "u32", ["entities.kind"] = "u8", ["entities.x"] = "f32",
        ["entities.y"] = "f32", ["entities.vx"] = "f32", ["entities.vy"] = "f32",
        ["entities.rgba"] = "x32", ["players.id"] = "u32", ["players.lives"] = "u8",
        ["players.name"] = "name",
    },
    native = {
        version = "u8", type = "x8", flags = "x8", payload_length = "u16", sequence = "u32",
        protocol = "u16", game = "x32", game_version = "u16",
        nonce = "u64", padding = "bytes", cookie = "secret", token_required = "u8", fresh = "u8",
        budget = "u16", role = "u8", room = "u32", name = "name", password = "name", room_name = "name",
        layout = "x32", data_length = "u8", data = "bytes", sentence_length = "u8", sentence = "name",
        wide_len = "u8", wide = "bytes",
        token_length = "u16", token = "bytes", ticket = "secret", session = "u16",
        player = "u32", tick = "u32", tick_rate = "u8", reason = "u8", players = "u16",
        capacity = "u16", rooms = "u16", id = "u32", timestamp = "u32", first = "u16",
        total = "u16", count = "u8", revision = "u16", present = "x8", snapshot_back = "u8",
        snapshot_held = "u8", drawn_back = "u16", same = "u8", changed = "x16", ticks = "u8", history = "x16",
        server_tick = "u32", base = "x8", baseline_back = "u8", epoch = "u8", is_first = "u8",
        held = "u8", body = "bytes", acknowledged = "u16", selective = "bytes", head = "x16",
        skipped = "u8", length = "u16", unreliable = "bytes", ["reliable.number"] = "u16",
        ["reliable.kind"] = "u8", ["reliable.bytes"] = "bytes", pass = "secret", stamp = "u64", server = "u64",
        round_trip = "u32", seal = "secret", waiting = "u16", ip = "secret", port = "u16",
        seat = "u8", worst = "u32",
        ["reports.index"] = "u8", ["reports.round_trip"] = "u32", ["reports.seal"] = "secret",
        ["servers.ip"] = "secret", ["servers.port"] = "u16",
        ["newest.sequence"] = "u32", ["newest.input_flags"] = "x16",
        ["rooms.room"] = "u32", ["rooms.game"] = "x32", ["rooms.players"] = "u8",
        ["rooms.capacity"] = "u8", ["rooms.flags"] = "x8", ["rooms.name"] = "name",
        ["players.player"] = "u32", ["players.lives"] = "u8", ["players.flags"] = "x8",
        ["players.rtt_ms"] = "u16", ["players.name"] = "name",
        ["acks.newest"] = "u16", ["acks.mask_len"] = "u8", ["acks.mask"] = "u64", ["feedback.echo"] = "u8",
        ["feedback.held"] = "u8", ["feedback.early"] = "i8", ["feedback.missing"] = "x8",
        ["feedback.lost"] = "u8",
        ["messages.present"] = "x8", ["messages.acknowledged"] = "u16",
        ["messages.selective"] = "bytes", ["messages.first"] = "u16", ["messages.count"] = "u8",
        ["messages.head"] = "x16", ["messages.skipped"] = "u8", ["messages.length"] = "u16",
        ["messages.unreliable"] = "bytes", ["messages.reliable.number"] = "u16",
        ["messages.reliable.kind"] = "u8", ["messages.reliable.bytes"] = "bytes",
    },
    ack = {
        version = "u8", type = "x8", flags = "x8", payload_length = "u16", sequence = "u32",
        padding = "bytes", cookie = "secret", game = "x32", name = "name", token = "bytes",
        player_id = "u32", entity_id = "u32", server_tick = "u32", tick_rate = "u8", reason = "u8",
        sentence = "name", sequence_number = "u32", input_flags = "x16", timestamp = "u32",
        delta_time = "f32", more = "u8", entity_count = "u16", id = "u32",
        ["entities.entity_id"] = "u32", ["entities.entity_type"] = "u16",
        ["entities.x"] = "f32", ["entities.y"] = "f32", ["entities.vx"] = "i16",
        ["entities.vy"] = "i16", ["entities.health"] = "u16", ["entities.flags"] = "x16",
        ["entities.last_ack_sequence"] = "u32",
    },
}

local f_dialect = ProtoField.string("backspin.dialect", "Dialect")
local f_packet = ProtoField.string("backspin.packet", "Packet")
local f_malformed = ProtoField.string("backspin.malformed", "Malformed")
local e_malformed =
    ProtoExpert.new("backspin.malformed.expert", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)

local FIELDS = { lan = {}, rtype = {}, native = {}, ack = {} }
local all_fields = { f_dialect, f_packet, f_malformed }
for dialect, schema in pairs(SCHEMA) do
    for path, kind in pairs(schema) do
        local make, shown = KINDS[kind][2], KINDS[kind][3]
        local field = make("backspin." .. dialect .. "." .. path, path:match("[^.]+$"), shown)
        FIELDS[dialect][path] = field
        table.insert(all_fields, field)
    end
end
backspin.fields = all_fields
backspin.experts = { e_malformed }

------------------------------------------------------------------------------------------------
-- A reader that shows what it reads, and stops at the first fault

local function fail(field, reason)
    error({ field = field, reason = reason }, 0)
end

local Reader = {}
Reader.__index = Reader

local function reader(dialect, tvb, tree)
    local little = dialect == "rtype"
    return setmetatable({
        dialect = dialect, little = little, tvb = tvb, at = 0, tree = tree, prefix = "", info = {},
    }, Reader)
end

function Reader:left()
    return self.tvb:len() - self.at
end

function Reader:take(name, len)
    if len > self:left() then
        fail(name, "truncated")
    end
    local range = self.tvb(self.at, len)
    self.at = self.at + len
    return range
end

-- What a range of bytes says as `kind`. `lan` has little-endian floats among big-endian integers.
function Reader:value(name, kind, range)
    if kind.float then
        local little = self.little or self.dialect == "lan"
        local value = little and range:le_float() or not little and range:float()
        if value ~= value or value == math.huge or value == -math.huge then
            fail(name, "not_finite")
        end
        return value
    elseif kind.wide then
        return range:uint64()
    elseif kind.signed then
        return self.little and range:le_int() or not self.little and range:int()
    end
    return self.little and range:le_uint() or not self.little and range:uint()
end

-- Reads and shows a number; `kind` only where it is not the field's usual one.
function Reader:number(name, kind)
    local path = self.prefix .. name
    kind = KINDS[kind or SCHEMA[self.dialect][path]]
    local range = self:take(name, kind[1])
    local value = self:value(name, kind, range)
    self:show(name, range, value)
    return value
end

function Reader:show(name, range, value)
    local item = self.tree:add(FIELDS[self.dialect][self.prefix .. name], range, value)
    -- Records are in the tree alone; the newest input is no record of a list.
    if self.prefix == "" or self.prefix == "newest." then
        table.insert(self.info, self.prefix .. name .. "=" .. tostring(value))
    end
    return item
end

function Reader:within(name, low, high, kind)
    local value = self:number(name, kind)
    if value < low or value > high then
        fail(name, "out_of_range")
    end
    return value
end

-- A number that stands for one of `meanings`, from `first` on.
function Reader:one_of(name, first, meanings)
    local path = FIELDS[self.dialect][self.prefix .. name]
    local range = self:take(name, 1)
    local value = range:uint()
    local meaning = meanings[value - first + 1]
    local item = self.tree:add(path, range, value)
    if not meaning then
        fail(name, "out_of_range")
    end
    item:append_text(" (" .. meaning .. ")")
    if self.prefix == "" then
        table.insert(self.info, name .. "=" .. value)
    end
    return value
end

-- The UTF-8 characters of more than one byte, by their length.
local CHARACTERS = {
    "^[\194-\223][\128-\191]",
    "^[\224-\239][\128-\191][\128-\191]",
    "^[\240-\244][\128-\191][\128-\191][\128-\191]",
}

-- Bytes as text for people: what is not UTF-8 is replaced, control characters are made visible.
local function printable(raw)
    local out, at = {}, 1
    while at <= #raw do
        local byte, shown = raw:byte(at), nil
        if byte < 32 or byte == 127 then
            shown = string.format("\\u{%x}", byte)
        elseif byte < 128 then
            shown = string.char(byte)
        end
        local len = 1
        for _, character in ipairs(CHARACTERS) do
            local found = not shown and raw:match(character, at)
            if found then
                shown, len = found, #found
            end
        end
        table.insert(out, shown or "\239\191\189")
        at = at + len
    end
    return table.concat(out)
end

function Reader:name(name)
    local range = self:take(name, NAME)
    local raw = range:raw()
    local nul = raw:find("\0", 1, true)
    if not nul then
        fail(name, "unterminated")
    elseif raw:find("[^%z]", nul) then
        fail(name, "after_nul")
    end
    self:show_text(name, range, nul - 1)
end

-- All that is left is the name.
function Reader:raw_name(name)
    local len = self:left()
    if len > RAW_NAME_MAX then
        fail(name, "wrong_size")
    elseif len == 0 then
        self:show_text(name, self.tvb(self.at - 1, 1), 0)
        return
    end
    local range = self:take(name, len)
    if range:raw():find("\0", 1, true) then
        fail(name, "after_nul")
    end
    self:show_text(name, range, len)
end

function Reader:show_text(name, range, len)
    local text = len == 0 and "" or printable(range(0, len):raw())
    self.tree:add(FIELDS[self.dialect][self.prefix .. name], range, text)
    if self.prefix == "" then
        table.insert(self.info, string.format("%s=%q", name, text))
    end
end

-- Opaque bytes are in the tree, not in the info column.
function Reader:opaque(name, len)
    len = len or KINDS[SCHEMA[self.dialect][self.prefix .. name]][1]
    if len > 0 then
        self.tree:add(FIELDS[self.dialect][self.prefix .. name], self:take(name, len))
    end
end

function Reader:zeros(name, len)
    local range = self:take(name, len)
    self.tree:add(FIELDS[self.dialect][name], range)
    if range:raw():find("[^%z]") then
        fail(name, "out_of_range")
    end
end

-- Reads a part of the packet, of at most `len` bytes, into a branch of the tree.
function Reader:branch(prefix, label, len, read)
    local tree, outer, start = self.tree, self.prefix, self.at
    local shown = math.min(len, self:left())
    local item = shown > 0 and tree:add(self.tvb(self.at, shown), label)
    self.tree = item or tree
    self.prefix = prefix .. "."
    read(self)
    self.tree, self.prefix = tree, outer
    if item then
        item:set_len(self.at - start)
    end
end

-- `count` records of `len` bytes each, which are all that is left.
function Reader:records(field, count, prefix, len, read)
    if self:left() ~= count * len then
        fail(field, "wrong_size")
    end
    for i = 1, count do
        self:branch(prefix, prefix .. " " .. i, len, read)
    end
end

function Reader:finish(packet)
    if self:left() > 0 then
        fail(packet, "trailing")
    end
end

------------------------------------------------------------------------------------------------
-- lan

local LAN = {
    { "FIND_HOST", 1, function() end },
    { "HOST_HERE", 3, function(r)
        r:number("port")
        if r:left() > 0 then
            if r:take("upgrade", 2):raw() ~= "BS" then
                fail("upgrade", "not_canonical")
            end
            r:number("native_port")
            r:number("flags")
        end
    end },
    { "HELLO", 3, function(r) r:number("port") end },
    { "HELLO_ACK", 1, function() end },
    { "GUEST_INPUT", 4, function(r)
        r:number("tick")
        r:within("y", -1, 1)
    end },
    { "STATE_UPDATE", 31, function(r)
        for _, name in ipairs({ "seq", "p1y", "p2y", "ballx", "bally", "ballvx", "ballvy", "p1", "p2" }) do
            r:number(name)
        end
    end },
}

local function lan_has_shape(tvb)
    local len = tvb:len()
    local packet = len > 0 and LAN[tvb(0, 1):uint()]
    if not packet then
        return false
    elseif packet[1] == "HOST_HERE" and len == LAN_HOST_HERE_LONG then
        return tvb(3, 2):raw() == "BS"
    end
    return len == packet[2]
end

local function lan_decode(r, shown)
    -- The type is what the packet's name says; it is not repeated in the info column.
    local range = r:take("type", 1)
    local packet = LAN[range:uint()]
    r.tree:add(FIELDS.lan.type, range)
    if not packet then
        fail("type", "unknown_type")
    end
    shown(packet[1])
    packet[3](r)
    r:finish(packet[1])
end

------------------------------------------------------------------------------------------------
-- rtype

local function rtype_entity(r)
    r:number("id")
    r:one_of("kind", 1, { "player", "enemy", "bullet", "power-up" })
    for _, name in ipairs({ "x", "y", "vx", "vy", "rgba" }) do
        r:number(name)
    end
end

local function rtype_ping(r)
    r:number("sequence")
    r:number("timestamp")
end

local DIFFICULTY = { "easy", "normal", "hard" }

local function nothing() end

local function exactly(size)
    return function(actual) return actual == size end
end

-- By type: name, which sizes the payload can have, how it is read.
local RTYPE = {
    { "Hello", function(size) return size <= RAW_NAME_MAX end, function(r)
        if r:left() ~= 20 or r.tvb(r.at + 19, 1):uint() ~= 0 then
            r:raw_name("name")
        else
            r:number("token")
            r:name("name")
        end
    end },
    { "HelloAck", exactly(0), nothing },
    { "Input", exactly(5), function(r)
        r:number("sequence")
        r:within("bits", 0, 63)
    end },
    { "State", function(size) return size >= 2 and (size - 2) % RTYPE_ENTITY == 0 end, function(r)
        r:records("count", r:number("count"), "entities", RTYPE_ENTITY, rtype_entity)
    end },
    { "Spawn", exactly(RTYPE_ENTITY), rtype_entity },
    { "Despawn", exactly(4), function(r) r:number("id") end },
    { "Ping", exactly(8), rtype_ping },
    { "Pong", exactly(8), rtype_ping },
    { "Roster", function(size) return size >= 1 and (size - 1) % RTYPE_PLAYER == 0 end, function(r)
        r:records("count", r:number("count", "u8"), "players", RTYPE_PLAYER, function(player)
            player:number("id")
            player:number("lives")
            player:name("name")
        end)
    end },
    { "LivesUpdate", exactly(5), function(r)
        r:number("id")
        r:number("lives")
    end },
    { "ScoreUpdate", exactly(8), function(r)
        r:number("id")
        r:number("score")
    end },
    { "LobbyStatus", exactly(8), function(r)
        r:number("host")
        r:within("base_lives", 1, 6)
        r:one_of("difficulty", 0, DIFFICULTY)
        r:within("started", 0, 1)
        r:number("reserved")
    end },
    { "LobbyConfig", exactly(2), function(r)
        r:within("base_lives", 1, 6)
        r:one_of("difficulty", 0, DIFFICULTY)
    end },
    { "StartMatch", exactly(0), nothing },
    { "GameOver", exactly(1), function(r)
        r:one_of("reason", 0, { "all dead", "the host left", "victory" })
    end },
    { "Disconnect", exactly(0), nothing },
    { "ReturnToMenu", exactly(0), nothing },
}

local function tail(r)
    r:opaque("tail", r:left())
end

local RTYPE_TCP = {
    [1] = { "Hello", function(size) return size <= RAW_NAME_MAX end, function(r) r:raw_name("name") end },
    [2] = { "HelloAck", exactly(6), function(r)
        r:number("udp_port")
        r:number("token")
    end },
    [100] = { "TcpWelcome", function(size) return size == 0 or size == 6 end, tail },
    [101] = { "StartGame", function() return true end, tail },
}

local function rtype_has_shape(tvb)
    local len = tvb:len()
    if len < RTYPE_HEADER or tvb(3, 1):uint() ~= 1 then
        return false
    end
    local size, packet = tvb(0, 2):le_uint(), RTYPE[tvb(2, 1):uint()]
    return size == len - RTYPE_HEADER and packet ~= nil and packet[2](size)
end

-- Reads the header without a trace in the info column.
local function rtype_header(r)
    local size = r:number("size")
    local kind = r:number("type")
    local version = r:number("version")
    r.info = {}
    if version ~= 1 then
        fail("version", "version")
    end
    return size, kind
end

local function rtype_decode(r, shown)
    local size, kind = rtype_header(r)
    if size ~= r:left() then
        fail("size", "wrong_size")
    end
    local packet = RTYPE[kind]
    if not packet then
        fail("type", "unknown_type")
    end
    shown(packet[1])
    packet[3](r)
    r:finish(packet[1])
end

local function rtype_tcp_decode(r, shown)
    local size, kind = rtype_header(r)
    local packet = RTYPE_TCP[kind]
    if not packet then
        fail("type", "unknown_type")
    elseif not packet[2](size) then
        fail("size", "out_of_range")
    end
    shown(packet[1])
    packet[3](r)
    r:finish(packet[1])
end

------------------------------------------------------------------------------------------------
-- native

local ROLES = { "play", "watch" }

local REJECT_REASONS = {
    "full", "another protocol", "another game version", "no such game", "banned", "no token",
    "no such room", "wrong password", "unknown ticket", "too many from this address", "stopping",
    "too many passwords", "too many rooms", "room name", "matchmaker",
    "another layout", "refused",
}

local CLOSE_REASONS = {
    "left", "silent", "stopping", "kicked", "violation", "room closed", "banned", "host left",
    "too many messages wait",
}

local function session(r)
    r:within("session", 1, 65535)
end

local function server_address(r)
    r:opaque("ip")
    r:within("port", 1, 65535)
end

-- Up to 128 bits, of which the lowest 16 are shown as flags: Lua's numbers hold no more than 53.
local function varint(r)
    local value, scale, start = 0, 1, r.at
    for index = 1, 19 do
        local byte = r:take("changed", 1):uint()
        if index == 19 and byte % 128 > 3 then
            break
        end
        if index <= 3 then
            value = value + (byte % 128) * scale
            scale = scale * 128
        end
        if byte < 128 then
            if byte == 0 then
                fail("changed", "not_canonical")
            end
            r.tree:add(FIELDS.native.changed, r.tvb(start, r.at - start), value % 65536)
            return value % 65536
        end
    end
    fail("changed", "out_of_range")
end

-- Whether bytes are UTF-8 without control characters.
local function is_text(bytes)
    local at = 1
    while at <= #bytes do
        local first = bytes:byte(at)
        local more = first < 0x80 and 0 or first < 0xC2 and -1 or first < 0xE0 and 1 or first < 0xF0 and 2
            or first < 0xF5 and 3 or -1
        local low = ({ [0xE0] = 0xA0, [0xF0] = 0x90, [0xC2] = 0xA0 })[first] or 0x80
        local high = ({ [0xED] = 0x9F, [0xF4] = 0x8F })[first] or 0xBF
        if more < 0 or first < 0x20 or first == 0x7F or at + more > #bytes then
            return false
        end
        for index = 1, more do
            local byte = bytes:byte(at + index)
            local least, most = index == 1 and low or 0x80, index == 1 and high or 0xBF
            if byte < least or byte > most then
                return false
            end
        end
        at = at + 1 + more
    end
    return true
end

local function sentence(r)
    if r:left() == 0 then
        return
    end
    local len = r:within("sentence_length", 1, SENTENCE_MAX)
    local range = r:take("sentence", len)
    if not is_text(range:raw()) then
        fail("sentence", "out_of_range")
    end
    r:show_text("sentence", range, len)
end

local function has(set, bit)
    return math.floor(set / bit) % 2 == 1
end

-- Exclusive or of two u16, with arithmetic alone: Lua versions differ in their bit operations.
local function flip(a, b)
    local out, bit = 0, 1
    while bit < 65536 do
        local x, y = math.floor(a / bit) % 2, math.floor(b / bit) % 2
        out = out + (x ~= y and bit or 0)
        bit = bit * 2
    end
    return out
end

-- One run of the history: its ticks, each with the same buttons.
local function run(r, field, flags)
    local range = r:take(field, 1)
    local ticks = range:uint()
    r.tree:add(FIELDS.native[field], range)
    for _ = 1, math.min(ticks, NATIVE_MAX_HISTORY) do
        r.tree:add(FIELDS.native.history, range, flags):set_generated()
    end
    return ticks
end

local function history(r, flags, wide_len)
    if r:left() == 0 then
        return
    end
    if r:left() > NATIVE_HISTORY_LEN - wide_len then
        fail("history", "out_of_range")
    end
    local total = run(r, "same", flags)
    if total == 0 and r:left() == 0 then
        fail("same", "not_canonical")
    end
    while r:left() > 0 do
        flags = flip(flags, varint(r))
        local ticks = run(r, "ticks", flags)
        if ticks == 0 then
            fail("ticks", "out_of_range")
        end
        total = total + ticks
    end
    if total > NATIVE_MAX_HISTORY then
        fail("ticks", "out_of_range")
    end
end

-- A number of one or two bytes, lowest first.
local function short(r, name)
    local start = r.at
    local low = r:take(name, 1):uint()
    local value = low
    if low >= 128 then
        local high = r:take(name, 1):uint()
        if high == 0 then
            fail(name, "not_canonical")
        end
        value = high * 128 + low % 128
        r.tree:add(FIELDS.native[r.prefix .. name], r.tvb(start, r.at - start), value % 65536)
        if high >= 128 then
            fail(name, "out_of_range")
        end
        return value
    end
    r.tree:add(FIELDS.native[r.prefix .. name], r.tvb(start, 1), value)
    return value
end

-- How many follow; "none" is written as nothing.
local function some(r)
    local count = r:number("count")
    if count == 0 then
        fail("count", "not_canonical")
    end
    return count
end

local function message_length(length)
    if length > NATIVE_MAX_MESSAGE then
        fail("length", "out_of_range")
    end
    return length
end

local function message(r, name, length)
    if length > 0 then
        r.tree:add(FIELDS.native[r.prefix .. name], r:take("message", length))
    end
end

local function reliable(r, from_client)
    local number = r:number("first")
    local has_events = false
    for at = 1, some(r) do
        local start = r.at
        local head = short(r, "head")
        local length = message_length(math.floor(head / 8))
        local kind = math.floor(head / 2) % 4
        if kind > 2 then
            fail("kind", "out_of_range")
        end
        if head % 2 == 1 and at == 1 then
            fail("head", "not_canonical")
        elseif head % 2 == 1 then
            local skipped = r:number("skipped")
            if skipped == 0 then
                fail("skipped", "not_canonical")
            end
            number = (number + skipped) % 65536
        end
        has_events = has_events or kind == 1
        local shown = r.tvb(start, r.at - start)
        r.tree:add(FIELDS.native[r.prefix .. "reliable.number"], shown, number)
        r.tree:add(FIELDS.native[r.prefix .. "reliable.kind"], shown, kind)
        message(r, "reliable.bytes", length)
        number = (number + 1) % 65536
    end
    return from_client and has_events
end

-- A MessageBlock, which says itself where it ends.
local function message_block(r, from_client)
    local present = r:within("present", 0, 7)
    r:number("acknowledged")
    if has(present, 1) then
        local len = r:take("selective", 1):uint()
        if len < 1 or len > NATIVE_MAX_SELECTIVE then
            fail("selective", "out_of_range")
        end
        local range = r:take("selective", len)
        if range(len - 1, 1):uint() == 0 then
            fail("selective", "not_canonical")
        end
        r.tree:add(FIELDS.native[r.prefix .. "selective"], range)
    end
    local forged = has(present, 2) and reliable(r, from_client)
    if has(present, 4) then
        for _ = 1, some(r) do
            message(r, "unreliable", message_length(short(r, "length")))
        end
    end
    if forged then
        fail("kind", "out_of_range")
    end
end

-- A MessageBlock inside a packet.
local function messages(r, from_client)
    r:branch("messages", "messages", r:left(), function(block)
        message_block(block, from_client)
    end)
end

-- Which datagrams of a view have been taken.
local function acks(r)
    r:branch("acks", "acks", 11, function(acked)
        local newest = acked:take("acks", 2)
        acked:show("newest", newest, newest:uint())
        local range = acked:take("mask_len", 1)
        local len = range:uint()
        acked:show("mask_len", range, len)
        if len > 8 then
            fail("mask_len", "out_of_range")
        elseif len == 0 then
            acked:show("mask", range, UInt64(0))
            return
        end
        local mask = acked:take("mask", len)
        if mask(len - 1, 1):uint() == 0 then
            fail("mask", "not_canonical")
        end
        acked:show("mask", mask, mask:le_uint64())
    end)
end

local function feedback(r)
    r:branch("feedback", "feedback", 5, function(inputs)
        inputs:number("echo")
        inputs:number("held")
        inputs:number("early")
        inputs:number("missing")
        inputs:number("lost")
    end)
end

-- The head of a delta snapshot, whose optional fields one byte announces.
local function delta_head(r)
    r:number("tick", "u16")
    local range = r:take("base", 1)
    local base, back = range:uint(), range:bitfield(2, 6)
    r.tree:add(FIELDS.native.base, range)
    r:show("baseline_back", range, back)
    if back > NATIVE_MAX_BASELINE then
        fail("baseline_back", "out_of_range")
    end
    if has(base, 0x40) then
        feedback(r)
    end
    if has(base, 0x80) then
        messages(r, false)
    end
end

-- The head of a view's datagram.
local function view_head(r)
    r:number("tick", "u16")
    r:number("epoch")
    local range = r:take("flags", 1)
    local flags = range:uint()
    r.tree:add(FIELDS.native.flags, range)
    if flags > 7 then
        fail("flags", "out_of_range")
    end
    r:show("is_first", range, flags % 2)
    if has(flags, 2) then
        feedback(r)
    end
    if has(flags, 4) then
        messages(r, false)
    end
end

local function pong(r)
    r:number("id")
    r:number("timestamp")
end

-- The entities of document 004, 26 bytes each.
local function full_snapshot(r)
    r:number("server_tick")
    r:records("entity_count", r:number("entity_count"), "entities", ACK_ENTITY, function(entity)
        local names = {
            "entity_id", "entity_type", "x", "y", "vx", "vy", "health", "flags", "last_ack_sequence",
        }
        for _, name in ipairs(names) do
            entity:number(name)
        end
    end)
end

local NATIVE = {
    [0x01] = { "Hello", function(r)
        r:number("protocol")
        r:number("game")
        r:number("game_version")
        r:number("nonce")
        r:zeros("padding", 32)
    end },
    [0x02] = { "Join", function(r)
        r:number("nonce")
        r:opaque("cookie")
        r:number("protocol")
        r:number("game")
        r:number("game_version")
        r:number("layout")
        r:within("budget", 1024, NATIVE_MAX_DATAGRAM)
        r:one_of("role", 0, ROLES)
        r:number("room")
        r:name("name")
        r:name("password")
        r:opaque("data", r:within("data_length", 0, JOIN_DATA_MAX))
        r:opaque("token", r:within("token_length", 0, TOKEN_MAX))
    end },
    [0x03] = { "Discover", function(r)
        r:number("nonce")
        r:number("game")
        r:zeros("padding", 27)
    end },
    [0x04] = { "Ping", function(r)
        r:number("session")
        pong(r)
    end },
    [0x05] = { "ClientPong", function(r)
        session(r)
        pong(r)
    end },
    [0x06] = { "Goodbye", session },
    [0x07] = { "ListRooms", function(r)
        r:number("nonce")
        r:opaque("cookie")
        r:number("game")
        r:number("first")
    end },
    [0x08] = { "EnterRoom", function(r)
        session(r)
        r:number("nonce")
        r:number("room")
        r:one_of("role", 0, ROLES)
        r:name("password")
    end },
    [0x09] = { "Resume", function(r)
        r:number("nonce")
        r:opaque("cookie")
        r:opaque("ticket")
        r:within("fresh", 0, 1)
    end },
    [0x0A] = { "CreateRoom", function(r)
        r:number("nonce")
        r:opaque("cookie")
        r:number("protocol")
        r:number("game")
        r:number("game_version")
        r:number("layout")
        r:within("budget", 1024, NATIVE_MAX_DATAGRAM)
        r:name("name")
        r:name("room_name")
        r:name("password")
        r:opaque("data", r:within("data_length", 0, JOIN_DATA_MAX))
        r:opaque("token", r:within("token_length", 0, TOKEN_MAX))
    end },
    [0x0B] = { "Probe", function(r)
        r:opaque("pass")
        r:number("stamp")
        r:opaque("cookie")
        r:zeros("padding", 28)
    end },
    [0x0C] = { "Seek", function(r)
        r:number("nonce")
        r:opaque("cookie")
        r:number("protocol")
        r:number("game")
        r:number("game_version")
        local count = r:within("count", 0, MATCH_SERVERS_MAX)
        r:records("count", count, "reports", NATIVE_REPORT, function(report)
            report:within("index", 0, MATCH_SERVERS_MAX - 1)
            report:within("round_trip", 1, 4294967295)
            report:opaque("seal")
        end)
    end },
    [0x11] = { "ClientMessages", function(r)
        session(r)
        message_block(r, true)
    end },
    [0x12] = { "SnapshotAck", function(r)
        session(r)
        r:number("server_tick")
        r:number("snapshot_held")
        local present = r:within("present", 0, 3)
        if has(present, 1) then
            acks(r)
        end
        if has(present, 2) then
            messages(r, true)
        end
    end },
    [0x14] = { "Input", function(r)
        session(r)
        local flags
        r:branch("newest", "newest", 6, function(newest)
            newest:within("sequence", 1, 4294967295)
            flags = newest:number("input_flags")
        end)
        local present, wide_len = r:within("present", 0, 31), 0
        if has(present, 16) then
            wide_len = 1 + r:within("wide_len", 1, 14)
            local wide = r:take("wide", wide_len - 1)
            r.tree:add(FIELDS.native.wide, wide)
            if wide(wide_len - 2, 1):uint() == 0 then
                fail("wide", "not_canonical")
            end
        end
        if has(present, 1) then
            r:number("snapshot_back")
            r:number("snapshot_held")
        end
        if has(present, 2) then
            r:number("drawn_back")
        end
        if has(present, 8) then
            acks(r)
        end
        if has(present, 4) then
            messages(r, true)
        end
        history(r, flags, wide_len)
    end },
    [0x81] = { "Challenge", function(r)
        r:number("nonce")
        r:opaque("cookie")
        r:within("token_required", 0, 1)
    end },
    [0x82] = { "Accept", function(r)
        r:number("nonce")
        session(r)
        r:number("player")
        r:number("room")
        r:number("tick")
        r:within("tick_rate", 1, 255)
        r:within("budget", 1024, NATIVE_MAX_DATAGRAM)
        r:one_of("role", 0, ROLES)
        r:opaque("ticket")
    end },
    [0x83] = { "Here", function(r)
        r:number("nonce")
        r:number("game")
        r:number("game_version")
        r:number("protocol")
        r:number("players")
        r:number("capacity")
        r:within("token_required", 0, 1)
        r:number("rooms")
        r:name("name")
    end },
    [0x84] = { "ServerPing", pong },
    [0x85] = { "Pong", pong },
    [0x86] = { "Close", function(r)
        session(r)
        r:one_of("reason", 1, CLOSE_REASONS)
    end },
    [0x87] = { "RoomList", function(r)
        r:number("nonce")
        r:number("total")
        r:number("first")
        r:records("count", r:number("count"), "rooms", NATIVE_ROOM, function(room)
            room:number("room")
            room:number("game")
            room:number("players")
            room:number("capacity")
            room:within("flags", 0, 7)
            room:name("name")
        end)
    end },
    [0x88] = { "Reject", function(r)
        r:number("nonce")
        r:one_of("reason", 1, REJECT_REASONS)
        r:number("protocol")
        r:number("game_version")
        sentence(r)
    end },
    [0x89] = { "UnknownSession", session },
    [0x8A] = { "Probed", function(r)
        r:opaque("pass")
        r:number("server")
        r:number("stamp")
        r:opaque("cookie")
        r:number("round_trip")
        r:opaque("seal")
    end },
    [0x8B] = { "Waiting", function(r)
        r:number("nonce")
        r:opaque("pass")
        r:number("waiting")
        local count = r:within("count", 0, MATCH_SERVERS_MAX)
        r:records("count", count, "servers", NATIVE_SERVER, server_address)
    end },
    [0x8C] = { "Matched", function(r)
        r:number("nonce")
        server_address(r)
        r:name("room_name")
        r:name("password")
        r:within("players", r:number("seat") + 1, 255, "u8")
        r:number("worst")
    end },
    [0x90] = { "Roster", function(r)
        r:number("revision")
        local total = r:within("total", 0, NATIVE_MAX_ROSTER)
        local first, count = r:number("first"), r:number("count")
        if first > 0 and first >= total then
            fail("first", "out_of_range")
        elseif count > total - first or count == 0 and total > 0 then
            fail("count", "out_of_range")
        end
        r:records("count", count, "players", NATIVE_PLAYER, function(player)
            player:number("player")
            player:number("lives")
            player:within("flags", 0, 31)
            player:number("rtt_ms")
            player:name("name")
        end)
    end },
    [0xA1] = { "DeltaSnapshot", function(r)
        delta_head(r)
        r:opaque("body", r:left())
    end },
    [0xA2] = { "ServerMessages", function(r)
        message_block(r, false)
    end },
    [0xA4] = { "ViewSnapshot", function(r)
        view_head(r)
        r:opaque("body", r:left())
    end },
}

-- Two headers that native has no use for are ack's.
local function is_literal(kind, flags, payload)
    if kind == 0x10 then
        return flags == 0 and payload == ACK_INPUT
    end
    return kind == 0xA0 and (flags == 0 or flags == ACK_MORE)
end

local function native_has_shape(tvb)
    local len = tvb:len()
    if len < NATIVE_HEADER or tvb(0, 1):uint() ~= 1 or not NATIVE[tvb(1, 1):uint()] then
        return false
    elseif is_literal(tvb(1, 1):uint(), tvb(2, 1):uint(), tvb(3, 2):uint()) then
        return false
    end
    return len == NATIVE_HEADER + tvb(3, 2):uint()
end

local function native_decode(r, shown)
    local version = r:number("version")
    local kind = r:number("type")
    local flags = r:number("flags")
    r.info = {}
    local packet = NATIVE[kind]
    if version ~= 1 then
        fail("version", "version")
    elseif not packet then
        fail("type", "unknown_type")
    elseif flags ~= 0 then
        fail("flags", "out_of_range")
    end
    shown(packet[1])
    local stated = r:number("payload_length")
    r.info = {}
    r:number("sequence")
    local info = r.info
    if stated ~= r:left() then
        fail("payload_length", "wrong_size")
    elseif r.tvb:len() > NATIVE_MAX_DATAGRAM then
        fail("payload_length", "out_of_range")
    end
    r.info = info
    packet[2](r)
    r:finish(packet[1])
end

------------------------------------------------------------------------------------------------
-- ack

local function said(r)
    r:number("reason")
    r:raw_name("sentence")
end

local ACK = {
    [0x10] = { "CLIENT_INPUT", function(r)
        r:within("sequence_number", 1, 4294967295)
        r:within("input_flags", 0, 63)
        r:number("timestamp")
        r:number("delta_time")
    end },
    [0x20] = { "HELLO", function(r)
        r:zeros("padding", 32)
    end },
    [0x21] = { "JOIN", function(r)
        r:opaque("cookie")
        r:number("game")
        r:name("name")
        if r:left() > TOKEN_MAX then
            fail("token", "wrong_size")
        end
        r:opaque("token", r:left())
    end },
    [0x22] = { "PING", pong },
    [0x23] = { "LEAVE", function() end },
    [0xA0] = { "SERVER_SNAPSHOT", full_snapshot },
    [0xB0] = { "CHALLENGE", function(r)
        r:opaque("cookie")
    end },
    [0xB1] = { "WELCOME", function(r)
        r:number("player_id")
        r:number("entity_id")
        r:number("server_tick")
        r:within("tick_rate", 1, 255)
    end },
    [0xB2] = { "REFUSED", said },
    [0xB3] = { "PONG", pong },
    [0xB4] = { "BYE", said },
}

-- Whether a header is ack's, whose length is `payload`.
local function is_ack(tvb, payload)
    local kind, flags = tvb(1, 1):uint(), tvb(2, 1):uint()
    if tvb:len() ~= NATIVE_HEADER + payload or tvb(0, 1):uint() ~= 1 or not ACK[kind] then
        return false
    end
    return kind ~= 0x10 and kind ~= 0xA0 or is_literal(kind, flags, payload)
end

local function ack_has_shape(tvb)
    return tvb:len() >= NATIVE_HEADER and is_ack(tvb, tvb(3, 2):uint())
end

-- Its length would fit, were it big-endian.
local function is_misordered(tvb)
    return tvb:len() >= NATIVE_HEADER and is_ack(tvb, tvb(3, 2):le_uint())
        and tvb(3, 2):uint() ~= tvb(3, 2):le_uint()
end

local function ack_decode(r, shown)
    local version = r:number("version")
    local kind = r:number("type")
    local flags = r:number("flags")
    local packet = ACK[kind]
    if version ~= 1 then
        fail("version", "version")
    elseif not packet then
        fail("type", "unknown_type")
    elseif flags ~= 0 and not (flags == ACK_MORE and kind == 0xA0) then
        fail("flags", "out_of_range")
    end
    shown(packet[1])
    local stated = r:number("payload_length")
    r.info = {}
    r:number("sequence")
    if stated ~= r:left() then
        fail("payload_length", is_misordered(r.tvb) and "byte_order" or "wrong_size")
    elseif r.tvb:len() > NATIVE_MAX_DATAGRAM then
        fail("payload_length", "out_of_range")
    end
    if kind == 0xA0 then
        r:show("more", r.tvb(2, 1), flags == ACK_MORE and 1 or 0):set_generated()
    end
    packet[2](r)
    r:finish(packet[1])
end

------------------------------------------------------------------------------------------------
-- Which dialect, and what is shown of it

local function detect(tvb)
    if native_has_shape(tvb) then
        return "native"
    elseif lan_has_shape(tvb) then
        return "lan"
    elseif rtype_has_shape(tvb) then
        return "rtype"
    elseif ack_has_shape(tvb) then
        return "ack"
    end
end

-- The dialect that bytes of no dialect's shape were most likely meant to be.
local function closest(tvb)
    local len = tvb:len()
    if len >= 2 and tvb(0, 2):le_uint() + RTYPE_HEADER == len or len >= 4 and tvb(3, 1):uint() == 1 then
        return "rtype"
    end
    local first = tvb(0, 1):uint()
    local kind = len > 1 and tvb(1, 1):uint()
    if first == 1 and ACK[kind] and kind ~= 0x10 and kind ~= 0xA0 or is_misordered(tvb) then
        return "ack"
    elseif first == 1 and len > 1 then
        return "native"
    elseif first >= 1 and first <= 6 then
        return "lan"
    end
end

local DECODE = { lan = lan_decode, rtype = rtype_decode, native = native_decode, ack = ack_decode }

-- Shows one packet, and returns its line for the info column.
local function show(proto, dialect, decode, tvb, tree)
    local root = tree:add(proto, tvb(), "Backspin")
    if dialect then
        root:add(f_dialect, tvb(), dialect):set_generated()
        root:append_text(", " .. dialect)
    end
    local r = reader((dialect or ""):match("^%a+"), tvb, root)
    local line = dialect or "backspin"
    local ok, fault = pcall(decode, r, function(packet)
        root:add(f_packet, tvb(), packet):set_generated()
        root:append_text(" " .. packet)
        line = line .. " " .. packet
    end)
    if ok then
        table.insert(r.info, 1, line)
        return table.concat(r.info, " ")
    elseif type(fault) ~= "table" then
        -- Not a fault of the bytes but of this script.
        error(fault, 0)
    end
    local what = fault.field .. ": " .. fault.reason
    root:add(f_malformed, tvb(), what):set_generated()
    root:add_proto_expert_info(e_malformed, "Malformed " .. what)
    return line .. " malformed " .. what
end

function backspin.dissector(tvb, pinfo, tree)
    if tvb:len() == 0 then
        return 0
    end
    local dialect = detect(tvb) or closest(tvb)
    local decode = DECODE[dialect] or function() fail("datagram", "no_dialect") end
    pinfo.cols.protocol:set("Backspin")
    pinfo.cols.info:set(show(backspin, dialect, decode, tvb, tree))
    return tvb:len()
end

-- How long the next message is. Behind a header that no message has nothing makes sense: it
-- takes all there is.
local function message_len(tvb, _, offset)
    local size, packet = tvb(offset, 2):le_uint(), RTYPE_TCP[tvb(offset + 2, 1):uint()]
    if packet and packet[2](size) and tvb(offset + 3, 1):uint() == 1 then
        return RTYPE_HEADER + size
    end
    return tvb:len() - offset
end

function backspin_tcp.dissector(tvb, pinfo, tree)
    local lines = {}
    dissect_tcp_pdus(tvb, tree, RTYPE_HEADER, message_len, function(message, _, message_tree)
        table.insert(lines, show(backspin, "rtype-tcp", rtype_tcp_decode, message, message_tree))
        return message:len()
    end)
    if #lines > 0 then
        pinfo.cols.protocol:set("Backspin")
        pinfo.cols.info:set(table.concat(lines, "; "))
    end
    return tvb:len()
end

backspin:register_heuristic("udp", function(tvb, pinfo, tree)
    if not detect(tvb) then
        return false
    end
    backspin.dissector(tvb, pinfo, tree)
    return true
end)

for _, port in ipairs(UDP_PORTS) do
    DissectorTable.get("udp.port"):add(port, backspin)
end
DissectorTable.get("tcp.port"):add(TCP_PORT, backspin_tcp)
