import type { Logger } from 'pino';

type Texts = Readonly<Record<string, string>>;

/** The most characters of a value that a warning shows. */
const SHOWN_CHARACTERS = 100;

/** Reads what another replica of any version wrote. Returns null if it cannot be compared. */
function parse(stored: string | null): Texts | null {
  try {
    const value: unknown = JSON.parse(stored ?? 'null');
    return typeof value === 'object' ? (value as Texts | null) : null;
  } catch {
    return null;
  }
}

/** Returns each way in which those settings differ from this replica's. Settings that only one version knows are ignored. */
function differencesOf(own: Texts, other: Texts): string[] {
  const show = (value: string | undefined): string => String(value).slice(0, SHOWN_CHARACTERS) || 'empty';
  return Object.keys(own)
    .filter((name) => Object.hasOwn(other, name) && other[name] !== own[name])
    .map((name) => `${name} is ${show(other[name])} there and ${show(own[name])} here`);
}

interface SettingsWatchParts {
  own: Texts;
  /** Returns the living replicas except this one. */
  others: () => readonly string[];
  /** Returns the settings that each replica wrote with its lease; null for one that wrote none. */
  read: (ids: readonly string[]) => Promise<(string | null)[]>;
  logger: Logger;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Warns when a living replica on the same Redis differs in settings that all must share, because one replica then
 * forgets after a minute what the other keeps for an hour. It only warns: during a rollout of settings both replicas
 * are right.
 */
export function makeSettingsWatch({ own, others, read, logger, onFailure }: SettingsWatchParts) {
  /** How each living replica differs. */
  let known: ReadonlyMap<string, readonly string[]> = new Map();
  let isReading = false;

  const sentenceOf = (difference: string): string =>
    `another replica on this store has settings that must agree: ${difference}`;
  const differences = (): string[] => [...new Set([...known.values()].flat())];

  async function learn(): Promise<void> {
    const living = others();
    const before = differences();
    const strangers = living.filter((id) => !known.has(id));
    const stored = strangers.length === 0 ? [] : await read(strangers);
    const found = strangers.map((id, i): [string, string[]] => [
      id,
      differencesOf(own, parse(stored[i] ?? null) ?? {}),
    ]);
    known = new Map([...[...known].filter(([id]) => living.includes(id)), ...found]);
    const now = differences();
    for (const difference of now) if (!before.includes(difference)) logger.warn(sentenceOf(difference));
    if (before.length > 0 && now.length === 0)
      logger.warn('all replicas on this store agree about their settings again');
  }

  return {
    /** Returns one sentence for each way in which a living replica differs. */
    warnings: (): string[] => differences().map(sentenceOf),

    /** Compares the settings. Called with each reading of the leases; asks the store only about new replicas. */
    look(): void {
      if (isReading) return;
      isReading = true;
      learn()
        .catch((error: unknown) => onFailure('compare settings', error))
        .finally(() => {
          isReading = false;
        });
    },
  };
}
