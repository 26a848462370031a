double missing(double x) { return x; }
