import {
  AppWindow,
  type IconNode,
  Laptop,
  Monitor,
  MonitorSmartphone,
  RadioTower,
  Smartphone,
  SquareTerminal,
  Tablet,
  Zap,
} from 'lucide';

const PICTURES: Readonly<Record<string, IconNode>> = {
  browser: AppWindow,
  macos: Laptop,
  windows: Monitor,
  linux: SquareTerminal,
  ios: Smartphone,
  tablet: Tablet,
  shortcut: Zap,
};

/**
 * Words in the name of a browser, and the picture for them. The service knows all browsers as one type, and the other types
 * are native apps, which no guest may be. So only the name tells a phone from a computer: the app proposes the model or the
 * system, and the user may write another.
 */
const NAMED: readonly [RegExp, string][] = [
  [/\b(ipad\w*|tab|tablet\w*|tableta|kindle|sm-[tx]\d+\w*)\b/i, 'tablet'],
  [/\b(laptop|\w*book|thinkpad|ideapad|portatile?|macos|mac)\b/i, 'macos'],
  [
    /\b(\w*phone|android|ios|pixel|galaxy|handy|telefon\w*|telephone|celular|cellulare|movil|mobile|mobiel|komorka|oneplus|xperia|redmi|moto|nokia|huawei|sm-\w+)\b/i,
    'ios',
  ],
  [/\b(pc|desktop|imac|windows|linux|computer|rechner|ordinateur|ordenador|computador|komputer)\b/i, 'windows'],
];

/** A device as far as it is known, or a session without one (`live`). */
interface Pictured {
  type: string | null;
  kind: 'device' | 'live' | 'past';
  name: string;
}

/** Returns the picture's key among `PICTURES`, or the unknown type. */
function lookOf({ type, name }: Pictured): string {
  const named = NAMED.find(([words]) => words.test(name))?.[1];
  // An app on iOS runs on a phone or a tablet.
  const isOpen = type === 'browser' || (type === 'ios' && named === 'tablet');
  return (isOpen ? named : undefined) ?? type ?? '';
}

export const pictureOf = (one: Pictured): IconNode =>
  one.kind === 'live' ? RadioTower : (PICTURES[lookOf(one)] ?? MonitorSmartphone);

/** Returns a colour for the picture. */
export const tintOf = (one: Pictured): string =>
  one.kind === 'device' && Object.hasOwn(PICTURES, lookOf(one)) ? `tint-${lookOf(one)}` : '';
