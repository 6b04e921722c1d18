import Boot

/// What an operator may set about the page `/ops`.
package struct OpsSettings: Sendable {
    /// The file that lists the daemons whose metrics this gateway scrapes; nil: it scrapes none.
    package var daemonsFile: String?
    /// Who may see what is scraped.
    let access: OpsAccess

    static let daemons = Setting<String?>.optionalString(
        "ops-daemons",
        "File that lists the daemons which this gateway observes for its page /ops, as touchsync up keeps it; read again when it changes."
    )
    static let token = Setting<String?>.secret(
        "ops-token",
        "Token of at least 32 bytes that the page /ops asks for; without it only programs of this machine see the page's data, in open mode."
    )

    /// The fewest bytes of a token: as many as HS256 has.
    private static let leastTokenBytes = 32

    /// - Parameter isPrivate: whether the gateway is in open mode and on loopback.
    init(_ values: SettingValues, isPrivate: Bool) throws(SettingProblem) {
        self.daemonsFile = values[Self.daemons]
        guard let token = values[Self.token] else {
            self.access = isPrivate ? .localPrograms : .nobody
            return
        }
        guard token.utf8.count >= Self.leastTokenBytes else {
            throw values.problem(Self.token, "must have at least \(Self.leastTokenBytes) bytes")
        }
        self.access = .token(OperatorToken(token))
    }
}
