import { betterName, proposedName } from '../../../services/web/session/device.ts';

const CHROME = '(KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36';

test.each([
  [`Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 ${CHROME}`, 'Pixel 8'],
  [`Mozilla/5.0 (Linux; Android 9; SM-G960F Build/PPR1.180610.011) AppleWebKit/537.36 ${CHROME}`, 'SM-G960F'],
  [`Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 ${CHROME}`, 'Chrome on Android'],
  ['Mozilla/5.0 (Android 14; Mobile; rv:131.0) Gecko/131.0 Firefox/131.0', 'Firefox on Android'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1 Version/17.5 Mobile Safari/604.1',
    'iPhone',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0 Safari/537.36 Edg/131.0',
    'Edge on Windows',
  ],
  ['something else', 'Browser'],
])('%s is proposed as a name: %s', (userAgent, name) => {
  expect(proposedName({ userAgent })).toBe(name);
});

test('the model is asked of the browser, and the name does without where it is not told', async () => {
  const userAgent = `Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 ${CHROME}`;
  const hints = (model: string) => ({ getHighEntropyValues: async () => ({ model }) });
  expect(await betterName({ userAgent, userAgentData: hints('Pixel 8') })).toBe('Pixel 8');
  expect(await betterName({ userAgent, userAgentData: hints('') })).toBe('Chrome on Android');
  const refusing = { getHighEntropyValues: () => Promise.reject(new Error('NotAllowedError')) };
  expect(await betterName({ userAgent, userAgentData: refusing })).toBe('Chrome on Android');
});
