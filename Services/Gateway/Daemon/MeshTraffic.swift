/// The stages behind the gateway.
enum Stage: Int, Sendable, CaseIterable {
    case coalescer
    case committer
    case fanout
}

/// A lane of a link: commits never stand behind previews.
enum Lane: Sendable {
    case main
    case previews
}

/// One envelope for one peer.
struct OutgoingEnvelope: Sendable {
    let stage: Stage
    let peer: String
    let lane: Lane
    let bytes: [UInt8]
}

/// What the event loop gives the mesh's thread to send.
enum MeshOrder: Sendable {
    /// One envelope for one peer of the mesh.
    case envelope(OutgoingEnvelope)
    /// One packet for a back end on the ZeroMQ face.
    case face(peer: [UInt8], text: [UInt8])
}

/// What the mesh's thread tells the event loop.
enum MeshNews: Sendable {
    /// A packet came from a back end on the ZeroMQ face, named by its routing id.
    case face(peer: [UInt8], text: [UInt8])
    /// A back end cannot be reached any more.
    case faceGone(peer: [UInt8])
    /// A peer answers and greeted with these bytes.
    case up(Stage, peer: String, greeting: [UInt8], isResting: Bool)
    /// A peer that answers can do its work no more for now, or again.
    case resting(Stage, peer: String, Bool)
    /// A peer answers no more.
    case down(Stage, peer: String)
    /// The preview lane to a coalescer takes no more for now, or takes again.
    case previewLane(peer: String, isOpen: Bool)
    /// An envelope came.
    case envelope(Stage, peer: String, [UInt8])
}

extension MeshOrder {
    /// What it counts in the mailbox, bytes.
    var weight: Int {
        switch self {
        case .envelope(let envelope): 64 + envelope.bytes.count
        case .face(_, let text): 64 + text.count
        }
    }
}

extension MeshNews {
    /// What it counts in the mailbox, bytes.
    var weight: Int {
        switch self {
        case .face(_, let text): 64 + text.count
        case .envelope(_, _, let bytes): 64 + bytes.count
        case .faceGone, .up, .resting, .down, .previewLane: 64
        }
    }
}
