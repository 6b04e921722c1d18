internal import Canvas
internal import JSONBytes

/// A line of a pen, as the page keeps it: simplified, and in parts that fit into elements.
enum PenStroke {
    /// What may be left out, pixels.
    private static let tolerance = 0.75
    /// Numbers of an element at most, and bytes of them.
    private static let most = (numbers: 1000, bytes: 7000)

    /// The parts of a line; each begins where the one before ends.
    static func parts(_ points: [Point]) -> [[Point]] {
        let rounded = points.map { Point(x: Foreign.fine($0.x), y: Foreign.fine($0.y)) }
        var parts: [[Point]] = []
        var part: [Point] = []
        var bytes = 0
        for point in Self.simplified(rounded) {
            let size = Self.length(point.x) + Self.length(point.y) + 2
            if part.count * 2 + 2 > Self.most.numbers || bytes + size > Self.most.bytes {
                parts.append(part)
                (part, bytes) = (part.suffix(1), 0)
            }
            part.append(point)
            bytes += size
        }
        if !part.isEmpty { parts.append(part) }
        return parts
    }

    private static func length(_ number: Double) -> Int {
        var writer = JSONWriter()
        writer.value(number)
        return writer.bytes.count
    }

    /// The fewest points that no point is further from than the tolerance, by the algorithm of Ramer, Douglas and Peucker.
    private static func simplified(_ points: [Point]) -> [Point] {
        guard points.count > 2 else { return points }
        var isKept = [Bool](repeating: false, count: points.count)
        (isKept[0], isKept[points.count - 1]) = (true, true)
        var parts = [(0, points.count - 1)]
        while let (first, last) = parts.popLast() {
            var (furthest, most) = (0, Self.tolerance)
            for index in first + 1..<max(last, first + 1) {
                let distance = Self.distance(of: points[index], from: points[first], to: points[last])
                if distance > most { (furthest, most) = (index, distance) }
            }
            guard furthest > 0 else { continue }
            isKept[furthest] = true
            parts += [(first, furthest), (furthest, last)]
        }
        return zip(points, isKept).filter(\.1).map(\.0)
    }

    private static func distance(of point: Point, from start: Point, to end: Point) -> Double {
        let (x, y) = (end.x - start.x, end.y - start.y)
        let length = x * x + y * y
        let share = length == 0 ? 0 : min(max(((point.x - start.x) * x + (point.y - start.y) * y) / length, 0), 1)
        let (right, down) = (point.x - start.x - x * share, point.y - start.y - y * share)
        return (right * right + down * down).squareRoot()
    }
}
