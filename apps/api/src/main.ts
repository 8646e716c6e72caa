import 'reflect-metadata';
import { loadApiConfig, runProcess } from '@app/runtime';

runProcess({ name: 'api', loadConfig: loadApiConfig, loadApp: () => import('./app.js') });
