-- `{u}:offers`: the transfers of each device. All members have score 0, so that they sort by device, then by age:
--   <device> pending <log id>:<transfer>   was offered to the device, which has not accepted it yet
--   <device> all <created>-<transfer>      the device takes part in it, as sender or receiver

local function pending_offer(device, log_id, id)
  return device .. ' pending ' .. log_id .. ':' .. id
end

local function listed_transfer(device, created, id)
  return device .. ' all ' .. created .. '-' .. id
end

local function pending_offers(key, device)
  return redis.call('ZRANGEBYLEX', key, '[' .. device .. ' pending ', '(' .. device .. ' pending!')
end

local function count_pending_offers(key, device)
  return redis.call('ZLEXCOUNT', key, '[' .. device .. ' pending ', '(' .. device .. ' pending!')
end

-- Returns the newest `count` transfers of the device before `cursor` (`<created>-<transfer>`; '' for the newest of
-- all).
local function listed_transfers(key, device, cursor, count)
  local from = cursor == '' and '(' .. device .. ' all!' or '(' .. device .. ' all ' .. cursor
  return redis.call('ZREVRANGEBYLEX', key, from, '[' .. device .. ' all ', 'LIMIT', 0, count)
end
