"""One-op models for values that other importers and back ends got wrong; names begin with the row of the list of known failures.

Where the row says what is right, the value stands here, and ONNX Runtime must give the same. Read by node_cases.py."""
import numpy as np
from node_extra import INT64_MIN, case, f, packed, v
from node_extra import cases as computed
from onnx import TensorProto as T

RIGHT = {}
HALF_LOW, LOW = -65504.0, -3.4e38


def right(name, value, op, inputs, **more):
    """The first output is that value."""
    RIGHT[f"own_{name}"] = np.asarray(value)
    case(name, op, inputs, **more)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def column(*values):
    """One head whose rows hold one number each."""
    return v(values, np.float32).reshape(1, 1, -1, 1)


def raw(elem, dims, data):
    return T(data_type=elem, dims=dims, raw_data=bytes(data))


def quantised():
    one = v(1, np.float32)
    right("B23_ties", [0, 2, 2, 0, -2], "QuantizeLinear", [v([0.5, 1.5, 2.5, -0.5, -1.5], np.float32), one, v(0, np.int8)])
    right("B23_saturates", [-128, -128, 127, 127, 127], "QuantizeLinear", [v([-129, -128, 127, 128, np.inf], np.float32), one, v(0, np.int8)])
    right("B23_one", [-128, 0, 127], "QuantizeLinear", [v([0, 0.5, 1], np.float32), v(1 / 256, np.float32), v(-128, np.int8)])
    x = v([[2, 2], [6, 6]], np.int8)
    for axis, value in ((0, [[0.5, 0.5], [6, 6]]), (1, [[0.5, -6], [1.5, 6]]), (-1, [[0.5, -6], [1.5, 6]])):
        right(f"B24_axis_{axis}", value, "DequantizeLinear", [x, v([0.25, 3], np.float32), v([0, 4], np.int8)], axis=axis)
    right("B24_rank_1", [0.5, 1, 1.5], "DequantizeLinear", [v([1, 2, 3], np.int8), v(0.5, np.float32)])
    for elem, name, last in ((T.INT4, "int4", -1), (T.UINT4, "uint4", 15)):
        right(f"B32_{name}_bytes", [1, 2, last], "DequantizeLinear", [raw(elem, [3], [0x21, 0x0F]), one])
        right(f"B32_{name}_list", [1, 2, last], "DequantizeLinear", [packed([1, 2, last], [3], elem), one])
    quads = v([1, 2, 3, 4], np.float32)
    right("B33_blocks_of_axis_1", [[8, 8, 14, 14, 18, 18, 20, 20]], "DequantizeLinear", [np.full((1, 8), 9, np.int8), quads[None], v([[1, 2, 3, 4]], np.int8)],
          axis=1, block_size=2)


def attention():
    sees = v([[0, 0, 0], [1, 0, 1], [1, 1, 1]], bool)
    for d in (64, 80):
        case(f"B03_bools_{d}", "Attention", [f(1, 2, 3, d), f(1, 2, 3, d), f(1, 2, 3, d), sees])
        for name, low in (("f32", LOW), ("f16", HALF_LOW), ("inf", -np.inf)):
            case(f"B03_{name}_{d}", "Attention", [f(1, 2, 3, d), f(1, 2, 3, d), f(1, 2, 3, d), np.where(sees, 0, low).astype(np.float32)])
        right(f"B03_decode_{d}", zeros(1, 2, 1, d), "Attention", [f(1, 2, 1, d), f(1, 2, 1, d), f(1, 2, 1, d), zeros(1, 4, dtype=bool), f(1, 2, 3, d), f(1, 2, 3, d)], outputs=3)
    for heads, kv in ((4, 2), (48, 2), (40, 2), (7, 1)):
        number = np.arange(1.0, kv + 1, dtype=np.float32).reshape(1, kv, 1, 1)
        right(f"B18_{heads}_{kv}", np.repeat(number, heads // kv, 1), "Attention", [f(1, heads, 1, 4), f(1, kv, 3, 4), np.tile(number, (1, 1, 3, 1))])
    right("B21_window", column(0, 0.5, 1, 2, 3, 4), "Attention", [zeros(1, 1, 6, 1), zeros(1, 1, 6, 1), column(*range(6))], is_causal=1, left_window_size=2)
    for last in (5, 90):
        right(f"B21_step_at_{last}", column(last - 1), "Attention", [zeros(1, 1, 1, 1), zeros(1, 1, 1, 1), column(last), None, zeros(1, 1, last, 1), column(*range(last))],
              outputs=3, is_causal=1, left_window_size=2)
    right("B22_step", column(2.5), "Attention", [zeros(1, 1, 1, 1), zeros(1, 1, 1, 1), column(4), None, zeros(1, 1, 3, 1), column(1, 2, 3)], outputs=3, is_causal=1)
    right("B22_chunk", column(2.5, 3, 3.5, 4, 4.5), "Attention", [zeros(1, 1, 5, 1), zeros(1, 1, 5, 1), column(4, 5, 6, 7, 8), None, zeros(1, 1, 3, 1), column(1, 2, 3)],
          outputs=3, is_causal=1)
    right("B22_rows", [[[[2.5]]], [[[1]]]], "Attention", [zeros(2, 1, 1, 1), zeros(2, 1, 4, 1), np.tile(column(1, 2, 3, 4), (2, 1, 1, 1)), None, None, None, v([4, 1])],
          is_causal=1)
    wide = [np.full((1, 1, n, 512), 12, np.float16) for n in (1, 6)]
    right("B37_dot_above_f16", np.full((1, 1, 1, 512), 2.5), "Attention", [*wide, np.tile(column(*range(6)), (1, 1, 1, 512)).astype(np.float16)])


def rotations():
    x, cos, sin, at = v([[[[1, 2, 3, 4]]]], np.float32), zeros(1, 2), zeros(1, 2) + 1, v([[0]])
    right("B19_halves", [[[[-3, -4, 1, 2]]]], "RotaryEmbedding", [x, cos, sin, at])
    right("B19_pairs", [[[[-2, 1, -4, 3]]]], "RotaryEmbedding", [x, cos, sin, at], interleaved=1)
    for inter in (0, 1):
        right(f"B19_partial_{inter}", [[[[-2, 1, 3, 4]]]], "RotaryEmbedding", [x, cos[:, :1], sin[:, :1], at], rotary_embedding_dim=2, interleaved=inter)


def shapes():
    case("B40_expand_columns", "Expand", [f(3, 1), v([1, 4])])
    case("B40_expand_to_one", "Expand", [f(3, 4), v([1])])
    case("B40_where", "Where", [v([[True], [False], [True]], bool), f(2), f(2)])
    case("B40_min", "Min", [f(30), f(1)])
    case("B40_less", "Less", [f(3, 1), f(1, 4)])
    table = v([[1, 2], [3, 4]], np.float32)
    for name, axis, value, attrs in (("1", 1, [[1, 3], [3, 7]], {}), ("-1", -1, [[1, 3], [3, 7]], {}), ("exclusive", 1, [[0, 1], [0, 3]], {"exclusive": 1}),
                                     ("reverse", 1, [[3, 2], [7, 4]], {"reverse": 1})):
        right(f"B41_cumsum_{name}", value, "CumSum", [table, v(axis)], **attrs)
    case("B41_trilu", "Trilu", [f(3, 4), v(1)], upper=1)
    case("B41_pow", "Pow", [f(3), v(2)])
    case("B41_norm_without_bias", "LayerNormalization", [f(2, 3, 4, 8), f(8)])
    case("B41_norm_of_two_dims", "LayerNormalization", [f(2, 3, 4, 8), f(4, 8)], axis=2)
    case("B46_gather_scalar", "Gather", [f(3, 4, 5), v(1)])
    case("B46_gather_one", "Gather", [f(3, 4, 5), v([1])])
    case("B46_unsqueeze_unsorted", "Unsqueeze", [f(3, 4), v([2, 0])])
    case("B46_unsqueeze_last", "Unsqueeze", [f(3, 4), v([-1])])


def integers():
    right("B82_divide", [-3, -3, 3, INT64_MIN // 2], "Div", [v([-7, 7, -7, INT64_MIN]), v([2, -2, -2, 2])])
    right("B82_remainder", [1, -1, -1, 1], "Mod", [v([-7, 7, -7, INT64_MIN]), v([2, -2, -2, 3])])
    for way, value in (("LEFT", [128, 254, 3]), ("RIGHT", [0, 127, 3])):
        right(f"B82_shift_{way.lower()}", value, "BitShift", [v([1, 255, 3], np.uint8), v([7, 1, 0], np.uint8)], direction=way)


def choices():
    for name, value in (("last", 1), ("first", 0)):
        right(f"B54_ties_{name}", value, "ArgMax", [v([1, 3, 3] if value else [3, 1, 3], np.float32)], axis=0, keepdims=0)
    # Undefined in the standard: what ONNX Runtime does, so that all of our own ways do the same.
    right("B68_to_int8", [44, 0, 0, 0, 50, -50], "Cast", [v([300, np.nan, np.inf, -np.inf, 50, -50], np.float32)], to=T.INT8)
    right("B68_to_bool", [True, True, False, False], "Cast", [v([0.5, np.nan, 0, -0.0], np.float32)], to=T.BOOL)


def cases():
    for name, model, inputs, wanted in computed((quantised, attention, rotations, shapes, integers, choices)):
        if name in RIGHT:
            np.testing.assert_allclose(wanted[0], RIGHT[name], rtol=1e-6, err_msg=name)
        yield name, model, inputs, wanted
