import { fileNameFlaw } from '../../../shared/contract/vocabulary/file-names.ts';
import {
  foldedName,
  makeStoredNames,
  numberedName,
  offeredNames,
  storedPaths,
} from '../../../shared/client/files/names.ts';

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const offered = (...paths: string[]): string[] => offeredNames(paths.map((path) => path.split('/'))).names;
const stored = (name: string, rules = {}): string => makeStoredNames(rules)(name).join('/');

/** Every character that turns the direction of text. */
const BIDI = Array.from('\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069');
const FAMILY = '👩‍👩‍👧‍👦';

describe('what is offered', () => {
  test.each([
    ['photo.jpg', 'photo.jpg'],
    ['Icon\r', 'Icon_'],
    ['a\\b', 'a_b'],
    ['line\nend\u0085.txt', 'line_end_.txt'],
    ['line\u2028end', 'line_end'],
    ['half \udcff letter', 'half _ letter'],
    ...BIDI.map((character) => [`a${character}b`, 'a_b']),
    ['', '_'],
    ['.', '_'],
    ['..', '__'],
    ['...', '...'],
    ['.profile', '.profile'],
    ['ends. ', 'ends. '],
    [' begins', ' begins'],
    ['CON', 'CON'],
    ['a:b?.txt', 'a:b?.txt'],
    ['odd\\folder/in\rside/a.txt', 'odd_folder/in_side/a.txt'],
    [`${'x'.repeat(255)}`, 'x'.repeat(255)],
    [`${'x'.repeat(256)}`, 'x'.repeat(255)],
    [`${'x'.repeat(300)}.tar.gz`, `${'x'.repeat(248)}.tar.gz`],
    [`${'x'.repeat(248)}😀.jpg`, `${'x'.repeat(248)}.jpg`],
    [`${FAMILY.repeat(20)}.png`, `${FAMILY.repeat(10)}.png`],
    [`é${'e\u0301'.repeat(130)}`, `é${'e\u0301'.repeat(84)}`],
    [`${'x'.repeat(250)}. A sentence that is no ending`, 'x'.repeat(250) + '. A s'],
  ])('%j is offered as %j', (name, as) => {
    expect(offered(name)).toEqual([as]);
    expect(fileNameFlaw(as)).toBeNull();
  });

  test('two that would have one name stay two, and whoever has the name already keeps it', () => {
    expect(offered('in/a\\b.txt', 'in/a_b.txt', 'in/a\rb.txt')).toEqual([
      'in/a_b (2).txt',
      'in/a_b.txt',
      'in/a_b (3).txt',
    ]);
    expect(offered('a\\b/1', 'a_b/1', 'a\rb/1')).toEqual(['a_b (2)/1', 'a_b/1', 'a_b (3)/1']);
    expect(offered('a', 'a/b', 'a')).toEqual(['a', 'a (3)/b', 'a (2)']);
    const long = ['1', '2'].map((end) => `${'x'.repeat(254)}${end}${end}/in`);
    expect(offered(...long)).toEqual([`${'x'.repeat(254)}1/in`, `${'x'.repeat(254)}2/in`]);
    const same = ['11', '22'].map((end) => `${'x'.repeat(255)}${end}/in`);
    expect(offered(...same)).toEqual([`${'x'.repeat(255)}/in`, `${'x'.repeat(251)} (2)/in`]);
  });

  test('what is renamed is said once for each file and folder of its own odd name', () => {
    const paths = ['top/odd\\one/a', 'top/odd\\one/b', 'top/fine', 'top/Icon\r'].map((path) => path.split('/'));
    expect(offeredNames(paths).renamed).toEqual([
      { path: 'top/Icon\r', name: 'top/Icon_' },
      { path: 'top/odd\\one', name: 'top/odd_one' },
    ]);
  });

  test('what lies too deep is offered less deep, and nothing is lost', () => {
    const deep = Array.from({ length: 40 }, (_, level) => `folder ${level} ${'x'.repeat(40)}`);
    const paths = [3, 20, 30, 40].flatMap((depth) => [
      [...deep.slice(0, depth), 'a.txt'],
      [...deep.slice(0, depth), 'b.txt'],
    ]);
    const { names, renamed } = offeredNames(paths);
    for (const name of names) expect(fileNameFlaw(name)).toBeNull();
    expect(new Set(names).size).toBe(paths.length);
    expect(names[0]).toBe([...deep.slice(0, 3), 'a.txt'].join('/'));
    expect(renamed.length).toBeGreaterThan(0);
  });
});

describe('what is stored', () => {
  test.each([
    ['photo.jpg', 'photo.jpg'],
    ['photos/2026/a.jpg', 'photos/2026/a.jpg'],
    ['a\\b', 'a_b'],
    ['../../etc/passwd', '__/__/etc/passwd'],
    ['a//b/.', 'a/_/b/_'],
    ['line\nend\u009b31m', 'line_end_31m'],
    ...BIDI.map((character) => [`txt.${character}exe`, 'txt._exe']),
    ['a:b?c*"<>|.txt', 'a_b_c_____.txt'],
    ['ends. ', 'ends__'],
    ['dots...', 'dots___'],
    ['folder. /in', 'folder__/in'],
    ['CON', '_CON'],
    ['nul.tar.gz', '_nul.tar.gz'],
    ['Com¹.txt', '_Com¹.txt'],
    ['lpt0', '_lpt0'],
    ['aux .txt', '_aux .txt'],
    ['conin$', '_conin$'],
    ['a/prn/b', 'a/_prn/b'],
    ['console.log', 'console.log'],
    ['.bash_profile', '_bash_profile'],
    ['.ssh/authorized_keys', '_ssh/authorized_keys'],
    ['project/.git/config', 'project/.git/config'],
    ['\u200c.bashrc', '_bashrc'],
    ['.b\u200cashrc', '_b\u200cashrc'],
    ['..', '__'],
    ['.baton-parts', '_baton-parts'],
    ['\u200b', '_\u200b'],
    ['\u3164', '_\u3164'],
    ['a/\u2060\u00ad/b', 'a/_\u2060\u00ad/b'],
    ['\u00a0\u2800', '_\u00a0\u2800'],
    ['\u3164.txt', '_txt'],
    ['BATON-~1', '_BATON-~1'],
    [`${'x'.repeat(250)}.txt`, `${'x'.repeat(211)}.txt`],
    [`${'ü'.repeat(125)}.jpeg`, `${'ü'.repeat(105)}.jpeg`],
    [`${'x'.repeat(210)}😀.jpg`, `${'x'.repeat(210)}.jpg`],
    [`${'x'.repeat(200)}${FAMILY}.jpg`, `${'x'.repeat(200)}.jpg`],
    [`${'x'.repeat(214)}. `, `${'x'.repeat(214)}_`],
    [`e${'\u0301'.repeat(120)}.txt`, `e${'\u0301'.repeat(105)}.txt`],
  ])('%j is stored as %j', (name, as) => {
    expect(stored(name)).toBe(as);
  });

  test.each([
    ['.bash_profile', '.bash_profile'],
    ['.ssh/config', '.ssh/config'],
    ['.baton-parts/x', '_baton-parts/x'],
    ['.BATON-parts', '_BATON-parts'],
    ['.b\u200daton-parts', '_b\u200daton-parts'],
    ['\u200d.baton-parts', '_baton-parts'],
    ['..', '__'],
    ['.baton', '.baton'],
    ['a/.baton-parts', 'a/_.baton-parts'],
    ['a/.Baton\u200b-parts/b', 'a/_.Baton\u200b-parts/b'],
  ])('where hidden names may be, %j is stored as %j', (name, as) => {
    expect(stored(name, { hidden: true })).toBe(as);
  });

  test('where only Linux and macOS read them, the characters that Windows refuses stay', () => {
    expect(stored('12:30 <a>|b?*".txt', { isPosix: true })).toBe('12:30 <a>|b?*".txt');
  });

  test.each([
    ['names of other case', ['Readme.md', 'README.md', 'readme.MD'], ['Readme.md', 'README (2).md', 'readme (3).MD']],
    ['names composed otherwise', ['\u00e9.txt', 'e\u0301.txt'], ['\u00e9.txt', 'e\u0301 (2).txt']],
    [
      'names that look alike',
      ['stra\u00dfe', 'STRASSE', 'a\u200db', 'ab'],
      ['stra\u00dfe', 'STRASSE (2)', 'a\u200db', 'ab (2)'],
    ],
    ['names with other odd characters', ['a:b.txt', 'a?b.txt', 'a_b.txt'], ['a_b.txt', 'a_b (2).txt', 'a_b (3).txt']],
    ['a number that is taken', ['a (2).txt', 'a.txt', 'A.txt'], ['a (2).txt', 'a.txt', 'A (3).txt']],
    ['folders of other case', ['Photos/a', 'photos/a', 'Photos/b'], ['Photos/a', 'photos (2)/a', 'Photos/b']],
    ['a file and a folder', ['a', 'a/b', 'A/c'], ['a', 'a (2)/b', 'A (3)/c']],
    [
      'a name of our own and its safe one',
      ['x/.baton-parts/a', 'x/_.baton-parts/a'],
      ['x/_.baton-parts/a', 'x/_ (2).baton-parts/a'],
    ],
    ['names that show nothing', ['\u200b', '_'], ['_\u200b', '_ (2)']],
    ['a hidden name and its safe one', ['.env', '_env'], ['_env', '_env (2)']],
  ])('%s stay apart', (_, names, as) => {
    const place = makeStoredNames();
    const all = () => names.map((name) => place(name).join('/'));
    expect(all()).toEqual(as);
    expect(all()).toEqual(as);
  });

  test('long names of files and folders that differ behind the cut stay apart, with their endings', () => {
    const place = makeStoredNames();
    const names = ['1.txt', '2.txt', '3.jpg', '4/in', '5/in'].map((end) => `${'x'.repeat(230)}${end}`);
    expect(names.map((name) => place(name).join('/'))).toEqual([
      `${'x'.repeat(211)}.txt`,
      `${'x'.repeat(207)} (2).txt`,
      `${'x'.repeat(211)}.jpg`,
      `${'x'.repeat(215)}/in`,
      `${'x'.repeat(211)} (2)/in`,
    ]);
  });

  test('a thousand times a thousand names that are one take no time', () => {
    const place = makeStoredNames();
    const names = Array.from({ length: 20_000 }, (_, at) =>
      Array.from('abcdefghijklmno', (letter, bit) => ((at >> bit) & 1 ? letter.toUpperCase() : letter)).join(''),
    );
    expect(new Set(names.map((name) => foldedName(place(name).join('/')))).size).toBe(20_000);
  });
});

test.each([
  ['photo.jpg', 'photo (2).jpg'],
  ['backup.tar.gz', 'backup (2).tar.gz'],
  ['.bashrc', '.bashrc (2)'],
  ['no ending', 'no ending (2)'],
  ['Dr. Who', 'Dr. Who (2)'],
  ['v1.0 notes.txt', 'v1.0 notes (2).txt'],
])('the second %j is %j', (name, second) => {
  expect(numberedName(name, 2)).toBe(second);
});

describe('any names at all', () => {
  const PIECES = [
    ...[
      'a',
      'A',
      'é',
      'e\u0301',
      '😀',
      FAMILY,
      '.',
      '..',
      ' ',
      '/',
      '/',
      '\\',
      '\r',
      '\0',
      '\u202e',
      '\u061c',
      '\ud800',
    ],
    ...[
      'con',
      '.txt',
      ':',
      '?',
      '_',
      ' (2)',
      '\u200d',
      '.baton-',
      'x'.repeat(80),
      'ü'.repeat(120),
      '\udc80',
      '~1',
      '\u2028',
    ],
  ];
  /** The same names for the same seed. */
  function namesOf(seed: number): string[] {
    let state = seed;
    const next = (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return (state >>> 8) % below;
    };
    return Array.from({ length: 30 }, () =>
      Array.from({ length: 1 + next(8) }, () => PIECES[next(PIECES.length)]).join(''),
    );
  }
  const seeds = Array.from({ length: 100 }, (_, seed) => seed + 1);

  test('are offered as names that the service takes, all different', () => {
    for (const seed of seeds) {
      const names = offered(...namesOf(seed));
      expect(names.map(fileNameFlaw).filter((flaw) => flaw !== null)).toEqual([]);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('are stored inside, under names that every file system takes, all different', () => {
    for (const seed of seeds) {
      const place = makeStoredNames();
      const names = [...new Set(namesOf(seed))];
      const paths = names.map((name) => place(name));
      for (const part of paths.flat()) {
        expect(part).toMatch(/^[^\p{Cc}\p{Cs}\p{Bidi_Control}<>:"/\\|?*]+$/u);
        expect(part).not.toMatch(/[. ]$|^(con|prn|aux|nul) *(\.|$)/i);
        expect(bytesOf(part)).toBeLessThanOrEqual(215);
      }
      for (const [top = ''] of paths) expect(foldedName(top)).not.toMatch(/^\./);
      expect(new Set(paths.map((path) => foldedName(path.join('/')))).size).toBe(names.length);
    }
  });

  test('come through when what is offered is stored', () => {
    for (const seed of seeds) {
      const place = makeStoredNames({ hidden: true, isPosix: true });
      const names = offered(...namesOf(seed));
      expect(new Set(names.map((name) => foldedName(place(name).join('/')))).size).toBe(names.length);
    }
  });
});

test('files of one transfer with the very same name are as many files', () => {
  const names = ['docs.tar', 'docs.tar', 'a.b/c', 'a.b/c', 'docs (2).tar', 'DOCS.tar'];
  const paths = storedPaths(names).map((path) => path.join('/'));
  expect(paths.slice(0, 4)).toEqual(['docs.tar', 'docs (2).tar', 'a.b/c', 'a.b/c (2)']);
  expect(new Set(paths.map(foldedName)).size).toBe(names.length);
});
