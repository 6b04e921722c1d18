#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension Angle {
    /// Sine and cosine, exact at quarter turns, so that four of them compose to the identity.
    public var sineAndCosine: (sine: Double, cosine: Double) {
        switch self.degrees {
        case 0: (0, 1)
        case 90: (1, 0)
        case 180: (0, -1)
        case 270: (-1, 0)
        default: (sin(self.radians), cos(self.radians))
        }
    }

    /// How far a vector is turned from an axis, by its parts along and across it: degrees in [−180, 180], positive
    /// clockwise; exact at quarter turns.
    static func turn(along: Double, across: Double) -> Double { atan2(across, along) * (180 / Double.pi) }
}

func sine(_ radians: Double) -> Double { sin(radians) }

func cosine(_ radians: Double) -> Double { cos(radians) }
