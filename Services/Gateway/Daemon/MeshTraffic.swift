package import Stages
import Trust

/// A lane of a link: commits never stand behind previews.
package enum MeshLane: Sendable {
    case main
    case previews
}

/// One envelope for one instance.
package struct OutgoingEnvelope: Sendable {
    /// Who gets it.
    package let instance: StageInstance
    /// On which of its lanes.
    package let lane: MeshLane
    /// Over which of the link's connections: what was decided before the loop knew of the present one is lost with the
    /// former. Nil: over any.
    package let connection: UInt32?
    /// The envelope.
    package let bytes: [UInt8]
}

/// What the event loop gives the mesh's thread to send.
package enum MeshOrder: Sendable {
    /// One envelope for one instance.
    case envelope(OutgoingEnvelope)
    /// One packet for a back end on the ZeroMQ face.
    case face(peer: [UInt8], text: [UInt8])
}

/// What the mesh's thread reports to the event loop.
enum MeshNews: Sendable {
    /// A packet came from a back end on the ZeroMQ face, named by its routing id; its key is nil on a plain socket.
    case face(peer: [UInt8], key: PublicKey?, text: [UInt8])
    /// A packet came from one that chose its own routing id.
    case faceNamedItself(peer: [UInt8])
    /// Other peers are listed; back ends that are not among them have to leave.
    case backEndsChanged(PeerList)
    /// A back end cannot be reached any more.
    case faceGone(peer: [UInt8])
    /// An instance is in its stage's set from now on, under this name.
    case added(StageInstance, name: String)
    /// An instance that is down is not in it any more.
    case removed(StageInstance)
    /// An instance is up and greeted with these bytes; the connections of its link are counted.
    case up(StageInstance, connection: UInt32, greeting: [UInt8], isResting: Bool)
    /// An instance that is up rests from now on, or serves again.
    case resting(StageInstance, Bool)
    /// An instance is down.
    case down(StageInstance)
    /// The preview lane to a coalescer is full for now, or has room again.
    case previewLane(Int, isOpen: Bool)
    /// An envelope came.
    case envelope(StageInstance, [UInt8])
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
        case .face(_, _, let text): 64 + text.count
        case .envelope(_, let bytes): 64 + bytes.count
        case .faceNamedItself, .backEndsChanged, .faceGone, .added, .removed, .up, .resting, .down, .previewLane: 64
        }
    }
}
