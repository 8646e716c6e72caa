# Three targets that share all their layers: `api`, `worker`, and `cli` for one-shot commands (setup, demo catalogue).
#   docker build --target worker -t item-listing-worker .
# If Docker Hub is not reachable: --build-arg NODE_IMAGE=registry.example.com/node:24-bookworm-slim
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
# Before the sources, so that a code change does not reinstall everything.
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY apps apps
COPY libs libs
RUN npm run build

FROM ${NODE_IMAGE} AS production-dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM ${NODE_IMAGE} AS cli
ENV NODE_ENV=production
WORKDIR /app
COPY --from=production-dependencies /app/package.json ./
COPY --from=production-dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
# Everything above belongs to root: the process can read its files and change nothing.
USER node
# Exec form, here and below: a shell would swallow SIGTERM, and the processes could not stop gracefully.
CMD ["node", "dist/apps/cli/src/setup.js"]

# Both checks below test readiness, not liveness: a container is healthy when it does its work. If a database goes away,
# the API stays ready and returns 503s, and workers become unhealthy. If that restarts them, nothing is lost.
FROM cli AS worker
EXPOSE 3001
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.WORKER_PORT || 3001) + '/health/ready').then(async (response) => { console.log(await response.text()); process.exit(response.ok ? 0 : 1) })"]
CMD ["node", "--no-warnings", "--v8-pool-size=1", "dist/apps/worker/src/main.js"]

FROM cli AS api
EXPOSE 3000 3002
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/health/ready').then(async (response) => { console.log(await response.text()); process.exit(response.ok ? 0 : 1) })"]
CMD ["node", "--no-warnings", "--v8-pool-size=1", "--max-semi-space-size=32", "dist/apps/api/src/main.js"]
