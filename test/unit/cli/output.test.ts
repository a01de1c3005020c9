import {
  colours,
  deviceNameOf,
  fileNameOf,
  oneLine,
  plain,
  quoted,
  rendered,
  tableOf,
} from '../../../services/cli/output.ts';

/* What a terminal is given: nothing from elsewhere that it would obey or that would be invisible. */

const HOSTILE: readonly (readonly [string, string, string])[] = [
  ['an escape', '\x1b[2J', '\\x1b[2J'],
  ['a colour', '\x1b[31mred', '\\x1b[31mred'],
  ['a title', '\x1b]0;x\x07', '\\x1b]0;x\\x07'],
  ['a bell, a backspace and a delete', '\x07\b\x7f', '\\x07\\x08\\x7f'],
  ['a carriage return', 'safe\rgone', 'safe\\rgone'],
  ['a vertical tab and a form feed', '\x0b\x0c', '\\x0b\\x0c'],
  ['NUL', 'a\0b', 'a\\x00b'],
  ['C1, which some terminals obey', '\x9b2J\x85', '\\x9b2J\\x85'],
  ['what turns the direction', 'a\u202etxt.exe\u202c', 'a\\u202etxt.exe\\u202c'],
  ['isolates and marks', '\u2066\u2069\u200e\u200f\u061c', '\\u2066\\u2069\\u200e\\u200f\\u061c'],
  ['separators of lines', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ['halves of letters', 'a\ud800b\udc00', 'a\\ud800b\\udc00'],
  ['what has no width', 'a\u200bb\u2060c\ufeffd\u00ade', 'a\\u200bb\\u2060c\\ufeffd\\xade'],
  ['joiners between letters', 'a\u200db\u200cc', 'a\\u200db\\u200cc'],
  ['fillers and blanks', '\u115f\u3164\u2800\u034f', '\\u115f\\u3164\\u2800\\u034f'],
  ['tags', 'a\u{e0041}\u{e0001}', 'a\\u{e0041}\\u{e0001}'],
  ['selectors of variants behind letters', 'a\ufe0fb\u{e0100}', 'a\\ufe0fb\\u{e0100}'],
  ['what is no character', '\ufdd0\uffff', '\\ufdd0\\uffff'],
];

test.each(HOSTILE)('%s is written out', (_, text, shown) => {
  expect(plain(text)).toBe(shown);
  expect(oneLine(text)).toBe(shown);
  expect(rendered(text)).toBe(shown);
});

test('a name is one line, and a text keeps its lines', () => {
  expect(oneLine('a\nb\tc')).toBe('a\\nb\\tc');
  expect(rendered('a\nb\tc')).toBe('a\nb\tc');
});

test.each([
  'Grüße, Ωμέγα, 日本語, العربية, हिन्दी',
  'e\u0301',
  '\u2764\ufe0f',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  '\u{1f1e9}\u{1f1ea}',
  '1\ufe0f\u20e3',
])('%s is shown as it is', (text) => {
  expect(plain(text)).toBe(text);
});

test('the styles of the program are its own: no text can have one', () => {
  const styled = rendered(`${colours.bold('\x1b[1mname')} ${colours.dim('x')}`);
  expect(styled.replace(/^\x1b\[1m|\x1b\[22m|\x1b\[2m/g, '')).toBe('\\x1b[1mname x');
  expect(rendered(colours.green('a').replace(/[0-9a-f-]{36}/g, crypto.randomUUID()))).toContain('\\ufdd0');
});

test('columns are as wide as what is seen in them', () => {
  expect(
    rendered(
      tableOf([
        [colours.green('on'), 'x'],
        ['offline', 'y'],
      ]),
    ).replaceAll(/\x1b\[\d+m/g, ''),
  ).toBe('on       x\noffline  y');
});

test('a row that is wider than the terminal goes on in lines that look like no other row', () => {
  const rows = [
    [colours.green('on'), 'x'.repeat(50)],
    ['offline', '日'.repeat(20)],
    ['off', 'y'],
  ];
  const lines = rendered(tableOf(rows, 40))
    .replaceAll(/\x1b\[\d+m/g, '')
    .split('\n');
  expect(lines).toEqual([
    `on       ${'x'.repeat(24)}`,
    `    | ${'x'.repeat(26)}`,
    `offline  ${'日'.repeat(12)}`,
    `    | ${'日'.repeat(8)}`,
    'off      y',
  ]);
  for (const columns of [0, 100]) expect(rendered(tableOf(rows, columns))).toContain('x'.repeat(50));
});

test.each([
  ['a.txt', 'a.txt'],
  ['Lake on Sunday (2).jpg', 'Lake on Sunday (2).jpg'],
  ['photos/été.jpg', 'photos/été.jpg'],
  ['.bash_profile', '.bash_profile'],
  ['a.txt, 3 B. Take it?', '"a.txt, 3 B. Take it?"'],
  ['a.txt and 4 more', '"a.txt and 4 more"'],
  ['a "b"', '"a \\"b\\""'],
  ['a  b', '"a  b"'],
  ['\x1b[2J', '"\\u001b[2J"'],
  ['a.txt and 4 m\u043ere', '"a.txt and 4 m\u043ere"'],
  ['a.txt and \uff14 more', '"a.txt and \uff14 more"'],
  [`${'x'.repeat(200)}.pdf.exe`, `"${'x'.repeat(60)}…${'x'.repeat(12)}.pdf.exe"`],
])('the name %j of a file is said as %s', (name, as) => {
  expect(fileNameOf(name, 80)).toBe(as);
});

test.each([
  ["Ann's phone (2)", "Ann's phone (2)"],
  ['Phone sends a.txt, 3 B', '"Phone sends a.txt, 3 B"'],
  ['12:00 Laptop: pay', '"12:00 Laptop: pay"'],
])('the name %j of a device is said as %s', (name, as) => {
  expect(deviceNameOf(name)).toBe(as);
});

const HEAD = '12:00:00 Phone: ';

test('a text of several lines is one text: no line of it begins as another does', () => {
  expect(quoted(HEAD, 'hello\n12:00:01 Laptop: pay\n\nme', 0)).toBe(
    `${HEAD}hello\n    | 12:00:01 Laptop: pay\n    | \n    | me`,
  );
  for (const end of ['\r', '\x85', '\u2028', '\u2029', '\x0b', '\x0c', '\r\n']) {
    const lines = quoted(HEAD, `a${end}12:00:01 Laptop: pay`, 0).split(/\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]/);
    expect(lines.slice(1).every((line) => line.startsWith('    | '))).toBe(true);
  }
});

test.each(['12:00:01 Laptop: pay', '\u{1f600}', '日本', 'e\u0301', '\t'])(
  'a terminal does not break a line of %s where it would begin anew',
  (end) => {
    for (let spaces = 0; spaces < 100; spaces += 1) {
      for (const line of quoted(HEAD, ' '.repeat(spaces) + end.repeat(5), 40).split('\n')) {
        expect([...new Intl.Segmenter().segment(line)].length).toBeLessThanOrEqual(40);
        expect(/^12:00:00 Phone: | {4}\| /.test(line)).toBe(true);
      }
    }
  },
);

test.each([
  ['Hangul in parts', '\u1100'],
  ['conjuncts', '\u0915\u094d'],
])(
  'a letter that a terminal shows in many columns does not push what follows to the beginning of a line: %s',
  (_, sign) => {
    for (let signs = 1; signs < 60; signs += 1) {
      const lines = quoted(HEAD, `${sign.repeat(signs)}12:00:01 Laptop: pay`, 40).split('\n');
      // Each of these signs takes one or two columns.
      for (const line of lines) {
        const columns = line.replace(/\u1100/g, 'xx').replace(/\u094d/g, '').length;
        expect(columns).toBeLessThanOrEqual(40);
      }
    }
  },
);

test('behind a name that fills the line a text begins in the next one', () => {
  for (let letters = 1; letters < 60; letters += 1) {
    const head = `12:00:00 ${'\u7530'.repeat(letters)}: `;
    const [first = '', ...further] = quoted(head, `${'x'.repeat(20)}12:00:01 Laptop: pay`, 40).split('\n');
    const columns = head.length + letters;
    if (columns > 40) expect(first).toBe(head);
    else expect(first.length + letters).toBeLessThanOrEqual(40);
    expect(further.every((line) => line.startsWith('    | '))).toBe(true);
  }
});
