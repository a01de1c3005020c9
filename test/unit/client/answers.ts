import type { Me } from '../../../shared/client/wire.ts';

/** Answers that name only what a test cares about. */
export const meOf = (given: Partial<Me> = {}): Me => ({
  ...{ user_id: 'ada', name: 'Ada', scope: 'full', roles: [], service: 'home', origins: ['https://service'] },
  device: { device_id: 'laptop-0001', name: 'Laptop', type: 'linux' },
  limits: { message_bytes: 4_096, clipboard_bytes: 65_536, clipboard_seconds: 300, relay_window_bytes: 8_388_608 },
  features: { qr: true, web_push: false, native_push: false },
  ...given,
});

/** Returns the n-th id of a message or transfer. */
export const uuid = (number: number): string => `019a0000-0000-7000-8000-${String(number).padStart(12, '0')}`;
