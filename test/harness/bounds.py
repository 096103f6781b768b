"""The error bounds that results must meet, on every target. Nothing else in the tests states a tolerance."""
import numpy as np

from arrays import UNIT

U_ACC = 2.0**-24  # products accumulate in float32
# Half the distance of two subnormal numbers: no rounding is better than this near zero, whatever the relative bound says.
UNDERFLOW = {"float32": 2.0**-150, "float16": 2.0**-25, "bfloat16": 2.0**-134}


def product_factors(k, dtype, operand=None):
    """What |C|, |A| @ |B| and 1 count in the bound of C = A @ B: k terms, `dtype` of the output, `operand` where it says more than
    that. int8 is exact. tf32 leaves 11 bits of each factor, cut or rounded. The matrix units of Hopper add products of fp8 with 14
    bits, 32 along k at once."""
    if dtype == "int32":
        return 0.0, 0.0, 0.0
    terms = 4 * (k + 2) * U_ACC
    if operand == "tf32":
        terms += 2 * 2.0**-10 + 2.0**-20
    elif operand in ("float8_e4m3", "float8_e5m2"):
        terms += (k / 32 + 1) * 2.0**-13
    return 2 * UNIT[dtype], terms, UNDERFLOW[dtype]


def product(reference, magnitude, k, dtype, operand=None):
    """Per element of C = A @ B: `reference` and `magnitude` = |A| @ |B| in float64."""
    of_result, of_terms, always = product_factors(k, dtype, operand)
    return of_result * np.abs(reference) + of_terms * magnitude + always


def frobenius(dtype):
    """Relative Frobenius error of element-wise kernels, softmax and attention."""
    return {"float32": 1e-6, "float16": 1e-3, "bfloat16": 8e-3}[dtype]


def element(reference, dtype, magnitude=None):
    """Per element of those kernels. `magnitude`: sum of the absolute values of what was added up, where terms were rounded to
    `dtype` before they met (the probabilities of attention): cancellation leaves the error of the terms, not of the sum."""
    return 4 * UNIT[dtype] * abs(reference if magnitude is None else magnitude) + 1e-5


def worst(got, reference, limit):
    """Largest error over its limit; infinite for a NaN that should not be there or for a missing one."""
    if got.size == 0:
        return 0.0
    bad = np.isnan(got) != np.isnan(reference)
    same = (got == reference) | (np.isnan(got) & np.isnan(reference))
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.abs(got - reference)
        ratio = np.where(same, 0.0, np.where(error <= limit, error / np.maximum(limit, 1e-300), np.inf))
        over = ~same & (error > limit)
        ratio = np.where(over, np.maximum(error / np.maximum(limit, 1e-300), 1.0 + 1e-9), ratio)
    ratio = np.where(bad, np.inf, ratio)
    return float(np.max(ratio))


def relative_frobenius(got, reference):
    norm = float(np.linalg.norm(reference))
    difference = float(np.linalg.norm(got - reference))
    return difference / norm if norm else difference
