import { PassThrough } from 'node:stream';
import { readInput } from '../../../services/cli/ask.ts';

const { jest } = import.meta;

afterEach(() => jest.restoreAllMocks());

/** Makes a standard input that nobody has ended yet. */
function makeInput(): PassThrough {
  const input = new PassThrough();
  jest.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin);
  return input;
}

test('an interrupted command does not wait for the end of its input', async () => {
  const input = makeInput();
  const interrupt = new AbortController();
  const reading = readInput(100, 'A message', interrupt.signal);
  input.write('a beginning');
  interrupt.abort(new Error('Interrupted.'));

  await expect(reading).rejects.toThrow('Interrupted.');
  expect(input.destroyed).toBe(true);
});

test('an input that ends is read whole', async () => {
  makeInput().end('a text');
  expect(await readInput(100, 'A message', new AbortController().signal)).toBe('a text');
});

test('an input that is too long is refused before its end', async () => {
  makeInput().write('too long');
  await expect(readInput(5, 'A message', new AbortController().signal)).rejects.toThrow('at most 5 bytes');
});
