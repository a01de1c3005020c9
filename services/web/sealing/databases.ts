/** The databases of the keys in use, and of those with which this browser asks to be let in. */
export const DATABASES = { keys: 'baton-keys', asking: 'baton-asking-keys' } as const;
