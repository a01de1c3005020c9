import type { App } from '../../engine/app.ts';
import { shared } from '../../engine/shared-state.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { useApp } from '../app-context.ts';
import { confirmed } from '../parts/dialog.tsx';
import { attempt, notify } from '../parts/notices.ts';
import { momentText } from './moment.ts';

/** Returns the names of the other devices, which have to be linked after the first ring. */
export const otherNames = ({ entry }: App): string[] =>
  shared.value.devices.filter(({ device_id }) => device_id !== entry.deviceId).map(({ name }) => name);

/** Makes new keys for an account whose keys the service no longer has. */
export function MakeAnew() {
  const app = useApp();
  const words = keyTexts.value;
  const make = () =>
    attempt(async () => {
      const why = words.createWhy(otherNames(app).join(', '));
      if (!(await confirmed({ title: words.makeAnewTitle, why, action: words.makeAnew }))) return;
      await (await app.keys.open()).create({ anew: true });
      notify(words.created);
    }, words.failed);
  return (
    <div class="row start">
      <button type="button" class="button primary" onClick={make}>
        {words.makeAnew}
      </button>
    </div>
  );
}

/**
 * Removes all keys of the account. A browser with keys does so at once, and makes new ones. Another one announces it to all
 * devices a day before, and any device with keys can cancel it.
 */
export function StartAnew({ isMember }: { isMember: boolean }) {
  const app = useApp();
  const words = keyTexts.value;
  const start = () =>
    attempt(async () => {
      const why = isMember ? words.startAnewWhy(otherNames(app).join(', ')) : words.startAnewLater;
      if (!(await confirmed({ title: words.startAnewTitle, why, action: words.startAnew }))) return;
      const sealing = await app.keys.open();
      if (isMember) {
        await sealing.startAnew();
        return notify(words.created);
      }
      const announced = await sealing.announceRemoval();
      if (announced !== null) notify(words.announced(momentText(announced.at)));
    }, words.failed);
  return (
    <div class="row start">
      <button type="button" class="button danger-text" onClick={start}>
        {words.startAnew}
      </button>
    </div>
  );
}
