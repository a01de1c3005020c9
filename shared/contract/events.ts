import type { Static } from 'typebox';
import { clipboardEvents } from './modules/clipboard.ts';
import { deviceEvents } from './modules/devices.ts';
import { keysEvents } from './modules/keys.ts';
import { messageEvents } from './modules/messages.ts';
import { presenceEvents } from './modules/presence.ts';
import { relayEvents } from './modules/relay.ts';
import { sessionEvents } from './modules/sessions.ts';
import { signalEvents } from './modules/signal.ts';
import { signinEvents } from './modules/signin.ts';
import { streamEvents } from './modules/stream.ts';
import { transferEvents } from './modules/transfers.ts';

/** The event catalogue: everything a stream can carry. */
export const EVENTS = {
  ...streamEvents,
  ...presenceEvents,
  ...messageEvents,
  ...clipboardEvents,
  ...keysEvents,
  ...deviceEvents,
  ...sessionEvents,
  ...signinEvents,
  ...transferEvents,
  ...relayEvents,
  ...signalEvents,
};

export type EventName = keyof typeof EVENTS;
export type EventData<N extends EventName> = Static<(typeof EVENTS)[N]['data']>;
