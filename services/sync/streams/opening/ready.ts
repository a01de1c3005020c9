import type { DeviceRef } from '../../../../shared/contract/vocabulary/fields.ts';
import type { Ready, ResetReason } from '../../../../shared/contract/modules/stream.ts';
import { presenceView } from '../../presence/presence-view.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { frame } from '../stream/frames.ts';
import type { Attached, Opened } from '../store.ts';
import type { Stream } from '../stream/stream.ts';

interface ReadyParts {
  attached: Attached;
  opened: Opened;
  lostReason: ResetReason | null;
  heartbeatMs: number;
  serverId: string;
}

/** Returns the device of a stream, from its row; null without a device or without a row. */
function deviceOf(stream: Stream, presence: Ready['presence']): DeviceRef | null {
  const entry = presence.devices.find(({ device_id: id }) => id === stream.caller.deviceId);
  if (!entry?.device_id || !entry.type) return null;
  return { device_id: entry.device_id, name: entry.name, type: entry.type };
}

/**
 * Writes `ready`, and moves the stream to the position from which it goes on: its own when that is valid, else the
 * current end of the log, which is then the id of `ready`.
 */
export function sendReady(stream: Stream, { attached, opened, lostReason, heartbeatMs, serverId }: ReadyParts): void {
  const presence = presenceView(attached.presence ?? { devices: [], states: [] });
  const ready: Ready = {
    resumed: lostReason === null,
    ...(lostReason && { reason: lostReason }),
    device: deviceOf(stream, presence),
    presence,
    clipboard: opened.clipboard,
    pending: { messages: opened.pendingMessages, transfers: opened.pendingTransfers },
    heartbeat_ms: heartbeatMs,
    server_id: serverId,
  };
  const resetTo = lostReason === null ? null : attached.top;
  // Most streams have nothing pending, and are live after one trip, their attach.
  const hasPending = opened.hasInvites || opened.pendingMessages + opened.pendingTransfers > 0;
  const chunk = frame('ready', JSON.stringify(ready), resetTo ?? undefined);
  stream.sendReady(chunk, resetTo, attached.presenceVersion, hasPending);
}

/** Counts the stream as opened, and how long that took. */
export function countOpened(
  metrics: Pick<Metrics, 'streams_opened_total' | 'stream_open_duration_seconds'>,
  { askedAtMs }: Stream,
  resume: string,
): void {
  metrics.streams_opened_total.inc({ resume });
  metrics.stream_open_duration_seconds.observe((performance.now() - askedAtMs) / 1000);
}
