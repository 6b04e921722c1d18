public import Canvas

/// What the app's shell is to do, or to report.
public enum ClientOutput: Equatable, Sendable {
    /// Open a socket.
    case openSocket
    /// Close the socket, if it is still open; what it still brings is not for the core.
    case closeSocket
    /// Send a text over the socket.
    case send(String)
    /// Ask the app for a token, and answer with `ClientInput.tokenProvided`.
    case requestToken(TokenReason)
    /// An attempt to connect failed.
    case failed(ConnectionFailure)
    /// The state is another one.
    case stateChanged(ClientState)
    /// The server refused something that is no edit.
    case refused(ClientError)
    /// Something about a room.
    case room(String, RoomOutput)
}

/// What the shell is to do, or to report, in one room.
public enum RoomOutput: Equatable, Sendable {
    /// Keep this for the next run of the app; nil: nothing is to be kept. `isFirst`: nothing is sent before it is kept. Edits
    /// that were kept without a number have got one: an app that ended in between would send them under another one too.
    case save(RoomRecord?, isFirst: Bool)
    /// Read the room's history behind this number, and answer with `RoomInput.historyRead`.
    case readHistory(after: Int64)
    /// It is joined. `recovered`: what was missed arrived; otherwise all elements were replaced.
    case joined(recovered: Bool)
    /// The join was refused for good.
    case refused(ClientError)
    /// It is left.
    case left
    /// The result of an edit.
    case result(id: String, EditAnswer)
    /// These elements are shown differently.
    case changed([String])
    /// This element moves, or somebody else moves it: draw it at each frame.
    case moving(String)
    /// This element does not move by itself any more.
    case still(String)
    /// Other people are in the room.
    case membersChanged
    /// Somebody shows something else.
    case awareness(userId: String, sid: String, AwarenessShift)
    /// Somebody tells everyone something.
    case signal(MemberSignal)
}

/// What somebody shows.
public enum AwarenessShift: Equatable, Sendable {
    /// Points there, pixels of the canvas; nil: nowhere.
    case cursor(Point?)
    /// Has selected these elements.
    case selection([String])
    /// The app's own state, the text of a JSON object; nil: none.
    case state(String?)
    /// Sees this part of the canvas; nil: that is not shown.
    case viewport(Rect?)
}

/// Why a token is needed.
public enum TokenReason: String, Sendable {
    /// A connection is about to be opened.
    case connect
    /// The present one ends soon.
    case expires
    /// The server refused the present one.
    case refused
}

/// How far the client is.
public enum ClientState: String, Sendable {
    /// Without a connection; the next attempt follows by itself, if the app wants one.
    case offline
    /// An attempt is under way.
    case connecting
    /// Connected; the answer of some room is missing.
    case joining
    /// All rooms are joined, or refused.
    case live
    /// The server stops soon, and the client is about to leave it.
    case draining
    /// There is no token, or none that the server accepts: the app must connect again.
    case expired
}
