import { ROUTES } from '../../contract/routes.ts';
import { SEALING_ROUTES } from './sealing-routes.ts';

/** Calls can name the routes of sealing from then on: the table of the client alone does not have them. */
export const addSealingRoutes = (): void => void Object.assign(ROUTES, SEALING_ROUTES);
