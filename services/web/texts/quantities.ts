import { shownNow } from '../shown-time.ts';
import { language } from './texts.ts';

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** In units of a thousand, as file managers show them. */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  const maximumFractionDigits = power > 0 && value < 100 ? 1 : 0;
  return `${new Intl.NumberFormat(language.value, { maximumFractionDigits }).format(value)} ${UNITS[power]}`;
}

/** The international symbols, which every language with Latin letters knows. */
const SYMBOLS = { second: 's', minute: 'min', hour: 'h' } as const;

function unitText(value: number, unit: keyof typeof SYMBOLS): string {
  if (!/^(ja|zh)/.test(language.value)) return `${value} ${SYMBOLS[unit]}`;
  return new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay: 'short' }).format(value);
}

export function durationText(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  if (whole < 60) return unitText(whole, 'second');
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60), whole % 60];
  if (hours > 0) return unitText(hours, 'hour') + (minutes > 0 ? ` ${unitText(minutes, 'minute')}` : '');
  return unitText(minutes, 'minute') + (whole < 600 && rest > 0 ? ` ${unitText(rest, 'second')}` : '');
}

/** Making a format takes far longer than using it, and each row of the device list needs one. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Tells time zones apart by their offsets in January and July. A format keeps the zone in which it was made. */
function zone(): string {
  const year = new Date().getFullYear();
  return `${new Date(year, 0).getTimezoneOffset()} ${new Date(year, 6).getTimezoneOffset()}`;
}

function formatted(at: number, options: Intl.DateTimeFormatOptions): string {
  const key = `${language.value} ${zone()} ${JSON.stringify(options)}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(language.value, options);
  formats.set(key, format);
  return format.format(at);
}

export const timeText = (at: number): string => formatted(at, { timeStyle: 'short' });

export const dayText = (at: number): string => formatted(at, { weekday: 'long', day: 'numeric', month: 'long' });

const DAY_MS = 86_400_000;

/** As short as it can be without being unclear: today the time, in the last week the day, before that the date. */
export function whenText(at: number, now = shownNow()): string {
  const days = Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / DAY_MS);
  if (days <= 0) return timeText(at);
  const isThisYear = new Date(now).getFullYear() === new Date(at).getFullYear();
  const format: Intl.DateTimeFormatOptions =
    days < 7
      ? { weekday: 'short' }
      : { day: 'numeric', month: 'short', ...(!isThisYear && { year: 'numeric' as const }) };
  return formatted(at, format);
}

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** "5 minutes ago", in words. */
export function agoText(at: number, now = shownNow()): string {
  const format = new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' });
  const past = Math.max(0, now - at);
  const step = STEPS.find(([, ms]) => past >= ms);
  if (step === undefined) return format.format(0, 'minute');
  return format.format(-Math.floor(past / step[1]), step[0]);
}
