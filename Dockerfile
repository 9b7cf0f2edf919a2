# esr with its page. It wants ESR_INDEX: http(s)://host:port/alias, or a folder in a volume (/index).
#
#   docker build --tag esr .                        what loads into Elasticsearch, and searches there, need
#   docker build --tag esr-full --build-arg NUMBA=yes --build-arg EXTRAS=enrich,formats .
#                                                   also compiled searches of folders, spaCy, all source formats

FROM python:3.11-slim AS build
ARG EXTRAS=
ARG NUMBA=
WORKDIR /src
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY esr esr
COPY webui webui
COPY index_templates index_templates
COPY deploy/image deploy/image
# What is installed is pinned by hash (make lock); extras are, if there is a lock with their names. Tests of libraries
# are a tenth of what is installed, and no server needs them. numba and its compiler are more than half, and only
# searches of index folders use them. The pip that fetches the example news is that of the base image.
RUN python -m venv --without-pip /opt/esr \
    && lock=deploy/image/requirements-$EXTRAS.txt && { [ -f "$lock" ] || lock=deploy/image/requirements.txt; } \
    && python -m pip install --no-cache-dir --require-hashes --requirement deploy/image/build.txt \
    && python -m hatchling build --target wheel --directory /wheel \
    && python -m pip --python /opt/esr/bin/python install --no-cache-dir --require-hashes --requirement "$lock" \
    && wheel=$(echo /wheel/*.whl) \
    && python -m pip --python /opt/esr/bin/python install --no-cache-dir "$wheel${EXTRAS:+[$EXTRAS]}" \
    && { [ -n "$NUMBA" ] || python -m pip --python /opt/esr/bin/python uninstall --yes numba llvmlite; } \
    && sed -i 's/^include-system-site-packages.*/include-system-site-packages = true/' /opt/esr/pyvenv.cfg \
    && cd /opt/esr/lib/python3*/site-packages \
    && find . -type d \( -name tests -o -name testing \) -path './*/*' ! -path './numpy/testing' -prune -exec rm -r {} +

FROM python:3.11-slim
LABEL org.opencontainers.image.title=esr \
      org.opencontainers.image.description="Search for sentences of news, embedded or in Elasticsearch." \
      org.opencontainers.image.version=0.3.0 \
      org.opencontainers.image.licenses=Apache-2.0
# /index is for an index folder, /work for temporary files of loads: volumes made there belong to esr.
RUN useradd --create-home --uid 10001 esr && install -d -o esr -g esr /index /work
COPY --from=build /opt/esr /opt/esr
WORKDIR /app
COPY examples examples

USER esr
ENV PATH=/opt/esr/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
EXPOSE 8080
CMD ["esr", "serve", "--host", "0.0.0.0", "--port", "8080"]
