/** The program that a service of this computer runs for its user. */
export interface ServiceTask {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Variables that the program gets. */
  readonly environment: Readonly<Record<string, string>>;
  /** The mask for the modes of files that the program makes. */
  readonly umask: number;
}

/** The name of the service, by which its computer knows it. */
export const SERVICE_NAME = 'baton-receive';

/** The description of the service, for its user. */
export const DESCRIPTION = 'Baton: receives files in the background';
