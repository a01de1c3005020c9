/*
 * The data that exists when the requests come: two devices of one account, and a transfer for each operation on transfers.
 */

const USER = 'schemathesis';
const SENDER = 'test-sender';
const RECEIVER = 'test-receiver';

/** Who may do what to a transfer that was offered, was accepted, or uses the relay. */
const OPERATIONS = {
  getTransfer: { device: SENDER },
  acceptTransfer: { device: RECEIVER },
  rejectTransfer: { device: RECEIVER },
  p2pTransfer: { device: SENDER, accepted: true },
  relayTransfer: { device: SENDER, accepted: true },
  phaseTransfer: { device: SENDER, accepted: true },
  completeTransfer: { device: RECEIVER, accepted: true, relayed: true },
  failTransfer: { device: SENDER },
  cancelTransfer: { device: RECEIVER },
  sendSignal: { device: SENDER },
  headUpload: { device: SENDER, accepted: true, relayed: true },
  appendUpload: { device: SENDER, accepted: true, relayed: true },
  download: { device: RECEIVER, accepted: true, relayed: true, uploaded: true },
  ackDownload: { device: RECEIVER, accepted: true, relayed: true, uploaded: true },
};

const CONTENT = 'twelve bytes';

/** Makes `{devices, transfers}`: for each operation, the device that asks and the transfer that it asks about. */
export async function makeScene(url) {
  async function call(device, method, path, body, headers = {}) {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        'X-Dev-User': USER,
        'X-Dev-Device': device,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? null : answer.json();
  }
  for (const device of [SENDER, RECEIVER]) await call(device, 'GET', '/api/me');

  const transfers = {};
  for (const [name, { accepted, relayed, uploaded }] of Object.entries(OPERATIONS)) {
    const files = [{ name: 'notes.txt', size: CONTENT.length }];
    const { transfer } = await call(SENDER, 'POST', '/api/transfer/init', { to_device_id: RECEIVER, files });
    const id = transfer.transfer_id;
    transfers[name] = id;
    if (relayed) await call(SENDER, 'POST', `/api/transfer/${id}/relay`);
    if (accepted) await call(RECEIVER, 'POST', `/api/transfer/${id}/accept`);
    if (!uploaded) continue;
    const { transfer: read } = await call(SENDER, 'GET', `/api/transfer/${id}`);
    const headers = { 'Content-Type': 'application/partial-upload', 'Upload-Offset': '0', 'Upload-Complete': '?1' };
    await call(SENDER, 'PATCH', read.uploads[0].upload_url, CONTENT, headers);
  }
  const devices = Object.fromEntries(Object.entries(OPERATIONS).map(([name, { device }]) => [name, device]));
  return { devices, transfers };
}
