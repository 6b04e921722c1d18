import CLibpq

/// Translates libpq's texts and errors.
enum LibpqText {
    /// The first line without its newline.
    static func line(_ text: String) -> String {
        String(text.prefix { !$0.isNewline })
    }

    /// The first line without what it quotes of a connection string: that may be a piece of a password, or the whole.
    static func lineWithoutQuotes(_ text: String) -> String {
        let line = Self.line(text)
        guard let first = line.firstIndex(of: "\""), let last = line.lastIndex(of: "\"") else { return line }
        return "\(line[..<first])…\(line[last...].dropFirst())"
    }

    /// The error of a failed connection attempt. libpq exposes its SQLSTATE only inside the text, where verbose errors
    /// read `FATAL:  57P03: the database system is starting up`.
    static func connectError(_ text: String) -> PostgresError {
        var state = SQLState.cannotConnect
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":").map { $0.drop { $0 == " " } }
            for (index, part) in parts.enumerated() where index > 0 && part.utf8.count == 5 {
                let found = SQLState(String(part))
                // libpq reports a read-only server in the same way, but without a code.
                if found != .unspecified, parts[index - 1].allSatisfy({ !$0.isLowercase }) { state = found }
            }
        }
        // libpq's own "invalid port number" and the like quote the connection string.
        let message = text.hasPrefix("invalid ") ? lineWithoutQuotes(text) : line(text)
        return PostgresError(state, message, outcome: .notExecuted)
    }

    static func error(of result: OpaquePointer) -> PostgresError {
        func field(_ code: Int32) -> String? {
            PQresultErrorField(result, code).map { String(cString: $0) }
        }
        let state = field(DiagnosticField.sqlState).map { SQLState($0) } ?? .unspecified
        let text = field(DiagnosticField.message) ?? line(String(cString: PQresultErrorMessage(result)))
        var error = PostgresError(state, text, detail: field(DiagnosticField.detail))
        // "cached plan must not change result type": recognised by the reporting function, as the code is a broad one.
        error.needsFreshSession =
            state == .featureNotSupported && field(DiagnosticField.sourceFunction) == "RevalidateCachedQuery"
        return error
    }
}

/// The codes of an error's fields (PostgreSQL manual, "Error and Notice Message Fields"); C has them as macros.
enum DiagnosticField {
    static let severity = code("V")
    static let sqlState = code("C")
    static let message = code("M")
    static let detail = code("D")
    static let sourceFunction = code("R")

    private static func code(_ character: Unicode.Scalar) -> Int32 {
        Int32(character.value)
    }
}
