package enum Key: Equatable, Sendable {
    case character(Character)
    /// Ctrl-C, or the end of the input.
    case interrupt
    case up, down, left, right
    case escape
    /// Ctrl-L, or what a terminal sends that was suspended: draw everything again.
    case redraw
}

/// Reads keys from the bytes of a terminal (ECMA-48 section 5.4, the sequences of xterm).
///
/// A sequence may be cut between two reads. An escape at the end of a read is the key of that name: nobody types the
/// rest of a sequence, and a terminal sends it whole or almost.
package struct KeyReader: Sendable {
    private var pending: [UInt8] = []
    /// Sequences that are longer are dropped.
    private static let longest = 32

    package init() {}

    /// The keys in the bytes of one read.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> [Key] {
        var keys: [Key] = []
        for byte in bytes {
            if self.pending.isEmpty {
                if byte == 0x1B { self.pending = [byte] } else if let key = Self.key(byte) { keys.append(key) }
            } else {
                self.continueSequence(byte, &keys)
            }
        }
        if self.pending == [0x1B] {
            self.pending = []
            keys.append(.escape)
        }
        return keys
    }

    private mutating func continueSequence(_ byte: UInt8, _ keys: inout [Key]) {
        self.pending.append(byte)
        if self.pending.count == 2 {
            // Another character after an escape: two keys.
            guard byte != UInt8(ascii: "["), byte != UInt8(ascii: "O") else { return }
            self.pending = []
            keys.append(.escape)
            if let key = Self.key(byte) { keys.append(key) }
        } else if (0x40...0x7E).contains(byte) {
            self.pending = []
            if let key = Self.arrow(byte) { keys.append(key) }
        } else if self.pending.count > Self.longest {
            self.pending = []
        }
    }

    private static func key(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x03, 0x04: .interrupt
        case 0x0C: .redraw
        case 0x20...0x7E: .character(Character(Unicode.Scalar(byte)))
        default: nil
        }
    }

    private static func arrow(_ final: UInt8) -> Key? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        default: nil
        }
    }
}
