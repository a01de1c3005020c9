import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { encode as encodeQr } from 'uqr';

type Encode = typeof encodeQr;

/** The encoder of codes. It loads with the first code, because it is a twentieth of the app, and rarely needed. */
const encoder = signal<Encode | null>(null);

async function askForEncoder(): Promise<void> {
  if (encoder.peek() !== null) return;
  try {
    encoder.value = (await import('./encode-qr.ts')).encode;
  } catch {
    // The link is beside it as text, and the next code loads the encoder again.
  }
}

function drawn(encode: Encode, text: string): { path: string; size: number } {
  const code = encode(text, { ecc: 'M', border: 2 });
  const parts = code.data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')));
  return { path: parts.join(''), size: code.size };
}

/** Draws a code as one path, dark on light in both colour schemes, because cameras need that. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const encode = encoder.value;
  useEffect(() => void askForEncoder(), [text]);
  const { path, size } = useMemo(() => (encode === null ? { path: '', size: 1 } : drawn(encode, text)), [encode, text]);
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      {path !== '' && <path d={path} fill="#000" />}
    </svg>
  );
}
