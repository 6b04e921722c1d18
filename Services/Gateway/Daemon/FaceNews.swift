import Trust

/// What the ZeroMQ face brings to the hub. Back ends are named by their routing ids.
enum FaceNews {
    /// A packet came from a back end; its key is nil on a plain socket.
    case packet(peer: [UInt8], key: PublicKey?, text: [UInt8])
    /// A packet came from one that chose its own routing id.
    case namedItself(peer: [UInt8])
    /// Other peers are listed; back ends that are not among them have to leave.
    case backEndsChanged(PeerList)
    /// A back end cannot be reached any more.
    case gone(peer: [UInt8])
}
