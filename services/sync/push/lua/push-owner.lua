-- Claims a push target, or reads its owner. The highest fence wins, also over an owner that a failover brought back. No
-- fence is given twice while the owner is stored, even if the clock is set back.
-- Keys and arguments: pushOwner in scripts.ts.
-- uses: clock
-- RETURNS OK, fence of the owner, account and device (claiming: of the previous owner; asking: of the owner)
local fence, account, device = string.match(redis.call('GET', keys.owner) or '', '^(.-)\n(.-)\n(.*)$')
local mine = tonumber(own_fence) or math.max(tonumber(fence or '0') + 1, now_ms())
if fence and tonumber(fence) > mine then return { 'OK', fence, account, device } end
redis.call('SET', keys.owner, table.concat({ int(mine), claimant_account, claimant }, '\n'), 'PX', int(OWNER_MS))
if own_fence ~= '' then return { 'OK', int(mine), claimant_account, claimant } end
return { 'OK', int(mine), account or '', device or '' }
