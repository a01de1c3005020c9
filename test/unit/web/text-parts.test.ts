import fc from 'fast-check';
import { linksIn } from '../../../services/web/view/parts/links.ts';
import { type Block, blocksOf } from '../../../services/web/view/parts/text-parts.ts';

const textOf = (block: Block): string =>
  block.kind === 'words' ? block.parts.map(({ text }) => text).join('') : block.opening + block.code + block.closing;
const shown = (text: string): string => blocksOf(text, linksIn).map(textOf).join('');
const codeIn = (text: string): string[] =>
  blocksOf(text, linksIn).flatMap((block) =>
    block.kind === 'code' ? [block.code] : block.parts.flatMap((part) => (part.kind === 'code' ? [part.text] : [])),
  );
const linked = (text: string): string[] => linksIn(text).map(({ start, end }) => text.slice(start, end));

/** Pieces with a meaning here, in any order, among letters that have none. */
const pieces = fc.constantFrom(
  ...['`', '``', '```', '````', '\n', '\r\n', ' ', '  ', '\t', 'a', 'ls -l', 'js', '{', '};', '\\', '_', '.', ','],
  ...[
    'https://',
    'example.com',
    '/a_(b)',
    'www.',
    '@',
    ':',
    '(',
    ')',
    "'",
    '看',
    '。',
    '👩‍💻',
    '\u202e',
    '\u200b',
    '\ud800',
  ],
);
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 40 }).map((all) => all.join('')),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

describe('a message in parts', () => {
  test('has every character of the message, in order', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(shown(text)).toBe(text);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    ['```hello```', []],
    ['run ```rm x``` now', []],
    ['pw: a`b`c', []],
    ['run `npm start` now', ['npm start']],
    ['(`a`), "`b`": `c`.', ['a', 'b', 'c']],
    ['` a `', []],
    ['``', []],
    ['` `', []],
    ['``a`b``', []],
    ['`a``b`', []],
    ['a `b', []],
    ['`a\nb`', []],
    ['\\`a`', []],
    ['```\nx\n```', ['x\n']],
    ['```js title\n  x\n\n```\nrest', ['  x\n\n']],
    ['before\n```\nx\n```  \nafter', ['x\n']],
    ['```\nnever closed', []],
    ['````\n```\nx\n```\n````', ['```\nx\n```\n']],
    ['```\n````', ['']],
    ['````\n```', []],
    ['text ```\nx\n```', []],
    ['```a\n```b\n```', ['```b\n']],
    ['```rm x\ny```', []],
    ['```\r\nx\r\n```\r\n', ['x\r\n']],
    ['  if (a) {\n    b;\n  }', ['  if (a) {\n    b;\n  }']],
  ])('%j has the code %j', (text, code) => {
    expect(codeIn(text)).toEqual(code);
    expect(shown(text)).toBe(text);
  });

  test('a long text of marks alone is read at once', () => {
    const hostile = ['```a\n'.repeat(16_000), '`'.repeat(65_536), '` `'.repeat(20_000), '`a'.repeat(30_000)];
    for (const text of [...hostile, '{ '.repeat(30_000), '```\n'.repeat(16_000)]) {
      const startedAt = performance.now();
      expect(shown(text)).toBe(text);
      expect(performance.now() - startedAt).toBeLessThan(2_000);
    }
  });
});

describe('links in a message', () => {
  test.each([
    ['https://en.wikipedia.org/wiki/Baton_(conducting)', ['https://en.wikipedia.org/wiki/Baton_(conducting)']],
    ['(see https://en.wikipedia.org/wiki/Baton_(conducting))', ['https://en.wikipedia.org/wiki/Baton_(conducting)']],
    ['看https://example.com/路径，很好。', ['https://example.com/路径']],
    ['看www.example.com/路径。', ['www.example.com/路径']],
    ['👉https://example.com/', ['https://example.com/']],
    ['HTTPS://EXAMPLE.COM/A', ['HTTPS://EXAMPLE.COM/A']],
    ['HTTPS://', []],
    ["https://example.org/it's", ["https://example.org/it's"]],
    ["it's 'https://example.org/a'.", ['https://example.org/a']],
    [
      'https://example.org/a, https://example.org/b; (https://example.org/c)!',
      ['https://example.org/a', 'https://example.org/b', 'https://example.org/c'],
    ],
    ['https://example.org/a?b=<c>', ['https://example.org/a?b=']],
    ['http://localhost:8080/#/device/x', ['http://localhost:8080/#/device/x']],
    ['http://192.168.1.20:8080/', ['http://192.168.1.20:8080/']],
    ['www.example.org.', ['www.example.org']],
    ['write to a.b+c@example.org.', ['a.b+c@example.org']],
    ['mailto:a@example.org?body=x', ['mailto:a@example.org']],
    ['readme.md and foo.sh', []],
    ['javascript:alert(1)', []],
    ['JaVaScRiPt://example.com/%0aalert(1)', []],
    ['data:text/html,x file:///etc/passwd vbscript:x ftp://example.com/ //example.com/', []],
    ['https://bank.example@evil.example', []],
    ['https://bank.example:443@evil.example/', []],
    ['https://bank.example%2f@evil.example/', []],
    ['www.bank.example@evil.example/', ['www.bank.example@evil.example']],
    [`https://${'a'.repeat(60)}.bank.example@evil.example/`, []],
    ['https://exam\u200bple.com/', []],
    ['https://example.com/\u202egpj.exe', []],
    ['https://example.com/\u2066a', []],
    ['https://exam\u00adple.com/', []],
    ['https://example.com/a\u2800', []],
    ['https://example.com/\u3164', []],
  ])('%j links %j', (text, links) => {
    expect(linked(text)).toEqual(links);
  });

  test('lead where they say, by http, https or mail alone, and never by way of a user name', () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (const { href } of linksIn(text)) {
          const { protocol, username, password } = new URL(href);
          expect(['http:', 'https:', 'mailto:']).toContain(protocol);
          expect([username, password]).toEqual(['', '']);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  test('say whom they ask where the letters do not', () => {
    expect(linksIn('https://m\u00fcller.example/').map(({ host }) => host)).toEqual(['xn--mller-kva.example']);
    expect(linksIn('https://0x7f.1/').map(({ host }) => host)).toEqual(['127.0.0.1']);
    expect(linksIn('https://Example.org/a').map(({ host }) => host)).toEqual([null]);
    expect(linksIn('www.example.org').map(({ href }) => href)).toEqual(['https://www.example.org/']);
  });

  test('a long text that is full of addresses, or nearly, is read at once', () => {
    const parts = [
      'http://',
      'a@',
      'www.',
      'a.',
      'https://a/[{(',
      "https://a/?!;,'",
      '@a.a',
      '看https://a',
      'https://a@',
    ];
    for (const part of parts) {
      const startedAt = performance.now();
      linksIn(part.repeat(65_536 / part.length));
      expect(performance.now() - startedAt).toBeLessThan(3_000);
    }
  });
});
