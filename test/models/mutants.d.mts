/** The models by name, each with the faults for it. */
export const MODELS: Record<
  'join' | 'lease' | 'login' | 'relay' | 'transfer' | 'keyring' | 'members' | 'linking',
  { title: string; breaks: string; changes: [string, string][] }[]
>;
