import type { Texts } from './english.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('fr');

export const frenchPush: Texts['push'] = {
  message: (count) => plural(count, { one: 'Un nouveau message', other: `${count} nouveaux messages` }),
  transfer: (count) =>
    plural(count, { one: 'Quelqu’un veut vous envoyer un fichier', other: `${count} transferts vous attendent` }),
  arrived: (count) => plural(count, { one: 'Un fichier est arrivé', other: `${count} fichiers sont arrivés` }),
  device: 'Un nouvel appareil a été connecté. Était-ce vous ?',
  test: 'Les notifications fonctionnent.',
  unknown: 'Il y a du nouveau dans Baton.',
  stray: 'Personne n’est connecté dans ce navigateur. Ses notifications sont maintenant désactivées.',
};
