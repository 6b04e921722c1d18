/// Formats numbers for people.
enum Figures {
    /// A number with this many decimals.
    static func decimal(_ value: Double, _ places: Int) -> String {
        guard value.isFinite, value.magnitude < 1e15 else { return "-" }
        var scale: Int64 = 1
        for _ in 0..<places { scale *= 10 }
        let scaled = Int64((value * Double(scale)).rounded())
        let sign = scaled < 0 ? "-" : ""
        let (whole, rest) = scaled.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
        guard places > 0 else { return "\(sign)\(whole)" }
        let digits = "\(rest)"
        return "\(sign)\(whole).\(String(repeating: "0", count: max(0, places - digits.count)))\(digits)"
    }

    /// Three significant digits: 0.123, 1.23, 12.3, 123.
    static func short(_ value: Double) -> String {
        switch value.magnitude {
        case ..<1: self.decimal(value, 3)
        case ..<10: self.decimal(value, 2)
        case ..<100: self.decimal(value, 1)
        default: self.grouped(value)
        }
    }

    /// A whole number with commas: 12,345.
    static func grouped(_ value: Double) -> String {
        let text = self.decimal(value, 0)
        let digits = text.drop { $0 == "-" }
        guard digits != "", digits.allSatisfy(\.isNumber) else { return text }
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return (text.hasPrefix("-") ? "-" : "") + result
    }

    static func grouped(_ value: Int) -> String { self.grouped(Double(value)) }

    static func milliseconds(_ microseconds: Int) -> String { self.short(Double(microseconds) / 1000) }

    /// Bytes in binary units.
    static func bytes(_ count: Double) -> String {
        switch count.magnitude {
        case ..<1024: "\(self.decimal(count, 0)) B"
        case ..<1_048_576: "\(self.decimal(count / 1024, 1)) KiB"
        case ..<1_073_741_824: "\(self.decimal(count / 1_048_576, 1)) MiB"
        default: "\(self.decimal(count / 1_073_741_824, 2)) GiB"
        }
    }

    /// Rows with aligned columns, the first ones to the left, the others to the right.
    static func table(_ rows: [[String]], toTheLeft: Int = 1) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                return column < toTheLeft ? cell + blanks : blanks + cell
            }
            var line = "  " + cells.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
