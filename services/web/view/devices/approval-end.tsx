import { CircleCheck, ShieldAlert } from 'lucide';
import { texts } from '../../texts/texts.ts';
import { findPeer } from '../app-context.ts';
import { hrefOf } from '../navigation.ts';
import { Empty } from '../parts/parts.tsx';

/** The outcome, shown in place of the question. */
export interface End {
  isGood: boolean;
  title: string;
  why: string;
}

/** Shows the outcome, and leads to the device that was let in. */
export function Ended({ end, isInvited, deviceId }: { end: End; isInvited: boolean; deviceId: string }) {
  const { about, app, qr } = texts.value;
  // The new device has its session a moment after the approval.
  const isThere = end.isGood && findPeer(deviceId)?.kind === 'device';
  return (
    <div role="status">
      <Empty node={end.isGood ? CircleCheck : ShieldAlert} title={end.title} why={end.why}>
        <div class="row">
          {!end.isGood && isInvited && (
            <a class="button primary" href={hrefOf('add')}>
              {qr.again}
            </a>
          )}
          <a class="button" href="#/">
            {app.toDevices}
          </a>
          {isThere && (
            <a class="button primary" href={hrefOf('device', deviceId)}>
              {about.open}
            </a>
          )}
        </div>
      </Empty>
    </div>
  );
}
