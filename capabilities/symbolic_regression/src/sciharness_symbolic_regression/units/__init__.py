"""Units of columns: what they measure, which formulas they allow, smaller problems they give."""
