import type { Texts } from './english.ts';

/** What is said in notifications, which the service worker shows. */
export const japanesePush: Texts['push'] = {
  message: (count) => `新しいメッセージ ${count} 件`,
  transfer: (count) => `受け取りを待っている転送 ${count} 件`,
  arrived: (count) => `ファイルが ${count} 件届きました`,
  device: '新しい端末がログインしました。自分で行いましたか？',
  test: '通知は正常に動いています。',
  unknown: 'Baton に新着があります。',
  stray: 'このブラウザでは誰もログインしていません。通知をオフにしました。',
};
