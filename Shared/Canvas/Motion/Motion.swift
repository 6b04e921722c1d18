/// How the eye gets to where an element is stored: a track for each field that moves. It is data and a function of
/// time: nothing has to be sent while it plays.
public struct Motion: Equatable, Sendable {
    public var tracks = ByField<Track>()

    public init() {}

    public var isEmpty: Bool { self.tracks.isEmpty }

    /// The fields that have a track, in the order of the table.
    public var fields: [ElementField] { self.tracks.fields }

    /// The track of a field.
    public subscript(field: ElementField) -> Track? {
        get { self.tracks[field] }
        set { self.tracks[field] = newValue }
    }
}
