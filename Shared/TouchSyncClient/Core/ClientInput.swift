public import Canvas

/// What happens to the client, or what the app wants of it.
public enum ClientInput: Sendable {
    /// The app wants to be connected, and to stay so.
    case connect
    /// The app wants no connection any more.
    case disconnect
    /// The socket is open.
    case opened
    /// The socket was closed, by the server or by the network, or did not open; with the reason, if it is known.
    case closed(ConnectionFailure?)
    /// The text of one WebSocket message arrived.
    case packetReceived(String)
    /// The deadline is reached.
    case timeReached
    /// The app's answer to the request for a token; nil when it has none.
    case tokenProvided(String?)
    /// The app could not say whether it has a token: it is asked again later.
    case tokenFailed
    /// The device has a network again.
    case networkReturned
    /// The device has no network any more.
    case networkLost
    /// The app is visible again.
    case foregrounded
    /// The app is not visible any more.
    case backgrounded
    /// Something about a room.
    case room(String, RoomInput)
}

/// What the app wants in one room. Edits and gestures have names of the app's choice.
public enum RoomInput: Sendable {
    /// To enter it, with what an earlier run of the app saved of it.
    case join(record: RoomRecord?)
    /// To leave it, as soon as all edits have their results; those in a room that this user may not enter are refused.
    case leave
    /// The same of a room that was entered for the edits of an earlier run alone: they wait until they may be sent.
    case deliver
    /// To edit: an event of the protocol, and its payload without room and number.
    case edit(id: String, event: String, body: JSONObject)
    /// The excerpt of the room's history behind a number, which was asked for; nil when it cannot be had.
    case historyRead(after: Int64, HistoryExcerpt?)
    /// Fingers touched elements. A group turns and scales about the pivot, its middle by default.
    case gestureBegan(String, elementIds: [String], pivot: Point?)
    /// What the fingers did since then.
    case gestureMoved(String, GestureFields)
    /// The fingers were lifted. The edit that follows has this id.
    case gestureEnded(String, id: String)
    /// The same: they throw what they hold, if they move.
    case gestureThrown(String, id: String, GestureThrow)
    /// Everything is as before the gesture.
    case gestureCancelled(String)
    /// This user points at a position, pixels of the canvas; nil hides the cursor.
    case pointed(Point?)
    /// This user has selected these elements.
    case selected([String])
    /// This user sees this part of the canvas; nil for everything.
    /// - Parameter isShared: whether others see it.
    case looked(Rect?, isShared: Bool = false)
    /// The others who are there are to hear this once: a name, and the text of a JSON value.
    case signaled(String, String)
    /// The app shows a state of its own, the text of a JSON object.
    case presented(String)
}

extension RoomInput {
    /// The edit that waits for a result of this input.
    var editID: String? {
        switch self {
        case .edit(let id, _, _), .gestureEnded(_, let id), .gestureThrown(_, let id, _): id
        default: nil
        }
    }
}
