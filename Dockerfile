# Two stages: packages are installed in the first, the second holds only what runs, as a user without rights.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
RUN python -m venv /opt/baza
COPY requirements.lock ./
RUN /opt/baza/bin/pip install --no-cache-dir --no-deps -r requirements.lock
COPY . .
RUN /opt/baza/bin/pip install --no-cache-dir --no-deps .

FROM python:3.11-slim-bookworm
# tesseract reads photos and scanned pages.
RUN apt-get update \
    && apt-get install -y --no-install-recommends tesseract-ocr tesseract-ocr-rus \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --system --create-home --home-dir /var/lib/baza --uid 10001 baza
COPY --from=build /opt/baza /opt/baza
ENV PATH=/opt/baza/bin:$PATH PYTHONUNBUFFERED=1 BAZA_HOME=/var/lib/baza/data LOG_TO=stderr LOG_FORMAT=json
USER baza
RUN mkdir -p "$BAZA_HOME"
VOLUME /var/lib/baza/data
EXPOSE 8080
ENTRYPOINT ["baza"]
CMD ["run"]
