package import Boot

/// The monitor's settings; the schema has names, defaults and ranges.
package struct MonitorSettings: DaemonSettings {
    let daemons: DaemonSource
    let lookups: LookupPace
    /// What the daemons ask for.
    let operatorToken: String?

    package static let daemons = Setting<DaemonSource?>(
        name: "daemons", fallback: nil, allowed: "the path of a file, or a list of \(DaemonSource.form)",
        meaning:
            "Where the daemons are listed that are watched: in a file, which is read again when it changes, or in DNS.",
        read: { (input) throws(SettingRefusal) in
            guard let items = SettingText.list(input) ?? SettingText.plain(input).map({ [$0] }) else { return nil }
            return try DaemonSource(items)
        },
        render: { $0?.text ?? "" })

    package static let schema = SettingsSchema(
        "monitor", program: "touchsync monitor",
        summary: "watches all daemons, names what is wrong, and shows it on a page at its admin server's address.",
        [daemons, SharedSettings.lookupPause, SharedSettings.lookupPatience])

    package init(_ values: SettingValues) throws(SettingProblem) {
        self.daemons = try values.required(Self.daemons)
        self.lookups = LookupPace(values)
        self.operatorToken = values[SharedSettings.operatorToken]
    }
}
