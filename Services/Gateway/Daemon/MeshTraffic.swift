package import Stages
import Trust

/// One envelope for one instance.
package struct OutgoingEnvelope {
    /// Who gets it.
    package let instance: StageInstance
    /// The envelope.
    package let bytes: [UInt8]
}

/// What the hub gives the links to send.
package enum MeshOrder {
    /// One envelope for one instance.
    case envelope(OutgoingEnvelope)
    /// One packet for a back end on the ZeroMQ face.
    case face(peer: [UInt8], text: [UInt8])
}

/// What the links bring to the hub.
enum MeshNews {
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
    /// An instance is up and greeted with these bytes.
    case up(StageInstance, greeting: [UInt8], isResting: Bool)
    /// An instance that is up rests from now on, or serves again.
    case resting(StageInstance, Bool)
    case down(StageInstance)
    /// The link to a coalescer is full for now, or has room again.
    case coalescer(Int, isOpen: Bool)
    /// An envelope came.
    case envelope(StageInstance, [UInt8])
}
