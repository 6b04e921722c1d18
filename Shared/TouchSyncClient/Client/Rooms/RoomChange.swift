public import TouchSyncClientCore

/// Something that happened in a room. What it is now, the room's properties tell.
public enum RoomChange: Equatable, Sendable {
    /// These elements are shown differently, or not any more.
    case elements([String])
    /// So many are that all are to be read again.
    case allElements
    /// These elements move, or somebody else moves them: draw them at each frame, as long as they move.
    case moving([String])
    /// These elements do not move by themselves any more.
    case still([String])
    /// Other people are in the room.
    case members
    /// Somebody points at something else, or selected something else.
    case awareness(userId: String, sid: String, AwarenessShift)
    /// Somebody told everyone something.
    case signal(MemberSignal)
    /// It is joined. `recovered`: what was missed arrived; otherwise all elements were replaced.
    case joined(recovered: Bool)
    /// The join was refused for good.
    case denied(ClientError)
    /// An edit was refused for good, and taken back.
    case refusal(ClientError)
    /// It was left. A consumer that is behind gets nothing but refusals of what came before.
    case left
}

extension RoomChange {
    /// What the app hears of an output of the core; nil for what the client itself does.
    init?(_ output: RoomOutput) {
        switch output {
        case .changed(let ids): self = .elements(ids)
        case .moving(let id): self = .moving([id])
        case .still(let id): self = .still([id])
        case .membersChanged: self = .members
        case .awareness(let userId, let sid, let shift): self = .awareness(userId: userId, sid: sid, shift)
        case .signal(let signal): self = .signal(signal)
        case .joined(let recovered): self = .joined(recovered: recovered)
        case .refused(let error): self = .denied(error)
        case .left: self = .left
        case .save, .readHistory, .result: return nil
        }
    }
}
