import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { serverNow } from '../../server-time.ts';

/** A margin, because the end is by the service's clock, which is known to a second. */
const MARGIN_MS = 1_000;
const FIRST_PAUSE_MS = 5_000;

interface CountdownProps {
  /** The end, by the service's clock. */
  until: number;
  text: (secondsLeft: number) => string;
  /** Called when the time is over, and again after pauses that double, as long as this is shown. */
  onOver?: () => void;
}

/** Shows the time that is left, every second. */
export function Countdown({ until, text, onOver }: CountdownProps) {
  const now = useSignal(serverNow());
  useEffect(() => {
    let [askAt, pauseMs] = [until + MARGIN_MS, FIRST_PAUSE_MS];
    const timer = setInterval(() => {
      now.value = serverNow();
      if (onOver === undefined || now.value < askAt) return;
      askAt = now.value + pauseMs;
      pauseMs *= 2;
      onOver();
    }, 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return <>{text(Math.max(0, until - now.value) / 1_000)}</>;
}
