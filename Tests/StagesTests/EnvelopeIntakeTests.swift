import Logging
import NIOConcurrencyHelpers
import Stages
import Testing
import Trust
import Wire

/// An envelope that cannot be read ends at its first bad record; it is counted, at most one a second is logged.
@Suite struct EnvelopeIntakeTests {
    /// Keeps the lines that are logged.
    private struct Lines: LogHandler {
        let lines: NIOLockedValueBox<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let suppressed = event.metadata?["log.suppressed"].map { "\($0)" } ?? "-"
            self.lines.withLockedValue { $0.append("\(event.level) \(event.message) \(suppressed)") }
        }
    }

    private let lines = NIOLockedValueBox<[String]>([])
    private let refused = NIOLockedValueBox(0)

    private func intake() -> EnvelopeIntake {
        let lines = self.lines
        let refused = self.refused
        return EnvelopeIntake(logger: Logger(label: "test") { _ in Lines(lines: lines) }) {
            refused.withLockedValue { $0 += 1 }
        }
    }

    private func rooms(in bytes: [UInt8], _ intake: EnvelopeIntake) -> [Identifier] {
        var rooms: [Identifier] = []
        bytes.withUnsafeBytes { bytes in
            intake.walk(bytes, from: .all) { kind, fields throws(EnvelopeError) in
                guard kind == .leave else { return }
                rooms.append(try EnvelopeReader.decode(Leave.self, fields).room)
            }
        }
        return rooms
    }

    private func envelope(_ rooms: Identifier...) -> [UInt8] {
        var envelope = EnvelopeWriter()
        for room in rooms { envelope.append(Leave(room: room, connection: 1)) }
        return envelope.bytes
    }

    @Test func recordsBeforeABadOneCount() {
        let intake = self.intake()
        let bytes = self.envelope("a", "b", "c")
        #expect(self.rooms(in: bytes, intake) == ["a", "b", "c"])
        #expect(self.refused.withLockedValue { $0 } == 0)
        #expect(self.rooms(in: Array(bytes.dropLast()), intake) == ["a", "b"])
        #expect(self.refused.withLockedValue { $0 } == 1)
    }

    @Test func illFormedFieldsEndTheEnvelope() {
        var envelope = EnvelopeWriter()
        envelope.append(Leave(room: "a", connection: 1))
        envelope.append(.leave) { $0.bytes += [200, 1] }
        envelope.append(Leave(room: "c", connection: 1))
        #expect(self.rooms(in: envelope.bytes, self.intake()) == ["a"])
        #expect(self.refused.withLockedValue { $0 } == 1)
    }

    @Test func eachIsCountedAndOneASecondIsLogged() {
        let intake = self.intake()
        for bytes in [[], [1, 2, 3], [0x54, 0x53, 9, 0, 0, 0, 0, 0]] as [[UInt8]] {
            #expect(self.rooms(in: bytes, intake).isEmpty)
        }
        #expect(self.refused.withLockedValue { $0 } == 3)
        #expect(self.lines.withLockedValue { $0 } == ["warning envelope refused 0"])
        // Their sender stays: what it sends next is read.
        #expect(self.rooms(in: self.envelope("a"), intake) == ["a"])
    }
}
