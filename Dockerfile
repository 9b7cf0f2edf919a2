# esr with its page. It wants ESR_INDEX: a folder in a volume, or http://host:port/alias.
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 esr
WORKDIR /app
COPY pyproject.toml README.md LICENSE ./
COPY esr esr
COPY webui webui
COPY index_templates index_templates
RUN pip install --no-cache-dir . && rm -r esr webui index_templates
COPY examples examples

USER esr
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
EXPOSE 8080
CMD ["esr", "serve", "--host", "0.0.0.0", "--port", "8080"]
