#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// e to the power of −x.
func decay(_ x: Double) -> Double { exp(-x) }
