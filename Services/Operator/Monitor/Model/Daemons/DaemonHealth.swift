internal import JSONBytes

/// What a daemon says about itself at `/healthz` and `/readyz`.
struct DaemonHealth: Equatable, Sendable {
    /// A condition and why it is reported.
    struct Reason: Equatable, Sendable {
        /// What is checked, such as `mesh` or `rules`.
        let check: String
        let text: String
    }

    var isReady = true
    /// Why it is not ready.
    var reasons: [Reason] = []
    /// What deserves attention although it is ready.
    var notes: [Reason] = []
    /// The lines of `/healthz` about loops that do not turn.
    var stalled: [String] = []

    /// Reasons and lines of each kind that are kept, and bytes of each text.
    fileprivate static let limit = 16
    fileprivate static let textLimit = 500

    fileprivate static func reasons(_ list: JSONValue?) -> [Reason] {
        guard let list else { return [] }
        return list.elements.prefix(Self.limit).compactMap { entry in
            guard let check = entry["check"]?.string, let text = entry["reason"]?.string else { return nil }
            return Reason(check: String(check.prefix(64)), text: String(text.prefix(Self.textLimit)))
        }
    }
}

extension DaemonHealth {
    /// Reads the answers to both pages.
    /// - Parameters:
    ///   - readiness: the body of `/readyz`.
    ///   - liveness: the body of `/healthz`.
    /// - Returns: nil when the first is not what daemons answer.
    init?(readiness: [UInt8], liveness: [UInt8]) {
        guard let root = try? JSONValue(parsing: readiness), let isReady = root["ready"]?.bool else { return nil }
        self.isReady = isReady
        self.reasons = Self.reasons(root["reasons"])
        self.notes = Self.reasons(root["notes"])
        self.stalled = String(decoding: liveness.prefix(Self.limit * Self.textLimit), as: UTF8.self)
            .split(separator: "\n").prefix(Self.limit)
            .filter { $0.hasPrefix("stalled: ") }
            .map { String($0.dropFirst("stalled: ".count).prefix(Self.textLimit)) }
    }
}
