import CLibpq

/// Collects the server's notices, which libpq reports through a callback.
///
/// libpq calls back on the calling thread, while parsing; so the callback only stores, and the connection checks it
/// after each call. The connection outlives the PGconn that refers to this object.
final class NoticeInbox {
    private(set) var warnings: [String] = []
    /// Why the server ended the session, if it reported that outside of any request.
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

    func drainWarnings() -> [String] {
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
            // A bound for safety: one warning is enough to make a result doubtful.
            if warnings.count < 16 { warnings.append(error.message) }
            if error.sqlState.endsSession { farewell = error }
        case "FATAL", "PANIC":
            farewell = error
        default:
            break
        }
    }
}
