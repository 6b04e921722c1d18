/// Figures in few characters, for people.
package enum Quantities {
    /// A number with three digits that count: `0`, `4.2`, `830`, `12.4k`, `3.1M`.
    package static func number(_ value: Double) -> String {
        let size = value.magnitude
        if size < 0.05 { return "0" }
        if size < 99.95 { return Self.tenths(value) }
        if size < 9999.5 { return "\(Int(value.rounded()))" }
        return size < 999_950 ? Self.tenths(value / 1000) + "k" : Self.tenths(value / 1_000_000) + "M"
    }

    /// Bytes: `512 B`, `4.2 KiB`, `120 MiB`.
    package static func bytes(_ value: Double) -> String {
        var value = value
        for unit in ["B", "KiB", "MiB", "GiB"] {
            if value < 1000 || unit == "GiB" {
                return (unit == "B" || value >= 99.95 ? "\(Int(value.rounded()))" : Self.tenths(value)) + " \(unit)"
            }
            value /= 1024
        }
        return ""
    }

    /// A span, seconds: `0.4 ms`, `12 ms`, `3.2 s`, `4 min`, `3 h`, `2 d`.
    package static func span(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.00005: "0 ms"
        case ..<0.00995: Self.tenths(seconds * 1000) + " ms"
        case ..<0.9995: "\(Int((seconds * 1000).rounded())) ms"
        case ..<99.5: Self.tenths(seconds) + " s"
        case ..<5940: "\(Int((seconds / 60).rounded())) min"
        case ..<172_800: "\(Int((seconds / 3600).rounded())) h"
        default: "\(Int((seconds / 86_400).rounded())) d"
        }
    }

    /// At most one decimal.
    package static func tenths(_ value: Double) -> String { self.text(value, unit: 10) }

    /// At most three decimals.
    package static func thousandths(_ value: Double) -> String { self.text(value, unit: 1000) }

    private static func text(_ value: Double, unit: Double) -> String {
        // Plus zero, so that nothing is −0.
        let units = (value * unit).rounded() + 0
        guard units.magnitude < 1e15 else { return "\(value)" }
        let text = "\(units / unit)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
