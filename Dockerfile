# Two stages: packages are installed in the first, the second holds only what runs, as a user without rights.
# Base images are named by digest (the index of all platforms); the tag says what it was. Packages: by the locks' hashes.
FROM python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b AS build
WORKDIR /src
RUN python -m venv /opt/baza && python -m venv /opt/build
COPY requirements.lock requirements-build.lock ./
RUN /opt/baza/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock \
    && /opt/build/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements-build.lock
COPY . .
RUN /opt/build/bin/python -m hatchling build -t wheel \
    && /opt/baza/bin/pip install --no-cache-dir --no-deps dist/*.whl

FROM python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b
# tesseract reads photos and scanned pages.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends tesseract-ocr tesseract-ocr-rus \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --system --create-home --home-dir /var/lib/baza --uid 10001 baza
COPY --from=build /opt/baza /opt/baza
ENV PATH=/opt/baza/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    BAZA_HOME=/var/lib/baza/data LOG_TO=stderr LOG_FORMAT=json
USER 10001
RUN mkdir -p "$BAZA_HOME/files" # where a volume that bot and worker share keeps the files that come over HTTP
VOLUME /var/lib/baza/data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=15s --start-period=120s --retries=3 CMD ["baza", "health"]
ENTRYPOINT ["baza"]
CMD ["run"]
