/// A view of one value in a document; it keeps the document's storage alive. Accessors for another kind return nil;
/// they never trap and never convert.
public struct JSONValue: Sendable {
    /// The kinds of RFC 8259 section 3.
    public enum Kind: UInt8, Sendable {
        case object, array, string, number, bool, null
    }

    let bytes: [UInt8]
    let nodes: [JSONNode]
    let index: Int

    init(bytes: [UInt8], nodes: [JSONNode], index: Int) {
        self.bytes = bytes
        self.nodes = nodes
        self.index = index
    }

    var node: JSONNode {
        self.index < self.nodes.count ? self.nodes[self.index] : .missing
    }

    public var kind: Kind { self.node.kind }

    /// The number of members of an object or elements of an array; 0 for anything else.
    public var count: Int {
        let node = self.node
        return node.kind == .object || node.kind == .array ? Int(truncatingIfNeeded: node.payload) : 0
    }

    public var isNull: Bool { self.kind == .null }

    /// The value of `true` or `false`, else nil.
    public var bool: Bool? {
        let node = self.node
        return node.kind == .bool ? node.payload == 1 : nil
    }

    /// A number's value, always finite and never −0, else nil.
    public var double: Double? {
        let node = self.node
        return node.kind == .number ? Double(bitPattern: node.payload) : nil
    }

    /// The value of a whole number, else nil. Below 2^53 it may be spelt `1`, `1.0` or `1e0`, since some languages write the
    /// integers of maps so; from there on, up to 64 bits, without fraction and exponent only: then it is exact.
    public var integer: Int64? {
        let node = self.node
        guard node.kind == .number else { return nil }
        let double = Double(bitPattern: node.payload)
        if double.magnitude < 9_007_199_254_740_992 {
            let whole = Int64(double)
            return Double(whole) == double ? whole : nil
        }
        guard node.flag else { return nil }
        var value: Int64 = 0
        var digits = self.bytes[Int(node.start)..<Int(node.end)]
        let negative = digits.first == UInt8(ascii: "-")
        if negative { digits.removeFirst() }
        // Accumulated as a negative number, because Int64.min has no positive counterpart.
        for byte in digits {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, underflow) = product.subtractingReportingOverflow(Int64(byte) - 0x30)
            if overflow || underflow { return nil }
            value = sum
        }
        if negative { return value }
        return value == .min ? nil : -value
    }

    /// The value's text as received, including quotes and brackets. A slice of the document's copy, not a copy.
    public var rawBytes: ArraySlice<UInt8> {
        let node = self.node
        return self.bytes[Int(node.start)..<Int(node.end)]
    }
}
