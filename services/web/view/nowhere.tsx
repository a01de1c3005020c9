import { MousePointerClick } from 'lucide';
import { texts } from '../texts/texts.ts';
import { Empty } from './parts/parts.tsx';

/** The page of an address at which there is nothing. */
export function Nowhere() {
  const { app } = texts.value;
  return (
    <Empty isPage node={MousePointerClick} title={app.nothingHere}>
      <a class="button" href="#/">
        {app.toDevices}
      </a>
    </Empty>
  );
}
