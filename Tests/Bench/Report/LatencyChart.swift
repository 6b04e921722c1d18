import Glibc

/// A chart of latencies over time: one panel for each load, x in seconds, y in milliseconds (logarithmic).
package enum LatencyChart {
    private static let width = 760.0
    private static let panel = 220.0
    private static let left = 64.0
    private static let right = 150.0
    private static let top = 30.0
    private static let bottom = 34.0

    private struct Line {
        let name: String
        let color: String
        let values: [Int?]
    }

    /// An SVG document.
    package static func svg(_ reports: [BenchReport]) -> String {
        let height = max(1, Double(reports.count)) * Self.panel
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.number(Self.width)) \(Self.number(height))" \
            font-family="sans-serif" font-size="11">
            <rect width="100%" height="100%" fill="#fff"/>

            """
        for (index, report) in reports.enumerated() {
            text += "<g transform=\"translate(0 \(Self.number(Double(index) * Self.panel)))\">\n"
            text += Self.panel(report)
            text += "</g>\n"
        }
        return text + "</svg>\n"
    }

    private static func panel(_ report: BenchReport) -> String {
        let lines = [
            Line(name: "preview age p50", color: "#7aa6d9", values: report.seconds.map(\.previewP50)),
            Line(name: "preview age p99", color: "#1f5fa8", values: report.seconds.map(\.previewP99)),
            Line(name: "commit ack p99", color: "#c2571a", values: report.seconds.map(\.acknowledgementP99)),
            Line(name: "commit to screen p99", color: "#3b8a3e", values: report.seconds.map(\.screenP99)),
        ].filter { $0.values.contains { $0 != nil } }
        var text =
            "<text x=\"\(Self.number(Self.left))\" y=\"18\" font-size=\"13\">\(Self.escaped(report.named.title)): "
        text += "\(Self.escaped(TextReport.description(report.load)))</text>\n"
        let all = lines.flatMap { $0.values.compactMap { $0 } }
        guard let lowest = all.min(), let highest = all.max() else { return text }
        let decades = Self.decades(lowest, highest)
        text += Self.grid(decades, seconds: report.seconds.count)
        for (index, line) in lines.enumerated() {
            text += Self.path(line, decades, seconds: report.seconds.count)
            let y = Self.top + 12 + Double(index) * 16
            let x = Self.width - Self.right + 12
            text += "<line x1=\"\(Self.number(x))\" x2=\"\(Self.number(x + 14))\" y1=\"\(Self.number(y - 4))\" "
            text += "y2=\"\(Self.number(y - 4))\" stroke=\"\(line.color)\" stroke-width=\"2\"/>"
            text += "<text x=\"\(Self.number(x + 18))\" y=\"\(Self.number(y))\">\(line.name)</text>\n"
        }
        return text
    }

    /// The powers of ten, in microseconds, that enclose all values.
    static func decades(_ lowest: Int, _ highest: Int) -> ClosedRange<Int> {
        var low = 0
        while low < 9, Self.power(low + 1) <= max(1, lowest) { low += 1 }
        var high = low + 1
        while high < 10, Self.power(high) < highest { high += 1 }
        return low...high
    }

    private static func power(_ exponent: Int) -> Int { (0..<exponent).reduce(1) { power, _ in power * 10 } }

    /// A value's position, pixels from the top.
    static func height(of value: Int, _ decades: ClosedRange<Int>) -> Double {
        let span = Double(decades.upperBound - decades.lowerBound)
        let position = (log10(Double(max(1, value))) - Double(decades.lowerBound)) / span
        return Self.panel - Self.bottom - max(0, min(1, position)) * (Self.panel - Self.top - Self.bottom)
    }

    private static func x(_ second: Double, of seconds: Int) -> Double {
        Self.left + second / Double(max(1, seconds)) * (Self.width - Self.left - Self.right)
    }

    private static func grid(_ decades: ClosedRange<Int>, seconds: Int) -> String {
        var text = ""
        let end = Self.number(Self.width - Self.right)
        for decade in decades {
            let y = Self.number(Self.height(of: Self.power(decade), decades))
            text += "<line x1=\"\(Self.number(Self.left))\" x2=\"\(end)\" y1=\"\(y)\" y2=\"\(y)\" stroke=\"#ddd\"/>"
            text += "<text x=\"\(Self.number(Self.left - 6))\" y=\"\(y)\" text-anchor=\"end\" dy=\"4\">"
            text += "\(Self.milliseconds(decade)) ms</text>\n"
        }
        let step = max(1, (seconds + 9) / 10)
        for second in stride(from: 0, through: seconds, by: step) {
            let x = Self.number(Self.x(Double(second), of: seconds))
            text += "<text x=\"\(x)\" y=\"\(Self.number(Self.panel - Self.bottom + 16))\" text-anchor=\"middle\">"
            text += "\(second) s</text>\n"
        }
        return text
    }

    /// A power of ten of microseconds as milliseconds.
    private static func milliseconds(_ decade: Int) -> String {
        decade >= 3 ? "\(Self.power(decade - 3))" : "0.\(String(repeating: "0", count: 2 - decade))1"
    }

    private static func path(_ line: Line, _ decades: ClosedRange<Int>, seconds: Int) -> String {
        var path = ""
        var isDown = false
        for (index, value) in line.values.enumerated() {
            guard let value else {
                isDown = false
                continue
            }
            // A second's value is drawn at its middle.
            let x = Self.number(Self.x(Double(index) + 0.5, of: seconds))
            path += "\(isDown ? "L" : "M")\(x) \(Self.number(Self.height(of: value, decades)))"
            isDown = true
        }
        return "<path d=\"\(path)\" fill=\"none\" stroke=\"\(line.color)\" stroke-width=\"1.5\"/>\n"
    }

    private static func number(_ value: Double) -> String { Figures.decimal(value, 1) }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "&": result += "&amp;"
            default: result.append(character)
            }
        }
        return result
    }
}
