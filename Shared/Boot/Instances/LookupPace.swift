package import Timing

/// How names in `dns://HOST:PORT` and `srv://NAME` are looked up.
package struct LookupPace: Sendable, Equatable {
    /// From the end of a lookup to the next one.
    package let pause: Nanoseconds
    /// How long an instance stays in the set that answers do not list any more.
    package let patience: Nanoseconds

    package init(pause: Nanoseconds, patience: Nanoseconds) {
        self.pause = pause
        self.patience = patience
    }

    package init(_ values: SettingValues) {
        self.init(
            pause: Nanoseconds(values[SharedSettings.lookupPause]),
            patience: Nanoseconds(values[SharedSettings.lookupPatience]))
    }
}
