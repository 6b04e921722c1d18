#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// e to the power of x.
func exponential(_ x: Double) -> Double { exp(x) }

/// The natural logarithm of x.
func logarithm(_ x: Double) -> Double { log(x) }
