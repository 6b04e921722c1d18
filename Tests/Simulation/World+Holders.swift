import CommitterCore
import FanoutCore
import FanoutDaemon
import Stages
import Wire

extension World {
    /// What is wrong with who holds which room: its owner must count each app in it once, and every other fan-out
    /// nobody. A room that two fan-outs hold has two orders of previews; a connection that is counted although it is
    /// gone is a member whom everybody sees for ever.
    func strays() -> [String] {
        let fanouts = self.processes.compactMap { process in
            (process.shell as? FanoutNode).map {
                (name: process.name, rooms: $0.core.fanout.rooms, isListed: process.isListed)
            }
        }
        let owners = Rendezvous(names: fanouts.filter(\.isListed).map(\.name), shards: Shard.count)
        let apps = Dictionary(grouping: self.apps, by: \.room)
        var found: [String] = []
        for (room, apps) in apps.sorted(by: { $0.key < $1.key }) {
            let owner = owners.owner(of: Shard.of(room: Identifier(room)))
            for fanout in fanouts {
                let count = fanout.rooms.connectionCount(in: Identifier(room))
                let wanted = fanout.name == owner ? apps.count : 0
                if count != wanted {
                    found.append("\(fanout.name) counts \(count) connections in \(room), not \(wanted)")
                }
            }
        }
        return found
            + apps.sorted { $0.key < $1.key }.flatMap { self.misseen($1.filter { !($0 is Subscriber) }) }
    }

    /// True for an app whose session was claimed after it has joined: an older join of its own was late. It learns so from the
    /// answer to its next commit.
    func isRobbed(_ app: any SimulatedApp) -> Bool {
        let claimedAt = self.database.claimedAt[StreamKey(Identifier(app.room), Identifier(app.sid))] ?? 0
        return claimedAt > app.witness.joinedAt
    }

    /// What the apps of one room see wrongly of each other: the members must be those who are there, what one shows all
    /// others must see, and nothing of sessions that nobody has. The last cursor may be lost with a link, but must end with
    /// its connection. What an app shows that was robbed of its session counts for nothing.
    private func misseen(_ apps: [any SimulatedApp]) -> [String] {
        let robbed = apps.filter(self.isRobbed)
        let judged = apps.filter { !self.isRobbed($0) }
        let shown = Dictionary(judged.map { ($0.sid, $0.shown) }) { $1 }.filter { !$0.value.isEmpty }
        let sids = Set(apps.map(\.sid))
        let names = Set(apps.map(\.name))
        var found: [String] = []
        for app in apps {
            if app.members != names {
                found.append("\(app.name) sees members \(app.members.sorted()), not \(names.sorted())")
            }
            let seen = app.seen.filter { seen in
                !seen.value.isEmpty && seen.key != app.sid && !robbed.contains { $0.sid == seen.key }
            }
            let wanted = shown.filter { $0.key != app.sid }
            if seen != wanted { found.append("\(app.name) sees that others show \(seen), not \(wanted)") }
            let ghosts = app.cursors.subtracting(sids)
            if !ghosts.isEmpty { found.append("\(app.name) sees cursors of \(ghosts), who are gone") }
        }
        return found
    }
}
