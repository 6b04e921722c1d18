/// What a peer sends when a link comes up.
///
/// Layout of the frame, numbers in network order:
/// ```
///  0        2        4          12        13            16       17
///  +--------+--------+----------+---------+-------------+--------+-----------+------------------+
///  | "mesh" | oldest | instance | further | incarnation | name   | name      | greeting         |
///  | u16    | u16    | u64      | u8      | u24         | len u8 | len bytes | all that is left |
///  +--------+--------+----------+---------+-------------+--------+-----------+------------------+
/// ```
/// The first field is the version of this module's own frames. A reader of another version reads no further.
///
/// The versions of the frames' contents that the peer speaks are `oldest` to `oldest + further`.
package struct Hello: Equatable, Sendable {
    /// The peer's name, safe to log.
    package let name: String
    /// Random, generated when the peer's link was created: a restarted peer has another.
    package let instance: UInt64
    /// How many times that link has connected before, modulo 2^24; 0 for servers.
    package let incarnation: UInt32
    /// The versions of the frames' contents that the peer speaks.
    package let versions: ClosedRange<UInt16>
    package let greeting: [UInt8]

    /// The version of this module's kinds and of this layout.
    package static let meshVersion: UInt16 = 1
    /// The longest greeting, in bytes.
    package static let maximumGreetingBytes = 4096
    private static let incarnationMask: UInt32 = 0xff_ffff

    package enum Failure: Error, Equatable {
        case malformed
        case meshVersion(UInt16)
    }

    package init(_ identity: LinkIdentity, instance: UInt64, incarnation: UInt32) {
        self.name = identity.name
        self.instance = instance
        self.incarnation = incarnation & Hello.incarnationMask
        self.versions = identity.versions
        self.greeting = identity.greeting
    }

    package init(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        guard bytes.count >= 4 else { throw .malformed }
        let mesh = UInt16(bigEndian: bytes.loadUnaligned(as: UInt16.self))
        guard mesh == Hello.meshVersion else { throw .meshVersion(mesh) }
        guard bytes.count >= 17 else { throw .malformed }
        let oldest = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        let (newest, isBeyond) = oldest.addingReportingOverflow(UInt16(bytes[12]))
        guard !isBeyond else { throw .malformed }
        let nameEnd = 17 + Int(bytes[16])
        guard nameEnd <= bytes.count, bytes.count - nameEnd <= Hello.maximumGreetingBytes,
            Hello.isValidName(bytes[17..<nameEnd])
        else { throw .malformed }
        self.versions = oldest...newest
        self.instance = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
        let counts = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
        self.incarnation = counts & Hello.incarnationMask
        self.name = String(decoding: bytes[17..<nameEnd], as: UTF8.self)
        self.greeting = [UInt8](bytes[nameEnd...])
    }

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(17 + self.name.utf8.count + self.greeting.count)
        bytes.append(bigEndian: Hello.meshVersion)
        bytes.append(bigEndian: self.versions.lowerBound)
        bytes.append(bigEndian: self.instance)
        bytes.append(bigEndian: UInt32(self.versions.upperBound - self.versions.lowerBound) << 24 | self.incarnation)
        bytes.append(UInt8(clamping: self.name.utf8.count))
        bytes.append(contentsOf: self.name.utf8)
        bytes.append(contentsOf: self.greeting)
        return bytes
    }

    /// 1 to 64 bytes of `A-Z a-z 0-9 . _ -`.
    package static func isValidName(_ bytes: some Collection<UInt8>) -> Bool {
        (1...64).contains(bytes.count) && bytes.allSatisfy(\.isNameByte)
    }
}

extension UInt8 {
    /// True for one of `A-Z a-z 0-9 . _ -`.
    var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension [UInt8] {
    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { self.append(contentsOf: $0) }
    }
}
