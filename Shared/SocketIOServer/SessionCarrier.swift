enum SessionCarrier {
    case polling(PollingLink)
    case webSocket(WebSocketLink)
    /// The session has ended: nothing is sent.
    case none
}
