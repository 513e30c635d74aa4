# Larder in a small image: the binary with Swift inside it, on the system's SQLite, OpenSSL and zlib.
#
#   docker build --tag larder .
#   docker run --publish 8080:8080 --volume "$PWD:/srv/larder:ro" --volume larder-data:/var/lib/larder larder
#
# /srv/larder holds larder.yaml, operations/ and schema.graphql.

FROM swift:6.3-bookworm AS build
RUN apt-get update \
  && apt-get install --yes --no-install-recommends libsqlite3-dev libssl-dev zlib1g-dev \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /build
# The dependencies first, so that a change of the sources alone does not fetch them again.
COPY Package.* ./
COPY Scripts/versions* Scripts/
RUN Scripts/versions --take
COPY Sources Sources
COPY Tests Tests
# Embedded in the binary.
COPY Examples Examples
COPY Public Public
COPY Clients Clients
COPY Scripts/release Scripts/
RUN Scripts/release /out/larder

FROM debian:bookworm-slim
# Scripts/container-check reads this line.
ARG RUNTIME_PACKAGES="ca-certificates libpq5 libsqlite3-0 libssl3 libstdc++6 zlib1g"
RUN apt-get update \
  && apt-get install --yes --no-install-recommends $RUNTIME_PACKAGES \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/larder \
    --shell /usr/sbin/nologin larder \
  && install --directory --owner=larder --group=larder --mode=0700 /var/lib/larder \
  && install --directory /srv/larder
COPY --from=build /out/larder /usr/local/bin/larder
# Found beside the binary's folder; with a read-only root the embedded copy could not be unpacked.
COPY Public /usr/local/share/larder/Public
ENV LARDER_LISTEN=0.0.0.0:8080 \
  LARDER_DATA=/var/lib/larder
WORKDIR /srv/larder
# By number, so that an orchestrator can see that it is not root.
USER 10001:10001
VOLUME /var/lib/larder
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD ["larder", "health"]
ENTRYPOINT ["larder"]
CMD ["serve"]
