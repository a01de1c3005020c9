import { dayText, timeText } from '../../texts/quantities.ts';

/** A time of the next days, with its day. */
export const momentText = (at: number): string => `${dayText(at)}, ${timeText(at)}`;
