internal import Boot
package import Logging
package import Wire

/// Iterates over the envelopes that a daemon receives, with one policy for malformed ones: an envelope ends at its
/// first malformed record, the records before it count, and the sender's link stays up. Each malformed envelope is
/// counted, at most one a second is logged, none is fatal.
///
/// Not public and inlinable: the optimiser of Swift 6.3.1 crashes when it inlines this class across modules, and a call
/// for each record costs only 2 ns.
package final class EnvelopeIntake {
    private let logger: Logger
    private let onRefusal: () -> Void
    private var limiter = LogLimiter(every: .seconds(1))

    /// An intake that logs to `logger` and calls `onRefusal` for every malformed envelope.
    package init(logger: Logger, onRefusal: @escaping () -> Void) {
        self.logger = logger
        self.onRefusal = onRefusal
    }

    /// Calls `body` for each record, in order, until the end of the envelope or its first malformed record.
    /// - Parameters:
    ///   - bytes: one envelope; the fields handed to `body` point into it.
    ///   - body: throws when a record's fields are ill-formed.

    package func walk(_ bytes: UnsafeRawBufferPointer, _ body: (RecordKind, ByteReader) throws(EnvelopeError) -> Void) {
        do throws(EnvelopeError) {
            var reader = try EnvelopeReader(bytes)
            while let (kind, fields) = try reader.next() { try body(kind, fields) }
        } catch {
            self.refuse(error)
        }
    }

    func refuse(_ error: EnvelopeError) {
        self.onRefusal()
        guard let suppressed = self.limiter.admit(at: .now) else { return }
        self.logger.warning("envelope refused", metadata: ["error": "\(error)", "log.suppressed": "\(suppressed)"])
    }
}
