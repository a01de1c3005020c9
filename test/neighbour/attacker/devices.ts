import { randomBytes } from 'node:crypto';
import { listening } from './listening.ts';
import type { AttackDevice, Scenario } from './scenario.ts';

const full = (devices: readonly AttackDevice[]): AttackDevice => devices[0] as AttackDevice;

export const devices: Scenario = {
  name: 'devices',
  what: 'renames in a loop, devices added and removed, lists and presence read, with 60 streams open',
  works: /^20/,
  begin(attack) {
    listening(attack, attack.devices);
    attack.loop('renameDevice', (device, i) =>
      attack.ask(device, { method: 'PATCH', path: `/api/devices/${device.id}`, body: { name: `renamed ${i}` } }),
    );
    attack.loop('removeDevice', async () => {
      const id = randomBytes(9).toString('base64url');
      const owner = full(attack.devices);
      const guest = { 'X-Dev-Device': id, 'X-Dev-Name': 'gone soon' };
      await attack.ask(owner, { path: '/api/devices', headers: guest });
      await attack.ask(owner, { method: 'DELETE', path: `/api/devices/${id}` });
    });
    attack.loop('listDevices', (device) => attack.ask(device, { path: '/api/devices' }));
    attack.loop('getPresence', (device) => attack.ask(device, { path: '/api/hub/presence' }));
    attack.loop('getMe', (device) => attack.ask(device, { path: '/api/me' }));
  },
};
