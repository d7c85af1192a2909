# docker build -t raceproof . && docker run --rm -v "$PWD:/work" raceproof check main.c
FROM python:3.12-slim
COPY . /opt/raceproof
RUN pip install --no-cache-dir '/opt/raceproof[clang]' && rm -rf /opt/raceproof
WORKDIR /work
ENTRYPOINT ["raceproof"]
CMD ["--help"]
