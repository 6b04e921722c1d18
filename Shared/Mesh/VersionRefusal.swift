/// What the bound side answers to a hello of versions that it does not speak: its own.
///
///     mesh u16 │ oldest u16 │ newest u16, in network order
///
/// Bytes behind are ignored.
package struct VersionRefusal: Equatable, Sendable {
    package let mesh: UInt16
    package let versions: ClosedRange<UInt16>

    package init(_ versions: ClosedRange<UInt16>) {
        self.mesh = Hello.meshVersion
        self.versions = versions
    }

    /// Parses a frame of untrusted bytes; nil when it is malformed.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 6 else { return nil }
        let numbers = [0, 2, 4].map { UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt16.self)) }
        guard numbers[1] <= numbers[2] else { return nil }
        self.mesh = numbers[0]
        self.versions = numbers[1]...numbers[2]
    }

    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for number in [self.mesh, self.versions.lowerBound, self.versions.upperBound] {
            bytes.append(bigEndian: number)
        }
        return bytes
    }
}

extension ClosedRange<UInt16> {
    /// The newest version that two sides have in common; nil when there is none.
    package func newest(with other: ClosedRange<UInt16>) -> UInt16? {
        self.overlaps(other) ? Swift.min(self.upperBound, other.upperBound) : nil
    }

    /// For logs and notes: `2`, or `2 to 3`.
    package var text: String {
        self.count == 1 ? "\(self.lowerBound)" : "\(self.lowerBound) to \(self.upperBound)"
    }
}
