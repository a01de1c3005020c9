/**
 * What the replica asks of Redis outside of scripts; with the commands in the scripts themselves this is the ACL of
 * its user. The first rows are the connections' own life: hello, name, ready check, subscription; then what a cluster
 * needs beside: its map, and the ways to a node that is taking over.
 */
export const CLIENT_COMMANDS = [
  ...['hello', 'auth', 'client|setname', 'info', 'ping', 'subscribe', 'unsubscribe', 'quit'],
  ...['cluster|slots', 'asking', 'readonly', 'readwrite', 'spublish', 'ssubscribe', 'sunsubscribe'],
  ...['eval', 'evalsha', 'publish'],
  ...['get', 'hget', 'hset', 'hdel', 'hvals', 'del', 'srem', 'srandmember', 'time'],
  ...['zadd', 'zrem', 'zscore', 'zcount', 'zrangebyscore', 'scan'],
  // What replicas have.
  ...['expire', 'wait'],
  // The relay's bytes.
  ...['select', 'multi', 'xadd', 'exec', 'xrange'],
  // express-rate-limit's store.
  ...['incr', 'decr', 'pttl', 'pexpire', 'set'],
];
