import { noteRunning } from '../../../services/web/engine/shared-state.ts';
import { keepAwake } from '../../../services/web/engine/wake-lock.ts';

const running = (isPaused = false) => ({
  ...{ bytes: 1, totalBytes: 2, bytesPerSecond: 1, secondsLeft: 1, path: 'relay', isPaused },
});

test('the screen stays on while files move and the page is seen, and no longer', async () => {
  const told: string[] = [];
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const request = () => {
    told.push('held');
    return Promise.resolve({
      release: () => {
        told.push('released');
        return Promise.resolve();
      },
    });
  };
  const see = async (state: 'visible' | 'hidden') => {
    page.visibilityState = state;
    page.dispatchEvent(new Event('visibilitychange'));
    await Promise.resolve();
  };
  const take = async (): Promise<string[]> => {
    // The requests for the lock come after the promises that are settled by now.
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
    return told.splice(0);
  };
  const stop = keepAwake({ visibility: page as unknown as Document, request });
  expect(await take()).toEqual([]);
  noteRunning('one', running());
  noteRunning('two', running());
  expect(await take()).toEqual(['held']);
  noteRunning('one', running(true));
  expect(await take()).toEqual([]);
  noteRunning('two', null);
  expect(await take()).toEqual(['released']);
  noteRunning('one', running());
  expect(await take()).toEqual(['held']);
  // The browser itself takes the lock away from a page that is hidden.
  await see('hidden');
  expect(await take()).toEqual(['released']);
  await see('visible');
  expect(await take()).toEqual(['held']);
  stop();
  expect(await take()).toEqual(['released']);
  noteRunning('one', null);
});
