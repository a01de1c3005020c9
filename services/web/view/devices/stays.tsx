import { shared, type Stay } from '../../engine/shared-state.ts';
import { serverNow } from '../../server-time.ts';
import { durationText, timeText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';
import { Countdown } from '../parts/countdown.tsx';

/** An end is shown only when it is nearer than this, because the end of a guest that was let in for good keeps moving. */
const SOON_MS = 6 * 3_600_000;

const isSoon = (until: number | null): until is number => until !== null && until - serverNow() <= SOON_MS;

/** Says whether this is a guest, and until when; empty for a device that stays. */
export function stayText({ isGuest, until }: Stay): string {
  const { name, about } = texts.value;
  if (!isSoon(until)) return isGuest ? name.guest : '';
  return isGuest ? name.guestUntil(timeText(until)) : about.until(timeText(until));
}

export const stayOf = (id: string): Stay | undefined => shared.value.stays[id];

/** Says the same briefly, with the remaining time. */
export function StayLeft({ stay: { isGuest, until } }: { stay: Stay }) {
  const { name, files } = texts.value;
  if (!isSoon(until)) return <>{isGuest && name.guest}</>;
  const minutes = (seconds: number) => durationText(Math.max(1, Math.ceil(seconds / 60)) * 60);
  return (
    <Countdown
      until={until}
      text={(seconds) => (isGuest ? `${name.guest} · ${minutes(seconds)}` : files.left(minutes(seconds)))}
    />
  );
}
