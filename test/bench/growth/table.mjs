import { aligned } from '../report.mjs';

const percent = (share) => `${(share * 100).toFixed(1)} %`;

/** How growth is read: one row a number of replicas and streams. */
export const HEADS = [
  ...['Redis', 'replicas', 'streams', 'messages/s', 'CPU of replicas a message, us', 'of Redis, us', 'p99, ms'],
  ...['connects/s', 'CPU of replicas a connect, us', 'of Redis, us'],
  ...['quiet: replicas', 'Redis', 'KiB a stream: replica', 'Redis', 'others'],
];

export const rowOf = ({ layout, replicas, streams, messages, storm, quiet, ...kib }) => [
  ...[layout === 'apart' ? 'on a core of its own' : 'with the replicas', String(replicas), String(streams)],
  ...[messages.per_second, messages.servers_us, messages.redis_us, messages.p99].map((value) => value.toFixed(0)),
  ...[storm.per_second, storm.servers_us, storm.redis_us].map((value) => value.toFixed(0)),
  ...[percent(quiet.servers), percent(quiet.redis), kib.rss_kib.toFixed(1), kib.redis_kib.toFixed(1)],
  percent(Math.max(messages.others, storm.others, quiet.others)),
];

export const growthTable = (growth) => aligned([HEADS, ...growth.map(rowOf)]);
