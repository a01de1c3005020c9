import type { Texts } from './english.ts';
import { pluralOf } from './plural.ts';

const plural = pluralOf('pt-BR');

/** What is said in notifications, which the service worker shows. */
export const portuguesePush: Texts['push'] = {
  message: (count) => plural(count, { one: 'Uma nova mensagem', other: `${count} novas mensagens` }),
  transfer: (count) =>
    plural(count, {
      one: 'Alguém quer enviar um arquivo para você',
      other: `${count} transferências esperam por você`,
    }),
  arrived: (count) => plural(count, { one: 'Um arquivo chegou', other: `${count} arquivos chegaram` }),
  device: 'Um novo dispositivo entrou na sua conta. Foi você?',
  test: 'As notificações funcionam.',
  unknown: 'Há algo novo no Baton.',
  stray: 'Ninguém está conectado neste navegador. As notificações dele foram desativadas.',
};
