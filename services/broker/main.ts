import { runService } from '../../shared/service-kit/run-service.ts';
import { startBroker } from './app.ts';
import { loadConfig } from './config/config.ts';

void runService(async () => startBroker(loadConfig()));
