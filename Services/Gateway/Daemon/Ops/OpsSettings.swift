import Boot

/// What an operator may set about the page `/ops`.
package struct OpsSettings: Sendable {
    /// The file that lists the daemons whose metrics this gateway scrapes; nil: it scrapes none.
    package var daemonsFile: String?
    /// What this gateway presents to them; nil where none is set.
    let token: String?
    /// Who may see what is scraped.
    let access: OperatorAccess

    static let daemons = Setting<String?>.optionalString(
        "ops-daemons",
        "File that lists the daemons which this gateway observes for its page /ops, as touchsync up keeps it; read again when it changes."
    )

    init(_ values: SettingValues) {
        self.daemonsFile = values[Self.daemons]
        self.token = values[SharedSettings.operatorToken]
        self.access = OperatorAccess(token: self.token)
    }
}
