import { errorText, texts } from '../../../services/web/texts/texts.ts';
import { failureOf } from '../../../services/web/outbox/verdict.ts';

const SILENT = 'The storage of this browser does not answer';

test.each([
  ['TimeoutError', SILENT],
  ['QuotaExceededError', 'This browser has no room left'],
  ['AbortError', 'This browser could not finish this'],
  ['UnknownError', 'This browser could not finish this'],
])('%s is called what it is: %s', (name, said) => {
  const { code, action } = failureOf(new DOMException('The browser failed', name));
  expect(errorText(code)).toContain(said);
  const { waiting } = texts.value as { waiting: Readonly<Record<string, string>> };
  expect(waiting[code]).toContain(said.replace('The', 'the').replace('This', 'this'));
  expect(action).toBe('retry');
});
