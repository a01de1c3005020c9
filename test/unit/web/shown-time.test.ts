import { effect } from '@preact/signals';
import { serverNow } from '../../../services/web/server-time.ts';
import { agoText, whenText } from '../../../services/web/texts/quantities.ts';

const { jest } = import.meta;

const MINUTE_MS = 60_000;

describe('texts about how long ago something was', () => {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const see = (state: 'visible' | 'hidden') => {
    page.visibilityState = state;
    page.dispatchEvent(new Event('visibilitychange'));
  };
  beforeEach(() => {
    jest.useFakeTimers({ now: new Date(2026, 0, 5, 23, 58) });
    Object.assign(globalThis, { document: page });
  });
  afterEach(() => {
    jest.useRealTimers();
    Reflect.deleteProperty(globalThis, 'document');
  });

  test('change each minute while the page is visible, and when it is shown again', () => {
    const at = serverNow();
    const shown: string[] = [];
    const leave = effect(() => void shown.push(agoText(at)));
    const take = () => shown.splice(0);
    expect(take()).toEqual(['this minute']);
    jest.advanceTimersByTime(2 * MINUTE_MS);
    expect(take()).toEqual(['1 minute ago', '2 minutes ago']);
    see('hidden');
    jest.advanceTimersByTime(3 * MINUTE_MS);
    expect(take()).toEqual([]);
    see('visible');
    expect(take()).toEqual(['5 minutes ago']);
    leave();
    expect(jest.getTimerCount()).toBe(0);
  });

  test('change with the day', () => {
    const at = serverNow();
    const shown: string[] = [];
    const leave = effect(() => void shown.push(whenText(at)));
    jest.advanceTimersByTime(3 * MINUTE_MS);
    expect(shown.at(0)).toMatch(/^11:58/);
    expect(shown.at(-1)).toBe('Mon');
    leave();
  });
});
