import { ROUTES } from '../../contract/routes.ts';
import { SEALING_ROUTES } from './sealing-routes.ts';

/** Adds the routes of sealing to the client's own table, which does not have them, so that calls can name them. */
export const addSealingRoutes = (): void => void Object.assign(ROUTES, SEALING_ROUTES);
