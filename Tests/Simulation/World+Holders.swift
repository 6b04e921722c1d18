import Stages
import Wire

extension World {
    /// What is wrong with who holds which room: its owner must count each app in it once, and every other fan-out
    /// nobody. A room that two fan-outs hold has two orders of previews; a connection that is counted although it is
    /// gone is a member whom everybody sees for ever.
    func strays() -> [String] {
        let fanouts = self.processes.compactMap { process in
            (process.shell as? FanoutShell).map { (name: process.name, shell: $0) }
        }
        let owners = Rendezvous(names: fanouts.map(\.name), shards: Shard.count)
        let apps = Dictionary(grouping: self.apps, by: \.room)
        var found: [String] = []
        for (room, apps) in apps.sorted(by: { $0.key < $1.key }) {
            let owner = owners.owner(of: Shard.of(room: Identifier(room)))
            for fanout in fanouts {
                let (count, wanted) = (fanout.shell.connectionCount(in: room), fanout.name == owner ? apps.count : 0)
                if count != wanted {
                    found.append("\(fanout.name) counts \(count) connections in \(room), not \(wanted)")
                }
            }
        }
        return found
    }
}
