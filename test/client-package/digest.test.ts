import { createHash, randomBytes } from 'node:crypto';
import { scriptSha256 } from '../../shared/client/files/sha256.ts';

const platform = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('the digest of browsers is that of the platform, for every length and however it is cut', () => {
  for (let length = 0; length < 300; length += 1) {
    const bytes = randomBytes(length);
    const hash = scriptSha256();
    for (let at = 0, part = 1; at < length; at += part, part = 1 + ((part * 31) % 130)) {
      hash.update(bytes.subarray(at, at + part));
    }
    expect(hash.hex()).toBe(platform(bytes));
  }
  const long = randomBytes(3_000_000);
  const hash = scriptSha256();
  hash.update(long);
  expect(hash.hex()).toBe(platform(long));
});
