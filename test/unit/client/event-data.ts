import type { EventData } from '../../../shared/contract/events.ts';

/** Event data that names only what a test cares about. */
export const ready = (given: Partial<EventData<'ready'>> = {}): EventData<'ready'> => ({
  resumed: true,
  device: { device_id: 'device-b', name: 'Phone', type: 'ios' },
  presence: { version: 1, devices: [] },
  clipboard: null,
  pending: { messages: 0, transfers: 0 },
  heartbeat_ms: 15_000,
  server_id: 'replica-1',
  ...given,
});

export const message = (number: number, given: Partial<EventData<'message'>> = {}): EventData<'message'> => ({
  message_id: `019a0000-0000-7000-8000-${String(number).padStart(12, '0')}`,
  from_device_id: 'device-a',
  from_name: 'Laptop',
  content: `message ${number}`,
  created_at: 1_700_000_000_000,
  redelivered: false,
  ...given,
});

export const presence = (version: number): EventData<'presence'> => ({ version, devices: [] });

/** Returns the n-th position of a log. */
export const id = (number: number): string => `17000000000${String(number).padStart(2, '0')}-0000abcd`;
