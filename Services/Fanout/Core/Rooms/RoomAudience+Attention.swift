internal import Canvas
internal import Timing
internal import Wire

/// Cursors and selections: part of what the room's gateways see, outside of the numbered stream.
///
///     preview ──► kept with its connection, sent on ──► the connection leaves, or its session moves on ──► hidden
extension RoomAudience {
    /// A member moved its cursor or selected something.
    mutating func attentionReceived(
        _ preview: Preview, at now: Instant, with services: inout RoomServices, into actions: inout [FanoutAction]
    ) {
        guard !self.owners.isSuperseded(preview.sid, from: preview.connection), self.occupancy.isNews(preview) else {
            return services.counters.drop(.superseded)
        }
        // The gateway knows best: a join that was sent twice is answered with two sessions.
        self.sessionStarted(preview.sid, of: preview.connection, isResumed: false, at: now, into: &actions)
        let before = self.occupancy.show(preview)
        services.counters.previewsPassed += 1
        var shown = preview
        // Who saw the cursor must see it go. Where it is hidden everybody must: a viewport may have left it behind.
        if self.occupancy.hasViewports, let cursor = preview.cursor {
            shown.area = PreviewArea(Rect(around: [before?.cursor ?? cursor, cursor]))
        }
        self.broadcast(.preview(shown), into: &actions)
    }

    /// A gateway says what a connection shows.
    mutating func attentionNamed(
        _ occupant: RoomInterest.Occupant, at now: Instant, with services: inout RoomServices,
        into actions: inout [FanoutAction]
    ) {
        let attention = occupant.attention
        // A gateway says nothing of it when the session is another connection's, or when it is of an earlier version.
        guard !attention.sid.isEmpty, !self.owners.isSuperseded(attention.sid, from: occupant.connection) else {
            return
        }
        self.sessionStarted(attention.sid, of: occupant.connection, isResumed: false, at: now, into: &actions)
        let before = self.occupancy.attention(of: occupant.connection)
        let cursor = Preview.cursor(
            attention.cursor, in: self.name, connection: occupant.connection, user: occupant.member.user,
            sid: attention.sid, version: attention.version)
        let selection = Preview.selection(
            attention.selection, in: self.name, connection: occupant.connection, user: occupant.member.user,
            sid: attention.sid, version: attention.version)
        if attention.cursor != before?.cursor {
            self.attentionReceived(cursor, at: now, with: &services, into: &actions)
        }
        if attention.selection != before?.selection {
            self.attentionReceived(selection, at: now, with: &services, into: &actions)
        }
    }

    /// A connection is in the room under a session from now on.
    /// - Parameter isResumed: another connection may have had the session before.
    mutating func sessionStarted(
        _ sid: Identifier, of connection: UInt64, isResumed: Bool, at now: Instant, into actions: inout [FanoutAction]
    ) {
        if isResumed {
            for former in self.occupancy.connections(of: sid, except: connection) {
                self.hideAttention(of: former, into: &actions)
                self.occupancy.setSession("", of: former, at: now)
            }
        }
        if self.occupancy.attention(of: connection)?.sid != sid {
            self.hideAttention(of: connection, into: &actions)
        }
        self.occupancy.setSession(sid, of: connection, at: now)
    }

    /// Others see nothing of a connection any more.
    mutating func hideAttention(of connection: UInt64, into actions: inout [FanoutAction]) {
        let shown = self.occupancy.shown(by: connection, in: self.name)
        self.occupancy.hide(connection)
        for preview in shown { self.broadcast(.preview(preview.hidden), into: &actions) }
    }

    /// Sends a gateway what the connections of others show: it starts over with each position of the stream.
    func sendAttention(to gateway: GatewayID, into actions: inout [FanoutAction]) {
        for connection in self.occupancy.connections(notOf: gateway) {
            for preview in self.occupancy.shown(by: connection, in: self.name) {
                actions.append(.send(.preview(preview), to: gateway))
            }
        }
    }
}
