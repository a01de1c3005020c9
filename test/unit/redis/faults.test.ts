import { isAnswer, mayHaveRun, storeFault } from '../../../shared/service-kit/redis/faults.ts';

const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

test.each([
  ['READONLY You can’t write against a read only replica.', 'store_unavailable'],
  ["OOM command not allowed when used memory > 'maxmemory'. script: 1, on @user_script:1.", 'store_full'],
  ['MISCONF Errors writing to the AOF file: No space left on device', 'store_full'],
  ['NOSCRIPT No matching script. Please use EVAL.', 'store_unavailable'],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', 'internal'],
  ['ERR user_script:1: Script attempted to access nonexistent global variable', 'internal'],
])('the reply "%s" is %s, and the store is there', (text, code) => {
  const error = reply(text);
  expect(storeFault(error)).toMatchObject({ code, cause: error });
  expect([mayHaveRun(error), isAnswer(error)]).toEqual([false, true]);
});

test('what was cut off may have taken effect, and says nothing of the store', () => {
  const error = new Error('Connection is closed.');
  expect(storeFault(error).code).toBe('store_unavailable');
  expect([mayHaveRun(error), isAnswer(error)]).toEqual([true, false]);
});
