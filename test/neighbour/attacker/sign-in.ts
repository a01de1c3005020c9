import type { AttackDevice, Scenario } from './scenario.ts';

interface Started {
  request_id: string;
  poll_secret: string;
}

const MOST_POLLED = 20;

export const signIn: Scenario = {
  name: 'sign-in',
  what: 'login requests and polls at the limit of the address, session lists, refreshes, device sessions, unknown sessions ended',
  works: /^20/,
  begin(attack) {
    const started: Started[] = [];
    attack.loop('startLogin', async (device) => {
      const body = { device_name: 'Phone', device_type: 'browser' };
      const answer = await attack.ask(device, { method: 'POST', path: '/api/auth/qr/start', body });
      if (answer.status === 201) started.push(answer.body as Started);
      if (started.length > MOST_POLLED) started.shift();
    });
    const poll = (waitMs: number) => (device: AttackDevice, i: number) => {
      const one = started[i % started.length];
      if (one === undefined) return Promise.resolve();
      return attack.ask(device, {
        path: `/api/auth/qr/status?request_id=${one.request_id}&wait_ms=${waitMs}`,
        headers: { 'X-Poll-Secret': one.poll_secret },
        withinMs: 3_000,
      });
    };
    attack.loop('pollLogin', poll(0));
    attack.loop('pollLogin', poll(2_000), 32);
    attack.loop('listSessions', (device) => attack.ask(device, { path: '/api/auth/sessions' }));
    attack.loop('refreshSession', (device) =>
      attack.ask(device, { method: 'POST', path: '/api/auth/refresh', body: { credential: `v1.${'x'.repeat(60)}` } }),
    );
    attack.loop('startDeviceSession', (device) => {
      const body = { device_id: device.id, device_name: device.name, device_type: 'browser' };
      return attack.ask(device, { method: 'POST', path: '/api/auth/device-session', body });
    });
    attack.loop('removeSession', (device) =>
      attack.ask(device, { method: 'DELETE', path: `/api/auth/sessions/${crypto.randomUUID()}` }),
    );
  },
};
