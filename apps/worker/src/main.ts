import 'reflect-metadata';
import { loadWorkerConfig, runProcess } from '@app/runtime';

runProcess({ name: 'worker', loadConfig: loadWorkerConfig, loadApp: () => import('./app.js') });
