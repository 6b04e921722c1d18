internal import JSONBytes

/// What a daemon says about itself at `/healthz` and `/readyz`.
package struct DaemonHealth: Equatable, Sendable {
    /// A condition and why it is reported.
    package struct Reason: Equatable, Sendable {
        /// What is checked, such as `mesh` or `rules`.
        package let check: String
        package let text: String

        package init(check: String, text: String) {
            self.check = check
            self.text = text
        }
    }

    package var isReady: Bool
    /// Why it is not ready.
    package var reasons: [Reason]
    /// What deserves attention although it is ready.
    package var notes: [Reason]
    /// The lines of `/healthz` about loops that do not turn.
    package var stalled: [String]

    package init(isReady: Bool = true, reasons: [Reason] = [], notes: [Reason] = [], stalled: [String] = []) {
        self.isReady = isReady
        self.reasons = reasons
        self.notes = notes
        self.stalled = stalled
    }

    /// Reasons and lines of each kind that are kept, and bytes of each text.
    private static let limit = 16
    private static let textLimit = 500

    /// Reads the answers to both pages.
    /// - Parameters:
    ///   - readiness: the body of `/readyz`.
    ///   - liveness: the body of `/healthz`.
    /// - Returns: nil when the first is not what daemons answer.
    package init?(readiness: [UInt8], liveness: [UInt8]) {
        var document = JSONDocument()
        guard (try? document.parse(readiness)) != nil, let isReady = document.root["ready"]?.bool else { return nil }
        self.isReady = isReady
        self.reasons = Self.reasons(document.root["reasons"])
        self.notes = Self.reasons(document.root["notes"])
        self.stalled = String(decoding: liveness.prefix(Self.limit * Self.textLimit), as: UTF8.self)
            .split(separator: "\n").prefix(Self.limit)
            .filter { $0.hasPrefix("stalled: ") }
            .map { String($0.dropFirst("stalled: ".count).prefix(Self.textLimit)) }
    }

    private static func reasons(_ list: JSONValue?) -> [Reason] {
        guard let list else { return [] }
        return list.elements.prefix(Self.limit).compactMap { entry in
            guard let check = entry["check"]?.string, let text = entry["reason"]?.string else { return nil }
            return Reason(check: String(check.prefix(64)), text: String(text.prefix(Self.textLimit)))
        }
    }
}
