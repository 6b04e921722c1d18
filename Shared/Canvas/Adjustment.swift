public import JSONBytes

/// One value that was stored differently from what the app sent.
public struct Adjustment: Equatable, Sendable {
    /// The rule that determined the stored value.
    public enum Why: String, Sendable {
        /// Outside the range of the type, of the canvas or of 0…1.
        case range
        /// The aspect ratio is locked and the other axis decided.
        case aspect
        /// The type does not rotate, or not out of its plane.
        case rotation
        /// The type, or an annotation, has no depth.
        case depth
        /// Smaller than the type may be drawn.
        case size
        /// Snapped to a multiple of the element's step.
        case snap
        /// The element's constraints do not allow it.
        case constraint
        /// Outside the element's bounds.
        case bounds
        /// Positions on the canvas are whole pixels.
        case integer
        /// A size hint that is not what the server computed.
        case computed
    }

    /// The element's field, by its name in the flat element.
    public var field: String
    /// What the app sent.
    public var sent: Double
    /// What is stored.
    public var stored: Double
    /// The rule.
    public var why: Why

    public init(field: String, sent: Double, stored: Double, why: Why) {
        self.field = field
        self.sent = sent
        self.stored = stored
        self.why = why
    }

    /// Writes `{field, sent, stored, why}`, in a group with the element's id.
    public func encode(into writer: inout JSONWriter, elementId: String? = nil) {
        writer.beginObject()
        writer.member("elementId", ifPresent: elementId)
        writer.member("field", self.field)
        writer.member("sent", self.sent)
        writer.member("stored", self.stored)
        writer.member("why", self.why.rawValue)
        writer.endObject()
    }
}

extension [Adjustment] {
    /// Notes a value that is stored differently from what was sent.
    @inline(__always)
    mutating func note(
        _ field: @autoclosure () -> String, _ sent: Double, _ stored: Double, _ why: Adjustment.Why
    ) {
        guard sent != stored else { return }
        self.append(Adjustment(field: field(), sent: sent, stored: stored, why: why))
    }

    /// A number that was sent, within a range, and never −0; another one is noted.
    mutating func clamp(
        _ field: @autoclosure () -> String, _ sent: Double, to range: ClosedRange<Double>
    ) -> Double {
        let stored = clamped(sent, range.lowerBound, range.upperBound) + 0
        self.note(field(), sent, stored, .range)
        return stored
    }
}
