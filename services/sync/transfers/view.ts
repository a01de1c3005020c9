import { LIMITS } from '../../../shared/contract/limits.ts';
import { isFinal, type Transfer } from '../../../shared/contract/modules/transfers.ts';
import type { StoredTransfer } from './store.ts';

/** Returns the transfer without its files, and without the parts that depend on which party asks. */
export const headOf = ({ openJson }: Pick<StoredTransfer, 'openJson'>): Transfer =>
  JSON.parse(`${openJson}}`) as Transfer;

/**
 * Returns the transfer as JSON, as one of its parties sees it: with the files that were read, and with their addresses
 * in the relay for that party. Does not parse the files, which are JSON already, up to a megabyte.
 */
export function viewFor(deviceId: string, stored: StoredTransfer, offsets?: ReadonlyMap<number, number>): string {
  const { openJson, files, relayInUse, generations } = stored;
  if (files === null) return `${openJson}}`;
  const open = `${openJson},"files":${files}`;
  if (!relayInUse) return `${open}}`;
  const { transfer_id: id, state, file_count: count, sender } = headOf(stored);
  if (isFinal(state) && count > LIMITS.filesInEvents) return `${open}}`;
  const urls = Array.from({ length: count }, (_, index) => {
    const { generation, base } = generations.get(index) ?? { generation: 0, base: 0 };
    return { index, url: `/api/relay/${id}/${index}/${generation}`, base };
  });
  if (deviceId !== sender.device_id) {
    const downloads = urls.map(({ index, url }) => ({ index, download_url: url }));
    return `${open},"downloads":${JSON.stringify(downloads)}}`;
  }
  const offsetOf = (index: number, base: number) => offsets?.get(index) ?? base;
  const uploads = urls.map(({ index, url, base }) => ({ index, upload_url: url, offset: offsetOf(index, base) }));
  return `${open},"uploads":${JSON.stringify(uploads)}}`;
}
