import type { ClipboardEntry } from '../../../shared/client/index.ts';
import type { History } from './history.ts';

/* The earlier entries of the clipboard, if the user wants this browser to keep them. */
const KEY = 'clipboard-history';
const MOST = 30;

export interface PassedText {
  text: string;
  from: string;
  at: number;
}

interface Kept {
  isOn: boolean;
  passed: PassedText[];
}

type Settings = Pick<History, 'settings'>;

const NOTHING: Kept = { isOn: false, passed: [] };

export const clipboardHistory = ({ settings }: Settings): Promise<Kept> => settings.get(KEY, NOTHING);

/** Turns the history of the clipboard on or off, and removes the kept entries. */
export async function keepClipboardHistory({ settings }: Settings, isOn: boolean): Promise<void> {
  await settings.set(KEY, { isOn, passed: [] } satisfies Kept);
}

/** Keeps an entry once, newest first, if the history is on. Several tabs that do so write the same. */
export async function noteClipboard(history: Settings, entry: ClipboardEntry | null): Promise<void> {
  if (entry === null || entry.content === '' || entry.updated_at === null) return;
  const { isOn, passed } = await clipboardHistory(history);
  if (!isOn) return;
  const one = { text: entry.content, from: entry.source_device_name ?? '', at: entry.updated_at };
  const others = passed.filter(({ text, at }) => text !== one.text && at !== one.at);
  await history.settings.set(KEY, { isOn, passed: [one, ...others].slice(0, MOST) } satisfies Kept);
}
