import { signal } from '@preact/signals';
import { errorText } from '../../texts/texts.ts';

export interface Notice {
  id: number;
  text: string;
  isError: boolean;
  /** The target of the notice. */
  href?: string;
}

const SHOWN_MS = 5_000;
const MOST = 3;
let last = 0;

/** Notices that are shown for a moment, and read by screen readers. */
export const notices = signal<readonly Notice[]>([]);
/** A visible text that screen readers read, if no notice says it. Only the newest one, so that they do not read too much. */
export const announcement = signal('');

export function dismiss(id: number): void {
  notices.value = notices.value.filter((one) => one.id !== id);
}

export function notify(text: string, isError = false, href?: string): void {
  last += 1;
  const id = last;
  notices.value = [
    ...notices.value.filter((one) => one.text !== text),
    { id, text, isError, ...(href !== undefined && { href }) },
  ].slice(-MOST);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unexpected';

/** Runs the action of a button. Shows a failure: `failed` names what did not happen; the reason and the remedy follow. */
export function attempt(work: () => Promise<unknown>, failed: string): void {
  work().catch((error: unknown) => {
    const code = codeOf(error);
    if (code !== 'aborted' && code !== 'signed_out') notify(`${failed} ${errorText(code)}`, true);
  });
}
