#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

func exponential(_ x: Double) -> Double { exp(x) }

func logarithm(_ x: Double) -> Double { log(x) }
