package import Timing

/// In tests a literal counts nanoseconds, of a moment as of a span.
extension Instant: ExpressibleByIntegerLiteral {
    package init(integerLiteral nanoseconds: UInt64) {
        self.init(nanoseconds: nanoseconds)
    }
}

extension Nanoseconds: ExpressibleByIntegerLiteral {
    package init(integerLiteral count: UInt64) {
        self.init(count)
    }
}

extension Nanoseconds {
    /// A span, multiplied.
    package static func * (factor: UInt64, span: Nanoseconds) -> Nanoseconds { span * factor }
}
