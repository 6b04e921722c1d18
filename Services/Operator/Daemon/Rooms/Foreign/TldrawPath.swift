internal import Canvas
internal import JSONBytes

/// The points of tldraw's pen: a list, or bytes in base64: the first point in floats of 32 bits, each further one as the way
/// from the one before, in floats of 16. Each point has a third number, how hard the pen was pressed.
enum TldrawPath {
    /// Points of a segment at most.
    private static let most = 20_000

    static func points(_ segment: JSONValue) -> [Point] {
        if let points = segment["points"], points.kind == .array {
            return points.elements.prefix(Self.most).map {
                Point(x: Foreign.number($0["x"]), y: Foreign.number($0["y"]))
            }
        }
        let path = segment["path"]?.string
        var text = path ?? Foreign.text(segment["points"])
        let bytes = text.withUTF8 { Base64.decode(UnsafeRawBufferPointer($0)) } ?? []
        var points: [Point] = []
        var at = 0
        var point = Point.zero
        if path != nil, bytes.count >= 12 {
            point = Point(x: Self.float(bytes, 0), y: Self.float(bytes, 4))
            points.append(point)
            at = 12
        }
        while at + 6 <= bytes.count, points.count < Self.most {
            let next = Point(x: Self.half(bytes, at), y: Self.half(bytes, at + 2))
            point = path == nil ? next : point + next
            points.append(point)
            at += 6
        }
        return points
    }

    private static func float(_ bytes: [UInt8], _ at: Int) -> Double {
        let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[at + $1]) << (8 * UInt32($1)) }
        let value = Double(Float(bitPattern: bits))
        return value.isFinite ? min(max(value, -1e7), 1e7) : 0
    }

    /// A float of 16 bits (IEEE 754); 0 for what is no number.
    static func half(_ bytes: [UInt8], _ at: Int) -> Double {
        let bits = Int(bytes[at]) | Int(bytes[at + 1]) << 8
        let (exponent, fraction) = (bits >> 10 & 31, Double(bits & 1023) / 1024)
        guard exponent != 31 else { return 0 }
        let factor = exponent == 0 ? fraction : 1 + fraction
        let magnitude = factor * Double(sign: .plus, exponent: max(exponent, 1) - 15, significand: 1)
        return bits & 0x8000 == 0 ? magnitude : -magnitude
    }
}
