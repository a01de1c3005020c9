import { askText, askYesNo, readInput } from '../ask.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT } from '../failure.ts';
import { keyedOnly, LOCK, sealingAt } from '../sealing.ts';

/** More bytes than 24 words of the list can take. */
const WORDS_BYTES = 1_024;

/** The words in lines of four, with the number of the first. */
const inLines = (words: string): string =>
  words
    .split(' ')
    .map((word, at) => (at % 4 === 0 ? `${at === 0 ? '' : '\n'}${String(at + 1).padStart(2)}  ${word}` : ` ${word}`))
    .join('');

/** Makes the recovery words of the account, and shows them once. */
export async function makeWords(context: Context, { yes }: { yes?: boolean }): Promise<void> {
  const { output, signal } = context;
  const { WORDS_KIND } = await import('../../../shared/client/sealed.ts');
  await context.withClient(async (_, url) => {
    const { sealing, keyring } = await keyedOnly(context, url);
    const hasWords = keyring.ring.body.members.some(({ kind }) => kind === WORDS_KIND);
    const question = 'The account has recovery words. New ones replace them and the key of the account. Make new ones?';
    if (hasWords && yes !== true && !(await askYesNo(question, signal))) {
      throw new CliError('The recovery words stay as they are.', { status: EXIT.refused, code: 'refused' });
    }
    const words = await sealing.recovery.makeWords();
    output.note(
      'Write these 24 words down, and keep them where nobody else reads them. They are shown once, and let a device in when every other one is lost.\n',
    );
    output.result({ words }, inLines(words));
  });
}

/** Reads the recovery words, typed or from standard input. People copy them with the numbers. */
async function readWords(signal: AbortSignal): Promise<string> {
  const words = process.stdin.isTTY
    ? await askText('The 24 recovery words:', signal)
    : await readInput(WORDS_BYTES, 'This', signal);
  return words.replaceAll(/\d+/g, ' ');
}

/** Signs the ring in force with the recovery words, so that the words stay valid. */
export async function renewWords(context: Context): Promise<void> {
  const { output, signal } = context;
  const words = await readWords(signal);
  await context.withClient(async (_, url) => {
    const { sealing } = await keyedOnly(context, url);
    const { n } = (await sealing.recovery.renewWords(words)).ring.body;
    output.result({ renewed: true, n }, 'The recovery words are renewed. They are the same as before.');
  });
}

/** Lets this device into its encrypted account by the recovery words, which are typed or come from standard input. */
export async function recover(context: Context): Promise<void> {
  const { output, signal } = context;
  const words = await readWords(signal);
  await context.withClient(async (_, url) => {
    const { rings, recovery } = await sealingAt(context, url);
    if ((await rings.current()) !== null) return output.result({ keyed: true }, 'This device has keys already.');
    const { ring } = await recovery.recover(words, { kind: 'cli' });
    const { n, epoch } = ring.body;
    output.result({ keyed: true, n, epoch }, `${LOCK} This device has the key of the account.`);
    output.note(
      '`baton keys rotate` leaves out devices that are not signed in any more; `baton remove` those that are lost.',
    );
  });
}
