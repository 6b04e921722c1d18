package import Trust
package import Wire

extension RecordKind {
    /// The roles that send such records to a role. A daemon drops what comes from others: a coalescer cannot publish
    /// updates, and a gateway cannot show previews past the coalescer that paces them.
    package func senders(to receiver: PeerRole) -> PeerRoles {
        switch (self, receiver) {
        case (.preview, .coalescer): PeerRoles(.gateway)
        case (.preview, .fanout): PeerRoles(.coalescer)
        case (.preview, .gateway): PeerRoles(.fanout)
        case (.awareness, .fanout), (.signal, .fanout): PeerRoles(.gateway)
        case (.awareness, .gateway), (.signal, .gateway): PeerRoles(.fanout)
        case (.commit, .committer): PeerRoles(.gateway)
        case (.commitCredit, .gateway): PeerRoles(.committer)
        case (.commitResult, .gateway): PeerRoles(.committer)
        case (.update, .fanout): PeerRoles(.committer)
        case (.update, .gateway): PeerRoles(.fanout)
        case (.rulesNotice, .fanout): PeerRoles(.committer)
        case (.gestureEnd, .coalescer): PeerRoles(.gateway)
        case (.join, .fanout), (.leave, .fanout), (.roomInterest, .fanout), (.areaInterest, .fanout),
            (.memberRenamed, .fanout), (.interestReset, .fanout), (.gestureEnd, .fanout), (.roomRead, .fanout),
            (.historyRead, .fanout):
            PeerRoles(.gateway)
        case (.joinReply, .gateway), (.roomPosition, .gateway), (.presence, .gateway), (.roomMembers, .gateway),
            (.gestureEnded, .gateway), (.sessionClaimed, .gateway), (.roomState, .gateway), (.historyReply, .gateway),
            (.answerWeight, .gateway):
            PeerRoles(.fanout)
        // Listed, so that a new kind of record does not compile without its senders.
        case (.preview, _), (.awareness, _), (.signal, _), (.commit, _), (.commitCredit, _), (.commitResult, _),
            (.update, _),
            (.rulesNotice, _), (.gestureEnd, _), (.join, _), (.leave, _), (.interestReset, _),
            (.roomInterest, _), (.areaInterest, _), (.memberRenamed, _), (.roomRead, _), (.historyRead, _),
            (.joinReply, _), (.roomPosition, _), (.presence, _), (.roomMembers, _), (.gestureEnded, _),
            (.sessionClaimed, _), (.roomState, _), (.historyReply, _), (.answerWeight, _):
            []
        }
    }
}

extension Commit {
    /// False when a gateway names another one as the owner of its commit, which would get the result.
    /// - Parameters:
    ///   - roles: those of the sender, as far as its link proves them.
    ///   - name: the sender's.
    package func isOwned(by roles: PeerRoles, named name: String?) -> Bool {
        roles != PeerRoles(.gateway) || self.gateway.text == name
    }
}
