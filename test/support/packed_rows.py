"""Codes, scales and zero points of the packed weights of an artifact, row by row (compiler/kernels/WeightFormat.h says how they lie)."""
import re

import numpy as np

NAME = re.compile(r"p16\.([a-z]+)(\d)(row|b(\d+))\.(f16|f32)\.(z0|zm|z8|zf)")


def rows_of(data, layout, rows, cols):
    """[(codes [cols], scales, zero points)] of one packed tensor; None for a layout without codes."""
    m = NAME.fullmatch(layout)
    if not m:
        return None
    bits, block, half, zero = int(m[2]), int(m[4] or 0), m[5] == "f16", m[6]
    if m[1] != "i":
        data = data[64:]  # the table of values
    record = -(-cols // 64) * 64 if not block else block if block >= 64 else 64 // block * block
    blocks = 1 if not block or block >= 64 else 64 // block
    code_bytes, scale_bytes = record * bits * 2, 32 if half else 64
    zero_bytes = {"z0": 0, "zm": 0, "z8": 16, "zf": 64}[zero]
    size = code_bytes + blocks * (scale_bytes + zero_bytes)
    records = -(-cols // record)
    out = []
    for panel in range(-(-rows // 16)):
        codes, scales, zeros = [], [], []
        for r in range(records):
            at = (panel * records + r) * size
            part = np.frombuffer(data, np.uint8, size, at)
            # [line][row][byte]: byte j of a row's dword has columns j, 4 + j, … of the line from the lowest bits up.
            lines = part[:code_bytes].reshape(-1, 16, 4)
            steps = [(lines >> (bits * i)) & ((1 << bits) - 1) for i in range(8 // bits)]
            codes.append(np.stack(steps, 2).transpose(1, 0, 2, 3).reshape(16, record))
            scales.append(part[code_bytes:code_bytes + blocks * scale_bytes].view(np.float16 if half else np.float32).reshape(blocks, 16).T)
            if zero_bytes:
                zeros.append(part[code_bytes + blocks * scale_bytes:].view(np.uint8 if zero == "z8" else np.float32).reshape(blocks, 16).T)
            else:
                zeros.append(np.full((16, blocks), 0 if zero == "z0" else 1 << (bits - 1)))
        count = -(-cols // (block or cols))
        codes, scales, zeros = (np.concatenate(x, 1) for x in (codes, scales, zeros))
        for i in range(min(16, rows - 16 * panel)):
            out.append((codes[i, :cols], scales[i, :count].astype(np.float32), zeros[i, :count].astype(np.float32)))
    return out


def key(codes, scales, zeros):
    """A row as something to count."""
    return (np.ascontiguousarray(codes, np.uint8).tobytes(), np.ascontiguousarray(scales, np.float32).tobytes(),
            np.ascontiguousarray(zeros, np.float32).tobytes())
