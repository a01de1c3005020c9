import type { Texts } from './english.ts';

/** What is said in notifications, which the service worker shows. */
export const chinesePush: Texts['push'] = {
  message: (count) => `${count} 条新消息`,
  transfer: (count) => `${count} 项传输等待你接收`,
  arrived: (count) => `收到 ${count} 个文件`,
  device: '有新设备登录。是你操作的吗？',
  test: '通知工作正常。',
  unknown: 'Baton 中有新内容。',
  stray: '此浏览器中没有人登录。它的通知现已关闭。',
};
