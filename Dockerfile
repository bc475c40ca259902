# The image of `folkmoot serve`. docs/containers.md describes its use.
# Any Debian-like image with Node.js 20.19.2 or later and glibc works as the base.
ARG BASE=docker.io/library/node:22-bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
# A change of the sources alone reuses this layer.
COPY package.json package-lock.json .npmrc ./
COPY tools/reference/package.json tools/reference/
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build
WORKDIR /app
RUN cp /src/package.json /src/package-lock.json /src/.npmrc . \
  && npm ci --ignore-scripts --omit=dev --workspaces=false \
  && rm -f .npmrc package-lock.json
# The files of the package, as `npm pack` lists them.
RUN cd /src && npm pack --ignore-scripts --pack-destination /tmp \
  && tar -xzf /tmp/folkmoot-*.tgz -C /app --strip-components=1

FROM ${BASE}
ENV NODE_ENV=production \
  FOLKMOOT_HOST=0.0.0.0 \
  FOLKMOOT_PORT=8080 \
  FOLKMOOT_DATA=/data/network \
  XDG_STATE_HOME=/data/state
COPY --from=build /app /app
# A number, so that an orchestrator can check that the user is not root.
RUN mkdir -m 0700 /data && chown 10001:10001 /data
USER 10001:10001
VOLUME /data
WORKDIR /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.FOLKMOOT_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# No shell and no npm: the server is process 1 and gets the signals.
ENTRYPOINT ["node", "--max-semi-space-size=128", "/app/dist/cli/main.js"]
CMD ["serve"]
