internal import Boot
package import Logging
package import Trust
package import Wire

/// Iterates over the envelopes that a daemon receives, with one policy for malformed ones: an envelope ends at its
/// first malformed record, the records before it count, and the sender's link stays up. Each malformed envelope is
/// counted, at most one a second is logged, none is fatal. Records that their sender may not send are skipped and
/// counted in the same way.
///
/// Not public and inlinable: the optimiser of Swift 6.3.1 crashes when it inlines this class across modules, and a call
/// for each record costs only 2 ns.
package final class EnvelopeIntake {
    private let logger: Logger
    private let receiver: PeerRole?
    private let onForeign: () -> Void
    private let onRefusal: () -> Void
    private var foreignLimiter = LogLimiter(every: .seconds(1))
    private var limiter = LogLimiter(every: .seconds(1))

    /// - Parameters:
    ///   - receiver: the role of the daemon, which decides who may send what; nil to accept every record.
    ///   - onForeign: called for every record whose sender may not send it.
    ///   - onRefusal: called for every malformed envelope.
    package init(
        at receiver: PeerRole? = nil, logger: Logger, onForeign: @escaping () -> Void = {},
        onRefusal: @escaping () -> Void
    ) {
        self.receiver = receiver
        self.onForeign = onForeign
        self.logger = logger
        self.onRefusal = onRefusal
    }

    /// Calls `body` for each record, in order, until the end of the envelope or its first malformed record.
    /// - Parameters:
    ///   - bytes: one envelope; the fields handed to `body` point into it.
    ///   - roles: those of the sender, as far as its link proves them.
    ///   - body: throws when a record's fields are ill-formed.
    package func walk(
        _ bytes: UnsafeRawBufferPointer, from roles: PeerRoles,
        _ body: (RecordKind, ByteReader) throws(EnvelopeError) -> Void
    ) {
        do throws(EnvelopeError) {
            var reader = try EnvelopeReader(bytes)
            while let (kind, fields) = try reader.next() {
                if self.mayCome(kind, from: roles) { try body(kind, fields) } else { self.refuse(kind, from: roles) }
            }
        } catch {
            self.refuse(error)
        }
    }

    private func mayCome(_ kind: RecordKind, from roles: PeerRoles) -> Bool {
        guard let receiver = self.receiver else { return true }
        return !kind.senders(to: receiver).isDisjoint(with: roles)
    }

    /// Counts a record that its sender may not send.
    package func refuse(_ kind: RecordKind, from roles: PeerRoles) {
        self.onForeign()
        guard let suppressed = self.foreignLimiter.admit(at: .now) else { return }
        self.logger.warning(
            "record refused: its sender may not send it",
            metadata: [
                "record.kind": "\(kind)", "record.sender": "\(roles)", "log.suppressed": "\(suppressed)",
            ])
    }

    func refuse(_ error: EnvelopeError) {
        self.onRefusal()
        guard let suppressed = self.limiter.admit(at: .now) else { return }
        self.logger.warning("envelope refused", metadata: ["error": "\(error)", "log.suppressed": "\(suppressed)"])
    }
}
