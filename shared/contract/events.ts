import type { Static } from 'typebox';
import { clipboardEvents } from './clipboard.ts';
import { deviceEvents } from './devices.ts';
import { messageEvents } from './messages.ts';
import { presenceEvents } from './presence.ts';
import { relayEvents } from './relay.ts';
import { sessionEvents } from './sessions.ts';
import { signalEvents } from './signal.ts';
import { streamEvents } from './stream.ts';
import { transferEvents } from './transfers.ts';

/** The event catalogue: everything a stream can carry. */
export const EVENTS = {
  ...streamEvents,
  ...presenceEvents,
  ...messageEvents,
  ...clipboardEvents,
  ...deviceEvents,
  ...sessionEvents,
  ...transferEvents,
  ...relayEvents,
  ...signalEvents,
};

export type EventName = keyof typeof EVENTS;
export type EventData<N extends EventName> = Static<(typeof EVENTS)[N]['data']>;
