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
