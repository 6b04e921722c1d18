import CLibpq

/// Where libpq puts what the server says besides results.
///
/// libpq calls back on the thread that calls libpq, in the middle of parsing; so the callback only stores, and the
/// connection looks here after each call. The connection outlives the PGconn that holds this pointer.
final class NoticeInbox {
    private(set) var warnings: [String] = []
    /// Why the server ended the session, when it said so outside of any request.
    var farewell: PostgresError?

    /// Must be called before the first use of the connection; `self` must live until `PQfinish`.
    func attach(to connection: OpaquePointer) {
        PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context, let result else { return }
                Unmanaged<NoticeInbox>.fromOpaque(context).takeUnretainedValue().received(result)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func takeWarnings() -> [String] {
        guard !warnings.isEmpty else { return [] }
        defer { warnings.removeAll() }
        return warnings
    }

    private func received(_ result: OpaquePointer) {
        guard let severity = PQresultErrorField(result, DiagnosticField.severity).map({ String(cString: $0) })
        else { return }
        let error = LibpqText.error(of: result)
        switch severity {
        case "WARNING":
            // A bound, not a limit that matters: one is enough to doubt a result.
            if warnings.count < 16 { warnings.append(error.message) }
            if error.sqlState.endsSession { farewell = error }
        case "FATAL", "PANIC":
            farewell = error
        default:
            break
        }
    }
}
