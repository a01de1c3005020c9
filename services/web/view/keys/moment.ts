import { dayText, timeText } from '../../texts/quantities.ts';
import { language } from '../../texts/texts.ts';

/** A time of the next days, with its day. */
export const momentText = (at: number): string => `${dayText(at)}, ${timeText(at)}`;

/** The day of a time that may be years ago. */
export const dateText = (at: number): string =>
  new Intl.DateTimeFormat(language.value, { dateStyle: 'long' }).format(at);
