import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { withPlainFields } from '../../../deploy/local/build/plain-fields.mjs';

/* The decoder as the services have it, beside the one of the library, on the same answers in the same pieces. */

type Said = [kind: string, value: unknown][];
interface Decoder {
  write(chunk: Buffer): void;
}
type DecoderClass = new (config: object) => Decoder;
interface DecoderModule {
  Decoder: DecoderClass;
  RESP_TYPES: Record<string, number>;
}

const path = createRequire(import.meta.url)
  .resolve('ioredis')
  .replace(/index\.js$/, 'resp/decoder.js');
const code = readFileSync(path, 'utf8');
const load = (text: string): DecoderModule => {
  const exports = {} as DecoderModule;
  compileFunction(text, ['exports', 'require', 'Buffer'])(exports, createRequire(path), Buffer);
  return exports;
};
const [original, plain] = [load(code), load(withPlainFields(code))];

/** Whole numbers below `bound`, the same in each run (mulberry32). */
function makeDice(seed: number) {
  let state = seed;
  return (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** An answer of the store, of any kind, in the protocol's bytes. */
function answerOf(dice: (bound: number) => number, depth = 0): string {
  const text = 'x\r\n$5:é'.slice(0, dice(9)).repeat(1 + dice(3));
  const items = () => Array.from({ length: dice(4) }, () => answerOf(dice, depth + 1));
  const kinds = [
    () => `$${Buffer.byteLength(text)}\r\n${text}\r\n`,
    () => '$-1\r\n',
    () => '_\r\n',
    () => `:${dice(2) ? '-' : ''}${dice(100_000)}\r\n`,
    () => `#${dice(2) ? 't' : 'f'}\r\n`,
    () => `,${dice(2) ? '-' : ''}${dice(100)}.${dice(1000)}\r\n`,
    () => `(${dice(100_000)}\r\n`,
    () => `+OK ${dice(10)}\r\n`,
    () => `=${Buffer.byteLength(text) + 4}\r\ntxt:${text}\r\n`,
  ];
  const nested = [
    () => ((all) => `*${all.length}\r\n${all.join('')}`)(items()),
    () => ((all) => `~${all.length}\r\n${all.join('')}`)(items()),
    () => ((all) => `%${all.length}\r\n${all.map((value) => `$1\r\nk\r\n${value}`).join('')}`)(items()),
  ];
  const whole = [
    () => `-ERR no ${dice(10)}\r\n`,
    () => ((all) => `>${all.length + 1}\r\n$7\r\nmessage\r\n${all.join('')}`)(items()),
  ];
  const choices = [...kinds, ...(depth < 3 ? nested : []), ...(depth === 0 ? whole : [])];
  return (choices[dice(choices.length)] as () => string)();
}

function decode({ Decoder, RESP_TYPES }: DecoderModule, chunks: Buffer[]): Said {
  const said: Said = [];
  const mapping = { [RESP_TYPES['BLOB_STRING'] as number]: Buffer, [RESP_TYPES['BOOLEAN'] as number]: Number };
  const decoder = new Decoder({
    getTypeMapping: () => mapping,
    onReply: (value: unknown) => said.push(['reply', value]),
    onErrorReply: (error: Error) => said.push(['error', error.message]),
    onPush: (value: unknown) => said.push(['push', value]),
  });
  for (const chunk of chunks) decoder.write(chunk);
  return said;
}

test('what it decodes is what the library decodes, wherever the answers are cut', () => {
  const dice = makeDice(7);
  for (let round = 0; round < 3_000; round++) {
    const bytes = Buffer.from(Array.from({ length: 1 + dice(5) }, () => answerOf(dice)).join(''));
    const chunks: Buffer[] = [];
    for (let from = 0; from < bytes.length; ) {
      const end = from + 1 + dice(round % 3 === 0 ? bytes.length : 6);
      chunks.push(bytes.subarray(from, end));
      from = end;
    }
    expect(decode(plain, chunks)).toEqual(decode(original, chunks));
  }
  expect(decode(plain, [Buffer.from('*2\r\n$1\r\na\r\n:5\r\n')])).toEqual([['reply', [Buffer.from('a'), 5]]]);
});

test('a library that has no such fields is told of', () => {
  expect(() => withPlainFields('class Decoder {}')).toThrow('plain-fields is not needed');
});
