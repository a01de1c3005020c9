import type { Texts } from './english.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('es');

export const spanishPush: Texts['push'] = {
  message: (count) => plural(count, { one: 'Un mensaje nuevo', other: `${count} mensajes nuevos` }),
  transfer: (count) =>
    plural(count, { one: 'Alguien quiere enviarte un archivo', other: `${count} transferencias te esperan` }),
  arrived: (count) => plural(count, { one: 'Ha llegado un archivo', other: `Han llegado ${count} archivos` }),
  device: 'Un dispositivo nuevo ha iniciado sesión. ¿Has sido tú?',
  test: 'Las notificaciones funcionan.',
  unknown: 'Hay algo nuevo en Baton.',
  stray: 'Nadie ha iniciado sesión en este navegador. Sus notificaciones están ahora desactivadas.',
};
