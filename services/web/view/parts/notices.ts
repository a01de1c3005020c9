import { signal } from '@preact/signals';
import { errorText } from '../../texts/texts.ts';

export interface Notice {
  id: number;
  text: string;
  isError: boolean;
  /** Where it leads. */
  href?: string;
}

const SHOWN_MS = 5_000;
const MOST = 3;
let last = 0;

/** Shown for a moment, and said by screen readers. */
export const notices = signal<readonly Notice[]>([]);
/** Said by screen readers alone: what is seen anyway. The newest only, so that it does not chatter. */
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

/** Runs what a button does. What goes wrong is said: `failed`, what did not happen, and why and what to do. */
export function attempt(work: () => Promise<unknown>, failed: string): void {
  work().catch((error: unknown) => {
    const code = codeOf(error);
    if (code !== 'aborted' && code !== 'signed_out') notify(`${failed} ${errorText(code)}`, true);
  });
}
