import { blobSource, cookieSession, makeBatonClient, type Message, type Progress } from '@baton/client';

const baton = makeBatonClient({ baseUrl: '', session: cookieSession() });
export const messages: Message[] = [];
baton.messages.receive((message) => void messages.push(message));
export async function send(file: File, show: (progress: Progress) => void): Promise<string> {
  const sending = await baton.transfers.send({ device_id: 'phone-0001' }, [blobSource(file)]);
  sending.onProgress(show);
  return (await sending.done).transfer_id;
}
