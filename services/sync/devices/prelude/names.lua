-- Names of devices, and of streams without a device. Two names that look the same count as one: case and repeated spaces
-- do not matter. Rows older than that rule may look the same. Each of them stays in use under its exact name.

local function looks_of(name)
  return string.match(string.gsub(string.lower(name), ' +', ' '), '^ ?(.-) ?$')
end

local function name_in(row)
  return string.match(row, '^[^\n]*')
end

-- Returns the looks of every name in use: of all rows except that of `but`, and of open streams without a device.
local function looks_taken(devices, but, open)
  local taken = {}
  for i = 1, #devices, 2 do
    if devices[i] ~= but then taken[looks_of(name_in(devices[i + 1]))] = true end
  end
  for i = 2, #open, 2 do
    local name = string.match(open[i], '^~(.*)$')
    if name then taken[looks_of(name)] = true end
  end
  return taken
end

-- Finds the device that `whom` names: by the exact name, otherwise by a name that looks the same. `open` holds the routes
-- whose streams without a device count too.
-- RETURNS id ('' for such a stream), name; nil if there is none; nil, nil, true if several look the same.
local function named_target(devices, whom, open)
  local candidates, looks, found, several = {}, looks_of(whom), nil, false
  for i = 1, #devices, 2 do candidates[#candidates + 1] = { devices[i], name_in(devices[i + 1]) } end
  for i = 2, #open, 2 do
    local name = string.match(open[i], '^~(.*)$')
    if name then candidates[#candidates + 1] = { '', name } end
  end
  for _, candidate in ipairs(candidates) do
    if candidate[2] == whom then return candidate[1], whom end
    if looks_of(candidate[2]) == looks then
      -- Streams of one name count as one.
      several = several or (found ~= nil and found[2] ~= candidate[2])
      found = found or candidate
    end
  end
  if several then return nil, nil, true end
  if found then return found[1], found[2] end
end

-- Returns the name of a device; nil if it has no row.
local function row_name(devices, id)
  for i = 1, #devices, 2 do
    if devices[i] == id then return name_in(devices[i + 1]) end
  end
end

-- Finds the device that `target` means, `=<id>` or `~<name>`. RETURNS as `named_target`.
local function chosen_device(devices, target)
  local how, whom = string.sub(target, 1, 1), string.sub(target, 2)
  if how == '~' then return named_target(devices, whom, {}) end
  local name = row_name(devices, whom)
  if name then return whom, name end
end
