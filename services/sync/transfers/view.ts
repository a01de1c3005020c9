import { LIMITS } from '../../../shared/contract/limits.ts';
import { isFinal, type Transfer } from '../../../shared/contract/transfers.ts';
import type { StoredTransfer } from './store.ts';

/** The transfer as one of its parties sees it: with the files that were read, and with them its own side of the relay. */
export function viewFor(deviceId: string, stored: StoredTransfer, offsets?: ReadonlyMap<number, number>): Transfer {
  const { openJson, files, relayInUse, generations } = stored;
  const transfer = JSON.parse(files === null ? `${openJson}}` : `${openJson},"files":${files}}`) as Transfer;
  const isCut = isFinal(transfer.state) && transfer.file_count > LIMITS.filesInEvents;
  if (!relayInUse || files === null || isCut) return transfer;
  const urls = Array.from({ length: transfer.file_count }, (_, index) => {
    const { generation, base } = generations.get(index) ?? { generation: 0, base: 0 };
    return { index, url: `/api/relay/${transfer.transfer_id}/${index}/${generation}`, base };
  });
  if (deviceId !== transfer.sender.device_id) {
    return { ...transfer, downloads: urls.map(({ index, url }) => ({ index, download_url: url })) };
  }
  const offsetOf = (index: number, base: number) => offsets?.get(index) ?? base;
  const uploads = urls.map(({ index, url, base }) => ({ index, upload_url: url, offset: offsetOf(index, base) }));
  return { ...transfer, uploads };
}
