import type { Presence } from '../../../shared/contract/modules/presence.ts';
import type { StreamEvent } from '../../../shared/client/stream/stream-event.ts';
import type { Frame, Snapshot } from '../history.ts';
import { markIn, operationInName } from './texts.ts';

export function snapshotOf({ version, devices }: Presence): Snapshot {
  const ids = (online: boolean) =>
    devices.filter((one) => one.online === online).map(({ device_id: id, name }) => id ?? `~${name}`);
  return { version, online: ids(true), offline: ids(false) };
}

/** Returns an event in the form of the history. */
export function frameOf(event: StreamEvent, at: number, connection: number): Frame {
  const received = { at, connection, id: event.id };
  switch (event.name) {
    case 'ready': {
      const { resumed, reason = null, server_id: server, presence } = event.data;
      return { ...received, name: 'ready', resumed, reason, server, snapshot: snapshotOf(presence) };
    }
    case 'presence':
      return { ...received, name: 'presence', snapshot: snapshotOf(event.data) };
    case 'message': {
      const { message_id: messageId, from_device_id: from, content, redelivered } = event.data;
      const { account = null, operation = null } = markIn(content) ?? {};
      return { ...received, name: 'message', messageId, from, account, operation, redelivered };
    }
    case 'message:delivered':
      return { ...received, name: event.name, messageIds: event.data.message_ids, by: event.data.by_device_id };
    case 'clipboard': {
      const { source_device_id: source, source_device_name: shown } = event.data;
      const { account = null, operation = null } = markIn(shown) ?? {};
      return { ...received, name: 'clipboard', source, account, operation };
    }
    case 'device:renamed': {
      const { device_id: renamed, name } = event.data.device;
      return { ...received, name: 'device:renamed', renamed, operation: operationInName(name) };
    }
    case 'device:added':
      return { ...received, name: 'device:added', added: event.data.device.device_id };
    case 'reconnect':
      return { ...received, name: 'reconnect', reason: event.data.reason };
    case 'ping':
    case 'clipboard:cleared':
    case 'degraded':
    case 'restored':
      return { ...received, name: event.name };
    default:
      return { ...received, name: 'other', what: (event as StreamEvent).name };
  }
}
