-- Claims a dead replica: only while its counter is the one that was seen standing still, or, when it is being reaped
-- already, while that reaper is the one that was seen dead; or when it has neither a counter nor a reaper, because the
-- store lost them. An exiting replica hands itself over the same way.
-- KEYS[1] replicas: id -> counter
-- KEYS[2] reaping: id of a dead replica -> id of its reaper
-- ARGV[1] dead replica
-- ARGV[2] counter seen, or '' to take over from
-- ARGV[3] the reaper seen, or ''
-- ARGV[4] the new reaper
-- RETURNS OK, claimed ('1' | '0')
if ARGV[2] ~= '' then
  if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return { 'OK', '0' } end
  redis.call('HDEL', KEYS[1], ARGV[1])
elseif (redis.call('HGET', KEYS[2], ARGV[1]) or '') ~= ARGV[3] or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return { 'OK', '0' }
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
return { 'OK', '1' }
