import type { History } from '../history/history.ts';

/* Devices whose files this browser takes without asking. */
const ALWAYS = 'always-from';

const all = (history: History): Promise<string[]> => history.settings.get<string[]>(ALWAYS, []);

export const isAlways = async (history: History, deviceId: string): Promise<boolean> =>
  (await all(history)).includes(deviceId);

export async function setAlways(history: History, deviceId: string, isOn: boolean): Promise<void> {
  const others = (await all(history)).filter((id) => id !== deviceId);
  await history.settings.set(ALWAYS, isOn ? [...others, deviceId] : others);
}
