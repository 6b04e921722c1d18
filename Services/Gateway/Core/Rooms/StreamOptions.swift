/// What a connection in a room understands.
enum ReaderKind {
    /// The full contract.
    case app
    /// The 1.0 contract.
    case v1App
    /// Only the room's numbered stream, over HTTP. Nobody sees it.
    case subscriber
}

/// What an app gets of a room beside its numbered stream.
package struct StreamOptions: Equatable, Sendable {
    /// False: no previews.
    package var previews = true
    /// False: elements without their motion and animation, which are where they are stored.
    package var motion = true

    /// Everything.
    package init() {}

    /// What both allow.
    func and(previews: Bool?, motion: Bool?) -> StreamOptions {
        var options = self
        options.previews = self.previews && previews ?? true
        options.motion = self.motion && motion ?? true
        return options
    }
}
