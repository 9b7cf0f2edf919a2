# esr with its page. It wants ESR_INDEX: a folder in a volume (/index), or http(s)://host:port/alias.
#
#   docker build --tag esr .                                            what a server needs
#   docker build --tag esr-full --build-arg EXTRAS=enrich,formats .     also spaCy, and all source formats

FROM python:3.11-slim AS build
ARG EXTRAS=
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY esr esr
COPY webui webui
COPY index_templates index_templates
# Tests of libraries are a tenth of what is installed, and no server needs them. pip stays: it fetches the example news.
RUN python -m venv /opt/esr \
    && /opt/esr/bin/pip install --no-cache-dir ".${EXTRAS:+[$EXTRAS]}" \
    && cd /opt/esr/lib/python3*/site-packages \
    && find . -type d \( -name tests -o -name testing \) -path './*/*' ! -path './numpy/testing' -prune -exec rm -r {} +

FROM python:3.11-slim
# /index is for an index folder, /work for temporary files of loads: volumes made there belong to esr.
RUN useradd --create-home --uid 10001 esr && install -d -o esr -g esr /index /work
COPY --from=build /opt/esr /opt/esr
WORKDIR /app
COPY examples examples

USER esr
ENV PATH=/opt/esr/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
EXPOSE 8080
CMD ["esr", "serve", "--host", "0.0.0.0", "--port", "8080"]
