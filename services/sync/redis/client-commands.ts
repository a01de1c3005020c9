/**
 * The commands that the replica sends to Redis outside of scripts. Together with the commands inside the scripts they
 * are the ACL of the replica's user at Redis. The first row is for the connections themselves: hello, name, ready
 * check, subscription. The second row is for a cluster: its map, the ways to a node that is taking over, and its
 * channels.
 */
export const CLIENT_COMMANDS = [
  ...['hello', 'auth', 'client|setname', 'info', 'ping', 'subscribe', 'unsubscribe', 'quit'],
  ...['cluster|slots', 'asking', 'readonly', 'readwrite', 'spublish', 'ssubscribe', 'sunsubscribe'],
  ...['eval', 'evalsha', 'publish'],
  ...['get', 'hget', 'hset', 'hdel', 'hvals', 'del', 'srem', 'srandmember', 'time'],
  ...['zadd', 'zrem', 'zscore', 'zcount', 'zrangebyscore', 'scan'],
  // Confirmation by replicas of Redis.
  ...['expire', 'wait'],
  // The relay's bytes.
  ...['select', 'multi', 'xadd', 'exec', 'xrange'],
  // express-rate-limit's store.
  ...['incr', 'decr', 'pttl', 'pexpire', 'set'],
];
