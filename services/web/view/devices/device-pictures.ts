import {
  AppWindow,
  type IconNode,
  Laptop,
  Monitor,
  MonitorSmartphone,
  RadioTower,
  Smartphone,
  SquareTerminal,
  Zap,
} from 'lucide';
import type { Peer } from '../app-context.ts';

const PICTURES: Readonly<Record<string, IconNode>> = {
  browser: AppWindow,
  macos: Laptop,
  windows: Monitor,
  linux: SquareTerminal,
  ios: Smartphone,
  shortcut: Zap,
};

type Pictured = Pick<Peer, 'type' | 'kind'>;

export const pictureOf = ({ type, kind }: Pictured): IconNode =>
  kind === 'live' ? RadioTower : (PICTURES[type ?? ''] ?? MonitorSmartphone);

/** Returns a colour for the type of device, beside its picture. */
export const tintOf = ({ type, kind }: Pictured): string =>
  kind === 'device' && type !== null && Object.hasOwn(PICTURES, type) ? `tint-${type}` : '';
