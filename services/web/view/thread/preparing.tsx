import { shared } from '../../engine/shared-state.ts';
import { bytesText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';

/** Shows files that other devices read before they offer them to this one; with `from` only those of one device. */
export function PreparingLines({ from }: { from?: string }) {
  const { files } = texts.value;
  const shown = shared.value.preparing.filter((one) => from === undefined || one.from.device_id === from);
  return (
    <>
      {shown.map(({ id, from: sender, files: count, bytes, totalBytes }) => {
        const words = files.prepares(sender.name, files.count(count), bytesText(totalBytes));
        return (
          <p key={id} class="preparing-line">
            <span role="status" dir="auto">
              {words}
            </span>
            <progress max={Math.max(1, totalBytes)} value={bytes} aria-label={words} />
          </p>
        );
      })}
    </>
  );
}
